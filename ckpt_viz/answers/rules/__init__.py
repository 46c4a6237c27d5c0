"""The rules that turn a dry run into findings, one module per sort of trouble.

`findings` picks the rules for the kind of restore, runs them, and puts their findings in order.

- A path: `wrong_paths`. The wrong file: `unrelated`.
- Errors: `raising`. Wrong values without an error: `changed`, `misplaced`, `wrong_values`.
- Objects that come later: `not_built`, `created_later`.
- Only one side has it: `tracking`, `left_aside`, `optimizers`, `leftovers`.
- What no check can tell, and what is meant so: `ambiguous`, `worth_knowing`.
- Restores by names: `by_name`, `warm_starts`. Keras' files: `keras_weights`, `keras_objects`.
"""
