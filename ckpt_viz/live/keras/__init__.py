"""A Keras model as Keras walks through it to save or load weights.

`keras_walk` finds what Keras visits, `keras_loaders` how each object loads, and `keras_graph`
what `save_weights` would write. `keras_private` has Keras' private names.
"""
