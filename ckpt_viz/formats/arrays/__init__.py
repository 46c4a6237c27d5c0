"""Dtypes, shapes and slices of stored tensors, and their values as NumPy arrays.

`protos` declares TensorFlow's messages. `tensors` alone imports NumPy.
"""
