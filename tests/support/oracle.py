"""TensorFlow as the oracle of a restore check: the same restore, dry and real, side by side.

A dry run of one target must predict the real restore of another target, built in the same way.
Names, bindings and leftovers of the real one come from TensorFlow's own bookkeeping.
"""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any
from unittest import mock

import ckpt_viz as cv
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.matching.engines.trace import Action, Trace
from tests.support.laws import State, state_of
from tests.support.outcomes import assert_outcomes
from tests.support.programs import checkpoint_of, is_checkpoint
from tests.support.spellings import misspelled
from tests.support.stories import assert_stories
from tests.support.told import told
from tests.support.watched_restore import Watch, differing_events, watched_restore


@dataclass(frozen=True)
class Outcome:
    """What a restore does, dry or real.

    Exceptions are names of classes, None if nothing is raised. `messages` has their texts, by the
    field with the class. `bound` has the saved name and the live one by node id. For a name-based
    checkpoint, it has the name of the tensor and the live one by tensor. `unmatched` is sorted, and
    None if TensorFlow cannot list the live objects. `watch` has what a real restore did, in order.
    """

    raises: str | None = None
    consumed: str | None = None
    existing_objects_matched: str | None = None
    nontrivial_match: str | None = None
    unresolved: tuple[str, ...] = ()
    unmatched: tuple[str, ...] | None = ()
    unused_attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bound: Mapping[int | str, tuple[str, str]] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict, compare=False)
    watch: Watch = field(default_factory=Watch, compare=False)


@dataclass(frozen=True)
class Comparison:
    """A check that agreed with TensorFlow, their outcome, and the target of the real restore."""

    check: RestoreCheck
    outcome: Outcome
    target: Any


def compare(
    make_target: Callable[[], Any],
    saved: Any,
    *,
    method: str | None = None,
    options: Any = None,
    verify: bool = False,
) -> Comparison:
    """Assert that a dry run and a real restore agree, and that the dry one changes nothing.

    `make_target` creates the same objects in each call: something to restore into, as
    `ckpt_viz.check` takes it. `saved` is a path, None, or the ObjectGraph of a checkpoint.
    """
    watched = make_target()
    before = state_of(watched)
    check = cv.check(watched, saved, method=method, options=options, verify=verify)
    predicted = outcome_of_check(check)
    changed = _changes(before, state_of(watched))
    assert not changed, "the dry run changed its target:\n" + "\n".join(changed)

    target = make_target()
    provenance = getattr(saved, "provenance", None)
    path = provenance.prefix if provenance is not None else saved
    outcome = outcome_of_restore(target, path, method=method, options=options)
    differences = list(_differences(predicted, outcome))
    if isinstance(check._run.trace, Trace):
        differences += differing_events(check._run.trace, outcome.watch)
        assert_every_bound_node_is_visited(check._run.trace)
    assert not differences, "the check and TensorFlow disagree:\n" + "\n".join(differences)
    unconfirmed = [finding for finding in told(check) if not _is_confirmed(finding, outcome)]
    assert not unconfirmed, f"severities that no exception or assert confirms: {unconfirmed}"
    assert misspelled(check) == []
    assert_stories(check, outcome.messages)
    assert_outcomes(check, outcome.watch, has_raised=outcome.raises is not None)
    return Comparison(check, outcome, target)


def assert_every_bound_node_is_visited(trace: Trace) -> None:
    """Assert that each bound node has a step of its own, without a parent, after its BIND."""
    bound: set[int | None] = set()
    for step in trace.steps:
        if step.action is Action.BIND:
            bound.add(step.node)
        elif step.parent is None and step.action is not Action.CREATE:
            bound.discard(step.node)
    assert not bound, f"nodes without a visit: {bound}"


def _is_confirmed(finding: Finding, outcome: Outcome) -> bool:
    """Return whether an exception of the restore, or an assert, confirms a severity."""
    asserts = (outcome.consumed, outcome.existing_objects_matched, outcome.nontrivial_match)
    if finding.severity is Severity.ERROR:
        return outcome.raises is not None
    return (
        finding.severity is not Severity.FAIL
        or outcome.raises is not None
        or any(one is not None for one in asserts)
    )


def _changes(before: State, after: State) -> list[str]:
    changed = [
        f"  {before[key]}\n  -> {after.get(key)}" for key in before if before[key] != after.get(key)
    ]
    return changed + [f"  new: {after[key]}" for key in after.keys() - before.keys()]


def _differences(predicted: Outcome, outcome: Outcome) -> Iterator[str]:
    for one in fields(Outcome):
        ours, theirs = getattr(predicted, one.name), getattr(outcome, one.name)
        cannot_be_listed = one.name == "unmatched" and theirs is None
        if ours == theirs or cannot_be_listed or not one.compare:
            continue
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            for key in sorted({*ours, *theirs}, key=str):
                if ours.get(key) != theirs.get(key):
                    yield f"  {one.name}[{key!r}]: check {ours.get(key)}, TF {theirs.get(key)}"
        else:
            yield f"  {one.name}: check {ours}, TF {theirs}"
        if one.name in outcome.messages:
            yield f"  (TF: {outcome.messages[one.name]})"


