"""Checkpoints of another model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.ground.text import count
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.pairs import Certainty
from ckpt_viz.matching.engines.trace import Action, Cause

_IN_COMMON = 0.2  # of the values, by shape: with less, the two models are unrelated
_IN_COMMON_BY_CHANCE = 0.5  # the same if none of the values has a place in the other model
_Shapes = tuple[tuple[str, tuple[int, ...] | None], ...]


def unrelated(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find checkpoints of another model."""
    if case.unresolved and case.unmatched and _is_unrelated(case):
        yield case.run.finding(
            Severity.FAIL,
            Kind.UNRELATED,
            "Nothing of the checkpoint fits the program: it seems to belong to another model "
            f"({count(_shapes_of_values(case.saved).total(), 'value')} against "
            f"{_shapes_of_values(case.live).total()}).",
            "Look at the objects of the checkpoint, and choose another path.",
            nodes=(ROOT, *sorted(case.unresolved)),
            objects=(ROOT, *sorted(case.unmatched)),
        )


def _is_unrelated(case: Case) -> bool:
    """Return whether the two sides share almost nothing, not counting scalars.

    Counters, rates and powers are in every checkpoint. Values that meet by name count as shared,
    even if dtype or shape prevents the restore.
    """
    saved, live = _tensors(_shapes_of_values(case.saved)), _tensors(_shapes_of_values(case.live))
    causes = [step.cause for step in case.trace.steps_of(Action.FAIL)]
    common = max((saved & live).total(), causes.count(Cause.DTYPE) + causes.count(Cause.SHAPE))
    are_scalars = not any(shape for shapes in saved for _, shape in shapes)
    fitting = any(
        attribute.shape or are_scalars
        for node in case.trace.restored
        for attribute in case.saved.nodes[node].attributes
    )
    fewer = min(saved.total(), live.total())
    if fitting or fewer == 0:  # what has no values may not be built yet
        return False
    share = common / fewer
    return share < _IN_COMMON or (share < _IN_COMMON_BY_CHANCE and not _is_mapped(case))


def _is_mapped(case: Case) -> bool:
    """Return whether any tensor has a counterpart that is more than a guess, or its holder has."""
    mapping, parents = case.run.mapping, case.saved.tree.parents
    return any(
        (pair.certainty is not Certainty.GUESS or parents[pair.node] in mapping.parts)
        and any(attribute.shape for attribute in case.saved.nodes[pair.node].attributes)
        for pair in (*mapping.pairs, *mapping.misfits)
    )


def _tensors(numbers: Counter[_Shapes]) -> Counter[_Shapes]:
    """Return the values that are not scalars; all values if there are no others."""
    tensors = {
        shapes: number
        for shapes, number in numbers.items()
        if any(shape != () for _, shape in shapes)
    }
    return Counter(tensors) or numbers


def _shapes_of_values(graph: Graph) -> Counter[_Shapes]:
    """Return the number of nodes with values of these shapes, without the `save_counter`."""
    return Counter(
        tuple([(attribute.name, attribute.shape) for attribute in node.attributes])
        for node_id, node in enumerate(graph.nodes)
        if node.attributes and node_id != graph.save_counter
    )
