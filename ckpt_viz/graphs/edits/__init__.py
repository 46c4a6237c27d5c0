"""Graphs that someone has edited, numbered and named as TensorFlow would save them.

`draft` has free edges, and numbers and names the nodes as a save of TensorFlow does; `edits` has
the edits that people name, `by_names` those of a checkpoint without objects, `new_values` those
of values. `edited_access` reads values from the source. `as_checkpoint` gives a file of Keras the
keys of a checkpoint. `union` has several checkpoints as one graph. `left_out` tells what is gone.
"""
