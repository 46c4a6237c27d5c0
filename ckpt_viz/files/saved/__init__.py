"""Saved checkpoints as object graphs, read without TensorFlow.

`locate` finds a checkpoint, the reader of its format reads it. `keras_reader` opens files of Keras,
`orbax_reader` directories of Orbax, `tfjs_reader` models of TensorFlow.js. `listing` finds the
checkpoints in a directory by their content; `nearby` those that a wrong path may mean. `writers`
tells who wrote a file. A new format is an entry in `readers` with a module of its own, and one in
`file_types.json` for its file names, which JupyterLab also reads.
"""
