"""What Orbax stores: an OCDBT store of keys, with a Zarr array for each tensor."""
