"""The page that opens checkpoints in a browser: what its engine does in Python."""
