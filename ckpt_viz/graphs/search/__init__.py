"""Search: one grammar of queries, in Python and in the explorer (docs/search.md).

The grammar of queries and its answers, as in the front end; both read `grammar.json`. `measures`
has what values measure, for fields such as `norm>10`.
"""
