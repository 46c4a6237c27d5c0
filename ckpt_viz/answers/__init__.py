"""What people ask: would it restore, how to fix it, and what changed.

The rooms, from the ground up:

- `dry_runs`: a restore that changes nothing, for each kind of target, with its verdicts.
- `short_code`: short code for live objects, and a dry run of this code.
- `table`: the table of a check, its sentence, and its marks on the graph.
- `evidence`: what the rules ask of a dry run: sides, placement, what waits.
- `rules`: a finding for each sort of trouble, one module per family.
- `restore_check`: `cv.check`, and the check of a program after edits.
- `restore_fix`: `cv.fix`: a restore that works, as code and as a call.
- `load_check`: `cv.check_load_model`.
- `graph_diff`: `cv.diff`. `timeline`: `cv.history`.

How a check flows through: `restore_check.run` picks a dry run, and the engine of
`ckpt_viz/matching/` records its trace. `rules.findings` makes findings of it.
`restore_check.check_result` is what people hold: it prints the table, and draws the overlay.

To add a kind of finding, see the table in CONTRIBUTING.md.

The words: *dry run*, *outcome* (what the call does with each value), *verdict* (which asserts
pass), *finding* (one thing to know, with what to do), *case* (a dry run with what rules ask),
*remedy* (what to do, as data), *fix*.
"""
