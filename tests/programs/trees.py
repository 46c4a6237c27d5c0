"""Random programs as trees of parts, and the refactorings that people make between two saves.

Each value keeps its identity through a refactoring, so the true mapping is known. A program is a
tree alone: its graph needs neither TensorFlow nor a file. `Objects` makes it of TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from ckpt_viz.graphs.nodes.nodes import Attribute, Child, Node, Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from tests.programs.law import Law, UnfitError

WORDS = (
    *("stem", "encoder", "decoder", "block", "head", "proj", "query", "key", "value"),
    *("gate", "expand", "reduce", "fuse", "mix"),
)


@dataclass
class Part:
    """A part of a program: a value with a shape, or a holder of parts.

    Parts that are `shared` by the same number are one object.
    """

    label: str
    parts: tuple[Part, ...] = ()
    shape: tuple[int, ...] | None = None
    identity: int = 0
    shared: int = 0

    def all(self) -> Iterator[Part]:
        """Yield the part and those below it."""
        yield self
        for part in self.parts:
            yield from part.all()

    def copied(self, **changes: Any) -> Part:
        """Return a tree of parts of its own, with changes of each part."""
        return replace(self, parts=tuple(one.copied(**changes) for one in self.parts), **changes)

    def holders(self) -> list[Part]:
        """Return all parts that hold parts, this one included."""
        return [part for part in self.all() if part.shape is None]

    @property
    def is_layer(self) -> bool:
        """Whether it holds values alone."""
        return bool(self.parts) and all(part.shape is not None for part in self.parts)

    @property
    def is_sequence(self) -> bool:
        """Whether the indices of a list lead to its parts."""
        labels = [part.label for part in self.parts]
        return bool(labels) and labels == [str(place) for place in range(len(labels))]


class Maker:
    """Makes random programs; from a size on, no two layers have the same shapes."""

    def __init__(self, rng: Random, size: int = 0) -> None:
        self.rng, self._size = rng, size

    def layer(self, label: str) -> Part:
        """Return a layer of a random kind and width."""
        wide, out = self.rng.choice([4, 8, 16]), self.rng.choice([4, 8, 16, 32])
        if self._size:
            wide, out = self._size, self._size + 1
            self._size += 2
        kind = self.rng.choice(["dense", "dense", "norm", "conv", "embedding"])
        values = {
            "dense": (value("kernel", wide, out), value("bias", out)),
            "norm": (value("gamma", wide), value("beta", wide)),
            "conv": (value("kernel", 3, 3, wide, out), value("bias", out)),
            "embedding": (value("embeddings", 10 * wide, out),),
        }[kind]
        return Part(label, values)

    def model(self) -> Part:
        """Return a program: layers, blocks of layers, lists of either."""
        words = self.rng.sample(WORDS, self.rng.randint(2, 5))
        return Part("", (Part("model", tuple(self._any(word, 0) for word in words)),))

    def _any(self, label: str, depth: int) -> Part:
        kind = self.rng.random()
        if kind < 0.5 or depth > 1:
            return self.layer(label)
        if kind < 0.75:
            words = self.rng.sample(WORDS, self.rng.randint(1, 4))
            return Part(label, tuple(self._any(word, depth + 1) for word in words))
        pattern = self._any("0", depth + 1)
        alike = not self._size and self.rng.random() < 0.7
        number = self.rng.randint(2, 6)
        return Part(
            label, numbered(pattern if alike else self._any("", depth + 1) for _ in range(number))
        )


def value(label: str, *shape: int) -> Part:
    """Return a value."""
    return Part(label, shape=shape)


def numbered(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return new parts of a sequence, with their indices."""
    return tuple(replace(part.copied(), label=str(index)) for index, part in enumerate(parts))


def identified(root: Part, first: int = 1) -> Part:
    """Give each value without an identity one of its own, and return the program."""
    for part in root.all():
        if part.shape is not None and not part.identity:
            part.identity = first
            first += 1
    return root


