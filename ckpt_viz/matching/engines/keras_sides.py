"""What `load_weights` of Keras works with: the objects of a live model, and the groups of a file.

A model is a table of saveables: objects that Keras saves and loads. Each has an inner path only
while Keras walks, because Keras goes on through an object again if a part of it did not load.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ckpt_viz.graphs.nodes.nodes import Stored

VARS = "vars"  # the group with the variables of the object whose group it is in
NESTED = "container"  # how a path names a list in a list
# Of a model: what Keras looks for, and what 2.13 wrote.
LISTS_OF_LAYERS = ("layers", "_layer_checkpoint_dependencies")


@dataclass(frozen=True, slots=True)
class SaveableList:
    """A list, tuple or dict of saveables. `number` tells whether two are the same object."""

    number: int
    items: tuple[Item, ...] = ()


Item = int | SaveableList  # a saveable, by its number, or a list of them


@dataclass(frozen=True, slots=True)
class SavingRules:
    """What differs between the versions of Keras when they save and load weights.

    `checks_built`: an object that is not built is refused at once. `collects_errors`: all objects
    that fail are in one error at the end; else the first error ends the call. `marks_late`: an
    object is done only after all of its parts, and if none failed. `enters_nested_lists`: lists in
    lists have paths. `passes_over_done`: an item that is done takes no number among its siblings.
    `writes_names`: the groups of objects without variables exist, and have the objects' names.
    `names_unbuilt`: the error for a layer without variables explains that it is not built.
    """

    checks_built: bool
    collects_errors: bool
    marks_late: bool
    enters_nested_lists: bool
    passes_over_done: bool
    writes_names: bool
    names_unbuilt: bool


@dataclass(frozen=True, slots=True)
class LiveVariable:
    """A variable of the program. `text` begins what Keras prints of it, before its value."""

    name: str
    dtype: str | None
    shape: tuple[int, ...] | None
    path: str = ""
    text: str = ""
    is_keras_3: bool = True


@dataclass(frozen=True, slots=True)
class Loading:
    """What `load_own_variables` of an object does.

    It first compares the number of variables in the file with `counted`, if that is not None;
    `expected` are their names for the error. Then it assigns the values of the `targets`, one after
    the other: names in the file, and numbers of variables. At last it sets `zeroed` to zero.
    `skips`: another number of variables is no error, and no variable is assigned. `is_known` is
    False if only code of the program's own tells what happens.
    """

    counted: int | None = None
    expected: tuple[str, ...] = ()
    targets: tuple[tuple[str, int], ...] = ()
    zeroed: tuple[int, ...] = ()
    skips: bool = False
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class LiveSaveable:
    """An object of the program that Keras saves and loads.

    `component` is how a path names it as an item of a list. `text` is how errors print it; None if
    only its own code tells. `loading` is None if it has nothing to load. `own` are the variables
    that it has itself. `children` are the attributes that lead on, in Keras' order.
    """

    component: str
    class_name: str
    name: str | None = None
    is_built: bool = True
    text: str | None = None
    loading: Loading | None = None
    own: tuple[int, ...] = ()
    children: tuple[tuple[str, Item], ...] = ()


@dataclass(frozen=True, slots=True)
class LiveWeights:
    """The live side of `load_weights`: the first of the saveables is the model."""

    saveables: tuple[LiveSaveable, ...]
    variables: tuple[LiveVariable, ...]
    rules: SavingRules


@dataclass(frozen=True)
class SavedWeights:
    """The saved side of `load_weights`: what is in a file.

    `groups` has the paths of all groups, `variables` what is in the `vars` group of each object, by
    the path of the object's own group; None for an entry that is no data set. `names` has the
    objects' names by the same paths, if the file has them. `lost` has the file that should hold
    variables of an object, and is not there, by the same paths; and whether it is the first of
    several.
    """

    groups: Collection[str]
    variables: Mapping[str, Mapping[str, Stored | None]]
    names: Mapping[str, str] = field(default_factory=dict)
    lost: Mapping[str, tuple[str, bool]] = field(default_factory=dict)

    def at(self, path: str) -> tuple[str, Mapping[str, Stored | None]]:
        """Return the variables that Keras finds for an inner path, and the path of their owner."""
        for actual in (path, path.replace(*LISTS_OF_LAYERS)):
            if actual in self.variables:
                return actual, self.variables[actual]
        return path, {}

    def all_keys(self) -> Iterator[str]:
        """Yield the keys of all variables."""
        for path, entries in self.variables.items():
            yield from (key_of(path, name) for name, stored in entries.items() if stored)


def key_of(path: str, name: str) -> str:
    """Return the key of a variable in the group of the object at an inner path.

    >>> key_of("layers/dense", "0"), key_of("", "0")
    ('layers/dense/vars/0', 'vars/0')
    """
    return joined(joined(path, VARS), name)


def joined(path: str, name: str) -> str:
    """Return the inner path of a child."""
    return f"{path}/{name}" if path else name


class SiblingNames:
    """The path components of the items of one list: the second `dense` is `dense_1`."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def next(self, component: str) -> str:
        """Return the component of the next item of a class."""
        number = self._used.get(component, -1) + 1
        self._used[component] = number
        return f"{component}_{number}" if number else component
