"""A training over time: its checkpoints in their order, and what each save changed.

`sources` finds and orders them, `lines` says which tensors are one variable, `plan` and `reading`
read what changed, once. `work` is a reading that stops and goes on. `findings` has what people look
for: `rules` and `explosions` find it by the `evidence` of cells. `between` compares any two of
them, and `compared` measures the nodes of a comparison. `change_map` tells where a variable
changed, `restoring` is the way back, and `questions` answers a view. `history` is the result, and
shows itself as text, HTML, JSON, data frame and view.
"""
