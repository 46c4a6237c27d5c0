"""Random edits of random graphs: the file is the one of a program that was edited likewise.

TensorFlow builds and saves each version of the program.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.edits import edits
from tests.programs.law import Law, UnfitError
from tests.programs.trees import Edit, Maker, Objects, Part
from tests.support import programs
from tests.support.amounts import amount
from tests.support.programs import ckpt, object_graph_in

NAMES = ("a", "b", "kernel", "layer-1", "ü", "x y", "0", "a.b", "c/d")
OPTIMIZERS = ("", "keras_3_adam", "keras_2_adam", "legacy_adam", "v1_adam")
EDITS = ("rename", "remove", "move", "exchange")
_FIRST_OWN = 100  # the first identity of a variable with one holder


@dataclass(frozen=True)
class Edited:
    """A program, and the edits of its file."""

    net: Part
    optimizer: str = ""
    edits: tuple[Edit, ...] = ()


def _draw(rng: Random) -> Edited:
    net = Maker(rng).model().parts[0]
    while len([*net.all()]) > 40:
        net = Maker(rng).model().parts[0]
    for holder in net.holders():
        for part in holder.parts if not holder.is_sequence else ():
            if rng.random() < 0.3:
                part.label = rng.choice(_free_in(holder))
    for number in range(1, 1 + rng.choice((0, 1, 2))):
        part = rng.choice([part for part in net.all() if part.shape is not None])
        part.shared = part.shared or number
        holder = rng.choice([one for one in net.holders() if not one.is_sequence])
        if not _holds(holder, part) and (names := _free_in(holder)):
            holder.parts += (part.copied(label=rng.choice(names)),)
    changes = [Edit(rng.choice(EDITS), rng.randrange(1000)) for _ in range(rng.choice((1, 2, 4)))]
    return Edited(net, rng.choice(OPTIMIZERS), tuple(changes))


def _free_in(holder: Part) -> list[str]:
    return [name for name in NAMES if name not in {one.label for one in holder.parts}]


def _is_one(part: Part, other: Part) -> bool:
    return part is other or (part.shared != 0 and part.shared == other.shared)


def _holds(holder: Part, part: Part) -> bool:
    return any(_is_one(one, part) for one in holder.parts)


def _reaches(part: Part, other: Part) -> bool:
    return any(_is_one(one, other) for one in part.all())


def _variables(root: Part) -> dict[int, Part]:
    """Return the variables by identity; a shared one has several parts."""
    return {part.identity: part for part in root.all() if part.shape is not None}


def _built(net: Part, trained: dict[int, Part], optimizer: str, sign: int = 1) -> Any:
    """Return the program as TensorFlow builds it, with an optimizer of the variables it has."""
    import tensorflow as tf

    objects = Objects(lambda part: f"v{part.identity}")
    whole = tf.Module()
    whole.net = objects.of(net)
    made = {part.identity: variable for part, variable in objects.variables}
    for identity, variable in made.items():
        variable.assign(tf.fill(variable.shape, float(sign * identity)))
    if optimizer:
        variables = [made[identity] for identity in trained if identity in made]
        whole.optimizer = getattr(programs, optimizer)(*variables)
        own = whole.optimizer.variables
        for number, variable in enumerate(own() if callable(own) else own):
            variable.assign(np.full(variable.shape, 1000 + number))
    return whole


class _Editor:
    """Makes the same random edit of a graph and of a program."""

    def __init__(self, net: Part, graph: cv.ObjectGraph) -> None:
        self.net, self.graph = net, graph

    def edit(self, edit: Edit) -> None:
        self.rng = Random(edit.seed)
        node = self._some_node()
        if node is not None:
            getattr(self, edit.do)(node)

    def _some_node(self) -> int | None:
        paths = [self.graph.path(node) for node in range(len(self.graph.nodes))]
        inside = [node for node, path in enumerate(paths) if len(path) > 1 and path[0] == "net"]
        nodes = [node for node in inside if self.graph.nodes[node].slot is None]
        return self.rng.choice(nodes) if nodes else None

    def _edge(self, node: int) -> tuple[Part, Part]:
        """Return the holder of a node's part, and the part."""
        holder = part = self.net
        for name in self.graph.path(node)[1:]:
            holder, part = part, next(one for one in part.parts if one.label == name)
        return holder, part

    def rename(self, node: int) -> None:
        holder, part = self._edge(node)
        free = [name for name in _free_in(holder) if "." not in name]
        if free and not holder.is_sequence:
            name = self.rng.choice(free)
            self.graph = self.graph.of(edits.renamed_parts(self.graph, {node: name}))
            part.label = name

    def remove(self, node: int) -> None:
        _, part = self._edge(node)
        if _variables(self.net).keys() <= _variables(part).keys():
            return  # an optimizer of no variables has no state
        self.graph = self.graph.of(edits.without(self.graph, [node]))
        for holder in self.net.holders():
            _take(holder, part)

    def move(self, node: int) -> None:
        target = self._some_node()
        assert target is not None
        (holder, part), (_, to) = self._edge(node), self._edge(target)
        if _reaches(part, to) or to.shape is not None:
            return
        if to.is_sequence:
            place = self.rng.randrange(len(to.parts) + (to is not holder))
            self.graph = self.graph.of(edits.moved(self.graph, node, target, str(place)))
            _take(holder, part)
            to.parts = (*to.parts[:place], part, *to.parts[place:])
            _number(to)
        elif part.label not in {one.label for one in to.parts} and not _holds(to, part):
            self.graph = self.graph.of(edits.moved(self.graph, node, target))
            _take(holder, part)
            to.parts += (part,)

    def exchange(self, node: int) -> None:
        other = self._some_node()
        assert other is not None
        (holder, part), (place, new) = self._edge(node), self._edge(other)
        if _reaches(part, new) or _reaches(new, part):
            return
        self.graph = self.graph.of(edits.exchanged(self.graph, node, other))
        labels = part.label, new.label
        for one in {id(holder): holder, id(place): place}.values():
            one.parts = tuple({id(part): new, id(new): part}.get(id(p), p) for p in one.parts)
        new.label, part.label = labels


