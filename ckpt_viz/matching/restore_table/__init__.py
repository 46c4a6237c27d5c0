"""The table of a restore: where each value goes, by the checked call and by the fix.

`rows` has a row for each value, `filling` fills the columns from the steps of the call and the
mapping of the fix, and `folding` makes lines of rows. `cells` has the sign and the words of each
line, for `text`, which prints them, and for `picture`, which has all lines for the explorer.
`answers/table/check_table.py` takes the steps from a check. `parts` has the parts of a graph in
which rows fold.
"""
