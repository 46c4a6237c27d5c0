"""Short code for live objects: `tf.train.Checkpoint` of them, where the file has them.

`skeleton` and `arrangement` find the places. `comprehensions` shortens long lists, with the
`layer_loops` of models. `rehearsal` makes a dry run of the code before anyone sees it.
"""
