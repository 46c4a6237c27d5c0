"""What of the two sides finds no counterpart, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ckpt_viz.live import facts
from ckpt_viz.matching.trace import Action, Cause
from ckpt_viz.object_graph.graph import Format
from ckpt_viz.object_graph.nodes import ROOT, Role
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.case import SAVE_COUNTER, Case, count, is_optimizer
from ckpt_viz.restore_check.finding import Finding, Kind

# Where Keras keeps what no restore needs: TensorFlow 1.13 to 2.0 saved a layer's configuration.
_CONFIGURATION = "OBJECT_CONFIG_JSON"
_OF_SAVED_MODELS = ("keras_api", "signatures", "_all_variables")


def save_counter(case: Case) -> Iterator[Finding]:
    """Find a `save_counter` that one side has and the other has not."""
    counters = [
        obj for obj in case.unmatched if case.run.live_name(obj) == f"(root).{SAVE_COUNTER}"
    ]
    if counters:
        saved_model = _is_saved_model(case)
        yield case.finding(
            Severity.INFO if saved_model else Severity.FAIL,
            Kind.LEFTOVER if saved_model else Kind.SAVE_COUNTER,
            "A SavedModel has no save_counter; the one of this tf.train.Checkpoint keeps its value."
            if saved_model
            else "The checkpoint was written by write(), which keeps no save_counter; restore() "
            "expects one.",
            "Use assert_nontrivial_match(), or expect_partial()."
            if saved_model
            else "Read it with read(), or save it with save().",
            objects=counters,
        )
    saved = _child(case, ROOT, SAVE_COUNTER)
    if saved is not None and saved in case.unresolved:
        yield case.finding(
            Severity.FAIL,
            Kind.SAVE_COUNTER,
            "The checkpoint was saved by save(), which keeps a save_counter; read() makes none.",
            "Restore it with restore(), or write it with write().",
            nodes=(saved,),
        )


def optimizer_missing(case: Case) -> Iterator[Finding]:
    """Find an optimizer that one side lacks altogether."""
    for top, nodes in case.unresolved_groups.items():
        if top in case.bound or not is_optimizer(case.saved.nodes[top]):
            continue
        yield case.finding(
            Severity.FAIL,
            Kind.OPTIMIZER_MISSING,
            f"The program has no optimizer in this place: {count(len(nodes), 'value')} of its "
            f"state stay unused{_rest(case, len(case.unresolved) - len(nodes))}.",
            "Harmless unless training goes on: call expect_partial(), or add the optimizer.",
            nodes=(top, *nodes),
        )
    for top, objects in case.unmatched_groups.items():
        live = case.live_node(top)
        if top in case.holders or not is_optimizer(live):
            continue
        yield case.finding(
            Severity.FAIL,
            Kind.OPTIMIZER_MISSING,
            f"The checkpoint has no optimizer in this place: {count(len(objects), 'value')} of "
            "its state keep what they are.",
            "Training starts with a fresh optimizer; use assert_nontrivial_match() in place of "
            "assert_consumed().",
            objects=(top, *objects),
        )


def _rest(case: Case, others: int) -> str:
    restored = len(case.restored)
    if others == 0 and not case.unmatched:
        return f"; everything else, {count(restored, 'value')}, is restored"
    return ""


def optimizer_generation(case: Case) -> Iterator[Finding]:
    """Find optimizers that keep their state in another way than the saved ones."""
    nodes, objects = case.told_by_generation
    hooks = {
        step.obj
        for step in case.steps(Action.FAIL)
        if step.failure is not None and step.failure.cause is Cause.SLOT_HOOK
    }
    for node, (obj, saved_way, live_way) in case.other_generation.items():
        yield case.finding(
            Severity.ERROR if obj in hooks else Severity.FAIL,
            Kind.OPTIMIZER_GENERATION,
            f"The state was saved by {saved_way}; the program has {live_way}, which keeps it "
            f"elsewhere{_whether_the_model_fits(case, node)}.",
            "Restore the model alone, or with the optimizer class that saved it "
            "(tf_keras.optimizers.legacy, tf.compat.v1.train).",
            nodes=(node, *sorted(nodes)),
            objects=(obj, *sorted(objects)),
        )


def _whether_the_model_fits(case: Case, optimizer: int) -> str:
    state = set(case.told_by_generation[0]) | {optimizer}
    left = [n for n in case.unresolved if n not in state]
    if left:
        return ""
    return "; all other saved values fit the program"


def not_built(case: Case) -> Iterator[Finding]:
    """Find layers and optimizers of which one side has the variables and the other not yet."""
    waiting = _waiting(case)
    for obj, nodes in _trapped(case, waiting).items():
        yield case.finding(
            Severity.WARNING,
            Kind.NOT_BUILT,
            f"{type(case.live_object(obj)).__name__} has no build() of its own: Keras 3 builds it "
            "by a symbolic call, in which a waiting restore fails without a word and leaves "
            "layers as they are.",
            "Build the model before restoring: call it once on data, or give it a build().",
            nodes=nodes,
            objects=(obj,),
        )
    for obj, nodes in waiting.items():
        name = type(case.live_object(obj)).__name__
        yield case.finding(
            Severity.DEFERRED,
            Kind.DEFERRED,
            f"{count(_values_below(case, nodes), 'saved value')} wait until this {name} is built; "
            "assert_consumed() passes only then.",
            "Build it before the assert: call the model once, or optimizer.build(variables).",
            nodes=nodes,
            objects=(obj,),
        )
    yield from _saved_unbuilt(case)


def _waiting(case: Case) -> dict[int, list[int]]:
    """Return, by unbuilt object, the saved nodes that wait for it to be built."""
    found: dict[int, list[int]] = {}
    for step in case.steps(Action.DEFER):
        if step.obj is None or step.node is None or step.node in case.bound:
            continue
        if facts.is_unbuilt(case.live_object(step.obj)):
            found.setdefault(step.obj, []).append(step.node)
    return found


def _trapped(case: Case, waiting: dict[int, list[int]]) -> dict[int, list[int]]:
    """Return the topmost models that Keras 3 cannot build while a restore waits."""
    found: dict[int, list[int]] = {}
    for obj, nodes in waiting.items():
        trap, above = None, obj
        while above >= 0:
            it = case.live_object(above)
            if facts.is_unbuilt(it) and facts.builds_only_when_called(it):
                trap = above
            above = case.live.tree.parents[above]
        if trap is not None:
            found.setdefault(trap, []).extend(nodes)
    return found


def _values_below(case: Case, nodes: Iterable[int]) -> int:
    below = {low for node in nodes for low in case.saved_below(node)}
    return len(below & case.unresolved)


def _saved_unbuilt(case: Case) -> Iterator[Finding]:
    for top, objects in case.unmatched_groups.items():
        parent = _bound_parent(case, top)
        if parent is None:
            continue
        node, obj = parent
        saved = case.saved.nodes[node]
        live = case.live_node(obj)
        if live is None or any(_leads_to_a_value(case, child.node_id) for child in saved.children):
            continue
        if live.role not in (Role.LAYER, Role.OPTIMIZER) or saved.attributes:
            continue
        yield case.finding(
            Severity.FAIL,
            Kind.NOT_BUILT,
            "It was saved before it had its variables: the checkpoint has the object, and "
            f"nothing below it for {count(len(objects), 'value')} of the program.",
            "Save again after the model is built and the optimizer has made a step.",
            nodes=(node,),
            objects=(obj, *objects),
        )


def _bound_parent(case: Case, top: int) -> tuple[int, int] | None:
    obj = top
    while obj not in case.holders:
        obj = case.live.tree.parents[obj]
        if obj < 0:
            return None
    return case.holders[obj][0], obj


def _leads_to_a_value(case: Case, node: int) -> bool:
    return case.valued_saved[node]


def deferred_and_unresolved(case: Case) -> Iterator[Finding]:
    """Find saved values that nothing takes, one finding for each subtree."""
    explained = {
        below
        for nodes in _waiting(case).values()
        for node in nodes
        for below in case.saved_below(node)
    } | case.told_by_generation[0]
    counter = _child(case, ROOT, SAVE_COUNTER)
    for top, nodes in case.unresolved_groups.items():
        nodes = tuple(node for node in nodes if node not in explained and node != counter)
        if not nodes:
            continue
        if is_optimizer(case.saved.nodes[top]) and top not in case.bound:
            continue  # told as a whole
        if _is_harmless(case, top):
            yield case.finding(
                Severity.INFO,
                Kind.LEFTOVER,
                f"{count(len(nodes), 'value')} that a SavedModel or Keras keeps beside the "
                "variables; the program restores them by another path, or never.",
                "Nothing to do; expect_partial() silences the warning.",
                nodes=(top, *nodes),
            )
            continue
        yield case.finding(
            Severity.FAIL,
            Kind.UNRESOLVED,
            _why_unresolved(case, top, len(nodes)),
            "Give the program an object under this local name; set later, it is restored then. "
            "Or call expect_partial().",
            nodes=(top, *(node for node in nodes if node != top)),
        )


def _why_unresolved(case: Case, top: int, number: int) -> str:
    slot = case.saved.nodes[top].slot
    if top in case.bound:
        return f"{count(number, 'slot variable')} of this optimizer are not used by the program."
    parent, name = case.saved.first_edges.get(top, (ROOT, ""))
    holder = case.bound.get(parent)
    what = f"{count(number, 'saved value')} here {'is' if number == 1 else 'are'} not used"
    if slot is not None or holder is None:
        return f"{what}: nothing in the program stands in this place."
    return f"{what}: {case.run.live_name(holder)} has no child {name!r}."


def unmatched(case: Case) -> Iterator[Finding]:
    """Find live values that the checkpoint lacks, one finding for each subtree."""
    counter = f"(root).{SAVE_COUNTER}"
    told = case.told_by_generation[1]
    for top, group in case.unmatched_groups.items():
        objects = tuple(obj for obj in group if obj not in told)
        if is_optimizer(case.live_node(top)) and top not in case.holders:
            continue  # told as a whole
        if not objects or case.live.name(top) == counter:
            continue
        parent = _bound_parent(case, top)
        where = case.saved.name(parent[0]) if parent is not None else "the checkpoint"
        number = len(objects)
        reason = (
            "it has no slot variables for this optimizer"
            if top in case.holders
            else f"{where} has nothing under {case.live.tree.labels[top] or '(root)'!r}"
        )
        yield case.finding(
            Severity.FAIL,
            Kind.UNMATCHED,
            f"{count(number, 'value')} of the program {'is' if number == 1 else 'are'} not in "
            f"the checkpoint: {reason}.",
            "Keep the local names that were saved, or accept it with assert_nontrivial_match().",
            objects=(top, *(obj for obj in objects if obj != top)),
        )


def unused_attributes(case: Case) -> Iterator[Finding]:
    """Find saved attributes that the object has no place for."""
    for node, names in case.trace.unused_attributes.items():
        harmless = set(names) == {_CONFIGURATION}
        yield case.finding(
            Severity.INFO if harmless else Severity.FAIL,
            Kind.LEFTOVER if harmless else Kind.UNUSED_ATTRIBUTE,
            "An old Keras stored the layer's configuration here; nothing reads it any more."
            if harmless
            else f"Saved as {', '.join(names)}; the object in the program holds no such value.",
            "Nothing to do; the assert fails for it all the same."
            if harmless
            else "Put the kind of object here that was saved, or rename the attribute.",
            nodes=(node,),
            objects=(case.bound[node],),
        )


def _is_harmless(case: Case, top: int) -> bool:
    label = case.saved.tree.labels[top]
    return label == "_compiled_trainable_state" or (
        _is_saved_model(case) and label in _OF_SAVED_MODELS
    )


def _is_saved_model(case: Case) -> bool:
    found = case.saved.provenance
    return found is not None and found.format is Format.SAVED_MODEL


def _child(case: Case, node: int, local_name: str) -> int | None:
    for child in case.saved.nodes[node].children:
        if child.local_name == local_name:
            return child.node_id
    return None
