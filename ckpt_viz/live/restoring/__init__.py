"""Live objects as the side that a restore writes to: what each would read and accept.

The engine asks `restore_side`; `restore_target` joins it with the graph.
"""
