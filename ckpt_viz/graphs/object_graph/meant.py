"""The one node or tensor that a name means, or the error that says what may be meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Protocol

from ckpt_viz.errors import NoSuchNodeError, NoSuchTensorError
from ckpt_viz.graphs.nodes.keys import part_in_words, without_part
from ckpt_viz.graphs.nodes.names import LayerNames
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.nodes.printed_names import NamedGraph, without_root
from ckpt_viz.graphs.object_graph.lookup import first_meant

_MAX_NAMED = 300  # characters of a key in a message
_MAX_COMPARED = 1_000_000  # characters of names to compare with a wrong one


class _Graph(NamedGraph, Protocol):
    """A graph whose nodes have names and values."""

    @property
    def title(self) -> str:
        """The source, for people."""

    @property
    def names(self) -> LayerNames:
        """What people call the nodes."""

    def name(self, node_id: int) -> str:
        """Return the name of a node as TensorFlow prints it."""

    def meanings(self, name: str) -> Iterator[Sequence[int]]:
        """Yield the nodes that a name means as each kind of name."""

    def tensor_keys(self, checkpoint_key: str) -> tuple[str, ...]:
        """Return the keys of the tensors that store an attribute."""


def the_one(graph: _Graph, meant: Sequence[int], name: str) -> int:
    """Return the only node that a name means; raises NoSuchNodeError if there is none, or more."""
    if len(meant) == 1:
        return meant[0]
    shown = [_in_full(graph, node_id) for node_id in meant[:3]]
    is_clear = len(set(shown)) == len(shown)
    names = [
        words if is_clear else f"{words} (node {node_id})"
        for words, node_id in zip(shown, meant, strict=False)
    ]
    more = f" and {len(meant) - 3} more" if len(meant) > 3 else ""
    holders = f"; {len(meant)} nodes have it: {', '.join(names)}{more}" if meant else ""
    raise NoSuchNodeError(
        f"{graph.title}: expected the name of one node, found {name[:_MAX_NAMED]!r}"
        f"{holders or _close_to(name, _names(graph))}"
    )


def key_meant(graph: _Graph, name: str) -> str:
    """Return the key of the only tensor of the node that a name means.

    Raises NoSuchTensorError, and NoSuchNodeError if several nodes have the name.
    """
    meant = first_meant(graph.meanings(name))
    if not meant:
        raise NoSuchTensorError(
            f"{graph.title}: no tensor {name!r}; expected a checkpoint key or the name "
            f"of a node{_close_to(name, _names(graph, values_only=True))}"
        )
    own = [a.checkpoint_key for a in graph.nodes[the_one(graph, meant, name)].attributes]
    if without_part(name) != name:
        stored = (key for attribute in own for key in graph.tensor_keys(attribute))
        own = [key for key in stored if name.endswith(part_in_words(key))] or own
    if len(own) != 1:
        keys = [key[:_MAX_NAMED] for key in own[:3]]
        more = f" and {len(own) - 3} more" if len(own) > 3 else ""
        raise NoSuchTensorError(
            f"{graph.title}: {name}: expected a node with one value, found "
            f"{', '.join(keys) or 'no value'}{more}"
        )
    return own[0]


def _in_full(graph: _Graph, node_id: int) -> str:
    """Return the names of a node that tell it from all others: people's, then TensorFlow's."""
    place, name = graph.names.place(node_id), graph.name(node_id)
    return place if place == without_root(name) else f"{place} at {name}"[:_MAX_NAMED]


def _names(graph: _Graph, *, values_only: bool = False) -> Iterator[str]:
    """Yield the names by which a search finds nodes, and the keys of their values."""
    for node_id, node in enumerate(graph.nodes):
        # A node that no edge leads to has a name, but a search by name does not find it.
        if (node.attributes or not values_only) and (
            node_id == ROOT or node_id in graph.first_edges
        ):
            yield graph.names.place(node_id)
            yield graph.name(node_id)
        yield from (attribute.checkpoint_key for attribute in node.attributes)


def _close_to(name: str, names: Iterable[str]) -> str:
    """Return a question whether a close name was meant, "" without one."""
    known: list[str] = []
    budget = _MAX_COMPARED
    for candidate in names:
        known.append(candidate)
        budget -= len(candidate)
        if budget < 0:
            break
    close = get_close_matches(name, known, n=3)
    return f"; did you mean {' or '.join(close)}?" if close else ""
