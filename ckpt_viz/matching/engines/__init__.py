"""How a restore matches checkpoint nodes with objects: one engine, one trace.

`engine` walks a checkpoint against a live side as TensorFlow does, and records a `trace`;
`sides_of_match` has what it asks of that side. `keras_loading` is the engine of Keras'
`load_weights`, and `keras_h5_loading` that of `.h5`; `keras_sides` has what it works on, and
`keras_saving` the order of `save_weights`. `changed_side` is a program that someone has changed:
its objects, in other places. `initializers` is the engine of warm starts. `load_outcome` is what a
load of weights does, as data, `load_errors` what Keras prints, and `h5_sides` the layers of both
sides of an `.h5`.
"""
