"""Nodes and edges, checkpoint keys, the spanning tree, and the names of nodes.

`names` alone makes names of nodes: people's for all texts, TensorFlow's for data. `walks` has
what all walks share.
"""
