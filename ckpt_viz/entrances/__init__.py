"""Where people and JupyterLab come in: notebooks, Jupyter Server, terminals, the page.

The rooms:

- `jupyter`: the widget, its answers, what a notebook keeps, and `%load_ext ckpt_viz`.
- `server`: the extension of Jupyter Server, which reads files for the file browser.
- `web`: the engine of the page that opens dropped files in a browser.
- `commands`: the commands of `ckpt-viz`; `ckpt_viz/cli.py` lists them.

How a question of the explorer flows through: `labextension/src/` sends it to the kernel
(`jupyter.answers`), the server (`server.handlers`) or the page's engine (`web.session`). All
three call the same functions of `ckpt_viz/answers/` and `ckpt_viz/graphs/render/`.

The words: *payload* (a graph as the explorer reads it), *question* and *answer* (between explorer
and Python), *bundle* (what a notebook stores of an explorer).
"""
