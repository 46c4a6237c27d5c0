"""The fields of a query: each reads its value, and returns the nodes that it finds.

A new field is one entry of FIELDS. labextension/src/search/fields.ts has the same table.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import isinf, isnan, prod

from ckpt_viz.graphs.layers.training import Training
from ckpt_viz.graphs.nodes.nodes import Attribute, Node, Role, loses_values
from ckpt_viz.graphs.nodes.printed_names import ROOT_NAME
from ckpt_viz.graphs.search.glob import Glob
from ckpt_viz.graphs.search.grammar import COMPARED, MEASURES, STATES, UNITS
from ckpt_viz.graphs.search.index import Index, Marks, marks
from ckpt_viz.graphs.search.measures import PROPERTIES as OF_VALUES
from ckpt_viz.graphs.search.measures import Measures, nodes_that_are
from ckpt_viz.graphs.search.syntax import BLANK_OR_END, BLANKS, QueryReader, folded

_NUMBER = r"(-?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?)([A-Za-z%]*)"
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    **{">": operator.gt, "<": operator.lt, "=": operator.eq},
    **{">=": operator.ge, "<=": operator.le},
}
_ROLES = [role.value for role in Role]


# Values of `is:`


def _has_error(node: Node) -> bool:
    return node.error is not None or any(a.error is not None for a in node.attributes)


def _is_empty(node: Node) -> bool:
    return not (node.children or node.attributes or node.registered_saver or node.slot)


_OF_GRAPH: Mapping[str, Callable[[Index], Marks]] = {
    "empty": lambda index: index.where(_is_empty),
    "error": lambda index: index.where(_has_error),
    "frozen": lambda index: marks(t is Training.FROZEN for t in index.graph.trainings),
    "inferred": lambda index: index.where(lambda n: n.slot is not None and n.slot.rule.inferred),
    "problem": lambda index: index.where(_has_error) | index.of_problems(),
    "shared": lambda index: marks(len(edges) > 1 for edges in index.graph.edges_to),
    "sliced": lambda index: index.where_value(lambda a: bool(a.slices)),
    "trained": lambda index: marks(t is Training.TRAINED for t in index.graph.trainings),
    "unsaved": lambda index: index.where(loses_values),
}
_PROPERTIES = sorted([*_OF_GRAPH, *STATES, *OF_VALUES, "unbuilt"])


def _of_property(value: str, reader: QueryReader, index: Index) -> Marks:
    if value in _OF_GRAPH:
        return _OF_GRAPH[value](index)
    if value in OF_VALUES and value not in COMPARED:
        return nodes_that_are(value, _measures(reader))
    if index.overlay is None:
        reader.fail(reader.start, f"a comparison: only of two graphs a node is {value}")
    if value == "unchanged":
        return _unchanged(reader, index)
    if value == "unbuilt":
        return index.of_problems("not_built")
    return marks(mark.state.value in STATES[value] for mark in index.overlay.marks)


def _unchanged(reader: QueryReader, index: Index) -> Marks:
    """Return the parameters that did not change; counters, seeds and slot variables may rest."""
    parameters = index.graph.parameters
    is_parameter = marks(elements > 0 for elements in parameters)
    return nodes_that_are("unchanged", _measures(reader)) & is_parameter


def _measures(reader: QueryReader) -> Measures:
    return reader.measures or reader.fail(reader.start, "values, which were not read")


def _is(reader: QueryReader, index: Index) -> Marks:
    values = _choices(reader, _PROPERTIES)
    return reduce(operator.or_, [_of_property(value, reader, index) for value in values])


def _choices(reader: QueryReader, known: Sequence[str], suffix: str = "") -> list[str]:
    """Read known words between bars; with a suffix for mistakes, their beginnings are enough."""
    place, values = reader.place, list[str]()
    for word in reader.value().split("|"):
        matches = [value for value in known if value == word or (suffix and value.startswith(word))]
        if len(matches) != 1:
            reader.fail(place, f"one of {', '.join(known)}{suffix}")
        values += matches
        place += len(word) + 1
    return values


# The fields


def _role(reader: QueryReader, index: Index) -> Marks:
    roles = _choices(reader, _ROLES, suffix=", or the beginning of one")
    return index.where(lambda node: node.role.value in roles)


def _path(reader: QueryReader, index: Index) -> Marks:
    return index.where_path_fits(Glob(reader.value(), "/"))


def _key(reader: QueryReader, index: Index) -> Marks:
    glob = Glob(f"{reader.value()}/**", "/")  # the whole key, or its beginning up to a slash
    return index.where_value(lambda a: glob.fits(f"{folded(a.checkpoint_key)}/"))


def _name(reader: QueryReader, index: Index) -> Marks:
    wanted = reader.value()
    if wanted.startswith(ROOT_NAME):
        return index.where_name_fits(Glob(wanted, "."))
    glob = Glob(wanted, "/")
    edges = [{name for _, name in edges} for edges in index.graph.edges_to]
    fits = marks(any(glob.fits(folded(name)) for name in names) for names in edges)
    own = marks(any(map(glob.fits, names)) for names in index.own_names)
    return fits | own


def _dtype(reader: QueryReader, index: Index) -> Marks:
    globs = [Glob(text, "") for text in reader.value().split("|")]
    return index.where_value(lambda a: any(glob.fits(folded(a.dtype or "")) for glob in globs))


def _shape(reader: QueryReader, index: Index) -> Marks:
    """Find shapes by a glob over their sizes, each with a comma behind it: `7,2,`."""
    place, value = reader.place, reader.value()
    bare = re.sub(r"\A\((.*)\)\Z|\A\[(.*)\]\Z|\Ascalar\Z", r"\1\2", value)
    sizes = [size.strip(BLANKS) for size in re.split("[,x×]", bare)]
    if not sizes[-1] and (len(sizes) > 1 or bare != value):
        sizes.pop()  # as Python writes: (), (5,)
    if not all(re.fullmatch(r"\*|\.\.\.|[0-9]{1,15}", size) for size in sizes):
        reader.fail(place, "a shape like [3,*], with * or ... or numbers")
    known = [size if size[-1] in "*." else str(int(size)) for size in sizes]
    glob = Glob("".join(f"{size},".replace("...", "**") for size in known), ",")
    return index.where_value(lambda a: a.shape is not None and glob.fits(_written(a.shape)))


def _written(shape: Sequence[int]) -> str:
    return "".join(f"{size}," for size in shape)


def _amount(kind: str, like: str, amount: Callable[[Attribute], float | None]) -> Field:
    """Return the field that compares a sum over the values of a node."""

    def find(reader: QueryReader, index: Index) -> Marks:
        sign, wanted = _comparison(reader, kind, like)
        known = ([n for n in map(amount, node.attributes) if n is not None] for node in index.nodes)
        return marks(bool(ns) and _COMPARE[sign](float(sum(ns)), wanted) for ns in known)

    return find


def _measure(name: str, kind: str) -> Field:
    """Return the field that compares what the values of a node measure."""

    def find(reader: QueryReader, index: Index) -> Marks:
        sign, wanted = _comparison(reader, kind, "5% or 0.05" if kind == "share" else "10 or 1e-6")
        if name in COMPARED and index.overlay is None:
            reader.fail(reader.start, f"a comparison: a single graph has no {name}")
        numbers = _measures(reader)[name]
        return marks(not isnan(n) and _COMPARE[sign](n, wanted) for n in numbers.tolist())

    return find


def _comparison(reader: QueryReader, kind: str, like: str) -> tuple[str, float]:
    """Read what follows the name of an amount: a sign, and a number with a unit of this kind."""
    field = reader.text[reader.start : reader.place].lower()
    sign = reader.take(f"[{BLANKS}]*([<>]=?|=)[{BLANKS}]*")
    sign = sign or reader.fail(reader.place, f"one of > < >= <= = after {field}")
    place, number = reader.place, reader.take(_NUMBER + BLANK_OR_END)
    unit = None if number is None else UNITS[kind].get(number[2].lower())
    if number is None or unit is None or isinf(wanted := float(number[1]) * unit):
        reader.fail(place, f"a number like {like}")
    return sign[1], wanted


def begins_with_field(query: str) -> bool:
    """Return whether a query begins with a field, as no name does.

    >>> begins_with_field("role:slot"), begins_with_field("dense/kernel:0")
    (True, False)
    """
    field, separator, _ = query.removeprefix("-").partition(":")
    return f"{field.lower()}{separator}" in FIELDS


def _elements(attribute: Attribute) -> float | None:
    # As in the front end: the shapes of a hostile file are not integers there.
    return None if attribute.shape is None else prod(map(float, attribute.shape), start=1.0)


Field = Callable[[QueryReader, Index], Marks]
# By name and sign; behind `>`, other comparisons are also possible.
FIELDS: Mapping[str, Field] = {
    "role:": _role,
    "path:": _path,
    "key:": _key,
    "name:": _name,
    "dtype:": _dtype,
    "shape:": _shape,
    "is:": _is,
    "size>": _amount("size", "1MB or 64KiB", lambda attribute: attribute.nbytes),
    "params>": _amount("params", "1e6 or 5M", _elements),
    **{f"{name}>": _measure(name, kind) for name, kind in MEASURES.items()},
}
