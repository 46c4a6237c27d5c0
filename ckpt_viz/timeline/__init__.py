"""A training over time: its checkpoints in their order, and what each save changed."""
