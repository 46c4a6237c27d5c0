"""Restores live objects by a fix: all of its values, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ckpt_viz.errors import CkptVizError, HalfChangedError, SourceError
from ckpt_viz.files.values.held import parts_of
from ckpt_viz.files.values.memory import Budget
from ckpt_viz.graphs.nodes.nodes import SAVE_COUNTER, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.live.objects.live_source import walked
from ckpt_viz.live.state.holding import PYTHON_STATE, HeldState, are_equal, put
from ckpt_viz.live.state.rollback import Held, all_or_nothing, hold, records_of
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_restore as tf_restore
from ckpt_viz.live.tensorflow_names import tensorflow_state as tf_state
from ckpt_viz.matching.correspondence.pairs import Pair
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping


def budget_of_old_values(live: Graph) -> Budget:
    """Return the memory for a copy of what a fix replaces."""
    advice = "run the fix's code, which keeps no old values"
    return Budget(live.title, None, "a copy of the old values", advice, takes_all=True)


class NotAppliedError(CkptVizError, RuntimeError):
    """The fix could not be applied; every object has the value that it had before."""


def apply(
    mapping: ValueMapping, pairs: Sequence[Pair], restore: Callable[[], object] | None
) -> None:
    """Give every live object of the pairs its saved value, and compare variables with the file's.

    `restore` restores the values that are not variables, and may restore the variables; without it
    all are assigned. If anything raises or differs, everything is as before: values, and what waits
    for objects that are not built.

    Raises:
        NotAppliedError: A value could not be restored.
        HalfChangedError: Nor could another one be put back. The error names both kinds.
        ReadLimitError: The old values do not fit into memory a second time.
        SourceError: The live side is a file, or a value is no variable and there is no `restore`;
            or an object's old value cannot be copied.
    """
    live = mapping.live
    if live.origin is not Origin.LIVE:
        raise SourceError(f"{live.title}: found saved values; apply the fix to live objects")
    if not tf_private.is_eager_now():
        raise SourceError(
            f"{live.title}: in graph mode, a restore only adds operations; run the fix's code"
        )
    variables, unmade = _variables(live, pairs), _unmade_counter(live)
    if restore is None and len(variables) < len(pairs):
        other = next(pair for pair in pairs if pair not in variables)
        raise SourceError(f"{live.name(other.obj)}: no variable; expected values to assign")

    def change() -> None:
        if unmade in {pair.obj for pair in pairs}:
            tf_restore.make_counter(live.source)
        if restore is not None:
            restore()
        else:
            _assign({pair.obj: value_for(mapping, pair) for pair in variables}, live)
        _compare(mapping, variables)

    with tf_state.unrecorded():
        held, put_records = _held(live, pairs)
        try:
            all_or_nothing(live.title, change, held, put_records)
        except HalfChangedError:
            raise
        except Exception as error:
            raise NotAppliedError(
                f"{live.title}: the fix was not applied, and all values are as before: {error}"
            ) from error


def _held(live: Graph, pairs: Sequence[Pair]) -> tuple[list[Held], Callable[[], None]]:
    """Return the old values of the pairs' objects, and what puts TensorFlow's records back."""
    walk = walked(live.source)
    unmade = _unmade_counter(live)
    known = (pair.obj for pair in pairs if pair.obj != unmade)
    objects: dict[int, Any] = {obj: live.object(obj) for obj in known}
    gone = next((live.name(node_id) for node_id, obj in objects.items() if obj is None), None)
    if gone is not None:
        raise SourceError(f"{gone}: the program has dropped it; check the program again")
    named: list[tuple[Callable[[], str], Any]] = [
        (partial(live.name, node_id), obj) for node_id, obj in objects.items()
    ]
    held = {id(obj) for obj in objects.values()}
    counters = [counter for counter in walk.save_counters() if id(counter) not in held]
    named += [(lambda: SAVE_COUNTER, counter) for counter in counters]
    budget = budget_of_old_values(live)
    budget.expect(
        sum(attribute.nbytes or 0 for obj in objects for attribute in live.nodes[obj].attributes)
    )
    checkpoint = tf_private.without_manager(live.source)  # it records the counter that it makes
    return hold(named, budget), records_of([*walk.objects, checkpoint])


def _unmade_counter(live: Graph) -> int | None:
    """Return the `save_counter` that a checkpoint makes as soon as it needs it."""
    counter = live.save_counter
    return counter if counter is not None and live.object(counter) is None else None


def put_held(mapping: ValueMapping, pairs: Sequence[Pair]) -> None:
    """Give live objects values that are read one by one; raises what their own code raises."""
    saved, live = mapping.saved, mapping.live
    for pair in pairs:
        obj: Any = live.object(pair.obj)
        if live.nodes[pair.obj].role in (Role.VARIABLE, Role.SLOT):
            obj.assign(value_for(mapping, pair))
            continue
        attributes = saved.nodes[pair.node].attributes
        parts = parts_of([attribute.checkpoint_key for attribute in attributes], saved)
        if not parts:
            raise SourceError(
                f"{live.name(pair.obj)}: its registered saver restores files, expected values in "
                "memory; snapshot.restore() puts it back into the object of the snapshot"
            )
        is_python = parts[0].name == PYTHON_STATE and tf_private.is_python_state(obj)
        put(obj, HeldState(parts, is_python=is_python))


def assign_variables(mapping: ValueMapping, pairs: Sequence[Pair]) -> None:
    """Assign the saved values to the variables among the pairs."""
    live = mapping.live
    _assign({pair.obj: value_for(mapping, pair) for pair in _variables(live, pairs)}, live)


def is_variable(live: Graph, pair: Pair) -> bool:
    """Return whether a pair's object takes its value by `assign`, not by code of its own."""
    return live.nodes[pair.obj].role in (Role.VARIABLE, Role.SLOT)


def is_applied(mapping: ValueMapping, pairs: Sequence[Pair]) -> bool:
    """Return whether all live variables of the pairs have their saved values, and there are some.

    A value that cannot be read is none of them.
    """
    live = mapping.live
    if live.origin is not Origin.LIVE or not tf_restore.is_eager():
        return False
    variables = _variables(live, pairs)
    try:
        return bool(variables) and all(
            are_equal(value_for(mapping, pair), _value(live, pair.obj)) for pair in variables
        )
    except Exception:  # an object is gone, a file is damaged
        return False


def _variables(live: Graph, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of variables: other objects restore their values by their own code."""
    return [pair for pair in pairs if is_variable(live, pair)]


def _value(graph: Graph, node: int) -> Any:
    return graph.read(graph.nodes[node].attributes[0].checkpoint_key)


def value_for(mapping: ValueMapping, pair: Pair) -> Any:
    """Return the value that a variable must have, in the form that it has."""
    value = _value(mapping.saved, pair.node)
    conversion = mapping.conversions.get((pair.node, pair.obj))
    if conversion is None:
        return value
    shape = mapping.live.nodes[pair.obj].attributes[0].shape or ()
    return conversion.of(value, shape, lambda: _value(mapping.live, pair.obj))


def _assign(values: Mapping[int, Any], live: Graph) -> None:
    for obj, value in values.items():
        variable: Any = live.object(obj)
        variable.assign(value)


def _compare(mapping: ValueMapping, pairs: Iterable[Pair]) -> None:
    """Raise if any variable differs from the file; NaN equals NaN of the same bits."""
    for pair in pairs:
        live = mapping.live
        expected, actual = value_for(mapping, pair), _value(live, pair.obj)
        if not are_equal(expected, actual):
            raise ValueError(f"{live.name(pair.obj)} has another value than the checkpoint")
