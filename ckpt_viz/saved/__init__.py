"""Saved checkpoints as object graphs, read without TensorFlow."""
