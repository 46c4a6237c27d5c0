"""The explorer: an object graph as an ipywidgets widget."""

from __future__ import annotations

import os
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import traitlets

from ckpt_viz.answers.graph_diff.diff_result import GraphDiff
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.entrances.jupyter.answers import Answer, answer
from ckpt_viz.entrances.jupyter.shared_models import SharingWidget
from ckpt_viz.entrances.jupyter.shown import show_of
from ckpt_viz.entrances.jupyter.snapshots import with_snapshot
from ckpt_viz.errors import CkptVizError
from ckpt_viz.graphs.nodes.nodes import Node
from ckpt_viz.graphs.render import text
from ckpt_viz.graphs.render.encodings import shown_on_stdout
from ckpt_viz.graphs.render.exports import EXPORTS
from ckpt_viz.graphs.render.writing import write_text
from ckpt_viz.graphs.search.grammar import COMPARED, MEASURES
from ckpt_viz.ground.text import sendable
from ckpt_viz.live.sources.pictured import ObjectGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ckpt_viz.files.values.running import Begin
    from ckpt_viz.graphs.search.measures import Measures

_STATIC = Path(__file__).parents[2] / "static"
# labextension/src/host/messages.ts has the same value.
_REFRESHED = "ckpt-viz:refreshed"
_PROGRESS = "ckpt-viz:progress"
_TELL_EVERY = 0.2  # seconds
VIEWS = ("table", "layers", "objects", "guide")
# What a file keeps.
_STATE = ("selected", "expanded", "query", "mode", "view", "measure", "step")


def _of_graph(name: str) -> dict[str, Any]:
    """Return the metadata of a trait that holds node ids.

    The browser sends ids late while the kernel is busy, and after a refresh they may be those of
    the graph before. So ids are sent with the number of their graph, and others are not taken.
    """

    def to_json(ids: object, explorer: Explorer) -> object:
        return None if ids is None else {"of": explorer._edition, "ids": ids}

    def from_json(sent: object, explorer: Explorer) -> object:
        match sent:
            case None:
                return None
            case {"of": explorer._edition, "ids": ids}:
                return ids
        return getattr(explorer, name)

    return {"sync": True, "to_json": to_json, "from_json": from_json}


