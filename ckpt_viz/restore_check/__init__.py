"""The restore check: what `restore` would do, said of every node."""
