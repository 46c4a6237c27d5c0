"""The numbers in tensors: statistics, what changed, and what a training did to them.

`ranges` reads stored bytes, each once, for a fold: a part of the work that any process does, and
a way to join the parts. `folds` has the statistics of a tensor and its changes over time, and fills
a `row`. They are made of `partial`, the statistics of some elements: `moments` has the mean and
deviations, `fine_bins` what `histogram` needs. `difference` and `spread` compare elements.
`reading` yields the rows of a graph, and `table` shows them, under the names that `places` gives.
`running` runs many small tasks here or in an executor. `measured` has the statistics by node.
`verifying` tests stored bytes against their checksums, which `range_checksums` computes, and
`verified_text` shows the result. For a snapshot, `held` is the access to its values, `memory`
limits them, `report` says what was put back.
"""
