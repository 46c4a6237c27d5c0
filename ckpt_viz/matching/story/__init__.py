"""A restore, a save or an assert as a story: step by step, in TensorFlow's order.

A `step` says what happens, why, and at which of the `places` in the installed TensorFlow;
`folding` joins alike steps. `save` has the sentences of a save, `save_order` their order; `saver`
is for names, and `manager` for what a CheckpointManager deletes.
"""
