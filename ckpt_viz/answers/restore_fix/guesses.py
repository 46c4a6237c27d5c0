"""The guesses of a mapping, and those that a person accepts: they count as likely from then on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ckpt_viz.errors import NoSuchNodeError, SourceError
from ckpt_viz.graphs.object_graph.lookup import first_meant
from ckpt_viz.graphs.object_graph.meant import the_one
from ckpt_viz.ground.text import listed
from ckpt_viz.matching.correspondence.conversions import Conversion, Form, cast_of
from ckpt_viz.matching.correspondence.guesses import (
    casts_of,
    copies_in_part,
    guessed_parts,
    guessed_values,
    parts_to_copy,
)
from ckpt_viz.matching.correspondence.pairs import Certainty, Pair, is_guess
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping, with_pairs

Accepted = bool | str | Iterable[str]
_MOST_NAMED = 20
_EXPECTED = "guesses: expected True, False or the names of saved parts"


def with_accepted(mapping: ValueMapping, accepted: Accepted) -> ValueMapping:
    """Return the mapping with all guesses as likely pairs, or those in the parts of these names.

    A part whose shape differs is copied as far as both shapes go, if it is named: True takes none.
    A value of another floating-point dtype is converted. A slot variable goes with its variable.

    Raises:
        NoSuchNodeError: A name is none of a saved part with guesses, or that of several.
        SourceError: Neither a truth value nor names.
    """
    nodes = _accepted_nodes(mapping, accepted)
    if not nodes:
        return mapping
    taken = {pair.obj for pair in mapping.pairs if pair.certainty is not Certainty.GUESS}
    pairs: list[Pair] = []
    for pair in mapping.pairs:
        if is_guess(pair) and pair.node in nodes and pair.obj not in taken:
            taken.add(pair.obj)
            pair = pair._replace(certainty=Certainty.LIKELY)
        pairs.append(pair)
    parts = {node: _likely(pair, nodes) for node, pair in mapping.parts.items()}
    copies = [] if accepted is True else [p for p in copies_in_part(mapping) if p.node in nodes]
    conversions = {pair: Conversion(Form.PART) for pair in copies}
    casts = (pair for pair in casts_of(mapping) if pair.node in nodes)
    conversions |= {p: c for p in casts if (c := cast_of(mapping.saved, mapping.live, *p[:2]))}
    return _with_conversions(replace(mapping, pairs=tuple(pairs), parts=parts), conversions)


def _with_conversions(mapping: ValueMapping, converted: Mapping[Pair, Conversion]) -> ValueMapping:
    """Return the mapping in which misfits are copied in part, or converted."""
    if not converted:
        return mapping
    pairs = [pair._replace(certainty=Certainty.LIKELY) for pair in converted]
    conversions = {pair[:2]: conversion for pair, conversion in converted.items()}
    added = with_pairs(mapping, pairs)
    return replace(added, conversions={**mapping.conversions, **conversions})


def _likely(pair: Pair, nodes: Collection[int]) -> Pair:
    is_accepted = is_guess(pair) and pair.node in nodes
    return pair._replace(certainty=Certainty.LIKELY) if is_accepted else pair


def _accepted_nodes(mapping: ValueMapping, accepted: Accepted) -> frozenset[int]:
    """Return the saved nodes whose guesses are accepted."""
    saved = mapping.saved
    if isinstance(accepted, bool):
        return frozenset(range(len(saved.nodes)) if accepted else ())
    every = (*guessed_values(mapping), *copies_in_part(mapping), *casts_of(mapping))
    guessed = [*dict.fromkeys(pair.node for pair in every)]
    nodes: set[int] = set()
    for name in _names(accepted):
        meant = _meant(mapping, guessed, name)
        if not meant:
            raise NoSuchNodeError(_unknown(mapping, name))
        nodes |= meant
    slots = ((node, saved.nodes[node].slot) for node in guessed)
    return frozenset(nodes | {node for node, slot in slots if slot and slot.variable in nodes})


def _meant(mapping: ValueMapping, guessed: Sequence[int], name: str) -> set[int]:
    """Return the guessed nodes in the part of a name, or below the beginning of their keys."""
    saved = mapping.saved
    within: dict[int, set[int]] = {}
    for node in guessed:
        for part in (node, *saved.tree.above(node)):
            within.setdefault(part, set()).add(node)
    parts_asked = (*guessed_parts(mapping), *parts_to_copy(mapping))
    printed = {part.node for part in parts_asked if part.saved == name}
    if printed:
        return set().union(*(within[part] for part in printed))
    beginning = f"{name.removesuffix('/')}/"
    parts = [part for part in first_meant(saved.meanings(beginning[:-1])) if part in within]
    if parts:
        return within[the_one(saved, parts, name)]
    return {
        node
        for node in guessed
        for attribute in saved.nodes[node].attributes
        if f"{attribute.checkpoint_key}/".startswith(beginning)
    }


def _names(accepted: str | Iterable[str]) -> list[str]:
    names: list[object] = [accepted] if isinstance(accepted, str) else _listed(accepted)
    other = next((name for name in names if not isinstance(name, str)), None)
    if other is not None:
        raise SourceError(f"{_EXPECTED}, found {type(other).__name__} among them")
    return [str(name) for name in names]


def _listed(accepted: object) -> list[object]:
    if not isinstance(accepted, Iterable):
        raise SourceError(f"{_EXPECTED}, found {type(accepted).__name__}")
    return list(accepted)


def _unknown(mapping: ValueMapping, name: str) -> str:
    names = [part.saved for part in (*guessed_parts(mapping), *parts_to_copy(mapping))]
    parts = listed(names, most=_MOST_NAMED) or "none, since nothing is a guess"
    title = mapping.saved.title
    return f"{title}: {name!r} names no guess; expected a part with guesses: {parts}"
