"""What Keras writes: its own files as nodes, and its words about layers, also in SavedModels."""
