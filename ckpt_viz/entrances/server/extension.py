"""The Jupyter Server extension, which reads checkpoints without a kernel: docs/server.md.

Loading it imports neither the reader nor NumPy; the first request imports them. It never imports
TensorFlow.
"""

from __future__ import annotations

from typing import Any

import ckpt_viz
from ckpt_viz.entrances.server.handlers import handlers_below
from ckpt_viz.entrances.server.options import CkptViz


def _load_jupyter_server_extension(serverapp: Any) -> None:
    """Add the endpoints to a server, and the hook that runs before it saves a notebook."""
    options = CkptViz(parent=serverapp)
    web_app = serverapp.web_app
    handlers = handlers_below(web_app.settings["base_url"], options, ckpt_viz.__version__)
    web_app.add_handlers(".*$", handlers)
    contents_manager = serverapp.contents_manager
    if options.slim_notebooks and hasattr(contents_manager, "register_pre_save_hook"):
        contents_manager.register_pre_save_hook(_slim)


def _slim(*, model: Any, **context: Any) -> None:
    """Remove the unnecessary parts of a notebook; import the code for this on first use."""
    if model.get("type") == "notebook":
        from ckpt_viz.entrances.server.slim_notebooks import slim_notebook

        slim_notebook(model=model, **context)
