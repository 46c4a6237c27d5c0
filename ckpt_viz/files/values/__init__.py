"""The numbers in tensors: statistics, what changed, and what a training did to them.

`partial` has the statistics of a piece, which join to those of the tensor: `moments` the mean and
deviations, `fine_bins` what `histogram` needs, `strings` lengths. `pieces` are read by any
process, and `assembly` joins them to a `row`. `reading` yields the rows of a graph, and `table`
shows them, under the names that `places` gives. `running` runs many small tasks here or in an
executor. `measured` has the statistics by node. `verifying` tests stored bytes against their
checksums, and `stretches` reads each of them once; `verified_text` shows the result. For a
snapshot, `held` is the access to its values, `memory` limits them, `report` says what was put
back.
"""