def _take(holder: Part, part: Part) -> None:
    """Take a part away from its holder, if that has it."""
    is_list = holder.is_sequence
    holder.parts = tuple(one for one in holder.parts if not _is_one(one, part))
    if is_list:
        _number(holder)


def _number(holder: Part) -> None:
    """Give the items of a list the names of their places."""
    for place, part in enumerate(holder.parts):
        part.label = str(place)


def _judge(example: Edited, at: Path) -> None:
    net = example.net.copied()
    for number, part in enumerate(net.all(), _FIRST_OWN):
        part.identity = part.shared or number
        labels = {one.label for one in part.parts}
        if (part.shape is None and not labels) or len(labels) < len(part.parts):
            raise UnfitError("TensorFlow tells an empty list from none, or two parts have one name")
    trained = _variables(net)
    if not trained:
        raise UnfitError("an optimizer of no variables has no state")
    path = str(ckpt(_built(net, trained, example.optimizer)).write(str(at / "was")))
    editor = _Editor(net, cv.graph(path))
    for edit in example.edits:
        editor.edit(edit)
    program = _built(net, trained, example.optimizer)
    expected = str(ckpt(program).write(str(at / "expected")))
    new = editor.graph.write(at / "new")
    assert object_graph_in(new) == object_graph_in(expected)
    restored = _built(net, trained, example.optimizer, -1)
    ckpt(restored).read(new).assert_consumed().assert_existing_objects_matched()
    values = {float(variable.numpy().flat[0]) for variable in restored.net.variables}
    assert values == {float(identity) for identity in _variables(net)}


LAW = Law("An edited graph is written as the file of a program with the same edits", _draw, _judge)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_random_edits_of_random_programs(seed: int) -> None:
    LAW.hold(seed, amount(24, 1000))
