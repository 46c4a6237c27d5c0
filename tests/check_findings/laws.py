"""The claim of a finding of each kind, verified by a real restore."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import ckpt_viz as cv
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.graphs.nodes.nodes import has_value
from ckpt_viz.graphs.overlay.remedy import OtherPath, PathResult
from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.real import Real, restored, value_of
from tests.check_findings.table import ERROR, FAIL, WARNING
from tests.support.oracle import raised_by

Law = Callable[[Finding, Real], None]
LAWS: dict[Kind, Law] = {}


def law(kind: Kind) -> Callable[[Law], Law]:
    def add(one: Law) -> Law:
        LAWS[kind] = one
        return one

    return add


@law(Kind.WRONG_PATH)
def the_prefix_that_is_named_gives_what_it_says(finding: Finding, real: Real) -> None:
    assert (real.raised is not None) == (finding.severity is ERROR)
    assert all(map(real.stays, real.before))
    other = finding.remedy
    if not isinstance(other, OtherPath):
        assert "did you mean" in str(other) or "latest_checkpoint" in str(other)
        return
    there = at_other_path(other, real)
    passes = there.raised is None and there.asserts["assert_consumed"] is None
    assert other.result is (
        PathResult.RAISES
        if there.raised is not None
        else PathResult.PASSES
        if passes
        else PathResult.FAILS
    )


def at_other_path(other: OtherPath, real: Real) -> Real:
    """Return what a real restore of the path in a remedy does."""
    pair = replace(real.pair, path=other.path)
    return restored(pair, cv.check(pair.make(), pair.path))


@law(Kind.DAMAGED)
def reading_the_values_raises(finding: Finding, real: Real) -> None:
    """Every value of the finding is damaged, and a file that the remedy names is whole."""
    assert finding.nodes or real.check.saved is None
    for node in finding.nodes:
        assert isinstance(raised_by(partial(real.stored, node)), cv.FormatError)
    raised = real.raised if finding.severity is ERROR else real.built()
    assert re.search(rf"raises {type(raised).__name__}[:.]", finding.why)
    if isinstance(finding.remedy, OtherPath):
        assert finding.remedy.result is PathResult.IS_WHOLE
        there = at_other_path(finding.remedy, real)
        assert there.raised is None and there.asserts["assert_consumed"] is None


@law(Kind.PROCESS_ABORT)
def the_process_ends(finding: Finding, real: Real) -> None:
    raise AssertionError("a test of its own looks at this from outside")


@law(Kind.POISONED_CONTAINER)
def the_container_cannot_be_listed(finding: Finding, real: Real) -> None:
    raised = real.raised if finding.severity is ERROR else real.asserts["assert_consumed"]
    assert isinstance(raised, ValueError) and "Unable to save the object" in str(raised)
    assert raised_by(lambda: real.target.write(f"{real.pair.path}-again")) is not None


@law(Kind.SLOT_REUSED)
def every_assert_raises(finding: Finding, real: Real) -> None:
    assert {type(error) for error in real.asserts.values()} == {NotImplementedError}


@law(Kind.STRATEGY_SCOPE)
def the_scope_is_in_the_way(finding: Finding, real: Real) -> None:
    if finding.severity is ERROR:
        assert type(real.raised).__name__ == finding.why.partition(":")[0]
        return
    assert finding.nodes
    assert all(node not in real.taken for node in finding.nodes)
    assert real.pair.after is not None
    real.pair.after(real.target)
    real.status.assert_consumed()


def is_valued(graph: Any, node: int) -> bool:
    return bool(graph.nodes[node].attributes)


@law(Kind.UNRELATED)
def nothing_of_substance_is_restored(finding: Finding, real: Real) -> None:
    substance = [obj for obj, value in real.before.items() if value.ndim]
    assert substance and all(map(real.stays, substance))


@law(Kind.OPTIMIZER_GENERATION)
def the_model_alone_is_restored(finding: Finding, real: Real) -> None:
    if finding.severity is ERROR:
        assert real.raised is not None
        return
    assert (real.asserts["assert_consumed"] is None) <= (finding.severity is WARNING)
    if "The rest of the checkpoint fits" not in finding.why:
        return
    state = set(finding.nodes)
    others = [n for n, node in enumerate(real.saved.nodes) if node.attributes and n not in state]
    for node in others:
        if real.bound(node) in real.before:
            assert real.holds(real.bound(node), node)


@law(Kind.RENAMED)
def neither_side_finds_the_other(finding: Finding, real: Real) -> None:
    assert any(node not in real.taken for node in finding.nodes)
    variables = real.variables(finding.objects)
    assert variables and all(map(real.stays, variables))


@law(Kind.NOT_BUILT)
def values_are_not_restored_later_either(finding: Finding, real: Real) -> None:
    if real.pair.after is None:
        assert all(map(real.stays, real.variables(finding.objects)))
        assert real.asserts["assert_existing_objects_matched"] is not None
        return
    raised = real.built()
    left = [node for node in _valued(finding, real) if not real.holds_when_built(node)]
    assert left or raised is not None or not finding.nodes
    assert raised is not None or raised_by(real.status.assert_consumed) is not None


def _valued(finding: Finding, real: Real) -> list[int]:
    return [node for node in finding.nodes if has_value(real.saved.nodes[node])]


@law(Kind.OPTIMIZER_MISSING)
def all_but_the_optimizer_is_restored(finding: Finding, real: Real) -> None:
    assert all(map(real.stays, real.variables(finding.objects)))
    if "everything else" in finding.why:
        valued = [n for n, node in enumerate(real.saved.nodes) if node.attributes]
        assert {n for n in valued if n not in real.taken} <= set(finding.nodes)


@law(Kind.SAVE_COUNTER)
def the_counter_is_missed(finding: Finding, real: Real) -> None:
    assert real.asserts["assert_consumed"] is not None
    if finding.nodes:
        assert finding.nodes[0] not in real.taken
    else:
        assert "save_counter" in str(real.asserts["assert_existing_objects_matched"])


@law(Kind.MISPLACED)
def values_go_where_others_belong(finding: Finding, real: Real) -> None:
    wired = [node for node in finding.nodes if node in real.trace.bound]
    assert wired
    if real.raised is not None:
        assert "shape" in str(real.raised)
        return
    wrong = 0
    for node in wired:
        obj = real.bound(node)
        assert real.holds(obj, node)
        place, live_place = (
            graph.path(one) for graph, one in ((real.saved, node), (real.check.live, obj))
        )
        wrong += place != live_place or _full_name(real.saved, node) != _full_name(
            real.check.live, obj
        )
    assert wrong


def _full_name(graph: Any, node: int) -> str:
    return str(graph.nodes[node].attributes[0].full_name)


@law(Kind.SWAPPED)
def variables_hold_each_others_values(finding: Finding, real: Real) -> None:
    full_names = {_own_name(real.saved, n): n for n in range(len(real.saved.nodes))}
    others = 0
    for node, obj in zip(finding.nodes, finding.objects, strict=True):
        assert real.holds(obj, node)
        saved, live = real.saved.nodes[node], real.check.live.nodes[obj]
        if saved.slot is not None and live.slot is not None:
            others += saved.slot.name != live.slot.name
            continue
        live_name = _own_name(real.check.live, obj)
        assert _own_name(real.saved, node) != live_name
        if live_name in full_names:
            others += not real.holds(obj, full_names[live_name])
    assert others


def _own_name(graph: Any, node: int) -> str:
    """Return a variable's name: of its slots, without the model and numbers, or its full name."""
    slots = (n for n in graph.nodes if n.slot is not None and n.slot.variable == node)
    name = next((n.attributes[0].full_name for n in slots if n.attributes), "")
    if "_" in name.rpartition("/")[2] and name.count("/") == 1:
        return re.sub(r"_\d+(?=_|$)", "", name.rpartition("/")[2].partition("_")[2])
    attributes = graph.nodes[node].attributes
    return str(attributes[0].full_name) if attributes else ""


