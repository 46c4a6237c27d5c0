"""How a restore matches the nodes of a checkpoint with objects: one engine, one trace."""
