"""TensorFlow's private names, and objects read without a trace in them.

`tensorflow_private` has the names that all need; its neighbours those of a restore, a session,
Savers, registered savers, state, warm starts and new objects. `shadows` runs TensorFlow's code on
substitutes for the user's objects.
"""
