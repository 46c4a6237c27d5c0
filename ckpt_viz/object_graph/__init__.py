"""The object graph: nodes and edges, keys, roles and slots, paths. No I/O, no TensorFlow."""
