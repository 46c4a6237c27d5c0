"""Live objects as object graphs. The only place that touches TensorFlow."""
