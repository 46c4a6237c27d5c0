"""The tests, and what they share.

`graphs` and `saved_graphs` make graphs and files without TensorFlow, `live_objects` and
`optimizers` objects of every kind, `programs` small programs with their checkpoints. `laws` has
what holds of every live source.

What a check says of a restore is asked of TensorFlow by `oracle`, which restores the same for
real: for the pairs of `check_rows` by hand, for those of `pairs` (which `plain_recipes` and
`keras_recipes` make up) at random. `check_findings` has the pairs of each kind of finding, with
near misses, and laws of what a finding claims.
"""
