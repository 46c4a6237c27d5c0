"""New files: checkpoints and archives of values that a graph names."""
