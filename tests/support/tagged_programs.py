"""Pairs of programs, one edited from the other, whose variables have tags that tell the truth.

Each saved value belongs to the live variables with its tag, and to no other one. A family has the
programs of one kind of edit. Its `Random` determines a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.programs import keras_programs
from tests.programs.keras_making import Made, make
from tests.programs.keras_programs import CHECKED, FORMS, RESTRUCTURED, Edited, Layer, Program
from tests.programs.law import UnfitError
from tests.support.refactorings import (
    NEW,
    REFACTORINGS,
    Maker,
    Part,
    identified,
    in_words,
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

    words: str
    was: Tagged
    now: Tagged
    unknowable: frozenset[str] = frozenset()
    by_name: Mapping[Tag, str] | None = None


Family = Callable[[Random], Example]

# --- models of Keras

_OTHER_MEANINGS = ("lion", "muon")


def _of_keras(was: Program, now: Program) -> Example:
    return Example(f"was {was}\n  now {now}", _tagged(was), _tagged(now))


def _tagged(program: Program) -> Tagged:
    """Return a program; the state of Lion and Muon means something else than that of Adam."""
    made = make(program)
    other = (program.optimizer,) if program.optimizer in _OTHER_MEANINGS else ()
    variables = [
        ((*key, *other) if len(key) == len(("role", "variable", "slot")) else key, variable)
        for key, variable in made.variables.items()
    ]
    return Tagged(made.checkpoint, variables, made)


def _row(rng: Random, names: str | None, most: int = 6, least: int = 3) -> tuple[Layer, ...]:
    """Return dense layers that look alike."""
    roles = [str(number) for number in range(1, rng.randint(least, most) + 1)]
    return tuple(Layer(role, "dense", names.format(role) if names else None) for role in roles)


def edited_keras(rng: Random) -> Example:
    """Two to four edits of a model."""
    was = keras_programs.draw(rng, CHECKED)
    edits = keras_programs.draw_edits(rng, was, RESTRUCTURED, rng.randint(2, 4))
    return _of_keras(was, replace(Edited(was, edits).now, counts_anew=True))


def removed_and_added(rng: Random) -> Example:
    """Remove a layer and add another one of the same shape under another name elsewhere.

    In the same place, nothing would tell a new layer from a renamed one.
    """
    form, names = rng.choice(FORMS), rng.choice(["fc_{}", "block_{}"])
    layers = list(_row(rng, names))
    optimizer = rng.choice(["", "adam"])
    was = Program(form, tuple(layers), optimizer)
    removed = rng.randrange(len(layers))
    del layers[removed]
    places = [place for place in range(len(layers) + 1) if place != removed]
    layers.insert(rng.choice(places), Layer("added", "dense", "added"))
    return _of_keras(was, replace(was, layers=tuple(layers)))


def another_form(rng: Random) -> Example:
    """Write a Functional model as a subclass, or the other way round; all shapes are equal."""
    forms = rng.sample(["functional", "subclassed"], 2)
    words = ("stem", "body", "neck", "head", "tail")[: rng.randint(3, 5)]
    name = rng.choice([None, "{}", "dense_{}"])
    layers = tuple(Layer(word, "dense", name.format(word) if name else None) for word in words)
    was = Program(forms[0], layers, rng.choice(["", "adam"]), attribute=rng.choice(["{}", "my_{}"]))
    return _of_keras(was, replace(was, form=forms[1], counts_anew=True))


def sliding_names(rng: Random) -> Example:
    """Remove the first of numbered blocks and append one; the names tell which remain."""
    form = rng.choice(FORMS)
    layers = _row(rng, "block_{}")
    last = str(len(layers) + 1)
    was = Program(form, layers, rng.choice(["", "adam"]))
    return _of_keras(was, replace(was, layers=(*layers[1:], Layer(last, "dense", f"block_{last}"))))


def one_unnamed_more(rng: Random) -> Example:
    """Append a layer to layers without names; a plain restore is right."""
    form = rng.choice(["sequential", "functional", "subclassed", "list"])
    layers = _row(rng, None)
    was = Program(form, layers, rng.choice(["", "adam"]))
    more = (*layers, Layer("more", "dense"))
    example = _of_keras(was, replace(was, layers=more, counts_anew=True))
    return replace(example, was=replace(example.was, made=None))


def other_optimizer(rng: Random) -> Example:
    """Restore the state of Adam into another optimizer; AdamW keeps it, Lion and Muon cannot."""
    form = rng.choice(["sequential", "functional", "subclassed"])
    was = Program(form, _row(rng, rng.choice([None, "fc_{}"])), "adam")
    now = replace(was, optimizer=rng.choice(["adamw", "lion", "muon"]), counts_anew=True)
    return _of_keras(was, now)


def frozen(rng: Random) -> Example:
    """Freeze layers: the lists of the optimizer shift."""
    form = rng.choice(["sequential", "functional", "subclassed"])
    layers = _row(rng, rng.choice([None, "fc_{}"]))
    was = Program(form, layers, "adam")
    place = rng.randrange(len(layers) - 1)
    now = [replace(one, trainable=number != place) for number, one in enumerate(layers)]
    return _of_keras(was, replace(was, layers=tuple(now), counts_anew=True))


# --- modules


def _module(part: Part, made: dict[int, Any], found: list[tuple[Tag, Any]]) -> Any:
    """Return live objects of a part; a part that is there twice is one object."""
    import tensorflow as tf

    if id(part) in made:
        return made[id(part)]
    value: Any
    if part.shape is not None:
        value = tf.Variable(tf.zeros(part.shape), name=part.label)
        found.append(((str(part.identity),), value))
    elif part.is_sequence:
        value = [_module(one, made, found) for one in part.parts]
    elif part.label.endswith("_dict"):
        value = {one.label: _module(one, made, found) for one in part.parts}
    else:
        value = tf.Module()
        for one in part.parts:
            setattr(value, one.label, _module(one, made, found))
    made[id(part)] = value
    return value


def _of_parts(root: Part, trained: Callable[[Part], bool] | None = None) -> Tagged:
    """Return a program of modules, with an Adam for the variables that `trained` accepts."""
    import keras
    import tensorflow as tf

    made: dict[int, Any] = {}
    found: list[tuple[Tag, Any]] = []
    children = {one.label: _module(one, made, found) for one in root.parts}
    if trained is None:
        return Tagged(tf.train.Checkpoint(**children), found)
    optimizer = keras.optimizers.Adam()
    parts = [one for one in root.all() if one.shape is not None and trained(one)]
    optimizer.build([made[id(one)] for one in parts])
    slots = [
        ((str(part.identity), name), slot)
        for name in ("momentums", "velocities")
        for part, slot in zip(parts, getattr(optimizer, f"_{name}"), strict=True)
    ]
    checkpoint = tf.train.Checkpoint(**children, optimizer=optimizer)
    return Tagged(checkpoint, [*found, *slots])


def _of_trees(was: Part, now: Part) -> Example:
    words = f"was {in_words(was)}\n  now {in_words(now)}"
    return Example(words, _of_parts(was), _of_parts(now), _unknowable(was, now))


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
            values = [one for one in item.all() if one.shape is not None]
            look = tuple(sorted(one.shape or () for one in values))
            found.setdefault(look, []).append(tuple(sorted(one.identity for one in values)))
    return found


def refactored_modules(rng: Random) -> Example:
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
    return _of_trees(was, identified(now, NEW))


def deep_nesting(rng: Random) -> Example:
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
    return _of_trees(was, identified(now, NEW))


def exchanged_tasks(rng: Random) -> Example:
    """Exchange a task of several: `{cats, dogs}` become `{dogs, birds}`."""
    maker = Maker(rng)
    words = rng.sample(["cats", "dogs", "birds", "fish", "bees"], 4)
    number = rng.randint(2, 3)

    def head(label: str) -> Part:
        return Part(label, (value("kernel", 8, 4), value("bias", 4)))

    holder = rng.choice(["heads", "heads_dict"])
    heads = tuple(head(word) for word in words[:number])
    was = identified(Part("", (maker.layer("stem"), Part(holder, heads))))
    now = Part("", (was.parts[0], Part(holder, (*heads[1:], head(words[number])))))
    return _of_trees(was, identified(now, NEW))


def no_longer_shared(rng: Random) -> Example:
    """Copy a part that two places shared: its values belong to both."""
    maker = Maker(rng)
    part = maker.layer("embed")
    encoder, decoder = maker.layer("dense"), maker.layer("dense")
    holders = {"encoder": encoder, "decoder": decoder}
    parts = [Part(label, (part, own)) for label, own in holders.items()]
    was = identified(Part("", tuple(parts)))
    return _of_trees(was, was.copied())


def _row_of_dense(number: int, *more: str) -> Part:
    layers = [
        Part(f"fc_{i}", tuple(value(name, 4, 4) for name in ("kernel", *more)))
        for i in range(number)
    ]
    return identified(Part("", (Part("net", tuple(layers)),)))


def low_rank(rng: Random) -> Example:
    """Add two matrices to each layer and train them alone, or train them besides the rest."""
    was = _row_of_dense(rng.randint(2, 5))
    now, trains_all = was.copied(), rng.random() < 0.5
    for layer in now.parts[0].parts:
        layer.parts += (value("lora_a", 4, 2), value("lora_b", 2, 4))
    return Example(
        f"was {in_words(was)}\n  now {in_words(now)}, trains all: {trains_all}",
        _of_parts(was, lambda part: True),
        _of_parts(identified(now, NEW), lambda part: trains_all or "lora" in part.label),
    )


def added_bias(rng: Random) -> Example:
    """Add a bias of the shape of other variables to one layer of several."""
    was = _row_of_dense(rng.randint(2, 5), "gate")
    now = was.copied()
    layer, place = rng.choice(now.parts[0].parts), rng.randint(0, 2)
    layer.parts = (*layer.parts[:place], value("bias", 4, 4), *layer.parts[place:])
    programs = [_of_parts(identified(tree, NEW), lambda part: True) for tree in (was, now)]
    return Example(f"was {in_words(was)}\n  now {in_words(now)}", programs[0], programs[1])


def removed_and_added_bias(rng: Random) -> Example:
    """Take the bias from a layer and give a new one to another layer."""
    was = _row_of_dense(number := rng.randint(2, 5))
    now = was.copied()
    for program, place in zip((was, now), rng.sample(range(number), 2), strict=True):
        program.parts[0].parts[place].parts += (value("bias", 4),)
    return _of_trees(identified(was, NEW), identified(now, 2 * NEW))


# --- files by names


def by_names(rng: Random) -> Example:
    """Read a file of names in scopes into modules; it has a `global_step` as well."""
    import tensorflow as tf

    leaves = rng.choice([("weights", "biases"), ("kernel", "bias")])
    number, scope = rng.randint(2, 4), rng.choice(["", "model/", "net/tower/"])
    holder = rng.choice(["layers", "blocks"])
    step = tf.Variable(0, dtype=tf.int64, name="global_step")
    variables: list[tuple[Tag, Any]] = [(("step",), step)]
    names: dict[Tag, str] = {("step",): "global_step"}
    modules = []
    for index in range(number):
        module = tf.Module()
        for leaf, shape in zip(leaves, ((4, 4), (4,)), strict=True):
            tag = (str(index), leaf)
            setattr(module, leaf, variable := tf.Variable(tf.zeros(shape), name=leaf))
            names[tag] = f"{scope}layer_{index}/{leaf}"
            variables.append((tag, variable))
        modules.append(module)
    model = tf.Module()
    as_list = rng.random() < 0.5
    for index, module in enumerate(modules):
        setattr(model, f"layer_{index}", module)
    if as_list:
        model = tf.Module()
        setattr(model, holder, modules)
    now = Tagged(tf.train.Checkpoint(model=model, global_step=step), variables)
    words = f"names {sorted(names.values())}, in {f'a list {holder}' if as_list else 'attributes'}"
    return Example(words, now, now, by_name=names)


def keras_by_names(rng: Random) -> Example:
    """Read a file of the names of a Keras model's variables into the model, edited."""
    example = edited_keras(rng)
    scope = rng.choice(["", "net/"])
    names = {
        tag: f"{scope}{variable.path}"
        for tag, variable in example.was.variables
        if len(tag) == len(("role", "variable"))
    }
    if len({*names.values()}) < len(names):
        raise UnfitError
    return replace(example, by_name=names)


FAMILIES: Mapping[str, Family] = {
    family.__name__: family
    for family in (
        edited_keras,
        removed_and_added,
        another_form,
        sliding_names,
        one_unnamed_more,
        other_optimizer,
        frozen,
        refactored_modules,
        deep_nesting,
        exchanged_tasks,
        no_longer_shared,
        low_rank,
        added_bias,
        removed_and_added_bias,
        by_names,
        keras_by_names,
    )
}
