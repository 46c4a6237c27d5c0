"""New files: checkpoints and archives of values that a graph names.

`rewrite` writes a checkpoint: for a program, so that it restores it by itself, or of an edited
graph. `npz` writes an archive that NumPy loads, `keras_copy` a copy of Keras' file with the names
that Keras looks for.
"""