@law(Kind.UNTIED)
def only_the_first_gets_the_value(finding: Finding, real: Real) -> None:
    number = len(finding.nodes)
    assert len(finding.objects) == 2 * number
    firsts, others = finding.objects[:number], finding.objects[number:]
    for node, first, other in zip(finding.nodes, firsts, others, strict=True):
        assert real.holds(first, node)
        if other not in real.trace.bound.values():  # or else it has another value of its own
            assert real.stays(other) and not real.holds(other, node)


@law(Kind.VALUE_LOST)
def the_variable_holds_the_one_and_not_the_other(finding: Finding, real: Real) -> None:
    lost, kept = finding.nodes
    (obj,) = finding.objects
    assert real.holds(obj, kept)
    assert not real.holds(obj, lost)
    assert all(node in real.taken for node in (kept, lost))


@law(Kind.NEVER_RESTORED)
def the_value_stays(finding: Finding, real: Real) -> None:
    variables = real.variables(finding.objects)
    assert variables and all(map(real.stays, variables))
    assert all(node in real.taken for node in finding.nodes)


@law(Kind.TENSOR_IGNORED)
def the_tensor_is_stored_and_not_handed_over(finding: Finding, real: Real) -> None:
    node, obj = finding.nodes[0], finding.objects[0]
    stored = {attribute.name for attribute in real.saved.nodes[node].attributes}
    assert set(real.objects[obj].restored or ()) < stored
    assert real.asserts["assert_consumed"] is None


