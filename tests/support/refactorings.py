"""Random programs as trees of parts, and the refactorings that people make between two saves.

Each value keeps its identity through a refactoring, so the true mapping is known. A program is a
tree alone: neither TensorFlow nor a file is needed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from ckpt_viz.object_graph.graph import Graph, Origin
from ckpt_viz.object_graph.nodes import Attribute, Child, Node, Role

WORDS = (
    *("stem", "encoder", "decoder", "block", "head", "proj", "query", "key", "value"),
    *("gate", "expand", "reduce", "fuse", "mix"),
)


@dataclass
class Part:
    """A part of a program: a value with a shape, or a holder of parts."""

    label: str
    parts: list[Part] = field(default_factory=list)
    shape: tuple[int, ...] | None = None
    identity: int = 0

    def all(self) -> Iterator[Part]:
        """Yield the part and those below it."""
        yield self
        for part in self.parts:
            yield from part.all()

    def holders(self) -> list[Part]:
        """Return all parts that hold parts, this one included."""
        return [part for part in self.all() if part.shape is None]

    @property
    def is_layer(self) -> bool:
        """Whether it holds values alone."""
        return bool(self.parts) and all(part.shape is not None for part in self.parts)

    @property
    def is_sequence(self) -> bool:
        """Whether indices lead to its parts."""
        return bool(self.parts) and all(part.label.isdecimal() for part in self.parts)


class Maker:
    """Makes random programs."""

    def __init__(self, rng: Random, *, are_distinct: bool = False) -> None:
        self.rng = rng
        self._made = 0
        self._are_distinct = are_distinct  # no two layers have the same shapes

    def value(self, label: str, *shape: int) -> Part:
        self._made += 1
        return Part(label, shape=shape, identity=self._made)

    def layer(self, label: str) -> Part:
        """Return a layer of a random kind and width."""
        wide, out = self.rng.choice([4, 8, 16]), self.rng.choice([4, 8, 16, 32])
        if self._are_distinct:
            wide, out = 100 + self._made, 101 + self._made
        kind = self.rng.choice(["dense", "dense", "norm", "conv", "embedding"])
        values = {
            "dense": lambda: [self.value("kernel", wide, out), self.value("bias", out)],
            "norm": lambda: [self.value("gamma", wide), self.value("beta", wide)],
            "conv": lambda: [self.value("kernel", 3, 3, wide, out), self.value("bias", out)],
            "embedding": lambda: [self.value("embeddings", 10 * wide, out)],
        }[kind]()
        return Part(label, values)

    def model(self) -> Part:
        """Return a program: layers, blocks of layers, lists of either."""
        parts = [self._any(word, 0) for word in self.rng.sample(WORDS, self.rng.randint(2, 5))]
        return Part("", [Part("model", parts)])

    def _any(self, label: str, depth: int) -> Part:
        kind = self.rng.random()
        if kind < 0.5 or depth > 1:
            return self.layer(label)
        if kind < 0.75:
            words = self.rng.sample(WORDS, self.rng.randint(1, 4))
            return Part(label, [self._any(word, depth + 1) for word in words])
        pattern = self._any("0", depth + 1)
        alike = not self._are_distinct and self.rng.random() < 0.7
        items = [
            self.again(pattern) if alike else self._any(str(i), depth + 1)
            for i in range(self.rng.randint(2, 6))
        ]
        return Part(label, numbered(items))

    def again(self, part: Part) -> Part:
        """Return a part that looks alike, with values of its own."""
        new = copy.deepcopy(part)
        for one in new.all():
            if one.shape is not None:
                self._made += 1
                one.identity = self._made
        return new


def numbered(parts: list[Part]) -> list[Part]:
    """Give the parts of a sequence their indices."""
    for index, part in enumerate(parts):
        part.label = str(index)
    return parts


# --- refactorings: each changes a program, and returns whether it could

Refactoring = Callable[[Maker, Part], bool]


def _some(maker: Maker, parts: list[Part]) -> Part | None:
    return maker.rng.choice(parts) if parts else None


def _inner(root: Part) -> list[Part]:
    """Return the holders below the model."""
    return [part for part in root.holders() if part is not root and part not in root.parts]


def _parent_of(root: Part, part: Part) -> Part:
    return next(one for one in root.holders() if any(child is part for child in one.parts))


def rename(maker: Maker, root: Part) -> bool:
    """Give a part another local name."""
    part = _some(maker, [p for p in _inner(root) if not p.label.isdecimal()])
    if part is None:
        return False
    taken = {one.label for one in _parent_of(root, part).parts}
    part.label = maker.rng.choice(
        [
            label
            for label in (f"{part.label}_net", f"new_{part.label}", "other")
            if label not in taken
        ]
    )
    return True


def wrap(maker: Maker, root: Part) -> bool:
    """Put a part one level deeper."""
    part = _some(maker, _inner(root))
    if part is None:
        return False
    inner = Part("inner", part.parts)
    part.parts = [inner]
    return True


def unwrap(maker: Maker, root: Part) -> bool:
    """Dissolve a part that holds parts; its parts go one level up."""
    part = _some(maker, [p for p in _inner(root) if not p.is_layer and not p.is_sequence])
    if part is None or part.label.isdecimal():
        return False
    parent = _parent_of(root, part)
    if {one.label for one in part.parts} & {one.label for one in parent.parts}:
        return False
    place = next(i for i, one in enumerate(parent.parts) if one is part)
    parent.parts[place : place + 1] = part.parts
    return True


def move(maker: Maker, root: Part) -> bool:
    """Move a part to another holder."""
    part = _some(maker, [p for p in _inner(root) if not p.label.isdecimal()])
    if part is None:
        return False
    inside = {id(one) for one in part.all()}
    holders = [
        one
        for one in root.holders()
        if id(one) not in inside
        and not one.is_layer
        and not one.is_sequence
        and part.label not in {child.label for child in one.parts}
    ]
    target = _some(maker, holders)
    if target is None or len(_parent_of(root, part).parts) == 1:
        return False
    _parent_of(root, part).parts = [o for o in _parent_of(root, part).parts if o is not part]
    target.parts.append(part)
    return True


def insert(maker: Maker, root: Part) -> bool:
    """Add a layer, or an item to a sequence."""
    holder = _some(
        maker, [p for p in root.holders() if p.parts and not p.is_layer and p is not root]
    )
    if holder is None:
        return False
    if holder.is_sequence:
        new = maker.layer("0") if maker.rng.random() < 0.5 else maker.again(holder.parts[0])
        holder.parts.insert(maker.rng.randint(0, len(holder.parts)), new)
        numbered(holder.parts)
    elif "added" in {one.label for one in holder.parts}:
        return False
    else:
        holder.parts.insert(0, maker.layer("added"))
    return True


def remove(maker: Maker, root: Part) -> bool:
    """Remove a part."""
    part = _some(maker, [p for p in _inner(root) if len(_parent_of(root, p).parts) > 1])
    if part is None:
        return False
    parent = _parent_of(root, part)
    was_sequence = parent.is_sequence
    parent.parts = [one for one in parent.parts if one is not part]
    if was_sequence:
        numbered(parent.parts)
    return True


def to_names(maker: Maker, root: Part) -> bool:
    """Turn a list into attributes or a dictionary."""
    part = _some(maker, [p for p in root.holders() if p.is_sequence])
    if part is None:
        return False
    for one in part.parts:
        one.label = f"item_{one.label}"
    return True


def to_list(maker: Maker, root: Part) -> bool:
    """Turn attributes into a list, in their order."""
    part = _some(maker, [p for p in _inner(root) if not p.is_layer and not p.is_sequence])
    if part is None:
        return False
    numbered(part.parts)
    return True


def reshape(maker: Maker, root: Part) -> bool:
    """Give a dense layer another width: its values belong nowhere any more."""
    part = _some(
        maker, [p for p in root.holders() if [v.label for v in p.parts] == ["kernel", "bias"]]
    )
    if part is None:
        return False
    kernel = part.parts[0].shape or ()
    part.parts = [maker.value("kernel", *kernel[:-1], 7), maker.value("bias", 7)]
    return True


def root_shift(maker: Maker, root: Part) -> bool:
    """Save the model itself in place of a checkpoint that holds it."""
    if len(root.parts) != 1 or root.parts[0].shape is not None:
        return False
    root.parts = root.parts[0].parts
    return True


REFACTORINGS: tuple[Refactoring, ...] = (
    rename,
    wrap,
    unwrap,
    move,
    insert,
    remove,
    to_names,
    to_list,
    reshape,
    root_shift,
)


# --- as graphs


def graph_of(root: Part, origin: Origin) -> tuple[Graph, dict[int, int]]:
    """Return the graph of a program, and the identity of the value of each node."""
    nodes: list[Node] = []
    identities: dict[int, int] = {}

    def add(part: Part, key: str) -> int:
        place = len(nodes)
        nodes.append(Node())
        if part.shape is not None:
            identities[place] = part.identity
            value = Attribute(
                "VARIABLE_VALUE", "", f"{key}/.ATTRIBUTES/VARIABLE_VALUE", "float32", part.shape
            )
            nodes[place] = Node(attributes=(value,), role=Role.VARIABLE)
        else:
            children = tuple(Child(one.label, add(one, f"{key}/{one.label}")) for one in part.parts)
            nodes[place] = Node(children=children)
        return place

    add(root, "")
    return Graph(tuple(nodes), origin.value, origin), identities
