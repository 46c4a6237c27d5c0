"""Gives the variables of a Saver their values by a fix: all of them, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ckpt_viz.answers.dry_runs.outcome import SaversProgram
from ckpt_viz.answers.restore_fix.applying import NotAppliedError, budget_of_old_values
from ckpt_viz.errors import SourceError
from ckpt_viz.formats.arrays.dtypes import is_float
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.live.state.holding import are_equal
from ckpt_viz.live.state.rollback import all_or_nothing, hold
from ckpt_viz.live.state.session_values import SessionValues
from ckpt_viz.live.tensorflow_names import tensorflow_session as tf_session
from ckpt_viz.live.tensorflow_names.tensorflow_state import array_of, unrecorded
from ckpt_viz.matching.correspondence.of_savers import Joined, NamesMapping
from ckpt_viz.matching.correspondence.pairs import Pair

_NOT_APPLIED = "{}: the fix was not applied, and all values are as before: {}"


def values_of(mapping: NamesMapping, sure: Sequence[Pair]) -> Iterator[tuple[int, Any]]:
    """Yield the live objects of some pairs, each with its whole value in its own dtype.

    Raises SourceError for a number that the dtype cannot hold.
    """
    for obj, node in {pair.obj: pair.node for pair in sure}.items():
        value = joined_value(mapping.saved, mapping.joined.get(obj, Joined((node,), 0)))
        dtype = mapping.live.nodes[obj].attributes[0].dtype
        yield obj, value if dtype is None else _cast(value, dtype, mapping.live.name(obj))


def _cast(value: Any, dtype: str, place: str) -> Any:
    from ckpt_viz.formats.arrays.tensors import cast, numpy_dtype

    numpys = numpy_dtype(dtype)
    if value.dtype == numpys or numpys is None:
        return value
    if is_float(dtype):
        return cast(value, dtype, place)
    new = value.astype(numpys)
    if not (new == value).all():
        raise SourceError(
            f"{place}: found numbers that {dtype} cannot hold, expected smaller ones; make the "
            "variable with the saved dtype"
        )
    return new


def joined_value(saved: Graph, joined: Joined) -> Any:
    """Return the value that some tensors make up."""
    import numpy as np

    keys = [saved.nodes[node].attributes[0].checkpoint_key for node in joined.nodes]
    values = [saved.read(key) for key in keys]
    value = values[0] if len(values) == 1 else np.concatenate(values, axis=joined.axis)
    if joined.stop is None:
        return value
    return value[(slice(None),) * joined.axis + (slice(joined.start, joined.stop),)]


def assign(
    mapping: NamesMapping, sure: Sequence[Pair], program: SaversProgram, session: Any = None
) -> None:
    """Give all variables of some pairs their values; or none, if anything raises or differs.

    `session` is that of the variables' graph; None: the default session.

    Raises:
        NotAppliedError: A variable does not take its value.
        HalfChangedError: Nor does one take its old value again.
        SourceError: There is no session of the graph, or no old value to keep.
    """
    values = list(_variables(mapping, sure))
    if program.graph is None:
        _assign_now(mapping.live, values)
        return
    session = _session(mapping.live, values, session)
    with session.graph.as_default():
        _assign_in_session(mapping.live, values, session)


def is_assigned(mapping: NamesMapping, sure: Sequence[Pair], program: SaversProgram) -> bool:
    """Return whether all variables of some pairs have their values; False if none can tell."""
    if mapping.live.origin is not Origin.LIVE:
        return False
    try:
        if program.graph is None:
            values = _variables(mapping, sure)
            return all(are_equal(value, array_of(variable)) for variable, value in values)
        pairs = list(_variables(mapping, sure))
        taken = _held(mapping.live, pairs, _session(mapping.live, pairs)).take(None)
        held = {id(leaf.variable): value for leaf, value in taken.leaves}
        return all(are_equal(value, held[id(variable)]) for variable, value in pairs)
    except Exception:  # an object or a session is gone, a file is damaged
        return False


def _variables(mapping: NamesMapping, sure: Sequence[Pair]) -> Iterator[tuple[Any, Any]]:
    """Yield each variable, or each partition of one, with its value."""
    for obj, value in values_of(mapping, sure):
        variable: Any = mapping.live.object(obj)
        if variable is None:
            raise SourceError(
                f"{mapping.live.name(obj)}: found no variable to assign; run fix.code, or check "
                "the program again if the variable is gone"
            )
        if not isinstance(variable, list):
            yield variable, value
            continue
        by_name = {part.op.name: part for part in variable}
        for piece in mapping.live.nodes[obj].attributes[0].slices:
            ends = zip(piece.start, piece.shape, strict=True)
            yield by_name[piece.variable], value[tuple(slice(s, s + n) for s, n in ends)]


def _assign_now(live: Graph, values: Sequence[tuple[Any, Any]]) -> None:
    def change() -> None:
        for variable, value in values:
            variable.assign(value)
        for variable, value in values:
            if not are_equal(value, array_of(variable)):
                raise ValueError(f"{variable.name} has another value than the checkpoint")

    named: list[tuple[Callable[[], str], Any]] = [
        (partial(str, variable.name), variable) for variable, _ in values
    ]
    with unrecorded():
        held = hold(named, budget_of_old_values(live))
        try:
            all_or_nothing(live.title, change, held, lambda: None)
        except ValueError as error:
            raise NotAppliedError(_NOT_APPLIED.format(live.title, error)) from error


def _session(live: Graph, values: Sequence[tuple[Any, Any]], given: Any = None) -> Any:
    session = tf_session.default_session() if given is None else tf_session.plain_session(given)
    graphs = {id(variable.graph) for variable, _ in values}
    if session is None or {id(session.graph)} != graphs:
        raise SourceError(
            f"{live.title}: found no session of its graph; call fix.apply(session), or run fix.code"
        )
    return session


def _held(live: Graph, values: Sequence[tuple[Any, Any]], session: Any) -> SessionValues:
    return SessionValues([variable for variable, _ in values], session, live.title)


def _assign_in_session(live: Graph, values: Sequence[tuple[Any, Any]], session: Any) -> None:
    in_session = _held(live, values, session)
    try:
        before = in_session.take(None)
    except SourceError as error:
        raise SourceError(f"{error}; or run fix.code, which keeps no old values") from error
    new = {id(variable): value for variable, value in values}
    leaves = tuple((leaf, new[id(leaf.variable)]) for leaf, _ in before.leaves)
    try:
        left = in_session.put_back(replace(before, leaves=leaves)).left
        after = {id(leaf.variable): value for leaf, value in in_session.take(None).leaves}
    except BaseException:
        in_session.put_back(before)
        raise
    if left or not all(are_equal(value, after.get(place)) for place, value in new.items()):
        in_session.put_back(before)
        why = left[0] if left else "a variable did not take its value"
        raise NotAppliedError(_NOT_APPLIED.format(live.title, why))
