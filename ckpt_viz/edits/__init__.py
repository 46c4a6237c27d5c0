"""Graphs that someone has edited, numbered and named as TensorFlow would save them."""
