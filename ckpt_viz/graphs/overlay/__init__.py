"""A comparison laid over a merged graph: marks, groups, remedies, lines of the table."""
