"""The restore check: what `restore` would do to every node."""
