"""How a restore matches checkpoint nodes with objects: one engine, one trace."""
