"""The code that runs in Jupyter Server."""
