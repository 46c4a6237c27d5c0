"""Rules for the many variables of an `.h5` file: what names and their order tell in few lines.

Each rule is tried on the file and on the pairs of the fix: it makes these pairs and no others.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ckpt_viz.answers.short_code.comprehensions import KeyedExpression
from ckpt_viz.answers.short_code.names_in_runs import list_of
from ckpt_viz.files.keras_files.shards import Shards
from ckpt_viz.formats.hdf5_files.hdf5 import Hdf5
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.expressions import quoted

_FEWEST = 8  # variables of a rule
_WIDTH = 60  # of the list of names
_MOST_LEFT_OUT = 8  # layers
_OF_LAYER = re.compile(r"(?P<owner>.+)\.get_layer\((?P<layer>'[^'\\]*')\)\.(?P<name>[A-Za-z]\w*)")
_OF_OPTIMIZER = re.compile(r"(?P<variables>.+\.optimizer\.variables)\[(?P<place>\d{1,9})\]")
_STATES, _NAMES = "optimizer_weights", "weight_names"
_PLAIN = re.compile(r"[\w ./:-]*", re.ASCII)


@dataclass
class Ruled:
    """Lines before the list of pairs, items of the list, and the pairs that follow no rule."""

    before: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    rest: list[KeyedExpression] = field(default_factory=list)


def ruled(file: Graph, pairs: Sequence[KeyedExpression]) -> Ruled | None:
    """Return rules for the variables of an `.h5` file by names; None if there are none."""
    stored = file.stored_in
    if not isinstance(stored, Hdf5) or isinstance(stored, Shards):
        return None
    made = Ruled(rest=[*pairs])
    _of_layers(made, stored.entries)
    _of_states(made, stored)
    return made if made.items else None


class _Form(NamedTuple):
    """What layers of one holder have in common: the parts of a key, None for the layer's name."""

    owner: str
    parts: tuple[str | None, ...]
    end: str  # of the last part, after the variable's name

    def key(self, layer: str, name: str) -> str:
        return "/".join([*(layer if p is None else p for p in self.parts), f"{name}{self.end}"])


class _OfLayer(NamedTuple):
    pair: KeyedExpression
    layer: str
    name: str


def _of_layers(made: Ruled, keys: Collection[str]) -> None:
    """Take the variables with their layer's name and their own in the key."""
    forms: dict[_Form, list[_OfLayer]] = defaultdict(list)
    for pair in made.rest:
        if both := _form_of(pair):
            forms[both[0]].append(both[1])
    for form, items in forms.items():
        names = [*dict.fromkeys(item.name for item in items)]
        known = {item.pair.text for item in items}
        layers = [*dict.fromkeys(item.layer for item in items)]
        others = _others(form, names, keys)
        left = sorted({layer for layer, key in others if key not in known})
        ruled_items = [item.pair for item in items if item.layer not in left]
        if len(ruled_items) < _FEWEST or len(left) > _MOST_LEFT_OUT or len(layers) < _FEWEST:
            continue
        taken = {*ruled_items}
        made.rest = [pair for pair in made.rest if pair not in taken]
        made.items += _in_code(form, names, left)


def _form_of(pair: KeyedExpression) -> tuple[_Form, _OfLayer] | None:
    match = _OF_LAYER.fullmatch(pair.expression)
    *parts, last = pair.text.split("/")
    if match is None or not _PLAIN.fullmatch(pair.text):
        return None
    layer, name = literal_eval(match["layer"]), match["name"]
    if layer not in parts or not last.startswith(name):
        return None
    form = _Form(match["owner"], tuple(None if part == layer else part for part in parts), "")
    form = form._replace(end=last.removeprefix(name))
    return (form, _OfLayer(pair, layer, name)) if form.end in ("", ":0") else None


def _others(form: _Form, names: Sequence[str], keys: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the layers with a key of this form in the file, each with the key."""
    at = form.parts.index(None)
    for key in keys:
        parts = key.split("/")
        layer = parts[at] if at < len(parts) - 1 else ""
        if any(form.key(layer, name) == key for name in names):
            yield layer, key


def _in_code(form: _Form, names: Sequence[str], left: Sequence[str]) -> list[str]:
    parts = ["{layer.name}" if part is None else part for part in form.parts]
    key = "/".join([*parts, f"{{name}}{form.end}"])
    others = f" if layer.name not in [{', '.join(map(quoted, left))}]" if left else ""
    inside = list_of([quoted(name) for name in names], width=_WIDTH)
    return [
        "*[",
        "    (getattr(layer, name), key)",
        f"    for layer in {form.owner}.layers{others}",
        f"    for name in {inside[0]}",
        *(f"    {line}" for line in inside[1:]),
        f"    if (key := f{quoted(key)}) in file",
        "],",
    ]


def _of_states(made: Ruled, stored: Hdf5) -> None:
    """Take the states of an optimizer that are in its order, one after the other."""
    if _STATES not in stored.groups or stored.texts(_STATES, f"{_NAMES}0") is not None:
        return  # a long list is in several attributes
    names = [f"{_STATES}/{name}" for name in stored.texts(_STATES, _NAMES) or ()]
    places = {name: place for place, name in enumerate(names)}
    if len(places) < len(names):
        return
    in_order = [(match, pair) for pair in made.rest if (match := _match(pair, places))]
    in_order.sort(key=lambda both: (both[0]["variables"], int(both[0]["place"])))
    for run in _runs([(m["variables"], int(m["place"]), places[p.text], p) for m, p in in_order]):
        if len(run) < _FEWEST:
            continue
        variables, first, place, _ = run[0]
        taken = {pair for *_, pair in run}
        made.rest = [pair for pair in made.rest if pair not in taken]
        made.items.append(
            f"*zip({variables}{_slice(first, len(run))}, states{_slice(place, len(run))}),"
        )
        made.before = [
            f"names = file[{quoted(_STATES)}].attrs[{quoted(_NAMES)}]",
            # As h5py reads them, these are texts or bytes.
            "names = [name if isinstance(name, str) else name.decode() for name in names]",
            f"states = [f'{_STATES}/{{name}}' for name in names]",
        ]


def _match(pair: KeyedExpression, places: Collection[str]) -> re.Match[str] | None:
    return _OF_OPTIMIZER.fullmatch(pair.expression) if pair.text in places else None


_State = tuple[str, int, int, KeyedExpression]


def _runs(states: Iterable[_State]) -> list[list[_State]]:
    """Return states whose places among the variables and in the file both count up by one."""
    runs: list[list[_State]] = []
    for state in states:
        last = runs[-1][-1] if runs else None
        if last is not None and (last[0], last[1] + 1, last[2] + 1) == state[:3]:
            runs[-1].append(state)
        else:
            runs.append([state])
    return runs


def _slice(first: int, number: int) -> str:
    return f"[{first or ''}:{first + number}]"
