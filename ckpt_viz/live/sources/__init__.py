"""Any source as the graph that users hold: a path, live objects or a snapshot of their values.

`any_source` reads a path or live objects, `pictured` is the graph that draws itself, `averaged`
is the average of several, `merged` has parts of several, and `snapshot` keeps the values of live
objects.
"""