def raised_by(call: Callable[[], object]) -> Exception | None:
    """Return what a call raises, None if it returns."""
    try:
        call()
    except Exception as error:
        return error.with_traceback(None)  # whose frames would keep all their objects alive
    return None


def _class_of(error: Exception | None) -> str | None:
    return None if error is None else type(error).__name__


_Asserts = Mapping[str, Exception | None]


def _asserts(status: Any) -> _Asserts:
    """Return what the asserts of a status, or of a check, raise."""
    return {
        "consumed": raised_by(status.assert_consumed),
        "existing_objects_matched": raised_by(status.assert_existing_objects_matched),
        "nontrivial_match": raised_by(status.assert_nontrivial_match),
    }


def _outcome(asserts: _Asserts, **seen: Any) -> Outcome:
    messages = {name: str(error) for name, error in asserts.items() if error is not None}
    return Outcome(
        consumed=_class_of(asserts["consumed"]),
        existing_objects_matched=_class_of(asserts["existing_objects_matched"]),
        nontrivial_match=_class_of(asserts["nontrivial_match"]),
        messages=messages,
        **seen,
    )


def _raising(kind: str, message: str) -> Outcome:
    """Return the outcome of a restore that raises: there is no status to ask."""
    return Outcome(kind, kind, kind, kind, messages={"raises": message})


# --- the dry run


def outcome_of_check(check: RestoreCheck) -> Outcome:
    """Return what a check predicts."""
    asserts = _asserts(check)
    assert {name: getattr(check, name) for name in asserts} == {
        name: error is None for name, error in asserts.items()
    }
    if check.raises is not None:
        assert {_class_of(error) for error in asserts.values()} == {check.raises.type}
        return _raising(check.raises.type, check.raises.message)
    return _outcome(
        asserts,
        unresolved=check.unresolved,
        unmatched=tuple(sorted(check.unmatched)),
        unused_attributes=dict(check.unused_attributes),
        bound=_bindings_of_check(check),
    )


def _bindings_of_check(check: RestoreCheck) -> dict[int | str, tuple[str, str]]:
    """Return what is bound, by node id: names may collide (an edge called `a.b`)."""
    trace = check._run.trace
    if check.saved is None or trace is None:
        return {name: (name, live) for name, live in check.bound.items()}
    by_id = {
        node: (check.saved.name(int(node)), check._run.live_name(obj))  # type: ignore[arg-type]
        for node, obj in trace.bound.items()
    }
    assert dict(by_id.values()) == check.bound
    return by_id


# --- the real restore


def outcome_of_restore(
    target: Any, path: Any, *, method: str | None = None, options: Any = None
) -> Outcome:
    """Restore a checkpoint for real and return what TensorFlow did and reported."""
    from tensorflow.python.checkpoint import checkpoint as tf_checkpoint

    checkpoint = checkpoint_of(target)
    method = method or ("restore" if is_checkpoint(target) else "read")
    arguments = {} if options is None else {"options": options}
    with watched_restore() as watch, _named_objects() as named:
        try:
            status = getattr(checkpoint, method)(path, **arguments)
        except Exception as error:
            return replace(_raising(type(error).__name__, str(error)), watch=watch)
    if isinstance(status, tf_checkpoint.NameBasedSaverStatus):
        return _name_based(status, named)
    if isinstance(status, tf_checkpoint.InitializationOnlyStatus):
        return _outcome(_asserts(status))
    return _object_based(status, watch)


_Named = list[tuple[Any, list[str]]]


@contextmanager
def _named_objects() -> Iterator[_Named]:
    """Record the objects that a name-based restore restores, each with its tensors' names."""
    from tensorflow.python.checkpoint import checkpoint as tf_checkpoint

    named: _Named = []
    by_name = tf_checkpoint._NameBasedRestoreCoordinator
    restore_by_name = by_name.eager_restore

    def restoring(self: Any, trackable: Any) -> None:
        saveables = list(by_name("", {}).globally_named_object_attributes(trackable))
        restore_by_name(self, trackable)
        for saveable in saveables:
            names = [spec.name for spec in saveable.specs]
            if all(name in self.dtype_map for name in names):
                named.append((trackable, names))

    with mock.patch.object(by_name, "eager_restore", restoring):
        yield named


def _object_based(status: Any, watch: Watch) -> Outcome:
    from tensorflow.python.checkpoint import checkpoint as tf_checkpoint

    restored = status._checkpoint
    bound: dict[int, Any] = dict(restored.object_by_proto_id.items())
    # Before the other asserts: the nontrivial one adds objects that this one leaves out.
    raised_by(status.assert_existing_objects_matched)
    unmatched = _unmatched(restored, bound)
    asserts = _asserts(status)
    status.expect_partial()
    nodes = restored.object_graph_proto.nodes
    saved_names = tf_checkpoint.ObjectGraphProtoPrettyPrinter(
        restored.object_graph_proto
    ).node_names
    live_names = _live_names(status._object_graph_view)
    _name_the_rest(live_names, bound, nodes, watch.parents)
    skipped: set[int] = set()
    if getattr(restored.options, "experimental_skip_slot_variables", False):
        skipped = {s.slot_variable_node_id for node in nodes for s in node.slot_variables}
    existing = asserts["existing_objects_matched"]
    listing_failed = not isinstance(existing, (AssertionError, type(None)))
    return _outcome(
        asserts,
        unresolved=tuple(
            saved_names[node_id]
            for node_id, node in enumerate(nodes)
            if node.attributes and node_id not in bound and node_id not in skipped
        ),
        unmatched=None
        if listing_failed or unmatched is None
        else tuple(sorted(live_names.get(obj, repr(obj)) for obj in unmatched)),
        unused_attributes={
            saved_names[node]: tuple(names) for node, names in restored.unused_attributes.items()
        },
        bound={node: (saved_names[node], live_names.get(obj)) for node, obj in bound.items()},
        watch=watch,
    )


