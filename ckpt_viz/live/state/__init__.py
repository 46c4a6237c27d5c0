"""The values of live objects: copied into memory, put back, and changed wholly or not at all.

`holding` does so for one object, `eager_values` and `session_values` for many. `rollback` undoes
a change that fails.
"""
