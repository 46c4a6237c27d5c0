"""Restores that change nothing: a dry run for each kind of target, with its verdicts.

`dry_run` is what all return. `live_dry_run`, `file_dry_run`, `keras_dry_run`, `saver_dry_run` and
`warm_start_dry_run` make one. `verdicts` tells what the asserts would raise, `failures` why a
restore raises, `verified` what the stored bytes say.
"""
