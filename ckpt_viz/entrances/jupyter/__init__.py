"""The explorer in Jupyter: the widget, its contents and answers, and what a notebook saves.

The `widget`, and the `history_view`; what it shows (`shown`), answers (`answers`, of a changed
program `changed`, of an edited copy `copies`), restores (`restoring`) and leaves in a notebook
(`snapshots`). `failed_restores` is `%load_ext ckpt_viz`. The kernel's half of JupyterLab's panel:
`live_objects` and `live_tabs`.
"""
