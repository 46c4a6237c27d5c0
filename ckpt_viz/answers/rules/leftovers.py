"""Values and attributes that have no counterpart on the other side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.harmless import (
    OF_SAVED_MODELS,
    is_count_of_keras,
    is_harmless,
    is_saved_model,
)
from ckpt_viz.answers.evidence.without_values import saved_without_values, was_without_weights
from ckpt_viz.graphs.nodes.exported import exported_lists
from ckpt_viz.graphs.nodes.nodes import CONFIGURATION, ROOT, Role, has_value
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import Advice, Fix, HowFixed, Remedy
from ckpt_viz.ground.text import count, listed
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.pairs import Certainty

_MAX_ALIKE = 32  # if there are more, the finding does not mention them


def save_counter(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find a `save_counter` that only one side has."""
    is_save_counter = case.run.outcome.names.is_save_counter
    counters = [obj for obj in case.run.verdicts.unmatched if is_save_counter(obj)]
    if counters:
        saved_model = is_saved_model(case)
        yield case.run.finding(
            Severity.FAIL,
            Kind.LEFTOVER if saved_model else Kind.SAVE_COUNTER,
            "A SavedModel has no save_counter, so this tf.train.Checkpoint keeps its own."
            if saved_model
            else "write() stored no save_counter in this checkpoint, and restore() expects one.",
            "Call assert_nontrivial_match() or expect_partial() instead."
            if saved_model
            else "Read the checkpoint with read(), or save it with save().",
            objects=counters,
        )
    saved = case.saved.save_counter
    if saved is not None and saved in case.unresolved:
        yield case.run.finding(
            Severity.FAIL,
            Kind.SAVE_COUNTER,
            "save() stored a save_counter in this checkpoint, and read() does not restore it.",
            "Restore the checkpoint with restore(), or write it with write().",
            nodes=(saved,),
        )


