"""See TensorFlow checkpoints as the object graphs they are.

>>> import ckpt_viz as cv
>>> graph = cv.graph("ckpts/ckpt-3")     # or a live tf.train.Checkpoint   # doctest: +SKIP
>>> print(graph)                                                           # doctest: +SKIP
>>> cv.show("ckpts/ckpt-3")              # the explorer, in a notebook     # doctest: +SKIP

Importing this package imports neither TensorFlow nor Jupyter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ckpt_viz.api import ObjectGraph, check, graph
from ckpt_viz.errors import (
    CheckpointNotFoundError,
    CkptVizError,
    FormatError,
    NoSuchTensorError,
    SourceError,
    UnsupportedError,
)
from ckpt_viz.object_graph.graph import Format, Kept, Origin, Provenance
from ckpt_viz.object_graph.nodes import (
    Attribute,
    Child,
    Node,
    NotSaved,
    Role,
    Slice,
    Slot,
    SlotRule,
    SlotVariable,
)

if TYPE_CHECKING:
    from ckpt_viz.explorer import Explorer, show

__all__ = [
    "Attribute",
    "CheckpointNotFoundError",
    "Child",
    "CkptVizError",
    "Explorer",
    "Format",
    "FormatError",
    "Kept",
    "NoSuchTensorError",
    "Node",
    "NotSaved",
    "ObjectGraph",
    "Origin",
    "Provenance",
    "Role",
    "Slice",
    "Slot",
    "SlotRule",
    "SlotVariable",
    "SourceError",
    "UnsupportedError",
    "check",
    "graph",
    "show",
]


def __getattr__(name: str) -> Any:
    # The explorer is a Jupyter widget: importing it here would import Jupyter.
    if name in ("Explorer", "show"):
        from ckpt_viz import explorer

        return getattr(explorer, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
