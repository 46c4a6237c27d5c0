"""Files from Keras' `export()`, restored by the order of the variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.remedy_code.rehearsal import rehearse
from ckpt_viz.answers.remedy_code.skeleton import Skeleton, Variables, to_code
from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.nodes import Node, Role
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.overlay.remedy import Advice, Code, Remedy
from ckpt_viz.ground.text import listed
from ckpt_viz.live.objects import facts
from ckpt_viz.matching.correspondence.full_names import without_number

# Live nodes, None for a variable that is not in the graph, such as a seed's.
_Objects = tuple[int | None, ...]

_SAVE = "Save the model with tf.train.Checkpoint or save()"


def remedy_for_export(case: Case, variables: int | None) -> Remedy:
    """Return what to do about an export with these saved `variables`: with code that is sure.

    The code is sure if exactly one model of the program has such variables in this order, and if
    a rehearsal restores all of them.
    """
    if variables is None:
        return Advice(f"{_SAVE}.")
    nodes = [child.node_id for child in case.saved.nodes[variables].children]
    models = _with_names_of(case, nodes, _fitting(case, nodes))
    if len(models) > 1:
        names = listed([case.live_side.place(model) for model in models])
        which = f"find out which model was exported: {names} fit equally well."
        return Advice(f"{_SAVE}; {which}")
    for model, objects in models.items():
        skeleton = Skeleton(children={"variables": Variables(model)})
        try:
            code = f"{to_code(skeleton, case.live)}.restore(path)"
        except SourceError:  # no expression leads to the model
            break
        pairs = {node: obj for node, obj in zip(nodes, objects, strict=True) if obj is not None}
        if _restores(case, skeleton, pairs):
            return Code(code, _SAVE)
    return Advice(f"{_SAVE}.")


def _restores(case: Case, skeleton: Skeleton, pairs: Mapping[int, int]) -> bool:
    rehearsal = rehearse(case.run, skeleton, "restore")
    if rehearsal is None or rehearsal.run.verdicts.restore is not None:
        return False
    restored = rehearsal.restored
    return all(restored.get(node) == obj for node, obj in pairs.items())


def _fitting(case: Case, nodes: Sequence[int]) -> dict[int, _Objects]:
    """Return the layers whose variables fit these nodes one by one, and those variables.

    If several layers have the same variables, return the first: a model comes before its parts.
    """
    ids = {id(case.live_side.object(obj)): obj for obj in range(len(case.live.nodes))}
    models: dict[_Objects, int] = {}
    for obj, node in enumerate(case.live.nodes):
        if node.role is Role.LAYER:
            objects = tuple(ids.get(id(v)) for v in facts.variables_of(case.live_side.object(obj)))
            if any(objects) and _fit(case, nodes, objects):
                models.setdefault(objects, obj)
    return {obj: objects for objects, obj in models.items()}


def _fit(case: Case, nodes: Sequence[int], objects: _Objects) -> bool:
    return len(nodes) == len(objects) and all(
        obj is None or values_of(case.saved.nodes[node]) == values_of(case.live.nodes[obj])
        for node, obj in zip(nodes, objects, strict=True)
    )


def _with_names_of(
    case: Case, nodes: Sequence[int], models: Mapping[int, _Objects]
) -> Mapping[int, _Objects]:
    """Return the one model of several whose variables alone have the saved full names, or all."""
    named = {
        model: objects
        for model, objects in models.items()
        if all(
            obj is None or _names(case.saved.nodes[node]) == _names(case.live.nodes[obj])
            for node, obj in zip(nodes, objects, strict=True)
        )
    }
    return named if len(named) == 1 else models


def _names(node: Node) -> list[str]:
    return [without_number(attribute.full_name) for attribute in node.attributes]
