"""What Orbax stores: an OCDBT store of keys, with a Zarr array for each tensor.

`ocdbt` reads a store, `ocdbt_bytes` its bytes, and `zarr` the arrays. `zstd` unpacks them.
"""
