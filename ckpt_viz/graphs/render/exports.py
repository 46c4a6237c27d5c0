"""The formats in which users can export a graph or a comparison, in one table.

`exports.json` describes each format; the command line, the kernel, Jupyter's server and the
explorer's Export menu read it. A new format is an entry there, and a function in `_WRITERS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckpt_viz.graphs.render.views import View

if TYPE_CHECKING:  # the options of commands need the table alone
    from ckpt_viz.graphs.object_graph.graph import Graph
    from ckpt_viz.graphs.overlay.overlay import Overlay
    from ckpt_viz.graphs.search.measures import Measures


# The data and the buffers of an answer.
Steps = tuple[Mapping[str, Any], Sequence[bytes]]


@dataclass(frozen=True, slots=True)
class Content:
    """What to export: a graph, and the comparison laid over it, if any.

    `notes` are sentences about the sources, `state` the traits with which an explorer starts.
    Pictures show the layers or the objects, as `view` says. `measures` are those of the values, if
    these were read. `steps` returns the restore of a check step by step, as a page plays it.
    """

    graph: Graph
    overlay: Overlay | None = None
    notes: Iterable[str] = ()
    state: Mapping[str, Any] | None = None
    view: View = "layers"
    measures: Measures | None = None
    steps: Callable[[], Steps | None] | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """A format: its name, which is also the suffix, and its MIME type.

    `label` is its name in the menu, `help` describes its option on the command line.
    `names_each_node` says that a text grows with every node; `needs` is what must be built.
    """

    format: str
    mime: str
    label: str
    help: str
    names_each_node: bool = False
    needs: str | None = None

    def check_needs(self) -> None:
        """Raise UnsupportedError if this installation lacks a requirement of the format."""
        if self.needs == "front end":
            from ckpt_viz.graphs.render.html import check_built

            check_built()

    def text_of(self, content: Content) -> str:
        """Return the content in this format; raises UnsupportedError as `check_needs` does."""
        return _WRITERS[self.format](content)


# The imports are late: each format needs libraries that the others do not.


def _svg(content: Content) -> str:
    from ckpt_viz.graphs.render.comparison_svg import comparison_svg
    from ckpt_viz.graphs.render.svg import to_svg

    if content.overlay is not None:
        return comparison_svg(content.overlay)
    return to_svg(content.graph, notes=content.notes, view=content.view)


def _dot(content: Content) -> str:
    from ckpt_viz.graphs.render.dot import to_dot

    source: str = to_dot(content.graph, content.overlay, view=content.view).source
    return source


def _json(content: Content) -> str:
    from ckpt_viz.graphs.render.graph_json import graph_json
    from ckpt_viz.graphs.render.plan_json import plan_json

    if content.overlay is None:
        return json.dumps(graph_json(content.graph), indent=2)
    return json.dumps(plan_json(content.overlay, notes=content.notes), indent=2)


def _html(content: Content) -> str:
    from ckpt_viz.graphs.render.html import to_html

    return to_html(
        *(content.graph, content.overlay, content.measures),
        notes=content.notes,
        state=content.state,
        steps=None if content.steps is None else content.steps(),
    )


_WRITERS: Mapping[str, Callable[[Content], str]] = {
    "svg": _svg,
    "dot": _dot,
    "json": _json,
    "html": _html,
}


_TABLE = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
EXPORTS: Mapping[str, Export] = {entry["format"]: Export(**entry) for entry in _TABLE}
