"""The fields of a query: how to read each value, and which nodes it selects.

A new field is one entry of FIELDS. labextension/src/search/fields.ts has the same table.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import prod
from typing import Any

from ckpt_viz.object_graph.nodes import Attribute, Node, Role
from ckpt_viz.object_graph.overlay import State
from ckpt_viz.search.glob import Glob
from ckpt_viz.search.index import ROOT_NAME, Index, Marks, either, folded
from ckpt_viz.search.syntax import BLANK_OR_END, BLANKS, Reader, fail, filled

# a size, "*" for any one dimension, "..." for any number of dimensions
_Dimensions = Sequence[float | str]
_MAX_STEPS = 99
_NUMBER = r"([0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?)([A-Za-z]*)"
_COMPARISON = r"[<>]=?|="
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    **{">": operator.gt, "<": operator.lt, "=": operator.eq},
    **{">=": operator.ge, "<=": operator.le},
}
_COUNTS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}
_BYTES = {
    **{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    **{"kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30, "tib": 2.0**40},
}


# Values of `is:`


def _has_error(node: Node) -> bool:
    return node.error is not None or any(a.error is not None for a in node.attributes)


def _is_empty(node: Node) -> bool:
    return not (node.children or node.attributes or node.registered_saver or node.slot)


_OF_GRAPH: Mapping[str, Callable[[Index], Marks]] = {
    "empty": lambda index: index.where(_is_empty),
    "error": lambda index: index.where(_has_error),
    "inferred": lambda index: index.where(lambda n: n.slot is not None and n.slot.rule.inferred),
    "problem": lambda index: either(index.where(_has_error), index.of_problems()),
    "shared": lambda index: [len(edges) > 1 for edges in index.graph.edges_to],
    "sliced": lambda index: index.where_value(lambda a: bool(a.slices)),
    "trainable": lambda index: index.where(lambda n: n.trainable is True),
    "unsaved": lambda index: index.where(lambda n: bool(n.not_saved)),
}
_STATES: Mapping[str, Sequence[State]] = {
    "changed": (State.SHAPE, State.DTYPE, State.ROLE, State.VALUE),
    "deferred": (State.DEFERRED,),
    "dtype": (State.DTYPE,),
    "failed": (State.FAILED,),
    "live": (State.LIVE_ONLY, State.ONLY_B),
    "matched": (State.MATCHED,),
    "moved": (State.MOVED,),
    "role": (State.ROLE,),
    "saved": (State.SAVED_ONLY, State.ONLY_A),
    "shape": (State.SHAPE,),
    "unmatched": (State.LIVE_ONLY, State.ONLY_B, State.SAVED_ONLY, State.ONLY_A),
    "value": (State.VALUE,),
    "warned": (State.WARNED,),
}
_PROPERTIES = sorted([*_OF_GRAPH, *_STATES, "unbuilt"])


def _is(wanted: tuple[int, Sequence[str]], index: Index) -> Marks:
    place, values = wanted
    return reduce(either, [_of_property(place, value, index) for value in values])


def _of_property(place: int, value: str, index: Index) -> Marks:
    if value in _OF_GRAPH:
        return _OF_GRAPH[value](index)
    if index.overlay is None:
        fail(place, f"a comparison: only of two graphs a node is {value}")
    if value == "unbuilt":
        return index.of_problems("not_built")
    return [mark.state in _STATES[value] for mark in index.overlay.marks]


# How to read values


def _text(reader: Reader) -> str:
    place = reader.place
    return folded(filled(reader.value(), place))


def _choices(
    known: Sequence[str] | None, reader: Reader, *, by_beginning: bool = False
) -> list[str]:
    """Read words between bars: any words, or only known ones."""
    place, values = reader.place, []
    for word in _text(reader).split("|"):
        filled(word, place)
        found = [
            one for one in known or [word] if one == word or by_beginning * one.startswith(word)
        ]
        if len(found) != 1:
            or_beginning = ", or the beginning of one" if by_beginning else ""
            fail(place, f"one of {', '.join(known or ())}{or_beginning}")
        values.append(found[0])
        place += len(word) + 1
    return values


def _shape(reader: Reader) -> _Dimensions:
    place, value = reader.place, reader.value()
    if value.lower() == "scalar":
        return ()
    inner = value[1:-1] if re.match(r"\[[^\n]*\]\Z|\([^\n]*\)\Z", value) else value
    words = [word.strip(BLANKS) for word in re.split("[,x×]", inner)]
    if words[-1] == "" and (len(words) > 1 or inner != value):
        words.pop()  # as Python writes: (), (5,)
    if not all(re.match(r"(?:\*|\.\.\.|[0-9]{1,15})\Z", word) for word in words):
        fail(place, "a shape like [3,*], with * or ... or numbers")
    if words.count("...") > 1:
        fail(place, "... at most once in a shape")
    return [word if word in ("*", "...") else float(word) for word in words]


def _steps(reader: Reader) -> tuple[str, int]:
    place, value = reader.place, _text(reader)
    glob, tilde, steps = value.rpartition("~") if "~" in value else (value, "", "1")
    if not re.match(r"[0-9]{1,2}\Z", steps):
        fail(place + len(glob + tilde), f"a number of steps from 0 to {_MAX_STEPS}")
    return filled(glob, place), int(steps)


def _amount(units: Mapping[str, float], like: str, reader: Reader) -> Callable[[float], bool]:
    field = reader.text[reader.start : reader.place].lower()
    sign = reader.take(_COMPARISON) or fail(reader.place, f"one of > < >= <= = after {field}")
    place = reader.place
    number = reader.take(_NUMBER + BLANK_OR_END)
    if number is None or number[2].lower() not in units:
        fail(place, f"a number like {like}")
    wanted = float(number[1]) * units[number[2].lower()]
    return lambda found: _COMPARE[sign[0]](found, wanted)


# Questions to a graph


def _dtype(wanted: Sequence[str], index: Index) -> Marks:
    globs = [Glob(one, "") for one in wanted]
    return index.where_value(lambda a: any(glob.fits(folded(a.dtype or "")) for glob in globs))


def _key(wanted: str, index: Index) -> Marks:
    glob = Glob(f"{wanted}/**", "/")  # the whole key, or its beginning up to a slash
    return index.where_value(lambda a: glob.fits(f"{folded(a.checkpoint_key)}/"))


def _edge(glob: Glob, index: Index) -> Marks:
    fits = [{name for _, name in edges} for edges in index.graph.edges_to]
    return [any(glob.fits(folded(name)) for name in names) for names in fits]


def _name(wanted: str, index: Index) -> Marks:
    if wanted.startswith(ROOT_NAME):
        return index.where_name_fits(Glob(wanted, "."))
    glob = Glob(wanted, "/")
    full = index.where_value(lambda a: glob.fits(folded(a.full_name)))
    return either(_edge(glob, index), either(list(map(glob.fits, index.labels)), full))


def _places(wanted: str, index: Index) -> Marks:
    """Return the nodes that `under` and `near` mean: by the end of their path, or by name."""
    if wanted.startswith(ROOT_NAME):
        return index.where_name_fits(Glob(wanted, "."))
    return index.where_path_fits(Glob(f"**/{wanted}", "/"))


def _under(wanted: str, index: Index) -> Marks:
    """Return the nodes below, in the outline; slot variables are also below their optimizer."""
    holds = [*index.at_or_below(_places(wanted, index)), False]  # the last entry belongs to no node
    optimizers = [None if node.slot is None else node.slot.optimizer for node in index.nodes]
    above = zip(index.parents, optimizers, strict=True)
    return index.at_or_below([holds[a] or holds[-1 if b is None else b] for a, b in above])


def _near(wanted: tuple[str, int], index: Index) -> Marks:
    marks = list(_places(wanted[0], index))
    layer = [node_id for node_id, mark in enumerate(marks) if mark]
    for _ in range(wanted[1]):
        around: set[int] = set()
        for node_id in layer:
            around.update(child.node_id for child in index.nodes[node_id].children)
            around.update(parent for parent, _ in index.graph.edges_to[node_id])
            around.update(index.slot_neighbours[node_id])
        layer = [node_id for node_id in around if not marks[node_id]]
        for node_id in layer:
            marks[node_id] = True
    return marks


def _fits(wanted: _Dimensions, shape: Sequence[int]) -> bool:
    if "..." in wanted:
        split = list(wanted).index("...")
        last = len(wanted) - split - 1
        ends = len(shape) >= split + last and _fits(wanted[split + 1 :], shape[len(shape) - last :])
        return ends and _fits(wanted[:split], shape[:split])
    pairs = zip(wanted, shape, strict=False)
    return len(shape) == len(wanted) and all(one in ("*", size) for one, size in pairs)


def _elements(attribute: Attribute) -> float | None:
    # As in the front end: the shapes of a hostile file are not integers there.
    return None if attribute.shape is None else prod(map(float, attribute.shape), start=1.0)


def _sum(
    amount: Callable[[Attribute], float | None], holds: Callable[[float], bool], index: Index
) -> Marks:
    known = [[n for n in map(amount, node.attributes) if n is not None] for node in index.nodes]
    return [bool(amounts) and holds(float(sum(amounts))) for amounts in known]


# The table


@dataclass(frozen=True, slots=True)
class Field:
    """How to read the value of a field, and which nodes the value selects in a graph."""

    read: Callable[[Reader], Any]
    ask: Callable[[Any, Index], Marks]
    sign: str = ":"  # ">": a number is compared with it


_ROLE = Field(
    partial(_choices, [role.value for role in Role], by_beginning=True),
    lambda roles, index: index.where(lambda node: node.role.value in roles),
)
FIELDS: Mapping[str, Field] = {
    "role": _ROLE,
    "kind": _ROLE,
    "path": Field(_text, lambda wanted, index: index.where_path_fits(Glob(wanted, "/"))),
    "key": Field(_text, _key),
    "name": Field(_text, _name),
    "edge": Field(_text, lambda wanted, index: _edge(Glob(wanted, ""), index)),
    "under": Field(_text, _under),
    "dtype": Field(partial(_choices, None), _dtype),
    "shape": Field(
        _shape,
        lambda wanted, index: index.where_value(
            lambda a: a.shape is not None and _fits(wanted, a.shape)
        ),
    ),
    "is": Field(lambda reader: (reader.start, _choices(_PROPERTIES, reader)), _is),
    "near": Field(_steps, _near),
    "size": Field(partial(_amount, _BYTES, "1MB or 64KiB"), partial(_sum, lambda a: a.nbytes), ">"),
    "params": Field(partial(_amount, _COUNTS, "1e6 or 5M"), partial(_sum, _elements), ">"),
}
