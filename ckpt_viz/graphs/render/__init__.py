"""Object graphs as text, as DOT and as the payload of the explorer.

`row_tree` has the rows of a picture, `outline` and `layer_outline` choose some; checks and diffs
as a table, as `details` and as JSON. A new export is an entry in `exports.json` and a function in
`exports`; the command line, kernel, server and Export menu offer it.
"""