def _unmatched(restored: Any, bound: Mapping[int, Any]) -> list[Any] | None:
    """Return the objects that `assert_existing_objects_matched`, just called, reported.

    None if the objects' own code kept it from looking.
    """
    from tensorflow.python.checkpoint import checkpoint as tf_checkpoint

    try:
        valued = tf_checkpoint._objects_with_attributes(restored.all_python_objects)
    except Exception:
        return None
    taken = {id(obj) for obj in bound.values()}
    return [obj for obj in valued if id(obj) not in taken]


class _Names:
    """Names of objects, by identity; keeps the objects, so that an identity stays theirs."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, str]] = {}

    def add(self, obj: Any, name: str) -> None:
        self._known.setdefault(id(obj), (obj, name))

    def get(self, obj: Any, default: str = "?") -> str:
        return self._known.get(id(obj), (obj, default))[1]

    def __contains__(self, obj: Any) -> bool:
        return id(obj) in self._known


def _live_names(view: Any) -> _Names:
    """Return the names of all objects that can be listed, also beside those that refuse it."""
    names, objects = _Names(), []
    queue = deque([view.root])
    names.add(view.root, "(root)")
    while queue:
        obj = queue.popleft()
        objects.append(obj)
        try:
            children = view.list_children(obj)
        except Exception:  # a poisoned container
            continue
        for local_name, child in children:
            if child not in names:
                names.add(child, f"{names.get(obj)}.{local_name}")
                queue.append(child)
    for optimizer in objects:
        for slot_name in optimizer.get_slot_names() if "get_slot_names" in dir(optimizer) else ():
            for variable in objects:
                try:
                    slot = optimizer.get_slot(variable, slot_name)
                except (AttributeError, KeyError):
                    continue
                if slot is not None:
                    names.add(slot, _slot_name(names.get(optimizer), slot_name, names, variable))
    return names


def _slot_name(optimizer: str, slot_name: str, names: _Names, variable: Any) -> str:
    return f"{optimizer}'s state '{slot_name}' for {names.get(variable)}"


def _name_the_rest(
    names: _Names,
    bound: Mapping[int, Any],
    nodes: Any,
    parents: Mapping[int, tuple[int, str]],
) -> None:
    """Name the objects that only the restore found: by the child or slot that bound them."""
    slots = {
        slot.slot_variable_node_id: (optimizer, slot)
        for optimizer, node in enumerate(nodes)
        for slot in node.slot_variables
    }
    for node, obj in bound.items():  # in the order of the bindings
        if obj in names:
            continue
        if node in parents:
            parent, local_name = parents[node]
            names.add(obj, f"{names.get(bound.get(parent))}.{local_name}")
        elif node in slots:
            optimizer, slot = slots[node]
            variable = bound.get(slot.original_variable_node_id)
            name = _slot_name(names.get(bound.get(optimizer)), slot.slot_name, names, variable)
            names.add(obj, name)


def _name_based(status: Any, named: _Named) -> Outcome:
    from tensorflow.python.checkpoint import util

    restored = status._checkpoint
    asserts = _asserts(status)
    names = _live_names(status._object_graph_view)
    optional = {id(obj) for obj in status._optionally_restored}  # a save_counter
    unused = [item for item in restored.unused_attributes.items() if id(item[0]) not in optional]
    try:
        unmatched = [obj for obj, _ in unused]
        for obj in util.list_objects(status._object_graph_view):
            is_new = all(obj is not other for other in unmatched)
            if is_new and obj._update_uid < restored.restore_uid:
                unmatched.append(obj)
    except Exception:
        unmatched = None
    return _outcome(
        asserts,
        unmatched=None if unmatched is None else tuple(sorted(map(names.get, unmatched))),
        unused_attributes={names.get(obj): tuple(attributes) for obj, attributes in unused},
        bound={tensor: (tensor, names.get(obj)) for obj, tensors in named for tensor in tensors},
    )


def silence_tensorflow() -> None:
    """Keep TensorFlow from warning of every value that a restore leaves behind.

    Garbage collections then leave out what is there to stay, TensorFlow and all collected tests.
    Each `clear_session` of Keras collects, and would take half a second.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf
    from absl import logging

    gc.freeze()
    tf.get_logger().setLevel("ERROR")
    logging.set_verbosity(logging.ERROR)
