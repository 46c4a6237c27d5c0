"""The object graph with its questions, and two graphs as one.

`lookup` finds nodes by any form of their names. `merge` joins two graphs, and `side_names` keeps
the name that each side has.
"""
