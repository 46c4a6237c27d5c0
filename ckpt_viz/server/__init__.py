"""What runs in Jupyter Server."""
