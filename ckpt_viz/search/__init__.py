"""Search: one grammar of queries, in Python and in the explorer (docs/search.md)."""