# --- refactorings: each changes a program, or raises UnfitError

Refactoring = Callable[[Maker, Part], None]


def _some(maker: Maker, parts: list[Part]) -> Part:
    if not parts:
        raise UnfitError("there is no such part")
    return maker.rng.choice(parts)


def _inner(root: Part) -> list[Part]:
    """Return the holders below the model."""
    return [part for part in root.holders() if part is not root and part not in root.parts]


def _parent_of(root: Part, part: Part) -> Part:
    return next(one for one in root.holders() if any(child is part for child in one.parts))


def rename(maker: Maker, root: Part) -> None:
    """Give a part another local name."""
    part = _some(maker, [p for p in _inner(root) if not p.label.isdecimal()])
    taken = {one.label for one in _parent_of(root, part).parts}
    names = f"{part.label}_net", f"new_{part.label}", "other"
    part.label = maker.rng.choice([name for name in names if name not in taken])


def wrap(maker: Maker, root: Part) -> None:
    """Put a part one level deeper."""
    part = _some(maker, _inner(root))
    part.parts = (Part("inner", part.parts),)


def unwrap(maker: Maker, root: Part) -> None:
    """Dissolve a part that holds parts; its parts go one level up."""
    part = _some(maker, [p for p in _inner(root) if not p.is_layer and not p.is_sequence])
    parent = _parent_of(root, part)
    taken = {one.label for one in parent.parts}
    if part.label.isdecimal() or any(one.label in taken for one in part.parts):
        raise UnfitError("its parts cannot go there")
    place = next(i for i, one in enumerate(parent.parts) if one is part)
    parent.parts = (*parent.parts[:place], *part.parts, *parent.parts[place + 1 :])


def move(maker: Maker, root: Part) -> None:
    """Move a part to another holder."""
    part = _some(maker, [p for p in _inner(root) if not p.label.isdecimal()])
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
    parent = _parent_of(root, part)
    if len(parent.parts) == 1:
        raise UnfitError("its holder would be empty")
    parent.parts = tuple(one for one in parent.parts if one is not part)
    target.parts += (part,)


def insert(maker: Maker, root: Part) -> None:
    """Add a layer, or an item to a sequence."""
    holder = _some(
        maker, [p for p in root.holders() if p.parts and not p.is_layer and p is not root]
    )
    if holder.is_sequence:
        new = maker.layer("0") if maker.rng.random() < 0.5 else holder.parts[0].copied(identity=0)
        place = maker.rng.randint(0, len(holder.parts))
        holder.parts = numbered((*holder.parts[:place], new, *holder.parts[place:]))
    else:
        holder.parts = (maker.layer("added"), *holder.parts)


def remove(maker: Maker, root: Part) -> None:
    """Remove a part."""
    part = _some(maker, [p for p in _inner(root) if len(_parent_of(root, p).parts) > 1])
    parent = _parent_of(root, part)
    parts = tuple(one for one in parent.parts if one is not part)
    parent.parts = numbered(parts) if parent.is_sequence else parts


def to_names(maker: Maker, root: Part) -> None:
    """Turn a list into attributes or a dictionary."""
    part = _some(maker, [p for p in root.holders() if p.is_sequence])
    for one in part.parts:
        one.label = f"item_{one.label}"


def to_list(maker: Maker, root: Part) -> None:
    """Turn attributes into a list, in their order."""
    part = _some(maker, [p for p in _inner(root) if not p.is_layer and not p.is_sequence])
    part.parts = numbered(part.parts)


def reshape(maker: Maker, root: Part) -> None:
    """Give a dense layer another width: its values belong nowhere any more."""
    part = _some(
        maker, [p for p in root.holders() if [v.label for v in p.parts] == ["kernel", "bias"]]
    )
    kernel = part.parts[0].shape or ()
    part.parts = (value("kernel", *kernel[:-1], 7), value("bias", 7))