@law(Kind.SAVER_UNKNOWN)
def the_saver_does_not_run(finding: Finding, real: Real) -> None:
    if finding.severity is ERROR:
        assert "predicate does not pass" in str(real.raised)
    else:
        assert all(node in real.taken for node in finding.nodes)
        assert all(map(real.stays, real.variables(finding.objects)))


@law(Kind.NOT_TRACKED)
def what_is_hidden_stays_and_every_assert_passes(finding: Finding, real: Real) -> None:
    if real.pair.hidden is not None:
        assert real.asserts["assert_consumed"] is None
        known = {id(obj) for obj in real.objects}
        assert all(id(one) not in known for one in real.pair.hidden(real.target))
        keys = {key for key, _ in tf_list(real.pair.path)}
        assert len(keys) - 1 == sum(bool(node.attributes) for node in real.saved.nodes)


def tf_list(path: str) -> list[tuple[str, list[int]]]:
    import tensorflow as tf

    found: list[tuple[str, list[int]]] = tf.train.list_variables(path)
    return found


@law(Kind.SHAPE)
@law(Kind.DTYPE)
def the_value_does_not_fit(finding: Finding, real: Real) -> None:
    if finding.severity is WARNING:
        _check_in_session(finding, real)
        return
    assert finding.kind.value in str(real.raised)
    for node, obj in zip(finding.nodes, real.variables(finding.objects), strict=False):
        live, stored = real.before[obj], real.stored(node)
        assert getattr(live, finding.kind.value) != getattr(stored, finding.kind.value)


def _check_in_session(finding: Finding, real: Real) -> None:
    import tensorflow as tf

    assert real.raised is None
    variable = real.objects[finding.objects[0]]
    with real.pair.within(), tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        if finding.kind is Kind.DTYPE:
            raised = raised_by(lambda: real.status.run_restore_ops(session))
            assert isinstance(raised, tf.errors.InvalidArgumentError)
        else:
            real.status.run_restore_ops(session)
            assert session.run(variable.read_value()).shape == real.stored(finding.nodes[0]).shape
            assert variable.shape != real.stored(finding.nodes[0]).shape


@law(Kind.KEY_MISSING)
def the_value_cannot_be_read(finding: Finding, real: Real) -> None:
    missing = re.search(r"Key (\S+) not found", finding.why)
    if missing is not None:
        assert missing[0] in str(real.raised)
        assert missing[1] not in dict(tf_list(real.pair.path))
    elif "stage" in finding.why:
        live = re.search(r"the program's in (\S+):", finding.why)
        assert live is not None
        last = live[1].rpartition("::")[2]
        assert re.search(rf"restore dataset iterator from checkpoint: \S*{last}", str(real.raised))
    else:
        assert raised_by(lambda: _read_all(real.pair.path)) is not None


