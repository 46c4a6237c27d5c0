"""Pairs of programs, one edited from the other, whose variables have tags that tell the truth.

Each saved value belongs to the live variables with its tag, and to no other one. A family draws the
pairs of one kind of edit, as data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from tests.programs import keras_programs
from tests.programs.keras_making import Made, make
from tests.programs.keras_programs import (
    CHECKED,
    FORMS,
    RESTRUCTURED,
    Edit,
    Edited,
    Layer,
    Program,
    put,
)
from tests.programs.law import UnfitError
from tests.programs.trees import (
    NEW,
    REFACTORINGS,
    Maker,
    Objects,
    Part,
    assert_fit,
    identified,
    insert,
    numbered,
    remove,
    value,
)

Tag = tuple[str, ...]


@dataclass(frozen=True)
class Tagged:
    """A checkpoint and its variables, each with its tag.

    `made` is there if layers that look alike may be impossible to tell apart.
    """

    checkpoint: Any
    variables: Sequence[tuple[Tag, Any]]
    made: Made | None = None


@dataclass(frozen=True)
class Example:
    """A program to save and the one to restore into.

    `unknowable` are the first words of tags that nothing tells apart. `by_name` has the full names
    of tags if a file by names is to be written.
    """

    was: Tagged
    now: Tagged
    unknowable: frozenset[str] = frozenset()
    by_name: Mapping[Tag, str] | None = None


class TaggedPair(Protocol):
    """Both programs as data."""

    def made(self) -> Example:
        """Return both programs as objects. Raises UnfitError if no tag tells the truth."""


Family = Callable[[Random], TaggedPair]

# --- models of Keras

_OTHER_MEANINGS = ("lion", "muon")
_COUNTS_ANEW = Edit("change", how={"counts_anew": True})


@dataclass(frozen=True)
class OfKeras:
    """A model and its edits; `scope` is that of a file of names, which others do not write.

    `are_known` is there if something tells all layers apart.
    """

    edited: Edited
    scope: str | None = None
    are_known: bool = False

    def made(self) -> Example:
        """Return both models."""
        was, now = (_tagged(one, self.are_known) for one in (self.edited.was, self.edited.now))
        if self.scope is None:
            return Example(was, now)
        names = {
            tag: f"{self.scope}{variable.path}"
            for tag, variable in was.variables
            if len(tag) == len(("role", "variable"))
        }
        if len({*names.values()}) < len(names):
            raise UnfitError("two variables have one name")
        return Example(was, now, by_name=names)


def _tagged(program: Program, are_known: bool) -> Tagged:
    """Return a program; the state of Lion and Muon means something else than that of Adam."""
    made = make(program)
    other = (program.optimizer,) if program.optimizer in _OTHER_MEANINGS else ()
    variables = [
        ((*key, *other) if len(key) == len(("role", "variable", "slot")) else key, variable)
        for key, variable in made.variables.items()
    ]
    return Tagged(made.checkpoint, variables, None if are_known else made)


def _row(rng: Random, names: str | None) -> tuple[Layer, ...]:
    """Return dense layers that look alike."""
    roles = [str(number) for number in range(1, rng.randint(3, 6) + 1)]
    return tuple(Layer(role, "dense", names.format(role) if names else None) for role in roles)


def edited_keras(rng: Random) -> OfKeras:
    """Two to four edits of a model."""
    was = keras_programs.draw(rng, CHECKED)
    edits = keras_programs.draw_edits(rng, was, RESTRUCTURED, rng.randint(2, 4))
    return OfKeras(Edited(was, (*edits, _COUNTS_ANEW)))


def removed_and_added(rng: Random) -> OfKeras:
    """Remove a layer and add another one of the same shape under another name elsewhere.

    In the same place, nothing would tell a new layer from a renamed one.
    """
    form, layers = rng.choice(FORMS), _row(rng, rng.choice(["fc_{}", "block_{}"]))
    place = rng.randrange(len(layers))
    left = (*layers[:place], *layers[place + 1 :])
    to = rng.choice([one for one in range(len(layers)) if one != place])
    edits = Edit("remove", layers[place].role), put(left, to, Layer("added", "dense", "added"))
    return OfKeras(Edited(Program(form, layers, rng.choice(["", "adam"])), edits))


def another_form(rng: Random) -> OfKeras:
    """Write a Functional model as a subclass, or the other way round; all shapes are equal."""
    forms = rng.sample(["functional", "subclassed"], 2)
    words = ("stem", "body", "neck", "head", "tail")[: rng.randint(3, 5)]
    name = rng.choice([None, "{}", "dense_{}"])
    layers = tuple(Layer(word, "dense", name.format(word) if name else None) for word in words)
    was = Program(forms[0], layers, rng.choice(["", "adam"]), attribute=rng.choice(["{}", "my_{}"]))
    return OfKeras(Edited(was, (Edit("change", how={"form": forms[1]}), _COUNTS_ANEW)))


def sliding_names(rng: Random) -> OfKeras:
    """Remove the first of numbered blocks and append one; the names tell which remain."""
    layers = _row(rng, "block_{}")
    last = str(len(layers) + 1)
    edits = Edit("remove", "1"), Edit("insert", layer=Layer(last, "dense", f"block_{last}"))
    return OfKeras(Edited(Program(rng.choice(FORMS), layers, rng.choice(["", "adam"])), edits))


def one_unnamed_more(rng: Random) -> OfKeras:
    """Append a layer to layers without names; a plain restore is right."""
    form = rng.choice(["sequential", "functional", "subclassed", "list"])
    was = Program(form, _row(rng, None), rng.choice(["", "adam"]))
    edits = Edit("insert", layer=Layer("more", "dense")), _COUNTS_ANEW
    return OfKeras(Edited(was, edits), are_known=True)


def other_optimizer(rng: Random) -> OfKeras:
    """Restore the state of Adam into another optimizer; AdamW keeps it, Lion and Muon cannot."""
    form = rng.choice(["sequential", "functional", "subclassed"])
    was = Program(form, _row(rng, rng.choice([None, "fc_{}"])), "adam")
    optimizer = {"optimizer": rng.choice(["adamw", "lion", "muon"])}
    return OfKeras(Edited(was, (Edit("change", how=optimizer), _COUNTS_ANEW)))


def frozen(rng: Random) -> OfKeras:
    """Freeze a layer: the lists of the optimizer shift."""
    form = rng.choice(["sequential", "functional", "subclassed"])
    layers = _row(rng, rng.choice([None, "fc_{}"]))
    frozen = Edit("change", rng.choice(layers[:-1]).role, how={"trainable": False})
    return OfKeras(Edited(Program(form, layers, "adam"), (frozen, _COUNTS_ANEW)))


# --- modules


@dataclass(frozen=True)
class OfParts:
    """A program of modules, before and after.

    `trains` are words in the labels of the variables that an Adam of each program trains. "" is in
    all labels; without words there is no Adam.
    """

    was: Part
    now: Part
    trains: tuple[str, ...] = ()

    def made(self) -> Example:
        """Return both programs."""
        assert_fit(self.was)
        assert_fit(self.now)
        values = {(one.identity, one.shape) for one in (*_values(self.was), *_values(self.now))}
        if len(dict(values)) < len(values) or 0 in dict(values):
            raise UnfitError("a value has no identity, or another shape than before")
        trains = self.trains or (None, None)
        was, now = (_of_parts(*one) for one in zip((self.was, self.now), trains, strict=True))
        return Example(was, now, _unknowable(self.was, self.now))


def _values(root: Part) -> list[Part]:
    return [part for part in root.all() if part.shape is not None]


def _of_parts(root: Part, word: str | None) -> Tagged:
    import keras
    import tensorflow as tf

    objects = Objects()
    children = {one.label: objects.of(one) for one in root.parts}
    variables: list[tuple[Tag, Any]] = [
        ((str(part.identity),), variable) for part, variable in objects.variables
    ]
    if word is None:
        return Tagged(tf.train.Checkpoint(**children), variables)
    optimizer = keras.optimizers.Adam()
    trained = [(part, variable) for part, variable in objects.variables if word in part.label]
    optimizer.build([variable for _, variable in trained])
    slots = [
        ((str(part.identity), name), slot)
        for name in ("momentums", "velocities")
        for (part, _), slot in zip(trained, getattr(optimizer, f"_{name}"), strict=True)
    ]
    checkpoint = tf.train.Checkpoint(**children, optimizer=optimizer)
    return Tagged(checkpoint, [*variables, *slots])


def _unknowable(was: Part, now: Part) -> frozenset[str]:
    """Return the identities in lists of equal items that have changed: nothing tells them apart."""
    orders = [_alike(was), _alike(now)]
    changed = [
        order.get(look, ())
        for look in orders[0].keys() | orders[1].keys()
        if orders[0].get(look) != orders[1].get(look)
        and max(len(order.get(look, ())) for order in orders) > 1
        for order in orders
    ]
    return frozenset(str(one) for items in changed for item in items for one in item)


def _alike(root: Part) -> dict[object, list[tuple[int, ...]]]:
    """Return the identities of each item of a sequence, by the shapes of the item."""
    found: dict[object, list[tuple[int, ...]]] = {}
    for sequence in (part for part in root.holders() if part.is_sequence):
        for item in sequence.parts:
            look = tuple(sorted(one.shape or () for one in _values(item)))
            found.setdefault(look, []).append(tuple(sorted(one.identity for one in _values(item))))
    return found


def refactored_modules(rng: Random) -> OfParts:
    """Two to four refactorings of lists, dictionaries and attributes."""
    maker = Maker(rng, 100 * (rng.random() < 0.5))
    was = identified(maker.model())
    for holder in was.holders():
        if holder.parts and not holder.is_sequence and holder.label and rng.random() < 0.3:
            holder.label = holder.label if holder.label.isdecimal() else f"{holder.label}_dict"
    now = was.copied()
    for _ in range(rng.randint(2, 4)):
        with suppress(UnfitError):
            rng.choice([*REFACTORINGS.values()])(maker, now)
    return OfParts(was, identified(now, NEW))


def deep_nesting(rng: Random) -> OfParts:
    """Insert or remove items in lists four and five levels deep, and rename a level."""
    maker = Maker(rng, 100)
    tree = maker.layer("leaf")
    for level in range(rng.randint(4, 5)):
        items = [tree, *(maker.layer("") for _ in range(rng.randint(1, 2)))]
        rng.shuffle(items)
        tree = Part(f"level{level}", (Part("items", numbered(items)),))
    was = identified(Part("", (tree,)))
    now = was.copied()
    rng.choice([insert, remove])(maker, now)
    rng.choice([part for part in now.holders() if part.label == "items"]).label = "layers"
    return OfParts(was, identified(now, NEW))


def exchanged_tasks(rng: Random) -> OfParts:
    """Exchange a task of several: `{cats, dogs}` become `{dogs, birds}`."""
    maker = Maker(rng)
    words = rng.sample(["cats", "dogs", "birds", "fish", "bees"], 4)[: rng.randint(3, 4)]
    heads = tuple(Part(word, (value("kernel", 8, 4), value("bias", 4))) for word in words)
    stem, holder = maker.layer("stem"), rng.choice(["heads", "heads_dict"])
    was = identified(Part("", (stem, Part(holder, heads[:-1]))))
    now = Part("", (was.parts[0], Part(holder, heads[1:])))
    return OfParts(was, identified(now, NEW))


def no_longer_shared(rng: Random) -> OfParts:
    """Copy a part that two places shared: its values belong to both."""
    maker = Maker(rng)
    part = maker.layer("embed")
    part.shared = 1
    encoder, decoder = maker.layer("dense"), maker.layer("dense")
    holders = {"encoder": encoder, "decoder": decoder}
    was = identified(Part("", tuple(Part(label, (part, own)) for label, own in holders.items())))
    return OfParts(was, was.copied(shared=0))


def _row_of_dense(number: int, *more: str) -> Part:
    layers = [
        Part(f"fc_{i}", tuple(value(name, 4, 4) for name in ("kernel", *more)))
        for i in range(number)
    ]
    return identified(Part("", (Part("net", tuple(layers)),)))


def low_rank(rng: Random) -> OfParts:
    """Add two matrices to each layer and train them alone, or train them besides the rest."""
    was = _row_of_dense(rng.randint(2, 5))
    now = was.copied()
    for layer in now.parts[0].parts:
        layer.parts += (value("lora_a", 4, 2), value("lora_b", 2, 4))
    return OfParts(was, identified(now, NEW), ("", rng.choice(["", "lora"])))


def added_bias(rng: Random) -> OfParts:
    """Add a bias of the shape of other variables to one layer of several."""
    was = _row_of_dense(rng.randint(2, 5), "gate")
    now = was.copied()
    layer, place = rng.choice(now.parts[0].parts), rng.randint(0, 2)
    layer.parts = (*layer.parts[:place], value("bias", 4, 4), *layer.parts[place:])
    return OfParts(was, identified(now, NEW), ("", ""))


def removed_and_added_bias(rng: Random) -> OfParts:
    """Take the bias from a layer and give a new one to another layer."""
    was = _row_of_dense(number := rng.randint(2, 5))
    now = was.copied()
    for program, place in zip((was, now), rng.sample(range(number), 2), strict=True):
        program.parts[0].parts[place].parts += (value("bias", 4),)
    return OfParts(identified(was, NEW), identified(now, 2 * NEW))


# --- files by names


@dataclass(frozen=True)
class OfNames:
    """Layers of two variables, with a `global_step`, read from a file of their names in scopes.

    A list of the name `holder` has the layers, or the model itself does.
    """

    number: int
    scope: str = ""
    leaves: str = "kernel bias"
    holder: str = ""

    def made(self) -> Example:
        """Return the program that wrote the file, which also reads it."""
        import tensorflow as tf

        kernel, bias = self.leaves.split()
        layers = [
            Part(f"layer_{number}", (value(kernel, 4, 4), value(bias, 4)))
            for number in range(self.number)
        ]
        parts = (Part(self.holder, numbered(layers)),) if self.holder else tuple(layers)
        program = _of_parts(identified(Part("", (Part("model", parts),))), None)
        names = [f"{layer.label}/{leaf.label}" for layer in layers for leaf in layer.parts]
        by_name = {
            tag: f"{self.scope}{name}"
            for (tag, _), name in zip(program.variables, names, strict=True)
        }
        program.checkpoint.global_step = tf.Variable(0, dtype=tf.int64, name="global_step")
        step = ("step",), program.checkpoint.global_step
        now = Tagged(program.checkpoint, [*program.variables, step])
        return Example(now, now, by_name={**by_name, step[0]: "global_step"})


def by_names(rng: Random) -> OfNames:
    """Read a file of names in scopes into modules."""
    return OfNames(
        rng.randint(2, 4),
        rng.choice(["", "model/", "net/tower/"]),
        rng.choice(["weights biases", "kernel bias"]),
        rng.choice(["", "", "layers", "blocks"]),
    )


def keras_by_names(rng: Random) -> OfKeras:
    """Read a file of the names of a Keras model's variables into the model, edited."""
    return OfKeras(edited_keras(rng).edited, rng.choice(["", "net/"]))


FAMILIES: Mapping[str, Family] = {
    family.__name__: family
    for family in (
        *(edited_keras, removed_and_added, another_form, sliding_names, one_unnamed_more),
        *(other_optimizer, frozen, refactored_modules, deep_nesting, exchanged_tasks),
        *(no_longer_shared, low_rank, added_bias, removed_and_added_bias),
        *(by_names, keras_by_names),
    )
}
