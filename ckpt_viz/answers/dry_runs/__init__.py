"""Restores that change nothing: a dry run for each kind of target, with its verdicts.

`outcome` is what a restore would do, and `dry_run` has it with the path. `live_dry_run`,
`file_dry_run`, `keras_dry_run`, `saver_dry_run` and `warm_start_dry_run` make one, the third of the
sides in `keras_files_to_load`. `verdicts` tells what the asserts would raise, `failures` why a
restore raises, `verified` what the stored bytes say.
"""
