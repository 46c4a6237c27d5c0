"""What differs between two object graphs.

`counterparts` asks the correspondence which nodes belong together, and tells which of them have
moved. `diff_table` makes the table of a diff from its `diff_parts`, and `change_sentence` says
what changed most.
"""
