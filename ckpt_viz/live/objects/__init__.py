"""Live objects as nodes: what a save would write now, and what it would leave out.

`walk` makes the nodes, and `live_source` the graph. `untracked` finds attributes that TensorFlow
does not follow, and `losses` tells which of them hold trained values. `facts`, `layer_facts` and
`keras_calls` tell what layers say of themselves, `counters` how often a program was saved and
trained, and `accessors` how code reaches each object.
"""
