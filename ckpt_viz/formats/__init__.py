"""The file formats of checkpoints: bytes in, plain data out; no graph, no TensorFlow."""
