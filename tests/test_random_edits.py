"""Random edits of random graphs: the file is the one of a program that was edited likewise.

A part is a plain object with named children. TensorFlow builds and saves each version of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.edits import edits
from tests.support.amounts import amount
from tests.support.programs import (
    ckpt,
    keras_2_adam,
    keras_3_adam,
    legacy_adam,
    object_graph_in,
    v1_adam,
)

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
NAMES = ("a", "b", "kernel", "layer-1", "ü", "x y", "0", "a.b", "c/d")
OPTIMIZERS: tuple[Callable[..., Any] | None, ...] = (
    *(None, keras_3_adam, keras_2_adam, legacy_adam, v1_adam),
)


@dataclass(eq=False)
class Part:
    """A module, a list or a variable; a variable has a value that no other one has."""

    kind: str
    value: float = 0.0
    children: list[tuple[str, Part]] = field(default_factory=list)

    def take(self, name: str) -> Part:
        part = dict(self.children)[name]
        self.children = [child for child in self.children if child[0] != name]
        self.number()
        return part

    def give(self, name: str, part: Part) -> None:
        self.children.append((name, part))
        self.number()

    def replace(self, old: Part, new: Part, name: str) -> None:
        self.children = [
            (label, new if (label, part) == (name, old) else part) for label, part in self.children
        ]

    def number(self) -> None:
        """Give the items of a list the names of their places."""
        if self.kind == "list":
            self.children = [(str(i), part) for i, (_, part) in enumerate(self.children)]

    def all(self) -> Iterator[Part]:
        """Yield the part and all below it, each once."""
        seen, left = set[int](), [self]
        while left:
            part = left.pop(0)
            if id(part) not in seen:
                seen.add(id(part))
                yield part
                left += [child for _, child in part.children]


def _random_program(rng: Random) -> Part:
    parts = [Part("module")]
    for number in range(rng.choice((3, 6, 10))):
        part = Part(rng.choice(("module", "list", "variable", "variable")), number + 1.0)
        _hold(rng, parts, part)
        parts.append(part)
    for _ in range(rng.choice((0, 1, 2))):  # shared parts; a variable, so that nothing holds itself
        shared = [part for part in parts if part.kind == "variable"]
        if shared:
            _hold(rng, parts, rng.choice(shared))
    for part in [*parts]:
        if (
            part.kind != "variable" and not part.children
        ):  # TensorFlow tells an empty list from none
            part.give("0", Part("variable", 100.0 + len(parts)))
            parts.append(part.children[0][1])
    return parts[0]


def _hold(rng: Random, parts: list[Part], part: Part) -> None:
    holder = rng.choice([holder for holder in parts if holder.kind != "variable"])
    names = [name for name in NAMES if name not in dict(holder.children)]
    if names and part not in dict(holder.children).values():
        holder.give(rng.choice(names), part)


def _built(root: Part, trained: list[Part], maker: Callable[..., Any] | None) -> Any:
    """Return the program as TensorFlow builds it, with an optimizer of the variables it has."""
    import tensorflow as tf

    known: dict[int, Any] = {}

    def build(part: Part) -> Any:
        if id(part) not in known and part.kind == "module":
            known[id(part)] = tf.Module()
            for name, child in part.children:
                setattr(known[id(part)], name, build(child))
        elif id(part) not in known:
            known[id(part)] = (
                [build(child) for _, child in part.children]
                if part.kind == "list"
                else tf.Variable([part.value] * 2, name=f"v{abs(part.value):.0f}")
            )
        return known[id(part)]

    net = build(root)
    variables = [known[id(part)] for part in trained if id(part) in known]
    whole = tf.Module()
    whole.net = net
    if maker is not None:
        whole.optimizer = maker(*variables)
        own = whole.optimizer.variables
        for number, variable in enumerate(own() if callable(own) else own):
            variable.assign(np.full(variable.shape, 1000 + number))
    return whole


def _edge(root: Part, path: tuple[str, ...]) -> tuple[Part, str, Part]:
    holder, part = root, root
    for name in path:
        holder, part = part, dict(part.children)[name]
    return holder, path[-1], part


class _Editor:
    """Makes the same random edit of a graph and of a program."""

    def __init__(self, rng: Random, root: Part, graph: cv.ObjectGraph) -> None:
        self.rng, self.root, self.graph = rng, root, graph

    def edit(self) -> None:
        node = self._some_node()
        if node is not None:
            getattr(self, self.rng.choice(("rename", "remove", "move", "exchange")))(node)

    def _some_node(self) -> int | None:
        inside = [n for n in range(len(self.graph.nodes)) if len(self.graph.path(n)) > 1]
        nodes = [n for n in inside if self.graph.path(n)[0] == "net" and not self._is_slot(n)]
        return self.rng.choice(nodes) if nodes else None

    def _is_slot(self, node: int) -> bool:
        return self.graph.nodes[node].slot is not None

    def _edge(self, node: int) -> tuple[Part, str, Part]:
        return _edge(self.root, self.graph.path(node)[1:])

    def rename(self, node: int) -> None:
        holder, name, _ = self._edge(node)
        free = [new for new in NAMES if new not in dict(holder.children) and "." not in new]
        if not free or holder.kind == "list" or _looks_like_a_list(holder):
            return
        new = self.rng.choice(free)
        self.graph = self.graph.of(edits.renamed_parts(self.graph, {node: new}))
        holder.children = [
            (new if label == name else label, child) for label, child in holder.children
        ]

    def remove(self, node: int) -> None:
        _, _, part = self._edge(node)
        left = [*_variables(self.root)]
        if all(variable in part.all() for variable in left):
            return  # an optimizer of no variables has no state
        self.graph = self.graph.of(edits.without(self.graph, [node]))
        for holder in self.root.all():
            for name, child in [*holder.children]:
                if child is part:
                    holder.children.remove((name, child))
            holder.number()

    def move(self, node: int) -> None:
        target = self._some_node()
        holder, name, part = self._edge(node)
        if target is None or self._edge(target)[2] in part.all():
            return
        to = self._edge(target)[2]
        taken = name in dict(to.children) or part in dict(to.children).values()
        if to.kind == "variable" or _looks_like_a_list(to) or _looks_like_a_list(holder):
            return
        if to.kind == "list":
            place = self.rng.randrange(len(to.children) + (to is not holder))
            self.graph = self.graph.of(edits.moved(self.graph, node, target, str(place)))
            part = holder.take(name)
            to.children.insert(place, (name, part))
            to.number()
        elif not taken:
            self.graph = self.graph.of(edits.moved(self.graph, node, target))
            to.give(name, holder.take(name))

    def exchange(self, node: int) -> None:
        other = self._some_node()
        assert other is not None
        first, second = self._edge(node), self._edge(other)
        if second[2] in first[2].all() or first[2] in second[2].all():
            return
        self.graph = self.graph.of(edits.exchanged(self.graph, node, other))
        first[0].replace(first[2], second[2], first[1])
        second[0].replace(second[2], first[2], second[1])


def _variables(root: Part) -> Iterator[Part]:
    return (part for part in root.all() if part.kind == "variable")


def _looks_like_a_list(part: Part) -> bool:
    """Return whether a module has the names of a list: a file does not tell one from the other."""
    names = [name for name, _ in part.children]
    return part.kind == "module" and names == [str(i) for i in range(len(names))]


@pytest.mark.parametrize("seed", range(amount(24, 1000)))
def test_random_edits_of_random_programs(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    root, maker = _random_program(rng), rng.choice(OPTIMIZERS)
    trained = [*_variables(root)]
    path = str(ckpt(_built(root, trained, maker)).write(str(tmp_path / "was")))
    editor = _Editor(rng, root, cv.graph(path))
    for _ in range(rng.choice((1, 2, 4))):
        editor.edit()
    program = _built(root, trained, maker)
    expected = str(ckpt(program).write(str(tmp_path / "expected")))
    new = editor.graph.write(tmp_path / "new")
    assert object_graph_in(new) == object_graph_in(expected)
    for part in root.all():
        part.value = -part.value
    restored = _built(root, trained, maker)
    ckpt(restored).read(new).assert_consumed().assert_existing_objects_matched()
    values = {float(v[0]) for v in (variable.numpy() for variable in restored.net.variables)}
    assert values == {-part.value for part in _variables(root)}
