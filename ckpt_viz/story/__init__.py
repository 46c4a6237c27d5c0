"""A restore, a save or an assert as a story: step by step, in TensorFlow's order."""
