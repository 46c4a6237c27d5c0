"""TensorFlow's checkpoints: index and shards, V1 files, `checkpoint`, `.meta`, SavedModels.

`bundle` reads a checkpoint by its `bundle_index`, and `bundle_writer` writes one. `saver_v1` reads
V1 files.
`stored_ranges` tells where the bytes of a tensor are, `lost_files` which shards are missing.
"""