def exported(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find files that Keras wrote by `export`: the variables in lists, and no model."""
    if not case.unresolved:
        return
    tops = [top for top in exported_lists(case.saved.nodes) if top not in case.trace.bound]
    left = case.unresolved - explained.nodes
    nodes = [node for top in tops for node in case.saved.tree.below(top) if node in left]
    if len(tops) < 2 or not nodes:
        return
    objects = [obj for obj in case.run.verdicts.unmatched if case.live_side.is_in_graph(obj)]
    yield case.run.finding(
        Severity.FAIL,
        Kind.UNRESOLVED,
        f"Keras' export() stored {count(len(nodes), 'value')} in lists for serving, without the "
        "model, so a model finds no value.",
        case.fix_of(nodes) or Advice("Save the model with tf.train.Checkpoint or save()."),
        nodes=(*tops, *nodes),
        objects=[obj for obj in objects if obj not in explained.objects],
    )


def kept_beside(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find values that a SavedModel or Keras keeps beside the variables."""
    for top, group in case.saved_side.unresolved_groups.items():
        nodes = [node for node in group if node not in explained.nodes and _is_valued(case, node)]
        if nodes and is_harmless(case, top):
            yield case.run.finding(
                Severity.FAIL,
                Kind.LEFTOVER,
                f"A SavedModel or Keras keeps {count(len(nodes), 'value')} beside the variables; "
                "the program restores them by another path, or never.",
                "Ignore this; call expect_partial() to silence the warning.",
                nodes=(top, *nodes),
            )
    for top, group in case.live_side.unmatched_groups.items():
        objects = [obj for obj in group if obj not in explained.objects]
        if objects and case.live.tree.labels[top] in OF_SAVED_MODELS:
            yield case.run.finding(
                Severity.FAIL,
                Kind.LEFTOVER,
                f"A loaded SavedModel keeps {count(len(objects), 'value')} beside the variables, "
                "mostly metrics; a checkpoint of the model lacks them.",
                "Call assert_nontrivial_match() instead.",
                objects=(top, *objects),
            )


def unresolved(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find saved values that no object takes, one finding for each subtree."""
    for top, group in case.saved_side.unresolved_groups.items():
        nodes = [node for node in group if node not in explained.nodes and _is_valued(case, node)]
        if nodes:
            yield case.run.finding(
                Severity.FAIL,
                Kind.UNRESOLVED,
                f"{_why_unresolved(case, top, len(nodes))}{_like_it(case, top)}.",
                case.fix_of(nodes)
                or Advice(
                    "Give the program an object of this local name, now or later, or call "
                    "expect_partial()."
                ),
                nodes=(top, *nodes),
            )


def _why_unresolved(case: Case, top: int, number: int) -> str:
    if top in case.trace.bound:
        return f"The program does not use {count(number, 'slot variable')} of this optimizer"
    parent, name = case.saved.first_edges.get(top, (ROOT, ""))
    holder = case.trace.bound.get(parent)
    values = count(number, "saved value")
    if case.saved.nodes[top].slot is not None or holder is None:
        return f"The program has nothing here for {values}"
    place = case.live_side.place(holder)
    if case.live_side.is_in_graph(holder):
        place = case.live.names.place_of_part(holder)
        name = case.live.names.name_beside(holder, case.saved.names.name(top), name)
    return f"The program has no place for {values}: {place} has no child {name!r}"


def _like_it(case: Case, top: int) -> str:
    """Return the objects of the program that look like a saved object and belong to no other."""
    alike = case.signatures.alike(case.signatures.of_saved(top))
    if not case.saved.nodes[top].children or max(map(len, alike)) > _MAX_ALIKE:
        return ""
    parts = case.run.mapping.parts.values()
    sure = {pair.obj for pair in parts if pair.certainty is not Certainty.GUESS}
    names = [case.live_side.place(obj) for obj in alike.objects if obj not in sure]
    if not names:
        return ""
    looks = "looks" if len(names) == 1 else "look"
    return f"; {listed(names)} {looks} like it, but names do not show which belong together"


def saved_as_another(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find layers with values whose saved counterparts had none, or counted no words."""
    for layer, values in saved_without_values(case, explained).items():
        if case.live.nodes[layer].role is Role.LAYER:
            yield _saved_as_another(case, layer, values)
    for top, group in case.live_side.unmatched_groups.items():
        objects = [obj for obj in group if obj not in explained.objects]
        if objects and is_count_of_keras(case, top):
            yield _lacking(
                case,
                top,
                objects,
                Advice("Give the layer its vocabulary when you make it; no checkpoint holds one."),
            )


def unmatched(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find live values that no saved value reaches, one finding for each subtree."""
    for top, group in case.live_side.unmatched_groups.items():
        objects = [obj for obj in group if obj not in explained.objects]
        elsewhere = [obj for obj in objects if obj in case.filled_by_fix]
        absent = [obj for obj in objects if obj not in case.filled_by_fix]
        if absent:
            yield _lacking(
                case,
                top,
                absent,
                Advice(
                    "Keep the saved local names, or accept the difference with "
                    "assert_nontrivial_match()."
                ),
            )
        if elsewhere:
            yield case.run.finding(
                Severity.FAIL,
                Kind.UNMATCHED,
                f"No saved value has the place of {count(len(elsewhere), 'value')} of the program: "
                "the checkpoint has them in other places.",
                Fix(HowFixed.BY_PLACES, len(elsewhere)),
                objects=(top, *elsewhere),
            )


def _lacking(case: Case, top: int, objects: Sequence[int], remedy: Remedy) -> Finding:
    return case.run.finding(
        Severity.FAIL,
        Kind.UNMATCHED,
        f"The checkpoint lacks {count(len(objects), 'value')} of the program: "
        f"{_why_unmatched(case, top)}.",
        remedy,
        objects=(top, *objects),
    )


def _saved_as_another(case: Case, layer: int, objects: Sequence[int]) -> Finding:
    """Find a layer with values whose saved counterpart had none."""
    node = case.trace.holders[layer][0]
    is_known = was_without_weights(case, layer)
    number = len(objects)
    return case.run.finding(
        Severity.FAIL,
        Kind.UNMATCHED,
        f"The checkpoint lacks {count(number, 'value')} of this "
        f"{type(case.live_side.object(layer)).__name__}: what was saved in its place has "
        + ("no weights." if is_known else "no weights, or was not built yet."),
        "Keep the saved layers, or accept the difference with assert_nontrivial_match()."
        if is_known
        else "Keep the saved layers, or save again after you have built all of them.",
        nodes=(node,),
        objects=objects,
    )


def _why_unmatched(case: Case, top: int) -> str:
    if top in case.trace.holders:
        return "it has no slot variables for this optimizer"
    obj, tree = top, case.live.tree
    while tree.parents[obj] >= 0 and tree.parents[obj] not in case.trace.holders:
        obj = tree.parents[obj]
    if tree.parents[obj] < 0:
        return "it has no such object"
    label, node = tree.labels[obj], case.trace.holders[tree.parents[obj]][0]
    holder = case.saved.names.place_of_part(node)
    if is_count_of_keras(case, top):
        return f"{holder} got a ready vocabulary and counted no words"
    child = case.saved_side.child(node, label)
    if child is not None and child in case.trace.bound:
        other = case.live_side.place(case.trace.bound[child])
        return f"the child {case.saved.names.name(child)!r} of {holder} goes into {other}"
    name = case.saved.names.name_beside(node, case.live.names.name(obj), label)
    return f"{holder} has no child {name!r}"


def _is_valued(case: Case, node: int) -> bool:
    return has_value(case.saved.nodes[node])


def unused_attributes(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find saved attributes that the object has no place for; all configurations in one finding."""
    unused = case.trace.unused_attributes
    configured = {node: None for node, names in unused.items() if set(names) == {CONFIGURATION}}
    for node, names in unused.items():
        if node not in configured:
            yield case.run.finding(
                Severity.FAIL,
                Kind.UNUSED_ATTRIBUTE,
                f"The object in the program has no place for the saved {listed(names)}.",
                "Restore into an object of the saved class, or rename the attribute.",
                nodes=(node,),
                objects=(case.trace.bound[node],),
            )
    gone = [node for node in sorted(case.unresolved) if not _is_valued(case, node)]
    if configured or gone:
        number = len(configured) + len(gone)
        stored = "the layer's configuration" if number == 1 else f"{number} layers' configurations"
        yield case.run.finding(
            Severity.FAIL,
            Kind.LEFTOVER,
            f"An old version of Keras stored {stored} here, and nothing reads "
            f"{'it' if number == 1 else 'them'} now.",
            "Ignore this; assert_consumed() still fails.",
            nodes=(*configured, *gone),
            objects=[case.trace.bound[node] for node in configured],
        )
