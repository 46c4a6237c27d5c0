"""The code that runs in Jupyter Server.

`handlers` answers requests (`docs/server.md`). `workers` lets `graphs` read what `paths` allows,
in separate processes. Only this room imports Tornado or Jupyter Server.
"""
