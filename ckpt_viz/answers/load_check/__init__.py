"""The check of `load_model`: what of a model's file the installed Keras cannot build.

`kinds_of_file` tells how Keras takes a path, `stored_model` reads the
configuration. `builder` asks a process, whose program is `child`: a guard, then `keras_builder`,
which has Keras' functions without weights. `fault_search` builds part by part, with
`placeholders` for what Keras does not know and for `program_classes`. `faults` is what comes
back. `load_findings` groups the faults by cause, `load_code` writes the program that loads, and
`load_result` is what users hold.
"""