def _read_all(path: str) -> None:
    import tensorflow as tf

    reader = tf.train.load_checkpoint(path)
    for key in reader.get_variable_to_shape_map():
        reader.get_tensor(key)


@law(Kind.PARTIAL_OVERWRITE)
def just_these_are_overwritten(finding: Finding, real: Real) -> None:
    assert real.raised is not None
    assert all(real.stays(obj) for obj in real.before if obj not in finding.objects)
    for node, obj in zip(finding.nodes, finding.objects, strict=True):
        assert real.holds(obj, node)


@law(Kind.UNRESOLVED)
def nothing_takes_these_values(finding: Finding, real: Real) -> None:
    assert real.asserts["assert_consumed"] is not None
    valued = [node for node in finding.nodes if real.saved.nodes[node].attributes]
    assert valued and all(node not in real.taken for node in valued)


@law(Kind.UNMATCHED)
def these_stay_what_they_are(finding: Finding, real: Real) -> None:
    assert real.asserts["assert_existing_objects_matched"] is not None
    taken = {id(obj) for obj in real.taken.values()}
    valued = [obj for obj in finding.objects if real.check.live.nodes[obj].attributes]
    assert valued and all(id(real.objects[obj]) not in taken for obj in valued)
    assert all(map(real.stays, real.variables(valued)))


@law(Kind.UNUSED_ATTRIBUTE)
def the_object_has_no_place_for_it(finding: Finding, real: Real) -> None:
    (node,) = finding.nodes
    names = real.status._checkpoint.unused_attributes[node]
    assert all(name in finding.why for name in names)


@law(Kind.DEFERRED)
def it_is_restored_once_it_is_built_if_that_is_promised(finding: Finding, real: Real) -> None:
    assert real.asserts["assert_consumed"] is not None
    waiting = _valued(finding, real)
    assert waiting and all(node not in real.taken for node in waiting)
    if "Then assert_consumed() passes" not in finding.why:
        assert re.search("may not fit then: |depends on the other findings", finding.why)
        return
    assert real.built() is None
    real.status.assert_consumed()
    assert real.before == {} or all(map(real.holds_when_built, waiting))  # a graph has no values


@law(Kind.OVERWRITTEN)
def the_number_is_replaced(finding: Finding, real: Real) -> None:
    ((obj,), found) = (
        finding.objects,
        re.findall(r"(?:from|the saved) ([0-9.e+-]+?)(?: to|\.$)", finding.why),
    )
    assert [float(f"{float(value):.7g}") for value in (real.before[obj], real.now(obj))] == [
        float(number) for number in found
    ]


@law(Kind.UNKNOWABLE)
def only_running_it_shows(finding: Finding, real: Real) -> None:
    if finding.severity is ERROR:
        assert type(real.raised).__name__ in finding.why
    elif "items that look alike" in finding.why:
        said = re.search(r"so (\d+) value", finding.why)
        assert said is not None and len(finding.nodes) == int(said[1])
        assert real.asserts["assert_consumed"] is not None
        for node, obj in zip(finding.nodes, finding.objects, strict=True):
            assert real.holds(obj, node)
    elif finding.objects:
        assert _has_taken_its_value(real, finding.objects[0])
    else:
        assert real.before == {}  # a graph: nothing has a value before a session runs it


def _has_taken_its_value(real: Real, obj: int) -> bool:
    restored: Any = real.objects[obj]
    return restored.restored is not None


@law(Kind.LEFTOVER)
def what_the_program_has_is_restored(finding: Finding, real: Real) -> None:
    assert real.asserts["assert_consumed"] is not None
    if "configurations here" in finding.why:  # other findings tell of the values
        assert not any(has_value(real.saved.nodes[node]) for node in finding.nodes)
        return
    assert not [n for n in real.check.unmatched if not re.match(r"\(root\)\.(save_c|keras_api)", n)]
    for node, obj in real.trace.bound.items():
        if obj in real.before and real.saved.nodes[node].attributes:
            assert real.holds(obj, node)


