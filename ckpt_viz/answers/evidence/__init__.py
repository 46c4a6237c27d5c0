"""What the rules ask of a dry run: its sides, where each value goes, and what waits.

A `case` is a dry run with these parts. `symptoms` puts what follows from a change below it.
"""
