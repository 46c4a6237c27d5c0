"""Recipes: objects to save and to restore into, as plain data.

A recipe is a list of instructions. Every checkpoint and every target executes it again, so that no
two share an object. Every variable has its own label and a unique value: in a checkpoint a positive
number, in a target a negative one. If both have a label, the value of one belongs into the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple


class Instruction(NamedTuple):
    """What to make or do, under which label, and how; a literal can express all of it."""

    op: str
    label: str
    how: Mapping[str, Any]


Recipe = tuple[Instruction, ...]

# Errors of instructions that a program cannot carry out: it leaves them out.
REFUSALS = (AttributeError, KeyError, TypeError, ValueError, RuntimeError, IndexError)


class Goal(NamedTuple):
    """A target to restore into, and the call: `method` as `ckpt_viz.check` takes it.

    `where` gives the surroundings: a "graph" of TensorFlow 1, the "scope" of a distribution
    strategy, or outside of the scope that it was "made in". `before` is an earlier restore.
    `saved_as` is the form in which the checkpoint is passed: its path as "str" or "Path", or its
    "graph".
    """

    recipe: Recipe
    method: str | None = None
    skips_slots: bool = False
    where: str = ""
    before: str | None = None
    saved_as: str = "str"


class Case(NamedTuple):
    """A checkpoint and the targets that it is restored into: as many pairs.

    `saving` is the call that writes it: save, write or one of the ways of a Saver.
    """

    family: str
    source: Recipe
    saving: str
    goals: tuple[Goal, ...]


@dataclass
class Built:
    """The objects of a recipe: the root, and the variables and their values by label.

    `sign` is that of the values. `labels` has everything that other instructions can use.
    """

    sign: int
    root: Any = None
    labels: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def give(self, label: str, variable: Any) -> None:
        """Give a variable a value of its own."""
        import tensorflow as tf

        shape = tf.TensorShape(variable.shape)
        if label not in self.variables and shape.is_fully_defined():
            value = self.next_value(tuple(shape), tf.as_dtype(variable.dtype))
            variable.assign(value)
            self.keep(label, variable, value)

    def next_value(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an array of a value that no variable has."""
        import numpy as np
        import tensorflow as tf

        number = self.sign * (len(self.values) + 1)
        if dtype == tf.string:
            return np.full(shape, f"value {number}".encode(), object)
        if dtype == tf.bool:
            return np.full(shape, number > 0)
        if dtype.is_unsigned:
            number += 128
        return np.full(shape, number, dtype.as_numpy_dtype)

    def keep(self, label: str, variable: Any, value: Any) -> None:
        """Remember a variable that was made with this value."""
        self.variables[label], self.values[label] = variable, value


@dataclass(frozen=True)
class Family:
    """A kind of recipes: how to create, change and carry them out.

    `savings` are calls that write a checkpoint, `surroundings` are contexts of its restores.
    `is_available` says whether the installed versions suffice.
    """

    name: str
    source: Callable[[Random], Recipe]
    mutate: Callable[[Random, Recipe], Recipe]
    build: Callable[[Recipe, int], Built]
    savings: tuple[str, ...]
    surroundings: tuple[str, ...] = ("",)
    is_available: Callable[[], bool] = lambda: True


def labels_of(recipe: Recipe, *ops: str) -> list[str]:
    """Return the labels of all instructions, or of those of some kinds."""
    return [one.label for one in recipe if not ops or one.op in ops]


def changed(recipe: Recipe, index: int, /, **how: Any) -> Recipe:
    """Return the recipe with one instruction done in another way."""
    one = recipe[index]
    return (*recipe[:index], one._replace(how={**one.how, **how}), *recipe[index + 1 :])


def indices(recipe: Recipe, *ops: str) -> list[int]:
    """Return the indices of the instructions of some kinds."""
    return [index for index, one in enumerate(recipe) if one.op in ops]


def new_label(recipe: Recipe) -> str:
    """Return a label that no instruction has."""
    return f"x{1 + max((int(one.label[1:]) for one in recipe if one.label), default=-1)}"


def is_trackable(value: Any) -> bool:
    """Return whether an attribute with the value is a child: a tuple is if an item of it is."""
    if isinstance(value, tuple):
        return any(map(is_trackable, value))
    return isinstance(value, (list, dict)) or hasattr(value, "_trackable_children")


def make_root(kind: str, root: Any, keywords: Mapping[str, Any]) -> Any:
    """Return what a program restores into, without the keywords that TensorFlow would refuse.

    It may be a checkpoint (v2 or v1) of the keywords, or its manager. It may be a checkpoint with
    an object as its root, perhaps held weakly, with the keywords attached. Or it is the bare
    object.
    """
    import tempfile
    import weakref

    import tensorflow as tf

    if kind == "bare":
        return root
    owner = tf.compat.v1.train.Checkpoint if kind == "v1" else tf.train.Checkpoint
    taken = {*dir(owner), "_save_counter"}
    named = {n: v for n, v in keywords.items() if n not in taken and is_trackable(v)}
    if kind in ("rooted", "weak"):
        root._maybe_initialize_trackable()
        if root._lookup_dependency("root") is not None:  # as good as one rooted in it
            return root
        free = {n: v for n, v in named.items() if root._lookup_dependency(n) is None}
        return tf.train.Checkpoint(root if kind == "rooted" else weakref.ref(root), **free)
    checkpoint = owner(**named)
    if kind == "manager":
        return tf.train.CheckpointManager(checkpoint, tempfile.gettempdir(), max_to_keep=1)
    return checkpoint
