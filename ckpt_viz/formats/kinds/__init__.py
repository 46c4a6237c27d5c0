"""What a file is, judged by its content: its kind, its writer, and what opens it.

`refusals` turns the answer into an error. Every reader asks here before it refuses a file.
`file_kinds` tells the kind, and `file_kind` is that, as data.
"""
