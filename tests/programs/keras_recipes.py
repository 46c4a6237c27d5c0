"""Recipes of Keras models with their optimizers, for both Keras 3 and tf_keras.

A model is a chain of layers, each with a label and an attribute name of its own, combined in one of
Keras' ways. Between save and restore, programs change how the model is built, frozen, compiled and
optimized.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from random import Random
from typing import Any

from tests.programs.plain_recipes import (
    LEGACY_KINDS,
    NEW_KINDS,
    build_legacy_optimizer,
    build_new_optimizer,
    is_keras_3,
)
from tests.programs.recipes import (
    REFUSALS,
    Built,
    Family,
    Instruction,
    Recipe,
    changed,
    indices,
    labels_of,
    make_root,
    new_label,
)

WIDTH = 3
KINDS = ("dense", "dense", "dense", "batch_norm", "layer_norm", "dropout", "lstm", "embedding")
STYLES = ("sequential", "functional", "subclass", "with_build", "list", "tuple", "dict")
KEYWORDS = ("model", "optimizer", "net", "opt", "step", "a.b")


# --- making up


def source(rng: Random, *, legacy: bool) -> Recipe:
    """Return a random recipe of one or two models with their optimizers.

    `legacy` allows the optimizers of tf_keras.
    """
    recipe: Recipe = ()
    for _ in range(rng.choice((1, 1, 1, 2))):
        recipe = _with_model(rng, recipe, legacy=legacy)
    if rng.random() < 0.3:
        recipe = (*recipe, Instruction("step", new_label(recipe), {}))
    return (*recipe, _root(rng, recipe))


def _with_model(rng: Random, recipe: Recipe, *, legacy: bool) -> Recipe:
    labels: tuple[str, ...] = ()
    for _ in range(rng.choice((1, 2, 2, 3))):
        layer = Instruction("layer", new_label(recipe), _layer(rng))
        recipe, labels = (*recipe, layer), (*labels, layer.label)
    if rng.random() < 0.25:  # some of the layers are a model of their own
        inner = Instruction("inner", new_label(recipe), {"layers": labels[-1:]})
        recipe, labels = (*recipe, inner), (*labels[:-1], inner.label)
    model = Instruction("model", new_label(recipe), _model(rng, labels))
    recipe = (*recipe, model)
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2))):
        how = _optimizer(rng, model.label, legacy=legacy)
        recipe = (*recipe, Instruction("optimizer", new_label(recipe), how))
    return recipe


def _layer(rng: Random) -> dict[str, Any]:
    return {
        "kind": rng.choice(KINDS),
        "units": rng.choice((WIDTH,) * 4 + (2, 4)),
        "attribute": rng.choice(("l1", "l2", "l3", "dense", "norm", "out", "_hidden")),
        "trainable": rng.random() < 0.9,
        "bias": rng.random() < 0.85,
        "policy": rng.choice(("float32",) * 9 + ("mixed_float16",)),
    }


def _model(rng: Random, labels: Sequence[str]) -> dict[str, Any]:
    return {
        "style": rng.choice(STYLES),
        "layers": tuple(labels),
        "is_built": rng.random() < 0.85,
        "trainable": rng.random() < 0.95,
    }


def _optimizer(rng: Random, model: str, *, legacy: bool) -> dict[str, Any]:
    is_legacy = legacy and rng.random() < 0.5
    return {
        "kind": rng.choice(LEGACY_KINDS if is_legacy else NEW_KINDS),
        "legacy": is_legacy,
        "of": model,
        "state": rng.choice(("applied",) * 4 + ("fresh", "touched")),
        "scaled": rng.random() < 0.15,
        "compiled": rng.random() < 0.3,
    }


def _root(rng: Random, recipe: Recipe) -> Instruction:
    models, optimizers = labels_of(recipe, "model"), labels_of(recipe, "optimizer")
    keywords = {"model": models[0]}
    keywords.update(zip(("optimizer", "opt"), optimizers, strict=False))
    keywords.update(zip(("net",), models[1:], strict=False))
    keywords.update(zip(("step",), labels_of(recipe, "step"), strict=False))
    if rng.random() < 0.2:
        keywords.pop("optimizer", None)
    kind = rng.choice(("checkpoint",) * 5 + ("rooted",) * 3 + ("bare", "v1", "manager", "weak"))
    return Instruction("root", "", {"kind": kind, "of": models[0], "keywords": keywords})


# --- changing


def mutate(rng: Random, recipe: Recipe, *, legacy: bool) -> Recipe:
    """Change a recipe in one of the ways in which programs change between save and restore."""
    change = rng.choice((_change_layers, _change_layer, _change_model, _change_root))
    if rng.random() < 0.3:
        return _change_optimizer(rng, recipe, legacy=legacy)
    return change(rng, recipe)


def _change_layers(rng: Random, recipe: Recipe) -> Recipe:
    index = rng.choice(indices(recipe, "model", "inner"))
    labels = list(recipe[index].how["layers"])
    how = rng.choice(("insert", "insert", "remove", "swap", "share", "move"))
    if how == "insert":
        layer = Instruction("layer", new_label(recipe), _layer(rng))
        labels.insert(rng.randint(0, len(labels)), layer.label)
        recipe, index = (*recipe[:index], layer, *recipe[index:]), index + 1
    elif how == "remove" and len(labels) > 1:
        del labels[rng.randrange(len(labels))]
    elif how == "swap":
        rng.shuffle(labels)
    elif how == "share":
        labels.append(rng.choice(labels_of(recipe[:index], "layer")))
    elif how == "move":
        recipe = (
            recipe[:index]
            + tuple(rng.sample(recipe[index:-1], len(recipe) - index - 1))
            + (recipe[-1],)
        )
        return recipe
    return changed(recipe, index, layers=tuple(labels))


def _change_layer(rng: Random, recipe: Recipe) -> Recipe:
    index = rng.choice(indices(recipe, "layer"))
    other = _layer(rng)
    key = rng.choice(("units", "kind", "attribute", "trainable", "bias", "policy"))
    if key == "trainable":
        other[key] = not recipe[index].how[key]
    return changed(recipe, index, **{key: other[key]})


def _change_model(rng: Random, recipe: Recipe) -> Recipe:
    index = rng.choice(indices(recipe, "model"))
    how = recipe[index].how
    key = rng.choice(("style", "is_built", "trainable"))
    new = rng.choice(STYLES) if key == "style" else not how[key]
    return changed(recipe, index, **{key: new})


def _change_optimizer(rng: Random, recipe: Recipe, *, legacy: bool) -> Recipe:
    optimizers = indices(recipe, "optimizer")
    if not optimizers or rng.random() < 0.1:
        how = _optimizer(rng, rng.choice(labels_of(recipe, "model")), legacy=legacy)
        added = Instruction("optimizer", new_label(recipe), how)
        recipe = (*recipe[:-1], added, recipe[-1])
        keywords = {**recipe[-1].how["keywords"], rng.choice(KEYWORDS): added.label}
        return changed(recipe, len(recipe) - 1, keywords=keywords)
    index = rng.choice(optimizers)
    if rng.random() < 0.15:
        return (*recipe[:index], *recipe[index + 1 :])
    other = _optimizer(rng, rng.choice(labels_of(recipe, "model")), legacy=legacy)
    keys = rng.choice((("kind", "legacy"), ("kind", "legacy"), ("state",), ("scaled",), ("of",)))
    keys = rng.choice((keys, ("compiled",)))
    new = {key: other[key] for key in keys}
    if keys == ("compiled",):
        new = {"compiled": not recipe[index].how["compiled"]}
    return changed(recipe, index, **new)


def _change_root(rng: Random, recipe: Recipe) -> Recipe:
    how = recipe[-1].how
    roll, keywords = rng.random(), dict(how["keywords"])
    if roll < 0.4:
        kind = rng.choice(("checkpoint", "rooted", "bare", "v1", "manager", "weak"))
        return changed(recipe, len(recipe) - 1, kind=kind)
    if roll < 0.6:
        of = rng.choice(labels_of(recipe, "model", "optimizer", "layer"))
        return changed(recipe, len(recipe) - 1, of=of)
    names = sorted(keywords)
    rng.shuffle(names)
    if roll < 0.75 and len(names) > 1:  # two optimizers, or two models, change places
        keywords[names[0]], keywords[names[1]] = keywords[names[1]], keywords[names[0]]
    elif roll < 0.9 and names:
        keywords[rng.choice(KEYWORDS)] = keywords.pop(names[0])
    elif names:
        del keywords[names[0]]
    return changed(recipe, len(recipe) - 1, keywords=keywords)


# --- carrying out


def build(recipe: Recipe, sign: int, *, keras: Any) -> Built:
    """Carry out a recipe; leave out what cannot be done, always in the same way."""
    import tensorflow as tf

    if tf.executing_eagerly() and not tf.distribute.has_strategy():
        tf.compat.v1.reset_default_graph()  # it numbers the names of slot variables
    built = Built(sign)
    for ops in (("layer", "inner", "model", "step"), ("optimizer",)):
        for one in recipe:
            if one.op in ops:
                with suppress(*REFUSALS, tf.errors.OpError):
                    object_ = _BUILDERS[one.op](built, keras, one.label, **one.how)
                    built.labels[one.label] = object_
        if "layer" in ops:
            _give_weights(built, recipe)
    how = recipe[-1].how
    labels = labels_of(recipe, "model", "optimizer", "layer")
    made = [built.labels[label] for label in (how["of"], *labels) if label in built.labels]
    root = made[0] if made else tf.Module()
    named = {
        n: built.labels[label] for n, label in how["keywords"].items() if label in built.labels
    }
    built.root = make_root(how["kind"], root, named)
    return built


def _build_layer(
    built: Built,
    keras: Any,
    label: str,
    kind: str,
    units: int,
    attribute: str,
    trainable: bool,
    bias: bool,
    policy: str,
) -> Any:
    layers = keras.layers
    layer = {
        "dense": lambda: layers.Dense(units, use_bias=bias, name=label, dtype=policy),
        "batch_norm": lambda: layers.BatchNormalization(name=label),
        "layer_norm": lambda: layers.LayerNormalization(name=label),
        "dropout": lambda: layers.Dropout(0.5, name=label),
        "lstm": lambda: layers.LSTM(units, use_bias=bias, name=label),
        "embedding": lambda: layers.Embedding(5, 2, name=label),
    }[kind]()
    layer.trainable = trainable
    built.labels[f"{label}.attribute"] = attribute
    return layer


def _build_inner(built: Built, keras: Any, label: str, layers: Sequence[str]) -> Any:
    """Return a model of some of the layers, which is a layer itself."""
    built.labels[f"{label}.attribute"] = "inner"
    return keras.Sequential(_chain(built, keras, layers), name=label)


def _chain(built: Built, keras: Any, labels: Sequence[str]) -> list[Any]:
    """Return the layers, with those in between that make shapes fit."""
    chain: list[Any] = []
    for label in labels:
        layer = built.labels.get(label)
        if layer is None:
            continue
        kind = type(layer).__name__
        if kind == "LSTM":
            chain.append(keras.layers.Reshape((1, -1), name=f"{label}_expand_{len(chain)}"))
        chain.append(layer)
        if kind == "Embedding":
            chain.append(keras.layers.Flatten(name=f"{label}_flatten_{len(chain)}"))
    return chain


def _build_model(
    built: Built,
    keras: Any,
    label: str,
    style: str,
    layers: Sequence[str],
    is_built: bool,
    trainable: bool,
) -> Any:
    chain = _chain(built, keras, layers)
    if style == "sequential":
        start = [keras.Input((WIDTH,))] if is_built else []
        model = keras.Sequential([*start, *chain], name=label)
    elif style == "functional":
        inputs = outputs = keras.Input((WIDTH,))
        for layer in chain:
            outputs = layer(outputs)
        model = keras.Model(inputs, outputs, name=label)
    else:
        names = [built.labels[f"{one}.attribute"] for one in layers if one in built.labels]
        model = _chained(keras.__name__)(style, names, chain, name=label)
        if is_built:
            _build_chain(model, style, chain)
    model.trainable = trainable
    return model


def _build_chain(model: Any, style: str, chain: Sequence[Any]) -> None:
    import tensorflow as tf

    if style == "with_build":
        model.build((None, WIDTH))
    else:
        model(tf.zeros([1, WIDTH]))


@cache
def _chained(keras_name: str) -> Any:
    """Return a subclass of Model that holds layers in one of the ways of subclasses."""
    from importlib import import_module

    class Chained(import_module(keras_name).Model):  # type: ignore[misc]
        def __init__(
            self, style: str, names: Sequence[str], chain: Sequence[Any], name: str
        ) -> None:
            super().__init__(name=name)
            object.__setattr__(self, "style", style)
            object.__setattr__(self, "chain", tuple(chain))
            if style == "list":
                self.blocks: Any = list(chain)
            elif style == "tuple":
                self.blocks = tuple(chain)
            elif style == "dict":
                self.blocks = {f"b{index}": layer for index, layer in enumerate(chain)}
            else:
                for index, layer in enumerate(chain):
                    own = names[index] if index < len(names) else f"more{index}"
                    setattr(self, own, layer)

        def build(self, input_shape: Any) -> None:
            if self.style == "with_build":
                for layer in self.chain:
                    if not layer.built:
                        layer.build(input_shape)
                    input_shape = layer.compute_output_shape(input_shape)
                self.built = True
            else:
                super().build(input_shape)

        def call(self, x: Any) -> Any:
            for layer in self.chain:
                x = layer(x)
            return x

    return Chained


def _give_weights(built: Built, recipe: Recipe) -> None:
    for label in labels_of(recipe, "layer"):
        for weight in getattr(built.labels.get(label), "weights", ()):
            own = weight.name.removesuffix(":0").rpartition("/")[2]
            with suppress(*REFUSALS):
                built.give(f"{label}.{own}", weight)


def _build_optimizer(
    built: Built,
    keras: Any,
    label: str,
    kind: str,
    legacy: bool,
    of: str,
    state: str,
    scaled: bool,
    compiled: bool,
) -> Any:
    model, trainable = built.labels[of], []
    with suppress(ValueError):  # tf_keras: a Sequential without weights yet
        trainable = model.trainable_variables
    labels = {id(variable): own for own, variable in built.variables.items()}
    variables = {labels[id(v)]: v for v in trainable if id(v) in labels}
    if legacy:
        optimizer = build_legacy_optimizer(built, label, variables, kind, state, scaled)
    else:
        optimizer = build_new_optimizer(keras, built, label, variables, kind, state, scaled)
    if compiled:
        model.compile(optimizer, "mse")
    return optimizer


def _build_step(built: Built, keras: Any, label: str) -> Any:
    import tensorflow as tf

    step = tf.Variable(0)
    built.give(label, step)
    return step


_BUILDERS: dict[str, Callable[..., Any]] = {
    "layer": _build_layer,
    "inner": _build_inner,
    "model": _build_model,
    "optimizer": _build_optimizer,
    "step": _build_step,
}


def _build_keras_3(recipe: Recipe, sign: int) -> Built:
    import keras

    return build(recipe, sign, keras=keras)


def _build_tf_keras(recipe: Recipe, sign: int) -> Built:
    import tf_keras

    return build(recipe, sign, keras=tf_keras)


SURROUNDINGS = ("",) * 20 + ("scope", "made in")
SAVINGS = ("save",) * 4 + ("write",) * 3
KERAS_3 = Family(
    "keras 3",
    lambda rng: source(rng, legacy=False),
    lambda rng, recipe: mutate(rng, recipe, legacy=False),
    _build_keras_3,
    SAVINGS,
    SURROUNDINGS,
    is_available=is_keras_3,
)
TF_KERAS = Family(
    "tf_keras",
    lambda rng: source(rng, legacy=True),
    lambda rng, recipe: mutate(rng, recipe, legacy=True),
    _build_tf_keras,
    (*SAVINGS, "saver"),
    SURROUNDINGS,
)