def root_shift(maker: Maker, root: Part) -> None:
    """Save the model itself in place of a checkpoint that holds it."""
    if len(root.parts) != 1 or root.parts[0].shape is not None:
        raise UnfitError("there is no model below it")
    root.parts = root.parts[0].parts


REFACTORINGS: dict[str, Refactoring] = {
    one.__name__: one
    for one in (
        *(rename, wrap, unwrap, move, insert, remove),
        *(to_names, to_list, reshape, root_shift),
    )
}


def in_words(part: Part) -> str:
    """Return a tree of parts in one line."""
    if part.shape is not None:
        return f"{part.label}=#{part.identity}{list(part.shape)}"
    return f"{part.label}({', '.join(map(in_words, part.parts))})"


# --- as examples of laws


@dataclass(frozen=True)
class Edit:
    """A refactoring, and the seed of what it chooses."""

    do: str
    seed: int = 0


@dataclass(frozen=True)
class Refactored:
    """A program, and its refactorings after it was saved."""

    was: Part
    edits: tuple[Edit, ...] = ()


_DISTINCT = (100, 5000)  # the first sizes of a program, and of what is added
NEW = 1000  # the first identity of what is added


def law_of(
    claim: str,
    judge: Callable[[Part, Part], Sequence[str] | None],
    refactorings: Sequence[str] = (),
    numbers: Sequence[int] = (1,),
    *,
    are_distinct: bool = False,
) -> Law[Refactored]:
    """Return the law that a judge finds nothing wrong with a program before and after edits."""
    sizes = _DISTINCT if are_distinct else (0, 0)

    def draw(rng: Random) -> Refactored:
        number = rng.choice(numbers) if refactorings else 0
        edits = [Edit(rng.choice(refactorings), rng.randrange(1000)) for _ in range(number)]
        return Refactored(Maker(rng, sizes[0]).model(), tuple(edits))

    def sides(example: Refactored) -> tuple[Part, Part]:
        if refactorings and not example.edits:
            raise UnfitError("nothing was edited")
        was = identified(example.was.copied())
        assert_fit(was, are_distinct)
        now = was.copied()
        for edit in example.edits:
            REFACTORINGS[edit.do](Maker(Random(edit.seed), sizes[1]), now)
        assert_fit(now)
        return was, identified(now, NEW)

    return Law(
        claim,
        draw,
        lambda example, _: judge(*sides(example)),
        lambda example: f"becomes {in_words(sides(example)[1])}",
    )


def assert_fit(root: Part, are_distinct: bool = False) -> None:
    """Raise UnfitError if a part is empty, or if two have the same name, or the same shape."""
    holders = root.holders()
    names = [(id(one), part.label) for one in holders for part in one.parts]
    shapes = [shape for one in holders for shape in {part.shape for part in one.parts} - {None}]
    is_clear = len({*names}) == len(names) and all(one.parts for one in holders)
    if not is_clear or (are_distinct and len({*shapes}) < len(shapes)):
        raise UnfitError("a part is empty, or two have the same name or shape")


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


# --- as objects


class Objects:
    """Makes the objects of programs; `variables` has those of their values, in their order."""

    def __init__(self, name_of: Callable[[Part], str] = lambda part: part.label) -> None:
        self.variables: list[tuple[Part, Any]] = []
        self._name_of = name_of
        self._shared: dict[int, Any] = {}

    def of(self, part: Part) -> Any:
        """Return the object of a part: a variable, a list, a dictionary or a module."""
        import tensorflow as tf

        if part.shared in self._shared:
            return self._shared[part.shared]
        made: Any
        if part.shape is not None:
            made = tf.Variable(tf.zeros(part.shape), name=self._name_of(part))
            self.variables.append((part, made))
        elif part.is_sequence:
            made = [self.of(one) for one in part.parts]
        elif part.label.endswith("_dict"):
            made = {one.label: self.of(one) for one in part.parts}
        else:
            made = tf.Module()
            for one in part.parts:
                setattr(made, one.label, self.of(one))
        if part.shared:
            self._shared[part.shared] = made
        return made
