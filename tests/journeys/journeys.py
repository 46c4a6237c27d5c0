"""The journeys as data: kinds of models, kinds of files, and edits of a program."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.programs.keras_programs import WIDTH, Edit, Edited, Layer, Program

HEAD = "head"
MIDDLE = "third"  # the role before which a layer comes in, and whose bias goes
RENAMED = "second"
LAST_WIDTH, OTHER_WIDTH = 3, 5
BESIDE_MODEL = ("checkpoint", "manager")  # the optimizer is a child of the checkpoint
IN_MODEL = (".weights.h5", ".keras", ".h5")  # the model is compiled
BY_NAMES = ("saver", "assignment map")
CHECKPOINTS = ("checkpoint", "checkpoint without optimizer", "manager")


def _row(named: bool) -> tuple[Layer, ...]:
    """Return two dense layers with a normalization between them, and a head."""
    roles = (("first", "dense"), (RENAMED, "norm"), (MIDDLE, "dense"))
    layers = tuple(
        Layer(role, kind, role if named else None, attribute=role) for role, kind in roles
    )
    return (*layers, _head(LAST_WIDTH))


def _head(units: int, name: str = HEAD, role: str = HEAD) -> Layer:
    return Layer(role, "dense", name, units, attribute=name)


def _nested() -> tuple[Layer, ...]:
    first, *inner, head = _row(named=True)
    return (first, Layer("block", "nested", "block", inner=tuple(inner), attribute="block"), head)


def _listed() -> tuple[Layer, ...]:
    """Return a list of dense layers without names, a normalization and a head."""
    items = tuple(Layer(role, "dense", None) for role in ("first", MIDDLE))
    norm = Layer(RENAMED, "norm", None, attribute=RENAMED)
    head = replace(_head(LAST_WIDTH), name=None)
    return (Layer("blocks", "list", None, inner=items, attribute="blocks"), norm, head)


def _unnamed() -> tuple[Layer, ...]:
    """Return four equal layers without names, and a head with a name."""
    roles = ("first", RENAMED, MIDDLE, "fourth")
    return (*(Layer(role, "dense", None) for role in roles), _head(LAST_WIDTH))


def _attributes_alone() -> tuple[Layer, ...]:
    return tuple(replace(layer, name=None) for layer in _row(named=False))


# By the kind of model: the form of the program, and its layers.
KINDS: Mapping[str, tuple[str, tuple[Layer, ...]]] = {
    "sequential": ("sequential", _row(named=True)),
    "functional": ("functional", _row(named=True)),
    "nested": ("functional", _nested()),
    "subclassed": ("subclassed", _attributes_alone()),
    "with a list": ("subclassed", _listed()),
    "without names": ("sequential", _unnamed()),
    "module": ("module", _attributes_alone()),
    "mobilenet": ("mobilenet", (_head(LAST_WIDTH),)),
}
FILES = (*CHECKPOINTS, *IN_MODEL, *BY_NAMES)


@dataclass(frozen=True)
class Journey:
    """A kind of model of a library, a kind of file, and what happens to the program.

    If the edit is `undone`, the edited program is the one that is saved.
    """

    library: str
    kind: str
    file: str
    edit: str
    undone: bool = False

    def __str__(self) -> str:
        words = f"{self.library}, {self.kind}, {self.file}, {self.edit}"
        return f"{words}, undone" if self.undone else words

    @property
    def edited(self) -> Edited:
        """The program that is saved, and its edits."""
        form, layers = KINDS[self.kind]
        has_optimizer = self.file in (*BESIDE_MODEL, *IN_MODEL)
        was = Program(
            form,
            layers,
            "adam" if has_optimizer else "",
            self.library,
            compiled=self.file in IN_MODEL,
            counts_anew=True,
            attribute="{}",
        )
        edited = Edited(was, EDITS[self.edit](self.kind))
        if not self.undone:
            return edited
        fields = {field.name: getattr(was, field.name) for field in dataclasses.fields(was)}
        return Edited(edited.now, (Edit("change", how=fields),))


def _nothing(kind: str) -> tuple[Edit, ...]:
    return ()


def _counted_on(kind: str) -> tuple[Edit, ...]:
    return (Edit("change", how={"counts_anew": False}),)


def _renamed(kind: str) -> tuple[Edit, ...]:
    how: dict[str, Any] = {"attribute": "other"}
    if kind in ("sequential", "functional", "nested"):
        how["name"] = "other"
    return (Edit("change", RENAMED, how=how),)


def _child_renamed(kind: str) -> tuple[Edit, ...]:
    return (Edit("change", how={"child": "net"}),)


def _inserted(kind: str) -> tuple[Edit, ...]:
    name = "mid" if kind in ("sequential", "functional", "nested") else None
    at = MIDDLE if kind != "with a list" else HEAD
    # Among four equal layers nothing tells which of them a fifth one is.
    is_norm = kind == "without names"
    new = Layer("mid", "norm" if is_norm else "dense", name, WIDTH, attribute="mid")
    return (Edit("insert", at, layer=new),)


def _removed(kind: str) -> tuple[Edit, ...]:
    return (Edit("remove", "fourth" if kind == "without names" else RENAMED),)


def _resized(kind: str) -> tuple[Edit, ...]:
    return (Edit("change", HEAD, how={"units": OTHER_WIDTH}),)


def _other_head(kind: str) -> tuple[Edit, ...]:
    name = "out" if KINDS[kind][1][-1].name else None
    new = replace(_head(OTHER_WIDTH, "out", "out"), name=name)
    return (Edit("append", HEAD, layer=new), Edit("remove", HEAD))


def _inserted_and_other_head(kind: str) -> tuple[Edit, ...]:
    return (*_inserted(kind), *_other_head(kind))


def _bias(kind: str) -> tuple[Edit, ...]:
    return (Edit("change", MIDDLE, how={"has_option": False}),)


def _block_added(kind: str) -> tuple[Edit, ...]:
    at = MIDDLE if kind in ("nested", "with a list") else "fourth"
    name = "added" if kind == "nested" else None
    return (Edit("append", at, layer=Layer("added", "dense", name, WIDTH, attribute="added")),)


def _optimizer(**how: Any) -> Callable[[str], tuple[Edit, ...]]:
    return lambda kind: (Edit("change", how=how),)


def _frozen(kind: str) -> tuple[Edit, ...]:
    """Freeze a layer: the optimizer then keeps no state for it, and numbers all others anew."""
    return (Edit("change", "first", how={"trainable": False}),)


def _wrapped(kind: str) -> tuple[Edit, ...]:
    """Put two parts into a new container."""
    group = Layer("group", "nested", "group", attribute="group")
    return (Edit("wrap", "first" if kind != "with a list" else RENAMED, layer=group),)


NOTHING = "nothing changed"
COUNTED_ON = "the cell runs again"  # Keras goes on counting the names of layers
BLOCK = "a block is added"
EDITS: Mapping[str, Callable[[str], tuple[Edit, ...]]] = {
    NOTHING: _nothing,
    COUNTED_ON: _counted_on,
    "a part is renamed": _renamed,
    "the child is renamed": _child_renamed,
    "a layer is inserted": _inserted,
    "a layer is removed": _removed,
    "a head of another size": _resized,
    "a head of another name": _other_head,
    "a layer is inserted, another head": _inserted_and_other_head,
    "a bias is left out": _bias,
    BLOCK: _block_added,
    "another optimizer": _optimizer(optimizer="momentum"),
    "no optimizer": _optimizer(optimizer="", compiled=False),
    "the optimizer is not built": _optimizer(is_built=False, stepped=False),
    "the optimizer is wrapped": _optimizer(scaled=True),
    "a layer is frozen": _frozen,
    "parts in a container": _wrapped,
}
_OF_OPTIMIZERS = (
    "a layer is frozen",
    "another optimizer",
    "no optimizer",
    "the optimizer is not built",
    "the optimizer is wrapped",
)
_OF_MOBILENET = (NOTHING, "a head of another size", "the optimizer is not built")

# A manager saves as a checkpoint does, so a few edits tell whether it goes on counting.
_OF_MANAGERS = (NOTHING, "a part is renamed", "the child is renamed", "a head of another size")


def _is_possible(journey: Journey) -> bool:
    kind, file, edit = journey.kind, journey.file, journey.edit
    if journey.undone and edit in (NOTHING, COUNTED_ON, "the optimizer is not built"):
        return False
    is_module, is_automatic = kind == "module", KINDS[kind][1][0].name is None
    if journey.library == "tf_keras" and is_module:  # it is of neither Keras
        return False
    if is_module != (file in BY_NAMES) and not (is_module and file in CHECKPOINTS):
        return False
    if file == ".h5" and journey.library == "keras" and KINDS[kind][0] == "subclassed":
        return False  # Keras 3 saves no such model in an `.h5`
    if file == "manager" and edit not in _OF_MANAGERS:
        return False
    if kind == "mobilenet":
        return edit in _OF_MOBILENET and file in ("checkpoint", ".weights.h5")
    return {
        COUNTED_ON: is_automatic,
        "the child is renamed": file in CHECKPOINTS,
        "a part is renamed": kind != "without names",
        BLOCK: kind in ("nested", "with a list", "without names"),
        "parts in a container": file not in BY_NAMES,
    }.get(edit, edit not in _OF_OPTIMIZERS or file in (*BESIDE_MODEL, ".weights.h5", ".keras"))


def journeys() -> Iterator[Journey]:
    """Yield all journeys, in an order in which each stretch has some of everything."""
    every = [
        journey
        for library in ("keras", "tf_keras")
        for kind in KINDS
        for file in FILES
        for edit in EDITS
        for undone in (False, True)
        if _is_possible(journey := Journey(library, kind, file, edit, undone))
    ]
    Random(48).shuffle(every)
    yield from every
