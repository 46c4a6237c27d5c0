"""The steps of a save, and what each says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.matching.story.places import TensorFlowPlace
from ckpt_viz.matching.story.save_order import SaveAction
from ckpt_viz.matching.story.step import StoryStep


@dataclass(frozen=True)
class SaveStep(StoryStep):
    """One step of a save.

    `saved` or `live` is the node, as the graph is of a file or of live objects; `holder` is a node
    of the same graph.

    Attributes:
        key: The checkpoint key that the step makes; of a slot, the path from which its key follows.
        paths: What the step deletes; the checkpoints that it names in the file `checkpoint`.
    """

    key: str = ""
    paths: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the step as plain data."""
        more = {"key": self.key, "paths": list(self.paths)}
        return {**super().to_json(), **{name: value for name, value in more.items() if value}}


class Words(NamedTuple):
    """What a step says; `reason` "" if the text leaves no question."""

    text: str
    reason: str = ""
    holder: int | None = None
    local_name: str = ""
    key: str = ""
    is_problem: bool = False

    def as_step(
        self,
        number: int,
        action: SaveAction,
        place: TensorFlowPlace,
        graph: Graph,
        subject: int | None,
    ) -> SaveStep:
        """Return the step that says this of a node of a graph."""
        is_live = graph.origin is Origin.LIVE
        return SaveStep(
            number=number,
            action=action.value,
            text=self.text,
            reason=self.reason,
            place=place,
            saved=None if is_live else subject,
            live=subject if is_live else None,
            holder=self.holder,
            local_name=self.local_name,
            is_problem=self.is_problem,
            key=self.key,
        )


def tensorflow_place(module: str, function: str, mark: str = "") -> TensorFlowPlace:
    """Return a place in TensorFlow's code; `module` is below `tensorflow.python`."""
    return TensorFlowPlace(f"tensorflow.python.{module}", function, mark)
