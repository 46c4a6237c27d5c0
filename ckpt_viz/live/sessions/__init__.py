"""Savers and assignment maps of TensorFlow 1, as nodes."""
