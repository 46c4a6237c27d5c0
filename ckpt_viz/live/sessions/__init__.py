"""Savers and assignment maps of TensorFlow 1, as nodes.

`saver` makes nodes of what `saved_by_saver` reads, and `assignment_map` of a warm start.
"""
