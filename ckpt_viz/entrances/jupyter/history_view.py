"""The view of a history as a widget: two of its checkpoints are compared, and any two can be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import traitlets

from ckpt_viz.answers.timeline.questions import answer_with_files
from ckpt_viz.answers.timeline.record import Record
from ckpt_viz.answers.timeline.view_payload import encode
from ckpt_viz.answers.timeline.words import headline
from ckpt_viz.entrances.jupyter.kernel_run import kernel_shell, variable_of
from ckpt_viz.entrances.jupyter.shared_models import SharingWidget
from ckpt_viz.entrances.jupyter.snapshots import HISTORY_MIME_TYPE
from ckpt_viz.errors import CkptVizError

_STATIC = Path(__file__).parents[2] / "static"
_VERSION = 1


class HistoryView(SharingWidget):
    """An interactive history.

    `a` and `b` are the numbers of the two checkpoints that the view compares. `order` is that of
    the rows: "largest", "tree" or "layer". All follow the browser, and setting them changes the
    browser.
    """

    _esm = _STATIC / "history.js"
    _css = _STATIC / "history.css"
    _kind = "ckpt-viz-history"
    a = traitlets.Int(0).tag(sync=True)
    b = traitlets.Int(0).tag(sync=True)
    order = traitlets.Enum(["largest", "tree", "layer"], "largest").tag(sync=True)

    def __init__(self, history: Record, picture: Callable[[], dict[str, str]]) -> None:
        """Show a history; `picture` returns what to show without widgets, by MIME type."""
        self.history = history
        self._picture = picture
        a, b = _first_choice(history)
        super().__init__(_payload=encode(history), a=a, b=b)

    @traitlets.validate("a", "b")
    def _known_checkpoint(self, proposal: dict[str, Any]) -> Any:
        value, last = proposal["value"], len(self.history.sources) - 1
        if not 0 <= value <= last:
            raise traitlets.TraitError(
                f"{proposal['trait'].name}: found checkpoint {value}, expected 0 to {last}"
            )
        return value

    def _answer(self, question: Any) -> tuple[Any, list[bytes]]:
        """Answer a question of the open view."""
        try:
            answered = answer_with_files(self.history, question, self._checkpoint_name)
        except CkptVizError as error:
            return {"error": str(error)}, []
        return super()._answer(question) if answered is None else answered

    def _checkpoint_name(self) -> str | None:
        """Return the notebook's expression for the checkpoint of the manager, if it has one."""
        shell = kernel_shell()
        manager = self.history.manager() if self.history.manager is not None else None
        if shell is None or manager is None:
            return None
        name = variable_of(shell, manager.checkpoint)
        if name is not None:
            return name
        name = variable_of(shell, manager)
        return None if name is None else f"{name}.checkpoint"

    def __repr__(self) -> str:
        return f"<HistoryView of {len(self.history.sources)} checkpoints: {headline(self.history)}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the widget together with the picture that outlives the kernel."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        reference = {"version": _VERSION, "model_id": self.model_id}
        return {**data, **self._picture(), HISTORY_MIME_TYPE: reference}, metadata


def _first_choice(history: Record) -> tuple[int, int]:
    """Return the first checkpoint, and the last one that can be opened."""
    opened = [n for n, source in enumerate(history.sources) if source.graph is not None]
    return opened[0], opened[-1]
