"""The file formats of checkpoints: bytes in, plain data out; no graph, no TensorFlow.

The rooms, from the ground up:

- `arrays`: dtypes, shapes and slices of stored tensors, and their values as NumPy arrays.
- `storage`: files that may be read, new files, checksums, and the containers below all formats.
- `kinds`: what a file is, judged by its content, before anything refuses it.
- `bundles`: checkpoints of TensorFlow: index and shards, V1 files, the file `checkpoint`.
- `hdf5_files`: HDF5, as Keras writes it.
- `orbax`: OCDBT stores, and the Zarr arrays in them.

How one tensor flows through: `storage.files` opens the index, and `storage.sstable` reads its
table. `bundles.entries` tells where the bytes are, and `bundles.bundle` reads them.
`arrays.tensors` makes an array of them.

Every file is hostile. `storage.confinement` says which files may be read, and
`storage.unpacking` bounds what a file may unpack to. Only `storage.files` opens files, and only
`storage.new_files` creates them: all of them or none.

The words: *bundle* (the files of one checkpoint), *shard* (one of its data files), *entry* (what
the index says of one tensor), *slice* (a stored part of a tensor), *unpacking budget*.
"""
