"""Files that deserve no trust, and the limits within which the package must handle them.

`makers` has one maker per attack. `mutate` damages good files in ways that survive their checksums.
`limits` opens them in a separate process with bounded time and memory, and `python -m
tests.hostile.fuzz --inputs 100000` does so for any number of files.
"""
