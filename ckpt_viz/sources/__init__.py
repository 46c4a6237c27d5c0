"""Any source as the graph that users hold: a path, live objects or a snapshot of their values."""
