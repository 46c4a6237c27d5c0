"""The explorer: an object graph as an ipywidgets widget."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ckpt_viz.api import ObjectGraph, graph
from ckpt_viz.object_graph.nodes import Node
from ckpt_viz.render import payload, text

MIME_TYPE = "application/vnd.ckpt-viz.graph.v1+json"
_STATIC = Path(__file__).parent / "static"


class Explorer(anywidget.AnyWidget):
    """An interactive object graph.

    `selected` is the id of the selected node or None, and `expanded` the ids of the nodes
    whose children are drawn, None for the view's own choice. Both follow what is done in the
    browser, and setting them moves the browser.
    """

    _esm = _STATIC / "widget.js"
    _css = _STATIC / "widget.css"
    _payload = traitlets.Bytes().tag(sync=True)
    selected = traitlets.Int(None, allow_none=True).tag(sync=True)
    expanded = traitlets.List(traitlets.Int(), None, allow_none=True).tag(sync=True)

    def __init__(self, source: object, **kwargs: Any) -> None:
        self._graph = graph(source)
        super().__init__(_payload=payload.encode(self._graph), **kwargs)

    @property
    def graph(self) -> ObjectGraph:
        """The graph that is shown."""
        return self._graph

    @property
    def selected_node(self) -> Node | None:
        """The selected node, or None."""
        return None if self.selected is None else self._graph.nodes[self.selected]

    @property
    def selected_object(self) -> object | None:
        """The live object of the selected node; None in a saved graph or once it is gone."""
        return None if self.selected is None else self._graph.object(self.selected)

    @traitlets.validate("selected", "expanded")
    def _known_nodes(self, proposal: dict[str, Any]) -> Any:
        value = proposal["value"]
        ids = [value] if isinstance(value, int) else value or ()
        for node_id in ids:
            if not 0 <= node_id < len(self._graph.nodes):
                raise traitlets.TraitError(
                    f"{proposal['trait'].name}: found node id {node_id}, "
                    f"expected 0 to {len(self._graph.nodes) - 1}"
                )
        return value

    def __repr__(self) -> str:
        return f"<Explorer of {text.summary(self._graph)}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the widget, and beside it the snapshot that outlives the kernel."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        snapshot = {
            "version": payload.VERSION,
            "model_id": self.model_id,
            "payload": base64.b64encode(self._payload).decode("ascii"),
        }
        return {**data, "text/plain": str(self._graph), MIME_TYPE: snapshot}, metadata


def show(source: object) -> Explorer:
    """Return the explorer of whatever `graph` takes: a live object, a path, an ObjectGraph."""
    return Explorer(source)
