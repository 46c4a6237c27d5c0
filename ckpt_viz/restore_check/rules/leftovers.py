"""What of the two sides finds no counterpart, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ckpt_viz.live import facts
from ckpt_viz.live.building import WITHOUT_WEIGHTS
from ckpt_viz.live.facts import Generation
from ckpt_viz.matching.trace import Action, Cause
from ckpt_viz.object_graph.graph import Format
from ckpt_viz.object_graph.nodes import ROOT, SAVE_COUNTER, Role
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.case import Case, is_optimizer, subtree
from ckpt_viz.restore_check.exports import remedy_for_export
from ckpt_viz.restore_check.finding import Finding, Kind, Told
from ckpt_viz.restore_check.outlook import outlook
from ckpt_viz.restore_check.twins import belonging, left_alike
from ckpt_viz.text import count, listed

# Where Keras keeps what no restore needs: TensorFlow 1.13 to 2.0 saved a layer's configuration.
_CONFIGURATION = "OBJECT_CONFIG_JSON"
_OF_KERAS = ("_compiled_trainable_state",)
_OF_EXPORTS = ("variables", "_all_variables")
_OF_SAVED_MODELS = ("keras_api", "signatures", "_all_variables")
_OPERATIONS = "_operations"  # where Keras 3 keeps the layers of a model that is built
_MAX_ALIKE = 32  # of more, it says nothing that they are alike
_CLASSES = {
    Generation.TENSORFLOW_1: "tf.compat.v1.train",
    Generation.LEGACY: "tf_keras.optimizers.legacy",
    Generation.KERAS_2: "tf_keras.optimizers",
    Generation.KERAS_3: "keras.optimizers of Keras 3",
}


# --- optimizers


def optimizer_generation(case: Case, told: Told) -> Iterator[Finding]:
    """Find optimizers that keep their state in another way than the saved ones."""
    hooks = {
        step.obj
        for step in case.steps(Action.FAIL)
        if step.failure is not None and step.failure.cause is Cause.SLOT_HOOK
    }
    found = [
        (node, case.saved_state(node), obj, case.live_state(obj))
        for node, (obj, _, _) in case.other_generation.items()
    ]
    state = set().union(*(nodes for _, nodes, _, _ in found)) | told.nodes
    for node, nodes, obj, objects in found:
        _, saved_way, live_way = case.other_generation[node]
        values = [n for n in nodes if case.saved.nodes[n].attributes]
        taken = sum(n in case.restored for n in values)
        places = f"{taken} of {count(len(values), 'value')} find a place, not always the right one"
        rest = "; all other saved values fit the program" if case.unresolved <= state else ""
        yield case.finding(
            Severity.ERROR if obj in hooks else case.severity(nodes, objects),
            Kind.OPTIMIZER_GENERATION,
            f"The state was saved by {saved_way.value}, and the program has {live_way.value}, "
            "which keeps it in another way: "
            f"{places if taken else 'none of it finds a place'}{rest}.",
            "Restore the model alone, or make the optimizer by the class that saved it "
            f"({_CLASSES[saved_way]}).",
            nodes=(node, *sorted(nodes - {node})),
            objects=(obj, *sorted(objects - {obj})),
        )


def optimizer_missing(case: Case, told: Told) -> Iterator[Finding]:
    """Find an optimizer that one side lacks altogether."""
    for top, nodes in case.unresolved_groups.items():
        is_told = top in told.nodes or told.nodes.issuperset(nodes)
        if top in case.bound or is_told or not is_optimizer(case.saved.nodes[top]):
            continue
        rest = _everything_else(case, len(nodes))
        yield case.finding(
            Severity.FAIL,
            Kind.OPTIMIZER_MISSING,
            f"The program has no optimizer in this place: {count(len(nodes), 'value')} of its "
            f"state stay unused{rest}.",
            "Harmless unless training goes on: call expect_partial(), or add the optimizer.",
            nodes=dict.fromkeys((top, *nodes)),
        )
    for top, objects in case.unmatched_groups.items():
        is_told = top in told.objects or told.objects.issuperset(objects)
        if top in case.holders or is_told or not is_optimizer(case.live_node(top)):
            continue
        yield case.finding(
            Severity.FAIL,
            Kind.OPTIMIZER_MISSING,
            f"The checkpoint has no optimizer in this place: {count(len(objects), 'value')} of "
            "its state keep what they are.",
            "Training starts with a fresh optimizer; use assert_nontrivial_match() in place of "
            "assert_consumed().",
            objects=dict.fromkeys((top, *objects)),
        )


def _everything_else(case: Case, number: int) -> str:
    if number < len(case.unresolved) or case.unmatched:
        return ""
    return f"; everything else, {count(len(case.restored), 'value')}, is restored"


# --- not built yet


def not_built(case: Case, told: Told) -> Iterator[Finding]:
    """Find what will not get its values though it is built later, or was saved too early."""
    seen: set[int] = set()
    waiting = _waiting(case, told)
    trapped = _trapped(case, waiting)
    for obj, nodes in trapped.items():
        yield case.finding(
            Severity.FAIL,
            Kind.NOT_BUILT,
            f"{type(case.live_object(obj)).__name__} has no build() of its own: Keras 3 builds it "
            "by a symbolic call, in which a waiting restore fails without an error and leaves "
            "layers as they are.",
            "Build the model before restoring: call it once on data, or give it a build().",
            nodes=[low for node in nodes for low in case.unbound_below(node, seen)],
            objects=(obj,),
        )
    for obj in waiting:
        if seen.isdisjoint(waiting[obj]):
            yield from _unfit(case, obj)
    yield from _saved_unbuilt(case, told)


def _unfit(case: Case, obj: int) -> Iterator[Finding]:
    """Find what will not fit an object when it is built."""
    misfits = sorted(outlook(case, obj).misfits, key=lambda misfit: not misfit.nodes)
    if not misfits:
        return
    it = case.live_object(obj)
    more = f" ({len(misfits) - 1} more)" if len(misfits) > 1 else ""
    yield case.finding(
        Severity.FAIL,
        Kind.NOT_BUILT,
        f"This {type(it).__name__} is not built yet, and will not fit the checkpoint when it is: "
        f"{misfits[0].why}{more}.",
        "Make the optimizer as it was when it was saved, or restore the model alone."
        if facts.is_optimizer(it)
        else "Make its layers as they were when they were saved.",
        nodes=dict.fromkeys(node for misfit in misfits for node in misfit.nodes),
        objects=(obj,),
    )


def deferred(case: Case, told: Told) -> Iterator[Finding]:
    """Find saved values that wait for something to be built."""
    seen: set[int] = set()
    waiting = _waiting(case, told)
    tops = dict.fromkeys((*waiting, *_unbuilt_optimizers(case))) if waiting else {}
    looks = {obj: outlook(case, obj) for obj in tops}
    placed = set[int]().union(*(look.placed for look in looks.values()))
    everything_fits = (
        all(look.fits for look in looks.values())
        and case.unresolved <= placed
        and not case.unmatched
        and not case.trace.unused_attributes
    )
    told_of: dict[int, tuple[list[int], list[int]]] = {}
    for obj, nodes in waiting.items():
        below = [low for node in nodes for low in case.unbound_below(node, seen)]
        below += [slot for node in below for slot in case.saved_slots_of(node)]
        left = [node for node in below if node in case.unresolved]
        if left:
            told_of[obj] = below, left
    # The finding is about the first of several objects; the doubts are those of all.
    hidden = [look for obj, look in looks.items() if obj not in told_of and obj not in told.objects]
    others = [why for look in hidden for why in (*look.doubts, *(m.why for m in look.misfits))]
    for obj, (below, left) in told_of.items():
        it, look = case.live_object(obj), looks[obj]
        wait = f"{count(len(left), 'saved value')} {'waits' if len(left) == 1 else 'wait'}"
        until = f"{wait} until this {type(it).__name__} is built"
        build = _how_to_build(case, it, below)
        doubts = look.doubts or others
        is_known = not doubts and placed.issuperset(left)
        if not is_known:
            doubt = doubts[0] if doubts else "not all of them have a place"
            why = f"{until}, and may not fit then: {doubt}."
        elif not everything_fits:
            why = f"{until}, and fit; assert_consumed() depends on the other findings."
        elif any(look.is_by_code for look in looks.values()):
            why = (
                f"{until}; assert_consumed() passes then if the program's own code makes what was "
                "saved."
            )
        else:
            alike = "of the same variables" if facts.is_optimizer(it) else "for the same inputs"
            why = f"{until} {alike}; assert_consumed() passes only then."
        yield case.finding(
            Severity.DEFERRED,
            Kind.DEFERRED,
            why,
            f"Build it before the assert: {build}."
            if is_known
            else f"Build it and check again, before you rely on it: {build}.",
            nodes=below,
            objects=(obj,),
        )


def _unbuilt_optimizers(case: Case) -> list[int]:
    """Return the saved optimizers that are not built: they make slots, whether any wait or not."""
    found = [obj for obj in case.holders if is_optimizer(case.live_node(obj))]
    return [obj for obj in found if facts.is_unbuilt(case.live_object(obj))]


def _how_to_build(case: Case, it: object, waiting: Iterable[int]) -> str:
    build = (
        "call the model once"
        if not facts.is_optimizer(it)
        else "make a step"
        if facts.is_built_by_a_step(it)
        else "optimizer.build(variables), or make a step"
    )
    if any(case.saved.tree.labels[node] == "adapt_mean" for node in waiting):
        build += ", then finalize_state() of the layers that were adapted"
    return build


def _waiting(case: Case, told: Told) -> dict[int, list[int]]:
    """Return, by unbuilt object, the saved nodes that wait for it to be built."""
    found: dict[int, list[int]] = {}
    unbuilt: dict[int, int | None] = {}
    for step in (*case.steps(Action.DEFER), *case.steps(Action.DEFER_SLOT)):
        if step.obj is None or step.node is None or step.node in case.bound:
            continue
        if step.node in told.nodes or _is_harmless(case, step.node):
            continue
        if step.obj not in unbuilt:
            unbuilt[step.obj] = _unbuilt(case, step.obj)
        obj = unbuilt[step.obj]
        if obj is not None:
            found.setdefault(obj, []).append(step.node)
    return found


def _unbuilt(case: Case, obj: int) -> int | None:
    """Return the topmost object that is not built of those that hold this one; None if all are.

    Lists and dicts count for their holder: an optimizer's lists grow when it is built.
    """
    found: int | None = None
    while obj >= ROOT and case.is_live_node(obj):
        if case.live.nodes[obj].role is not Role.CONTAINER:
            if not facts.is_unbuilt(case.live_object(obj)):
                break
            found = obj
        obj = case.live.tree.parents[obj]
    return found


def _trapped(case: Case, waiting: Mapping[int, Iterable[int]]) -> dict[int, list[int]]:
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


def _saved_unbuilt(case: Case, told: Told) -> Iterator[Finding]:
    """Find objects that were saved before they had their variables."""
    early: dict[int, list[int]] = {}
    were_unbuilt: dict[int, bool] = {}
    for top, objects in _saved_without_values(case, told).items():
        model = top
        if case.live.nodes[top].role is Role.LAYER:
            model = _model_of(case, top)
            if model not in were_unbuilt:
                were_unbuilt[model] = _was_unbuilt(case, model)
            if not were_unbuilt[model] or _was_without_weights(case, top):
                continue
        early.setdefault(model, []).extend(objects)
    for top, objects in early.items():
        number = count(len(objects), "value")
        yield case.finding(
            Severity.FAIL,
            Kind.NOT_BUILT,
            f"It was saved without {_what_optimizers_have(case, objects)}, before its first step "
            f"or by an optimizer that has none: {number} of the program stay what they are."
            if _may_have_had_none(case, top, objects)
            else "It was saved before it had its variables: the checkpoint has the object, and "
            f"nothing below it for {number} of the program.",
            "Save again after the model is built and the optimizer has made a step.",
            nodes=(case.holders[top][0],),
            objects=(top, *objects),
        )


def _what_optimizers_have(case: Case, objects: Iterable[int]) -> str:
    slots = all(case.live.nodes[obj].role is Role.SLOT for obj in objects)
    return "slot variables" if slots else "variables"


def _may_have_had_none(case: Case, top: int, objects: Iterable[int]) -> bool:
    """Return whether a saved optimizer may have been one that never has such variables."""
    if case.live.nodes[top].role is not Role.OPTIMIZER:
        return False
    of_tensorflow_1 = facts.generation(case.live_object(top)) is Generation.TENSORFLOW_1
    return of_tensorflow_1 or all(case.live.nodes[obj].role is Role.SLOT for obj in objects)


def _saved_without_values(case: Case, told: Told) -> dict[int, list[int]]:
    """Return live values by the topmost layer or optimizer over them that was saved with none."""
    found: dict[int, list[int]] = {}
    tops: dict[int, int | None] = {}
    for obj in case.run.verdicts.unmatched:
        if case.is_live_node(obj) and obj not in told.objects and not _is_count(case, obj):
            top = _topmost_without_values(case, obj, tops)
            if top is not None:
                found.setdefault(top, []).append(obj)
    return found


def _topmost_without_values(case: Case, obj: int, tops: dict[int, int | None]) -> int | None:
    slot = case.live.nodes[obj].slot
    if slot is not None and slot.optimizer is not None:
        node = case.holders.get(slot.optimizer, (None,))[0]
        if node is None or node in case.other_generation:
            return None
        return None if case.saved_with_slots(node) else slot.optimizer
    way = []
    above = obj
    while above >= 0 and above not in tops:
        way.append(above)
        above = case.live.tree.parents[above]
    top = tops.get(above)
    for passed in reversed(way):
        if top is None and _is_empty_on_the_saved_side(case, passed):
            top = passed
        tops[passed] = top
    return top


def _is_empty_on_the_saved_side(case: Case, obj: int) -> bool:
    live, nodes = case.live.nodes[obj], case.holders.get(obj, ())
    return (
        live.role in (Role.LAYER, Role.OPTIMIZER)
        and bool(nodes)
        and not any(case.valued_saved[node] for node in nodes)
    )


def _model_of(case: Case, obj: int) -> int:
    """Return the topmost layer that was saved of those that hold an object, or are it."""
    found, above = obj, case.live.tree.parents[obj]
    while above >= 0:
        if case.live.nodes[above].role is Role.LAYER and above in case.holders:
            found = above
        above = case.live.tree.parents[above]
    return found


def _was_unbuilt(case: Case, model: int) -> bool:
    """Return whether a model, of which layers have no saved values, was saved before it had any.

    A file has no types: a layer without weights looks the same. So all of several layers must
    have been saved without; those of the program, where the model is a single layer.
    """
    is_model = sum(_is_layer(case, obj) for obj in subtree(case.live, model)) > 1
    parts = _layers_with_weights(case, model if is_model else ROOT)
    if any(_had_weights(case, part) for part in parts):
        return False
    is_bare = is_model and not case.saved.nodes[case.holders[model][0]].children
    return len(parts) > 1 or is_bare  # as a Sequential of Keras 3 is before it is built


def _was_without_weights(case: Case, layer: int) -> bool:
    """Return whether a layer that was saved without values surely never has any.

    A SavedModel tells its class; Keras 3 keeps operations only in models that are built.
    """
    parts = _layers_with_weights(case, layer)
    types = [case.saved.nodes[n].type_name for part in parts for n in case.holders.get(part, ())]
    if types and WITHOUT_WEIGHTS.issuperset(types):
        return True
    above = case.live.tree.parents[layer]
    while above >= 0:
        if any(case.saved_child(node, _OPERATIONS) for node in case.holders.get(above, ())):
            return True
        above = case.live.tree.parents[above]
    return False


def _layers_with_weights(case: Case, top: int) -> list[int]:
    nodes = case.live.nodes
    return [
        obj
        for obj in subtree(case.live, top)
        if _is_layer(case, obj)
        and any(nodes[child.node_id].attributes for child in nodes[obj].children)
    ]


def _is_layer(case: Case, obj: int) -> bool:
    is_layer = case.live.nodes[obj].role is Role.LAYER
    return is_layer and not facts.is_state_of_keras(case.live_object(obj))


def _had_weights(case: Case, layer: int) -> bool:
    nodes = case.saved.nodes
    return any(
        nodes[child.node_id].attributes
        for node in case.holders.get(layer, ())
        for child in nodes[node].children
    )


# --- without a counterpart


def save_counter(case: Case, told: Told) -> Iterator[Finding]:
    """Find a `save_counter` that one side has and the other has not."""
    live = case.live.save_counter
    made = [obj for obj, name in case.run.names.items() if name == f"(root).{SAVE_COUNTER}"]
    counters = [obj for obj in (live, *made) if obj in case.unmatched and obj is not None]
    if counters:
        saved_model = _is_saved_model(case)
        yield case.finding(
            Severity.FAIL,
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
    saved = case.saved.save_counter
    if saved is not None and saved in case.unresolved:
        yield case.finding(
            Severity.FAIL,
            Kind.SAVE_COUNTER,
            "The checkpoint was saved by save(), which keeps a save_counter; read() makes none.",
            "Restore it with restore(), or write it with write().",
            nodes=(saved,),
        )


def unresolved(case: Case, told: Told) -> Iterator[Finding]:
    """Find saved values that nothing takes, one finding for each subtree."""
    exported = _exported(case, told)
    if exported is not None:
        yield exported
    told_already = told.nodes.union(exported.nodes if exported is not None else ())
    for top, group in case.unresolved_groups.items():
        nodes = [node for node in group if node not in told_already]
        if not nodes:
            continue
        harmless = _is_harmless(case, top)
        yield case.finding(
            Severity.FAIL,
            Kind.LEFTOVER if harmless else Kind.UNRESOLVED,
            f"{count(len(nodes), 'value')} that a SavedModel or Keras keeps beside the variables; "
            "the program restores them by another path, or never."
            if harmless
            else f"{_why_unresolved(case, top, len(nodes))}{_like_it(case, told, top)}.",
            "Nothing to do; expect_partial() silences the warning."
            if harmless
            else "Give the program an object under this local name, also later, or call "
            "expect_partial().",
            nodes=dict.fromkeys((top, *nodes)),
        )


def _exported(case: Case, told: Told) -> Finding | None:
    """Find what Keras wrote by `export`: the variables in lists, and no model."""
    if not case.unresolved:
        return None
    lists = [case.saved_child(ROOT, name) for name in _OF_EXPORTS]
    tops = [top for top in lists if top is not None and top not in case.bound]
    left = case.unresolved - told.nodes
    nodes = [node for top in tops for node in subtree(case.saved, top) if node in left]
    if len(tops) < len(_OF_EXPORTS) or not nodes:
        return None
    objects = [obj for obj in case.run.verdicts.unmatched if case.is_live_node(obj)]
    remedy, trial = remedy_for_export(case, lists[0])
    found = case.finding(
        Severity.FAIL,
        Kind.UNRESOLVED,
        f"Keras' export() keeps {count(len(nodes), 'value')} in lists, for serving, and no model "
        "that they belong to: a model finds none of them.",
        remedy,
        nodes=dict.fromkeys((*tops, *nodes)),
        objects=[obj for obj in objects if obj not in told.objects],
    )
    return replace(found, trial=trial)


def _why_unresolved(case: Case, top: int, number: int) -> str:
    if top in case.bound:
        return (
            f"{count(number, 'slot variable')} of this optimizer {_are(number)} not used by the "
            "program"
        )
    parent, name = case.saved.first_edges.get(top, (ROOT, ""))
    holder = case.bound.get(parent)
    what = f"{count(number, 'saved value')} here {_are(number)} not used"
    if case.saved.nodes[top].slot is not None or holder is None:
        return f"{what}: nothing in the program stands in this place"
    return f"{what}: {case.run.live_name(holder)} has no child {name!r}"


def _like_it(case: Case, told: Told, top: int) -> str:
    """Return which objects of the program are like a saved one, all of those that are equal."""
    look = case.saved_look(top)
    if not case.saved.nodes[top].children or max(map(len, case.alike(look))) > _MAX_ALIKE:
        return ""
    nodes, objects = left_alike(case, told, look)
    if top not in nodes or not objects:
        return ""
    found = belonging(case, nodes, objects).get(top)
    names = listed([case.live.name(obj) for obj in (objects if found is None else [found])])
    is_sure = found is not None or len(nodes) == len(objects) == 1
    return f"; {names} {_are(len(objects) if found is None else 1)} like it" + (
        "" if is_sure else ", and names do not tell which belong together"
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def unmatched(case: Case, told: Told) -> Iterator[Finding]:
    """Find live values that the checkpoint lacks, one finding for each subtree."""
    other = set[int]()
    for layer, values in _saved_without_values(case, told).items():
        if case.live.nodes[layer].role is Role.LAYER:
            yield _saved_as_another(case, layer, values)
            other.update(values)
    for top, group in case.unmatched_groups.items():
        objects = [obj for obj in group if obj not in told.objects and obj not in other]
        if not objects:
            continue
        number = len(objects)
        harmless = case.live.tree.labels[top] in _OF_SAVED_MODELS
        yield case.finding(
            Severity.FAIL,
            Kind.LEFTOVER if harmless else Kind.UNMATCHED,
            f"{count(number, 'value')} that a loaded SavedModel keeps beside the variables, its "
            "metrics mostly; a checkpoint of the model has none."
            if harmless
            else f"{count(number, 'value')} of the program {_are(number)} not in the checkpoint: "
            f"{_why_unmatched(case, top)}.",
            "Use assert_nontrivial_match()."
            if harmless
            else "Give the layer its vocabulary, too, when it is made; no checkpoint holds one."
            if _is_count(case, top)
            else "Keep the local names that were saved, or accept it with "
            "assert_nontrivial_match().",
            objects=dict.fromkeys((top, *objects)),
        )


def _saved_as_another(case: Case, layer: int, objects: Sequence[int]) -> Finding:
    """Find a layer with values where one without any was saved."""
    node = case.holders[layer][0]
    is_known = _was_without_weights(case, layer)
    number = len(objects)
    return case.finding(
        Severity.FAIL,
        Kind.UNMATCHED,
        f"{count(number, 'value')} of this {type(case.live_object(layer)).__name__} "
        f"{_are(number)} not in the checkpoint: what was saved in its place has no values"
        + ("." if is_known else ", as a layer without weights, or as one that was not built yet."),
        "Keep the layers that were saved, or accept it with assert_nontrivial_match()."
        if is_known
        else "Keep the layers that were saved, or save again after all of them are built.",
        nodes=(node,),
        objects=objects,
    )


def _why_unmatched(case: Case, top: int) -> str:
    if top in case.holders:
        return "it has no slot variables for this optimizer"
    parent, label = case.live.tree.parents[top], case.live.tree.labels[top]
    while parent >= 0 and parent not in case.holders:
        parent, label = case.live.tree.parents[parent], case.live.tree.labels[parent]
    if parent < 0:
        return "it has no such object"
    node = case.holders[parent][0]
    if _is_count(case, top):
        return f"{case.saved.name(node)} was given its vocabulary, and had no words to count"
    child = case.saved_child(node, label)
    if child is not None and child in case.bound:
        other = case.run.live_name(case.bound[child])
        return f"what {case.saved.name(node)} has under {label!r} goes into {other}"
    return f"{case.saved.name(node)} has nothing under {label!r}"


def unused_attributes(case: Case, told: Told) -> Iterator[Finding]:
    """Find saved attributes that the object has no place for."""
    for node, names in case.trace.unused_attributes.items():
        harmless = set(names) == {_CONFIGURATION}
        yield case.finding(
            Severity.FAIL,
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
    label, parent = case.saved.tree.labels[top], case.bound.get(case.saved.tree.parents[top])
    return (
        label in _OF_KERAS
        or (_is_saved_model(case) and label in _OF_SAVED_MODELS)
        or (parent is not None and facts.is_count(case.live_object(parent), label))
    )


def _is_count(case: Case, obj: int) -> bool:
    """Return whether a live object is what a layer counts while it is adapted to data."""
    parent = case.live.tree.parents[obj]
    return parent >= 0 and facts.is_count(case.live_object(parent), case.live.tree.labels[obj])


def _is_saved_model(case: Case) -> bool:
    found = case.saved.provenance
    return found is not None and found.format is Format.SAVED_MODEL
