"""The commands of `ckpt-viz`.

`graphs` has the commands about structure, `numbers` those about values, `models`
that of whole models of Keras; `output` has what they share, `streams` how all print. `cli` lists
them, and loads the one that runs.
"""
