"""From a path to a graph with its values, without TensorFlow.

The rooms:

- `keras_files`: what Keras writes, as nodes: its own files, and its words in SavedModels.
- `saved`: finds a checkpoint below a path, and opens it with the reader of its format.
- `values`: statistics of tensors, differences, and checksums of stored bytes.

How a path flows through: `saved.locate` finds the checkpoint, and `saved.readers` lists the
formats. The reader takes bytes from `ckpt_viz/formats/` and returns an object graph of
`ckpt_viz/graphs/`. `values.reading` reads tensors of such a graph, here or in workers.

To add a format, write a reader in `saved`, and list it in `saved/readers.py`. Its file names go
into `saved/file_types.json`, which JupyterLab reads, too.

The words: *location* (where a checkpoint is), *reader* (opens one format), *writer* (the program
that wrote a file), *row* (the statistics of one tensor), *piece* (a part that is read apart).
"""
