"""The check of `load_model`: what of a model's file the installed Keras cannot build."""
