"""Live objects as object graphs. Only this package touches TensorFlow."""
