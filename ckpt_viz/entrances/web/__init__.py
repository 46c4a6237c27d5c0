"""The page that opens checkpoints in a browser: what its engine does in Python.

`dropped` finds the checkpoints among files, `session` opens them and answers.
`labextension/page/assemble.py` puts the page together. Python's packages without a build for the
engine have a module of the same name in `labextension/page/placeholders/`.
"""
