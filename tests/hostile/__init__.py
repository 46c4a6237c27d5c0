"""Files that nobody should have to trust, and the limits within which they must be answered.

`makers` has one maker per attack, `mutate` damages good files in ways that survive their
checksums, `limits` opens them in a process of its own with bounded time and memory, and
`python -m tests.hostile.fuzz --inputs 100000` does so for as long as you like.
"""
