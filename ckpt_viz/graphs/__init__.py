"""The object graph: nodes, names, slots, layers, search, edits and pictures; no I/O.

The rooms, from the ground up:

- `nodes`: nodes and edges, checkpoint keys, the spanning tree, and the names of nodes.
- `slots`: which variable of an optimizer belongs to which variable of the model, and roles.
- `layers`: the graph as people think of it: layers, their calls, and parameters.
- `object_graph`: the graph with its questions, and two graphs merged into one.
- `overlay`: what a comparison says of each node, with the lines of its table.
- `search`: the grammar of queries. `edits`: graphs that someone has edited.
- `render`: graphs and comparisons as text, DOT, SVG, HTML, JSON and the explorer's payload.

How a graph flows through: a reader makes `nodes`. `object_graph.graph` holds them, and asks
`slots` and `layers` when someone looks. `render` draws the result.

The words: *node*, *child* (an edge with its local name), *key* (checkpoint key), *role* (the kind
of a node), *slot* (a slot variable of an optimizer), *tree* (the one place of each node), *layer*,
*overlay* (marks on the nodes of a merged graph).

The object graph is TensorFlow's `TrackableObjectGraph`
(`tensorflow/core/protobuf/trackable_object_graph.proto`).
"""
