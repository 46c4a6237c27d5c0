"""Objects of a running program as graphs; only this wing touches TensorFlow.

The rooms, from the ground up:

- `tensorflow_names`: TensorFlow's private names, and objects read without a trace in them.
- `sessions`: Savers and assignment maps of TensorFlow 1.
- `objects`: live objects as nodes: what a save would write now, and what it would leave out.
- `restoring`: live objects as the side that a restore writes to.
- `keras`: a model as Keras walks through it to save or load weights.
- `state`: values of live objects, copied into memory and put back.
- `writing`: new files: checkpoints, archives, and copies of Keras' files.
- `sources`: any source as the graph that people hold.

How an object flows through: `sources.any_source` takes a path or live objects.
`objects.live_source` walks the objects through `tensorflow_names.shadows`, so that no attribute
of the user's objects changes. `state.rollback` makes a change wholly or not at all.

Each private name of TensorFlow is looked up in one place, inside functions: a version without it
gets an error that names it.

The words: *source* (what `graph` accepts), *shadow* (a class that runs in place of another),
*not saved* (an attribute that a checkpoint will not hold), *snapshot* (values kept in memory).
"""
