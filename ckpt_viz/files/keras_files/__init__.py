"""What Keras writes: its own files as nodes, and its words about layers, also in SavedModels.

`weights_layout` makes nodes of the paths in `.weights.h5` and `.keras`, `legacy_layout` of the
names in `.h5`; both fill `drafts`. `shards` joins the files of one `.weights.json`. `orbax_tree`
opens the trees of Orbax, `orbax_arrays` their values, and `orbax_layout` makes nodes of them.
`descriptions` tells which group each part of a configuration describes, `facts` what it says of
layers and calls, and `state` whose state the variables of an optimizer are. `training_order`
searches the orders of training that their shapes permit. `tfjs_model` opens layers models of
TensorFlow.js, `windows_names` reads the groups of Keras on Windows. `bounded_json` reads JSON in
bounded memory. `orders` are what a file tells of the order of training.
"""
