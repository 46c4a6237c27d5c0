"""From a verdict to a restore that works: its code and its proof.

`restore_fix` has what all fixes tell, `fix` that of objects, with its proof, and `code` its
program. `fix_of_saver` is that of names: `saver_code` writes the program, with the dicts of
`names_in_code`. `unbuilt_parts` tells what must be built before a restore, and `build_first` says
how. `applying` and `applying_names` restore all or nothing.
"""
