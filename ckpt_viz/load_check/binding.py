"""How Python gives the arguments of a call to a function's parameters, and what it raises."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any

from ckpt_viz.load_check.abstract import UNKNOWN

_Parameter = inspect.Parameter


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call; an open one has further keywords that are not known."""

    positional: Sequence[Any]
    named: Mapping[str, Any]
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class ArgumentFault:
    """An error of Python about the arguments of a call, and the names in it."""

    text: str
    names: Sequence[str]


def bound(function: FunctionType, given: Arguments) -> tuple[dict[str, Any], list[ArgumentFault]]:
    """Return the value of each parameter, and what Python raises, in its order.

    What does not fit is left out; a parameter without a value is unknown.
    """
    parameters = _parameters_of(function)
    by_place = [p for p in parameters if p.kind <= _Parameter.POSITIONAL_OR_KEYWORD]
    rest = next((p.name for p in parameters if p.kind is _Parameter.VAR_POSITIONAL), None)
    keywords = next((p.name for p in parameters if p.kind is _Parameter.VAR_KEYWORD), None)
    names = {p.name for p in parameters if p.kind in (1, 3)}
    values: dict[str, Any] = {
        p.name: value for p, value in zip(by_place, given.positional, strict=False)
    }
    misfits, more = [], {}
    for name, value in given.named.items():
        if name in values:
            text = f"got multiple values for argument {name!r}"
            misfits.append(ArgumentFault(f"{function.__qualname__}() {text}", (name,)))
        elif name in names:
            values[name] = value
        elif keywords is not None:
            more[name] = value
        else:
            text = f"got an unexpected keyword argument {name!r}"
            misfits.append(ArgumentFault(f"{function.__qualname__}() {text}", (name,)))
    if not given.is_open:
        misfits += _missing(function, parameters, values)
    for parameter in parameters:
        if parameter.kind in (_Parameter.VAR_POSITIONAL, _Parameter.VAR_KEYWORD):
            continue
        has_default = parameter.default is not _Parameter.empty and not given.is_open
        values.setdefault(parameter.name, parameter.default if has_default else UNKNOWN)
    if rest is not None:
        values[rest] = tuple(given.positional[len(by_place) :])
    if keywords is not None:
        values[keywords] = UNKNOWN if given.is_open else more
    return values, misfits


@lru_cache(maxsize=4096)
def _parameters_of(function: FunctionType) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function, follow_wrapped=False).parameters.values())


def _missing(
    function: FunctionType, parameters: Sequence[inspect.Parameter], values: Mapping[str, Any]
) -> list[ArgumentFault]:
    """Return the errors about required parameters; Python raises only the first."""
    misfits = []
    for kinds, what in (((0, 1), "positional"), ((3,), "keyword-only")):
        names = [
            p.name
            for p in parameters
            if p.kind in kinds and p.default is _Parameter.empty and p.name not in values
        ]
        if names:
            quoted = [repr(name) for name in names]
            head, last = ", ".join(quoted[:-1]), quoted[-1]
            comma = "," if len(names) > 2 else ""
            listed = f"{head}{comma} and {last}" if head else last
            arguments = "argument" if len(names) == 1 else "arguments"
            text = f"missing {len(names)} required {what} {arguments}: {listed}"
            misfits.append(ArgumentFault(f"{function.__qualname__}() {text}", tuple(names)))
    return misfits
