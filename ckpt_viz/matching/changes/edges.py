"""How two programs lead to one part, and in which way the two ways differ."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.ground.text import MOST_READABLE
from ckpt_viz.matching.changes.kind import Kind
from ckpt_viz.matching.correspondence.sequences import INDEX
from ckpt_viz.matching.name_rules.migrations import OF_KERAS_3, local_name

OF_KERAS_2 = re.compile(r"layer(_with_weights)?-\d{1,9}")


class Edge(NamedTuple):
    """The local names from a holder that both sides have to one of its parts.

    `old` are the saved names, `new` those in the program; `above` are the local names of the two
    holders. `is_same_holder` says that the part is still below what its holder has become,
    `is_value` that it is a value.
    """

    node: int
    obj: int
    holder: int
    new_holder: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    above: tuple[str, str]
    is_same_holder: bool
    is_value: bool = False

    @property
    def is_item(self) -> bool:
        """Whether the part is an item of one sequence on both sides."""
        if not self.is_same_holder or len(self.old) != 1 or len(self.new) != 1:
            return False
        old, new = INDEX.fullmatch(self.old[0]), INDEX.fullmatch(self.new[0])
        return old is not None and new is not None and old[1] == new[1]


def kind_of_edge(
    edge: Edge, *, may_be_migrated: bool = True
) -> tuple[Kind | None, tuple[str, ...]]:
    """Return what happened to a part, if anything, and the names that say what is new."""
    old, new = edge.old, edge.new
    if may_be_migrated and _are_of_two_keras(edge):
        return Kind.MIGRATED, ()
    if not edge.is_same_holder:
        return Kind.MOVED, (old[-1], new[-1])
    if old == new:
        return None, ()
    if len(old) == 1 < len(new) and old[0] in (new[0], new[-1]):
        return Kind.WRAPPED, new[:-1] if new[-1] == old[0] else new[1:]
    if len(new) == 1 < len(old) and new[0] in (old[0], old[-1]):
        return Kind.UNWRAPPED, old[:-1] if old[-1] == new[0] else old[1:]
    if any(map(INDEX.fullmatch, old)) != any(map(INDEX.fullmatch, new)):
        return Kind.CONTAINER_CHANGED, ()
    if len(old) == len(new) == 1:
        if (edge.holder == ROOT) != (edge.new_holder == ROOT):  # the level differs, too
            return Kind.MOVED, (old[0], new[0])
        return Kind.RENAMED, (old[0], new[0])
    if len(old) == 1:
        return Kind.WRAPPED, new[:-1]
    if len(new) == 1:
        return Kind.UNWRAPPED, old[:-1]
    return Kind.MOVED, (old[-1], new[-1])


def _are_of_two_keras(edge: Edge) -> bool:
    """Return whether Keras 2 gave one of two ways its names, and Keras 3 the other."""
    old, new = edge.old, edge.new
    is_spelled_anew = old != new and are_spelled_alike(old[-1], new[-1])
    if len(old) == len(new) == 1 and is_spelled_anew and edge.is_value:
        return True
    if edge.above[0] != edge.above[1]:
        old, new = (edge.above[0], *old), (edge.above[1], *new)
    return old != new and {_version(old), _version(new)} == {2, 3}


def are_of_one_keras(saved: Iterable[str], live: Iterable[str]) -> bool:
    """Return whether local names of a file and of a program show one major version of Keras."""
    versions = [{_version((name,)) for name in names} - {None} for names in (saved, live)]
    return len(versions[0]) == 1 and versions[0] == versions[1]


def are_spelled_alike(old: str, new: str) -> bool:
    """Return whether versions of Keras spell two local names as one."""
    return local_name(old) == local_name(new)


def _version(names: tuple[str, ...]) -> int | None:
    if any(map(OF_KERAS_2.fullmatch, names)):
        return 2
    return 3 if not OF_KERAS_3.isdisjoint(names) else None


def changed_scope(saved: str, live: str) -> tuple[str, str] | None:
    """Return the first scopes of two full names, if these differ by them alone.

    >>> changed_scope("w", "model_001/w"), changed_scope("old/a/w", "new/a/w:0")
    (('', 'model_001'), ('old', 'new'))
    >>> changed_scope("net/a/w", "tower/net2/a/w"), changed_scope("a/b/w", "a/c/w")
    (('net', 'tower/net2'), ('a/b', 'a/c'))
    >>> changed_scope("a/w", "a/w"), changed_scope("a/w", "b/v")
    (None, None)
    """
    if max(len(saved), len(live)) > MOST_READABLE:
        return None  # no sentence has room for such names
    old, new = saved.split("/"), live.removesuffix(":0").split("/")
    while old and new and old[-1] == new[-1]:
        old.pop()
        new.pop()
    are_alike = saved.split("/")[-1] == live.removesuffix(":0").split("/")[-1]
    return ("/".join(old), "/".join(new)) if are_alike and (old or new) else None
