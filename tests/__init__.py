"""The tests, and the modules that they share.

`graphs` and `saved_graphs` make graphs and files without TensorFlow, `live_objects` and
`optimizers` make objects of every kind, `programs` makes small programs with their checkpoints.
`laws` has the laws for every live source.

`oracle` compares a check with TensorFlow, which does the same restore for real. The pairs in
`check_rows` are written by hand; `programs` has the random ones, and all other random programs.
`check_findings` has the pairs for each kind of finding, with near misses, and laws for the claims
of a finding.
"""
