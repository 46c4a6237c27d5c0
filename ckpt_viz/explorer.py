"""The explorer: an object graph as an ipywidgets widget."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ckpt_viz.api import ObjectGraph, compare, graph, object_graph
from ckpt_viz.graph_diff.result import GraphDiff
from ckpt_viz.object_graph.nodes import Node
from ckpt_viz.render import payload, text
from ckpt_viz.restore_check.result import RestoreCheck

MIME_TYPE = "application/vnd.ckpt-viz.graph.v1+json"
_STATIC = Path(__file__).parent / "static"


class Explorer(anywidget.AnyWidget):
    """An interactive object graph, or two of them compared.

    Of a comparison the graph is the merged one: the nodes of the live side (of a diff: of b),
    and behind them those that only the other side has.
    `selected` is the id of the selected node or None, and `expanded` the ids of the nodes
    whose children are drawn, None for the view's own choice. Both follow what is done in the
    browser, and setting them moves the browser.
    """

    _esm = _STATIC / "widget.js"
    _css = _STATIC / "widget.css"
    _payload = traitlets.Bytes().tag(sync=True)
    selected = traitlets.Int(None, allow_none=True).tag(sync=True)
    expanded = traitlets.List(traitlets.Int(), None, allow_none=True).tag(sync=True)

    def __init__(self, source: object, against: object = None, **kwargs: Any) -> None:
        self._comparison = _comparison(source, against)
        if self._comparison is None:
            self._graph, overlay = graph(source), None
        else:
            overlay = self._comparison.overlay
            self._graph = object_graph(overlay.graph)
        super().__init__(_payload=payload.encode(self._graph, overlay), **kwargs)

    @property
    def graph(self) -> ObjectGraph:
        """The graph that is shown."""
        return self._graph

    @property
    def comparison(self) -> RestoreCheck | GraphDiff | None:
        """The check or diff that is shown, None of a single graph."""
        return self._comparison

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
        if self._comparison is not None:
            return f"<Explorer of {self._comparison!r}>"
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
        words = str(self._graph if self._comparison is None else self._comparison)
        return {**data, "text/plain": words, MIME_TYPE: snapshot}, metadata


def _comparison(source: object, against: object) -> RestoreCheck | GraphDiff | None:
    if against is not None:
        return compare(source, against)
    return source if isinstance(source, (RestoreCheck, GraphDiff)) else None


def show(source: object, against: object = None) -> Explorer:
    """Return the explorer of a source, alone or compared with another.

    Args:
        source: Whatever `graph` takes: a live object, a path, an ObjectGraph; or a RestoreCheck
            or a GraphDiff.
        against: What to compare it with. Of one live and one saved side it is what restoring
            the saved one would do (`check`), of two of a kind what differs (`diff`), with
            `against` as the older one.
    """
    return Explorer(source, against)