def by_names(finding: Finding, real: Real) -> None:
    """Ask the same of a name-based checkpoint, where there are no nodes to ask for."""
    if finding.severity is ERROR:
        assert real.raised is not None
    elif finding.kind is Kind.LEFTOVER:
        assert finding.saved is not None
        assert finding.saved in dict(tf_list(real.pair.path))
        assert finding.saved not in real.check.bound
    elif finding.kind is Kind.UNKNOWABLE:
        assert real.asserts["assert_consumed"] is not None
    elif real.raised is None:
        assert all(map(real.stays, real.variables(finding.objects)))
        assert real.asserts["assert_consumed"] is not None


def fails_only_what_an_assert_tells(finding: Finding, real: Real) -> None:
    """Check that an exception, or an assert about these nodes, confirms a severity."""
    if real.raised is not None:
        return
    assert finding.severity is not ERROR
    if finding.severity is FAIL:
        assert any(error is not None for error in real.asserts.values())
    if finding.kind in _ABOUT_WHERE_VALUES_GO:
        verdicts = real.check._run.verdicts
        left = {*verdicts.unresolved} & {*finding.nodes}, {*verdicts.unmatched} & {*finding.objects}
        assert (finding.severity is FAIL) == any(left)


_ABOUT_WHERE_VALUES_GO = {Kind.MISPLACED, Kind.UNTIED}


def ask(finding: Finding, real: Real) -> None:
    """Check that the claim of a finding is true."""
    fails_only_what_an_assert_tells(finding, real)
    is_by_names = real.check.saved is None and finding.kind is not Kind.WRONG_PATH
    is_unread = finding.kind is Kind.KEY_MISSING
    if is_by_names and not is_unread:
        by_names(finding, real)
    elif tells_of_its_change(finding):
        the_fix_puts_the_values_into_their_new_places(finding, real)
    elif real.raised is None or finding.severity is ERROR or finding.kind in _SHOWN_BY_RAISING:
        LAWS[finding.kind](finding, real)


def tells_of_its_change(finding: Finding) -> bool:
    """Return whether a finding has the words of its change, and none of the rules."""
    change = finding.change
    return change is not None and finding.why.startswith(change.why.removesuffix("."))


# Kinds whose claim can be asked of a restore that raises, too.
_SHOWN_BY_RAISING = {Kind.WRONG_PATH, Kind.MISPLACED}


@law(Kind.ROOT_SHIFTED)
@law(Kind.MIGRATED)
@law(Kind.SCOPE_CHANGED)
@law(Kind.INSERTED)
@law(Kind.REMOVED)
@law(Kind.REORDERED)
@law(Kind.CONTAINER_CHANGED)
@law(Kind.WRAPPED)
@law(Kind.UNWRAPPED)
@law(Kind.MOVED)
@law(Kind.OPTIMIZER_CHANGED)
def the_fix_puts_the_values_into_their_new_places(finding: Finding, real: Real) -> None:
    assert finding.change is not None
    fix, graph = real.fixed()
    if graph is None:
        return
    names = {graph.name(obj): obj for obj in range(len(graph.nodes))}
    before = {real.check.live.name(obj): obj for obj in range(len(real.check.live.nodes))}
    named = {real.check.live.name(obj) for obj in finding.objects}
    felt = named.intersection(fix.missing) | named.intersection(real.check.unmatched)
    for node in _valued(finding, real):
        key = real.saved.nodes[node].attributes[0].checkpoint_key
        if key not in fix.pairs:
            assert key in fix.unused
            felt.add(key)
            continue
        name = fix.pairs[key]
        assert np.array_equal(value_of(graph.object(names[name])), real.stored(node))
        if real.raised is not None or real.taken.get(node) is not real.objects[before[name]]:
            felt.add(key)
    assert felt