class Explorer(SharingWidget):
    """An interactive object graph, or two of them compared.

    >>> explorer = cv.show(ckpt)
    >>> explorer.select("net.head")
    4
    >>> explorer.selected_object is ckpt.net.head
    True
    >>> explorer.save_html("explorer.html")  # one file that works offline

    A comparison shows the merged graph: first the nodes of the live side (in a diff, of b), then
    those of only the other side.

    `selected` is the id of the selected node or None. `expanded` holds the ids of the nodes whose
    children are drawn, or None for the view's own choice. `query` is the text in the search box
    (docs/search.md has its grammar). `mode` says how the view shows matches: "highlight" marks
    them, "filter" shows only the matches and their ancestors. `view` is what the explorer shows:
    "layers" by name, all "objects", the picture of TensorFlow's "guide", or the "table" of a
    comparison; None is the view's own choice. `measure` is what colours the nodes: "norm", "mean",
    "std", "min", "max", "zeros", "nan" or "inf" of their values, in a comparison also "change" or
    "largest"; None colours by node type. Setting it reads the values. `step` is the number of the
    step at which *Play* shows the restore of a check, from 1 on; None while it is closed. All of
    these traits follow the browser, and setting them changes the browser.
    """

    _esm = _STATIC / "widget.js"
    _css = _STATIC / "widget.css"
    _opens_at: int | None = None  # the step at which a saved output opens
    _edition = traitlets.Int(0).tag(sync=True)  # counts the graphs that it has shown
    selected = traitlets.Int(None, allow_none=True).tag(**_of_graph("selected"))
    expanded = traitlets.List(traitlets.Int(), None, allow_none=True).tag(**_of_graph("expanded"))
    query = traitlets.Unicode("").tag(sync=True)
    mode = traitlets.Enum(("highlight", "filter"), "highlight").tag(sync=True)
    view = traitlets.Enum(VIEWS, None, allow_none=True).tag(sync=True)
    measure = traitlets.Enum(tuple(MEASURES), None, allow_none=True).tag(sync=True)
    step = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(self, source: object, against: object = None, **kwargs: Any) -> None:
        self._shown = show_of(source, against)
        super().__init__(_payload=self._shown.encoded, **kwargs)

    @property
    def graph(self) -> ObjectGraph:
        """The graph that the explorer shows."""
        return self._shown.graph

    @property
    def comparison(self) -> RestoreCheck | GraphDiff | None:
        """The check or diff that the explorer shows, None for a single graph."""
        return self._shown.comparison

    @property
    def selected_node(self) -> Node | None:
        """The selected node, or None."""
        return None if self.selected is None else self._shown.graph.nodes[self.selected]

    @property
    def selected_object(self) -> object | None:
        """The live object of the selected node; None for a saved graph or if the object is gone."""
        return None if self.selected is None else self._shown.graph.object(self.selected)

    def select(self, node: int | str) -> int:
        """Select a node, and return its id.

        Args:
            node: Its id, or a name that `ObjectGraph.node_id` takes: `net.l1`, the name of a layer.

        Raises:
            NoSuchNodeError: No node has this name, or several have it.
        """
        self.selected = node if isinstance(node, int) else self._shown.node_id(node)
        return self.selected

    def find(self, query: str) -> tuple[int, ...]:
        """Return the ids of the nodes that a query finds: first those of which it is a whole name.

        All others follow in the order of the outline.
        The search box finds the same nodes; it shows `query`. A query about values (`norm>10`,
        `is:nan`) reads them first.

        Args:
            query: Words, fields (`role:slot is:shape size>1MB`), a Python regular expression
                between slashes, or a TensorFlow message that names nodes. docs/search.md has the
                full grammar. An empty query finds nothing.

        Raises:
            QueryError: The query cannot be read or answered. Its `place` is where.
        """
        from ckpt_viz.graphs.search.evaluate import find  # here, because importing numpy takes long

        return find(self._shown.graph, query, self._shown.overlay, self._measured)

    def _measured(self, begin: Begin | None = None) -> Measures:
        """Read the unread values, and send what they measure."""
        measures = self._shown.measures(begin)
        self._payload = self._shown.encoded
        return measures

    @traitlets.observe("measure")
    def _read_values(self, change: Any) -> None:
        if change["new"] is not None:
            self._measured()

    @traitlets.validate("measure")
    def _possible_measure(self, proposal: dict[str, Any]) -> Any:
        value = proposal["value"]
        if value in COMPARED and self._shown.overlay is None:
            raise traitlets.TraitError(
                f"measure: found {value!r}, which only a comparison has; use cv.show(a, against=b)"
            )
        return value

    def refresh(self) -> None:
        """Show the source in its present state; keep the expanded, selected and visible nodes.

        Walks a live object again, reads a path again, compares two sources again. The place in the
        outline identifies a node; if the selected node is gone, nothing is selected.

        Raises:
            CkptVizError: The source is no longer readable; the explorer does not change.
        """
        after = self._shown.again()
        is_same = after.encoded == self._payload
        with self.hold_sync():
            selected, expanded = self._shown.state_in(after, self.selected, self.expanded)
            self._shown = after
            if not is_same:
                self._edition += 1
            self._payload = after.encoded
            if expanded is not None:
                self.expanded = expanded
            self.selected = selected
        if is_same:  # no trait tells the views, but values may have changed
            self.send({"kind": _REFRESHED})

    def send_state(self, key: str | Iterable[str] | None = None) -> None:
        """Send traits to the views; a new graph always comes with its ids, even unchanged ones."""
        if key is not None and not isinstance(key, str) and "_edition" in (keys := set(key)):
            key = keys | {"selected", "expanded"}
        super().send_state(key)

    def _answer(self, question: Any) -> tuple[Any, list[bytes]]:
        """Answer a question of the open explorer."""
        match question:
            case {"ask": "parts"}:
                return super()._answer(question)
            case {"ask": "graphviz" | "extras" as name}:
                return _script(name)
            case {"ask": "query"}:
                # A view runs its first query only if the kernel confirms it, never from a file.
                return {"text": self.query}, []
            case {"ask": "measures"}:
                return self._read_with_progress()
        return answer(self._shown, question, self._traits_of_a_file())

    def _read_with_progress(self) -> Answer:
        """Read the values; the new payload reaches all views. Tell them how far it is."""
        try:
            self._measured(lambda _title, total: nullcontext(self._telling(total)))
        except CkptVizError as error:
            return {"error": str(error)}, []
        return {}, []

    def _telling(self, total: int) -> Callable[[int], None]:
        """Return what tells the views now and then how many bytes were read."""
        done, sent_at = 0, time.monotonic()

        def tell(nbytes: int) -> None:
            nonlocal done, sent_at
            done += nbytes
            if time.monotonic() - sent_at > _TELL_EVERY:
                sent_at = time.monotonic()
                self.send({"kind": _PROGRESS, "done": done, "total": total})

        return tell

    def _traits_of_a_file(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _STATE}

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write the explorer in its present state as one HTML file that works offline.

        Raises:
            CkptVizError: The path is a directory, or the file cannot be written.
        """
        write_text(path, EXPORTS["html"].text_of(self._shown.content(self._traits_of_a_file())))

    @traitlets.validate("query")
    def _sendable_query(self, proposal: dict[str, Any]) -> Any:
        return sendable(proposal["value"])

    @traitlets.validate("selected", "expanded")
    def _known_nodes(self, proposal: dict[str, Any]) -> Any:
        value = proposal["value"]
        ids = [value] if isinstance(value, int) else value or ()
        for node_id in ids:
            if not 0 <= node_id < len(self._shown.graph.nodes):
                raise traitlets.TraitError(
                    f"{proposal['trait'].name}: found node id {node_id}, "
                    f"expected 0 to {len(self._shown.graph.nodes) - 1}"
                )
        return value

    def __repr__(self) -> str:
        if self._shown.comparison is not None:
            return f"<Explorer of {self._shown.comparison!r}>"
        return shown_on_stdout(f"<Explorer of {text.summary(self._shown.graph)}>")

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the widget together with the snapshot that outlives the kernel."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        title, encoded = self._shown.graph.title, self._payload
        parts = data, self.model_id, encoded, self._picture, title, self._packed_steps
        return with_snapshot(*parts, self._mark(), self._opens_at), metadata

    def _mark(self) -> bytes:
        """Return what tells outputs of the same payload from each other; all of a check are one."""
        return b""

    def _packed_steps(self) -> str | None:
        from ckpt_viz.graphs.render.html import packed  # here, since other outputs do not need it

        steps = self._shown.steps()
        return None if steps is None else packed(*steps)

    def _picture(self) -> dict[str, str]:
        """Return the explorer as text and as a static page, by MIME type."""
        return {
            "text/plain": self._shown.words,
            "text/html": self._shown.html,
        }


def _script(name: str) -> Answer:
    """Return a part of the front end that is too large to send with every explorer."""
    path = _STATIC / f"{name}.js"
    try:
        return {}, [path.read_bytes()]
    except OSError:
        return {"error": f"{path} is not built; run pip install to build it"}, []


def show(source: object, against: object = None, *, measure: str | None = None) -> Explorer:
    """Return the explorer of a source, alone or in a comparison.

    >>> cv.show("ckpts/ckpt-3")  # the last line of a cell shows it
    <Explorer of ckpts/ckpt-3 (saved checkpoint): 10 nodes: 4 object, 6 variable>
    >>> cv.show(ckpt, against="ckpts/ckpt-3")  # a table: what a restore would do
    <Explorer of <RestoreCheck of Checkpoint: restore() would raise ValueError>>

    Args:
        source: Whatever `graph` takes (a live object, a path, an ObjectGraph), or a RestoreCheck or
            a GraphDiff.
        against: What to compare it with. For a live and a saved side, the explorer shows what
            restoring the saved side would do (`check`). For two sides of the same kind it shows the
            differences of `against` from `source` (`diff`).
        measure: What colours the nodes: "norm", "zeros" or another measure of their values, in a
            comparison also "change". It reads all values, with a progress bar. None: the node type.
    """
    return Explorer(source, against, measure=measure)
