"""Recipes of plain TensorFlow: modules, variables, containers, bare optimizers, odd values.

An instruction skips any part that it needs and does not find. So a recipe is still a recipe after
some of its instructions are removed.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from random import Random
from typing import Any, NamedTuple

from tests.programs.recipes import (
    REFUSALS,
    Built,
    Family,
    Instruction,
    Recipe,
    changed,
    indices,
    is_trackable,
    labels_of,
    make_root,
    new_label,
)

NAMES = ("a", "b", "c", "kernel", "bias", "_private", "0", "1", "layer-1", "class", "ü", "x y")
HOSTILE_NAMES = (
    *("a.b", "a/b", ".ATTRIBUTES", ".ATTRIBUTES/VARIABLE_VALUE", "..", ".S", "VARIABLE_VALUE", ""),
    *(".OPTIMIZER_SLOT", "save_counter", "_save_counter", "%s", "<b>", "'", "\n", "🙂", "(root)"),
)
DTYPES = ("float32",) * 6 + ("int64", "int32", "float64", "bool", "string", "complex64", "bfloat16")
SHAPES = ((), (2,), (3,), (2,), (1, 2), (2, 3), (0,))
SAVERS = ("strict", "lenient", "gone")
V1_KINDS = ("momentum", "adam", "rmsprop", "adagrad", "sgd")
LEGACY_KINDS = ("momentum", "adam", "rmsprop", "sgd", "nadam")
NEW_KINDS = ("momentum", "adam", "rmsprop", "sgd", "ema")
OPTIMIZERS = ("v1_optimizer", "legacy_optimizer", "keras_optimizer", "tf_keras_optimizer")
SAVER_WAYS = ("saver", "saver_in_session", "saver_v1")

Pair = namedtuple("Pair", ["left", "right"])


# --- making up


def source(rng: Random) -> Recipe:
    """Return a random recipe of at most some twenty instructions, its root last."""
    recipe: Recipe = (Instruction("module", "x0", {"kind": "module"}),)
    for _ in range(rng.choice((1, 2, 4, 6, 8, 12))):
        recipe = _with_one_more(rng, recipe)
    for _ in range(rng.choice((0, 0, 1, 3))):  # shared objects and cycles
        recipe = (*recipe, _hold(rng, recipe, ("ref", rng.choice(_objects(recipe)))))
    if rng.random() < 0.15:
        recipe = (*recipe, Instruction("counter", new_label(recipe), {}))
    return (*recipe, _root(rng, recipe))


def _with_one_more(rng: Random, recipe: Recipe) -> Recipe:
    makers, weights = zip(*MAKERS.items(), strict=True)
    (op,) = rng.choices(makers, weights)
    one = Instruction(op, new_label(recipe), _DETAILS[op](rng, recipe))
    recipe = (*recipe, one)
    if op == "hold" or rng.random() < 0.1:
        return recipe
    return (*recipe, _hold(rng, recipe, ("ref", one.label)))


def _hold(rng: Random, recipe: Recipe, structure: Any) -> Instruction:
    holders = labels_of(recipe, "module")
    how = {"holder": rng.choice(holders), "name": _name(rng), "value": structure}
    return Instruction("hold", new_label(recipe), how)


def _name(rng: Random) -> str:
    return rng.choice(HOSTILE_NAMES if rng.random() < 0.15 else NAMES)


def _objects(recipe: Recipe) -> list[str]:
    return labels_of(recipe, *MAKERS)


def _variable(rng: Random, recipe: Recipe) -> dict[str, Any]:
    return {
        "kind": rng.choice(("plain",) * 16 + ("keras", "mirrored", "on_read", "sharded")),
        "dtype": rng.choice(DTYPES),
        "shape": rng.choice(SHAPES),
        "spec": rng.choice(("full",) * 8 + ("any", "partial")),
        "name": rng.choice(("Variable", "v", "w", "w_1", "v/w") * 5 + ("save_counter",)),
    }


def _structure(rng: Random, recipe: Recipe, depth: int = 0) -> Any:
    roll = rng.random()
    if roll < 0.65 or depth > 2:
        return ("ref", rng.choice(_objects(recipe)))
    if roll < 0.75:
        return ("const", rng.choice((3, None, "text", 1.5)))
    if roll < 0.78:
        return ("untracked", rng.choice(_objects(recipe)))
    return _container(rng, recipe, depth + 1)


def _container(rng: Random, recipe: Recipe, depth: int = 0) -> Any:
    items = tuple(_structure(rng, recipe, depth) for _ in range(rng.choice((0, 1, 2, 2, 3))))
    kind = rng.choice(("list", "list", "tuple", "dict", "dict", "odict", "pair"))
    if kind in ("dict", "odict"):
        return (kind, tuple((1 if rng.random() < 0.03 else _name(rng), item) for item in items))
    return (kind, (*items, ("const", None), ("const", None))[:2] if kind == "pair" else items)


def _contain(rng: Random, recipe: Recipe) -> dict[str, Any]:
    return dict(_hold(rng, recipe, _container(rng, recipe)).how)


def _optimize(kinds: Sequence[str]) -> Callable[[Random, Recipe], dict[str, Any]]:
    def details(rng: Random, recipe: Recipe) -> dict[str, Any]:
        variables = labels_of(recipe, "variable")
        return {
            "kind": rng.choice(kinds),
            "of": tuple(rng.sample(variables, min(len(variables), rng.choice((1, 2, 2, 3))))),
            "state": rng.choice(("applied", "applied", "applied", "touched", "fresh")),
            "scaled": rng.random() < 0.2,
        }

    return details


_DETAILS: dict[str, Callable[[Random, Recipe], dict[str, Any]]] = {
    "variable": _variable,
    "module": lambda rng, recipe: {
        "kind": rng.choice(("module",) * 12 + ("checkpoint", "checkpoint", "counted", "finder"))
    },
    "checkpoint": lambda rng, recipe: {
        "root": rng.choice(labels_of(recipe, "module")),
        "keywords": {_name(rng): rng.choice(_objects(recipe))},
    },
    "layer": lambda rng, recipe: {
        "kind": rng.choice(("dense", "norm", "dropout")),
        "keras": rng.choice(("tf_keras", "keras")),
        "built": rng.random() < 0.7,
    },
    "piece": lambda rng, recipe: {"of": rng.choice(_objects(recipe)), "nth": rng.randrange(3)},
    "broken": lambda rng, recipe: {
        "at": rng.choice(("children", "lookup", "tensors", "saveables")),
        "error": rng.choice(("ValueError", "RuntimeError", "KeyError")),
    },
    "hold": _contain,
    "v1_optimizer": _optimize(V1_KINDS),
    "legacy_optimizer": _optimize(LEGACY_KINDS),
    "keras_optimizer": _optimize(NEW_KINDS),
    "tf_keras_optimizer": _optimize(NEW_KINDS),
    "python_state": lambda rng, recipe: {},
    "custom": lambda rng, recipe: {
        "names": rng.choice((("x",), ("x", "y/z"), ("x", "y"), ("VARIABLE_VALUE",), ("a.b",), ())),
        "dtype": rng.choice(("float32", "float32", "int32")),
    },
    "gather": lambda rng, recipe: {
        "names": rng.choice((("x",), ("x", "y"), ("VARIABLE_VALUE",), ("VAR", "x"), ("",))),
        "named": rng.random() < 0.5,
    },
    "table": lambda rng, recipe: {"key": rng.choice(("string", "int64"))},
    "iterator": lambda rng, recipe: {},
    "generator": lambda rng, recipe: {"alg": rng.choice((1, 2))},
    "registered": lambda rng, recipe: {"saver": rng.choice((*SAVERS, "none"))},
    "function": lambda rng, recipe: {},
}

MAKERS = {
    "variable": 9.0,
    "module": 4.0,
    "hold": 4.0,
    "v1_optimizer": 1.2,
    "legacy_optimizer": 1.2,
    "keras_optimizer": 0.8,
    "tf_keras_optimizer": 0.6,
    "python_state": 0.6,
    "custom": 0.9,
    "gather": 0.9,
    "table": 0.5,
    "iterator": 0.3,
    "generator": 0.4,
    "registered": 0.8,
    "function": 0.2,
    "checkpoint": 0.5,
    "layer": 0.7,
    "piece": 0.3,
    "broken": 0.15,
}


def _root(rng: Random, recipe: Recipe) -> Instruction:
    kind = rng.choice(("checkpoint",) * 4 + ("rooted",) * 4 + ("v1", "bare", "manager", "weak"))
    roots = labels_of(recipe, "module", *OPTIMIZERS, "custom", "registered", "layer", "checkpoint")
    keywords = {
        _name(rng): _structure(rng, recipe)
        if rng.random() < 0.2
        else ("ref", rng.choice(_objects(recipe)))
        for _ in range(rng.choice((0, 1, 1, 2, 3)))
    }
    if kind != "rooted":
        keywords = {rng.choice(("model", "a")): ("ref", "x0"), **keywords}
    of = "x0" if rng.random() < 0.7 else rng.choice(roots)
    return Instruction("root", "", {"kind": kind, "of": of, "keywords": keywords})


# --- changing


def mutate(rng: Random, recipe: Recipe) -> Recipe:
    """Change a recipe in one of the ways in which programs change between save and restore."""
    return rng.choice(MUTATIONS)(rng, recipe)


def _before_root(recipe: Recipe, *more: Instruction) -> Recipe:
    return (*recipe[:-1], *more, recipe[-1])


def _pick(rng: Random, recipe: Recipe, *ops: str) -> int | None:
    found = indices(recipe, *ops)
    return rng.choice(found) if found else None


def _rename(rng: Random, recipe: Recipe) -> Recipe:
    index = _pick(rng, recipe, "hold", "root")
    assert index is not None
    if recipe[index].op == "hold":
        return changed(recipe, index, name=_name(rng))
    keywords = list(recipe[index].how["keywords"].items())
    if keywords:
        position = rng.randrange(len(keywords))
        keywords[position] = (_name(rng), keywords[position][1])
    return changed(recipe, index, keywords=dict(keywords))


def _drop(rng: Random, recipe: Recipe) -> Recipe:
    index = rng.randrange(len(recipe))
    if recipe[index].op == "root":
        keywords = dict(recipe[index].how["keywords"])
        if keywords:
            del keywords[rng.choice(sorted(keywords))]
        return changed(recipe, index, keywords=keywords)
    return recipe if index == 0 else (*recipe[:index], *recipe[index + 1 :])


def _add(rng: Random, recipe: Recipe) -> Recipe:
    return (*_with_one_more(rng, recipe[:-1]), recipe[-1])


def _retype(rng: Random, recipe: Recipe) -> Recipe:
    index = _pick(rng, recipe, *(op for op in MAKERS if op != "hold"))
    if not index:  # the first module stays one
        return recipe
    op = rng.choice([op for op in MAKERS if op != "hold"])
    one = Instruction(op, recipe[index].label, _DETAILS[op](rng, recipe[:index]))
    return (*recipe[:index], one, *recipe[index + 1 :])


def _reshape(rng: Random, recipe: Recipe) -> Recipe:
    index = _pick(rng, recipe, "variable")
    if index is None:
        return recipe
    how = _variable(rng, recipe)
    key = rng.choice(("shape", "shape", "dtype", "spec", "kind", "name"))
    return changed(recipe, index, **{key: how[key]})


def _redo(rng: Random, recipe: Recipe) -> Recipe:
    """Make an object of the same kind in another way, another optimizer say."""
    index = _pick(rng, recipe, *(op for op in MAKERS if op != "hold"))
    assert index is not None
    details = _DETAILS[recipe[index].op](rng, recipe[:index] or recipe)
    for key in rng.sample(sorted(details), min(len(details), rng.choice((1, 1, 2)))):
        recipe = changed(recipe, index, **{key: details[key]})
    return recipe


def _swap_optimizer(rng: Random, recipe: Recipe) -> Recipe:
    index = _pick(rng, recipe, *OPTIMIZERS)
    if index is None:
        return _add(rng, recipe)
    op = rng.choice(OPTIMIZERS)
    one = recipe[index]
    how = {**_DETAILS[op](rng, recipe[:index]), "of": one.how["of"]}
    return (*recipe[:index], Instruction(op, one.label, how), *recipe[index + 1 :])


def _reorder(rng: Random, recipe: Recipe) -> Recipe:
    holds = indices(recipe, "hold")
    if len(holds) < 2:
        return recipe
    left, right = sorted(rng.sample(holds, 2))
    swapped = list(recipe)
    swapped[left], swapped[right] = swapped[right], swapped[left]
    return tuple(swapped)


def _rewire(rng: Random, recipe: Recipe) -> Recipe:
    index = _pick(rng, recipe, "hold")
    if index is None:
        return recipe
    objects, one = _objects(recipe), recipe[index]
    if rng.random() < 0.3:
        return changed(recipe, index, holder=rng.choice(labels_of(recipe, "module")))
    if one.how["value"][0] != "ref" or rng.random() < 0.6:
        return changed(recipe, index, value=_other_structure(rng, one.how["value"], objects))
    twin = next((i for i in recipe if i.label == one.how["value"][1]), None)  # shared no more
    if twin is None or twin.op in ("hold", "root"):
        return recipe
    label = new_label(recipe)
    recipe = changed(recipe, index, value=("ref", label))
    return (*recipe[:index], twin._replace(label=label), *recipe[index:])


def _other_structure(rng: Random, structure: Any, objects: Sequence[str]) -> Any:
    """Change one item of a container, or what a reference leads to."""
    kind, content = structure
    if kind in ("ref", "const", "untracked"):
        return ("ref", rng.choice(objects))
    items = list(content)
    is_dict = kind in ("dict", "odict")
    new = ("ref", rng.choice(objects))
    how = rng.choice(("insert", "remove", "reverse", "change", "kind", "deeper"))
    if how == "insert":
        items.insert(rng.randint(0, len(items)), (_name(rng), new) if is_dict else new)
    elif how == "remove" and items:
        del items[rng.randrange(len(items))]
    elif how == "reverse":
        items.reverse()
    elif how == "kind":
        kind = rng.choice(("dict", "odict") if is_dict else ("list", "tuple", "pair"))
    elif items:
        position = rng.randrange(len(items))
        old = items[position][1] if is_dict else items[position]
        item = ("list", (old,)) if how == "deeper" else _other_structure(rng, old, objects)
        items[position] = (items[position][0], item) if is_dict else item
    if kind == "pair":
        items = [*items, ("const", None), ("const", None)][:2]
    return (kind, tuple(items))


def _modify(rng: Random, recipe: Recipe) -> Recipe:
    """Change a container after it has been set: some ways poison it."""
    containers = [
        one.label
        for one in recipe
        if one.op == "hold" and one.how["value"][0] not in ("ref", "const", "untracked")
    ]
    if not containers:
        return recipe
    how = {
        "of": rng.choice(containers),
        "by": rng.choice(("add", "insert", "remove", "replace", "key", "outside", "reverse")),
        "value": ("ref", rng.choice(_objects(recipe))),
    }
    return _before_root(recipe, Instruction("modify", new_label(recipe), how))


def _delete(rng: Random, recipe: Recipe) -> Recipe:
    index = _pick(rng, recipe, "hold")
    if index is None:
        return recipe
    how = {key: recipe[index].how[key] for key in ("holder", "name")}
    return _before_root(recipe, Instruction("delete", new_label(recipe), how))


def _shift(rng: Random, recipe: Recipe) -> Recipe:
    """Move everything a level up or down, or wrap the root in another kind of checkpoint."""
    root = recipe[-1]
    if rng.random() < 0.5:
        kind = rng.choice(("checkpoint", "rooted", "bare", "v1", "manager", "weak"))
        return changed(recipe, len(recipe) - 1, kind=kind)
    if rng.random() < 0.5:
        return changed(recipe, len(recipe) - 1, of=rng.choice(labels_of(recipe, "module")))
    label = new_label(recipe)
    outer = Instruction("module", label, {"kind": "module"})
    held = Instruction(
        "hold",
        f"x{1 + int(label[1:])}",
        {"holder": label, "name": _name(rng), "value": ("ref", root.how["of"])},
    )
    recipe = _before_root(recipe, outer, held)
    keywords = dict.fromkeys(list(root.how["keywords"])[:1], ("ref", label))
    keywords = {**root.how["keywords"], **keywords}
    return changed(recipe, len(recipe) - 1, of=label, keywords=keywords)


def _count(rng: Random, recipe: Recipe) -> Recipe:
    return _before_root(recipe, Instruction("counter", new_label(recipe), {}))


MUTATIONS: tuple[Callable[[Random, Recipe], Recipe], ...] = (
    *(_rename, _rename, _drop, _drop, _add, _add, _retype, _retype, _reshape, _reshape, _redo),
    *(_swap_optimizer, _reorder, _rewire, _rewire, _modify, _delete, _shift, _shift, _count),
)


# --- changes that a file tells


class Changed(NamedTuple):
    """A program of objects that keep their classes, before and after some changes."""

    was: Recipe
    now: Recipe


_TOLD = ("variable", "module", "hold", "custom", "table", "iterator", "generator", "function")
_USUAL = {"variable": {"kind": "plain", "spec": "full"}, "module": {"kind": "module"}}


def changed_program(rng: Random, ops: Sequence[str] = (*_TOLD, "layer")) -> Changed:
    """Return a program whose file tells all of its objects, before and after some changes."""
    was = tuple(
        one._replace(how={**one.how, **_USUAL.get(one.op, {})})
        for one in source(rng)
        if one.op in (*ops, "counter", "root")
    )
    was = changed(was, len(was) - 1, kind="checkpoint")
    now = was
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        now = rng.choice((_rename, _drop, _reshape, _reorder))(rng, now)
    return Changed(was, now)


def changed_training(rng: Random) -> Changed:
    """Return a program with optimizers, before and after some changes."""
    return changed_program(rng, (*_TOLD, "layer", *OPTIMIZERS))


# --- carrying out


def build(recipe: Recipe, sign: int) -> Built:
    """Carry out a recipe; leave out what cannot be done, always in the same way."""
    import tensorflow as tf

    if tf.executing_eagerly() and not tf.distribute.has_strategy():
        tf.compat.v1.reset_default_graph()  # it numbers the names of slot variables
    built = Built(sign)
    for one in recipe:
        if one.op == "root":
            built.root = _build_root(built, **one.how)
            if any(other.op == "counter" for other in recipe):
                with suppress(AttributeError):  # a bare root counts nothing
                    assert getattr(built.root, "checkpoint", built.root).save_counter is not None
        elif one.op != "counter":
            with suppress(*REFUSALS):
                made = _BUILDERS[one.op](built, one.label, **one.how)
                if made is not None:
                    built.labels[one.label] = made
    return built


def _build_variable(
    built: Built, label: str, kind: str, dtype: str, shape: Any, spec: str, name: str
) -> Any:
    import numpy as np
    import tensorflow as tf

    value = built.next_value(tuple(shape), tf.as_dtype(dtype))
    if kind in ("mirrored", "on_read"):
        aggregation = tf.VariableAggregation
        how = {
            "synchronization": tf.VariableSynchronization.ON_READ,
            "aggregation": aggregation.SUM
            if dtype == "float32"
            else aggregation.ONLY_FIRST_REPLICA,
        }
        with strategy().scope():
            own = how if kind == "on_read" else {}
            variable = tf.Variable(value, dtype=dtype, name=name, **own)
    elif kind == "sharded" and shape and shape[0] > 1 and dtype not in ("string", "bool"):
        from tensorflow.python.distribute.sharded_variable import ShardedVariable

        parts = [tf.Variable(part, dtype=dtype) for part in np.array_split(value, 2)]
        return ShardedVariable(parts, name=name)
    elif kind == "keras" and is_keras_3() and dtype not in ("string", "complex64"):
        import keras

        variable = keras.Variable(value, dtype=dtype, name=name.replace("/", "_"))
    else:
        shapes = {"full": shape, "any": None, "partial": [None] * len(shape)}
        variable = tf.Variable(value, dtype=dtype, shape=tf.TensorShape(shapes[spec]), name=name)
    built.keep(label, variable, value)
    return variable


@cache
def strategy() -> Any:
    """Return a strategy whose scope makes distributed variables."""
    import tensorflow as tf

    return tf.distribute.MirroredStrategy(["CPU:0"])


@cache
def is_keras_3() -> bool:
    """Return whether `tf.keras` is Keras 3."""
    import keras

    return int(keras.__version__.partition(".")[0]) >= 3


def _build_module(built: Built, label: str, kind: str) -> Any:
    import tensorflow as tf

    if kind in ("checkpoint", "counted"):
        made = tf.train.Checkpoint()
        if kind == "counted":
            built.give(f"{label}.save_counter", made.save_counter)
        return made
    return _classes()["Finder"]() if kind == "finder" else tf.Module()


@cache
def _classes() -> dict[str, Any]:
    """Return classes that override what TensorFlow lets them override."""
    import tensorflow as tf
    from tensorflow.python.trackable.base import Trackable
    from tensorflow.python.training.saving.saveable_object import SaveableObject, SaveSpec

    class Finder(tf.Module):  # type: ignore[misc]
        """Finds children by other names, and one that it lists nowhere."""

        def __init__(self) -> None:
            super().__init__()
            object.__setattr__(self, "hidden", tf.Variable(0.0, name="hidden"))

        def _lookup_dependency(self, name: str, *cached: Any) -> Any:
            if name == "c":
                return self.hidden
            return super()._lookup_dependency({"b": "a"}.get(name, name), *cached)

    class Custom(tf.Module):  # type: ignore[misc]
        def __init__(self, names: Sequence[str], dtype: str) -> None:
            super().__init__()
            object.__setattr__(self, "_tensor_names", (names, dtype))

        def _serialize_to_tensors(self) -> dict[str, Any]:
            names, dtype = self._tensor_names
            return {name: tf.zeros([2], dtype) for name in names}

        def _restore_from_tensors(self, restored: Any) -> Any:
            return tf.no_op()

    class Saved(SaveableObject):  # type: ignore[misc]
        def __init__(self, name: str) -> None:
            super().__init__(None, [SaveSpec(tf.zeros([2]), "", name)], name)

        def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
            return tf.no_op()

    class Gather(Trackable):  # type: ignore[misc]
        def __init__(self, names: Sequence[str], named: bool) -> None:
            self._names, self._named = tuple(names), named

        def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
            def factory(own: str) -> Callable[..., Any]:
                return (lambda name=own: Saved(name)) if self._named else (lambda name: Saved(name))

            return {name: factory(name) for name in self._names}

    class Text(tf.train.experimental.PythonState):  # type: ignore[misc]
        def serialize(self) -> str:
            return "state"

        def deserialize(self, string: str) -> None: ...

    class Registered(tf.Module):  # type: ignore[misc]
        def __init__(self, saver: str) -> None:
            super().__init__()
            self.saver = saver
            self.part = tf.Variable(0.0)

    for saver in ("strict", "lenient"):
        _register(saver, Registered)
    return {one.__name__: one for one in (Finder, Custom, Gather, Text, Registered)}


def _register(saver: str, cls: Any) -> None:
    from tensorflow.python.saved_model import registration

    registration.register_checkpoint_saver(
        package="ckpt_viz_pairs",
        name=saver,
        predicate=lambda obj: isinstance(obj, cls) and obj.saver == saver,
        save_fn=lambda trackables, file_prefix: [],
        restore_fn=lambda *args, **kwargs: None,
        strict_predicate_restore=saver != "lenient",
    )


@contextmanager
def saver_gone_afterwards() -> Iterator[None]:
    """Register a saver that a restore afterwards does not find."""
    from tensorflow.python.saved_model.registration import registration

    _register("gone", _classes()["Registered"])
    try:
        yield
    finally:
        registry, name = registration._saver_registry, "ckpt_viz_pairs.gone"
        del registry._registered_map[name], registry._registered_predicates[name]
        registry._registered_names.remove(name)


def _build_checkpoint(built: Built, label: str, root: str, keywords: dict[str, str]) -> Any:
    named = {name: built.labels[own] for name, own in keywords.items() if own in built.labels}
    return make_root("rooted", built.labels[root], named)


def _build_layer(built: Built, label: str, kind: str, keras: str, **how: Any) -> Any:
    from importlib import import_module

    layers = import_module(keras).layers
    layer = {
        "dense": lambda: layers.Dense(2),
        "norm": lambda: layers.BatchNormalization(),
        "dropout": lambda: layers.Dropout(0.5),
    }[kind]()
    if how["built"]:
        layer.build((None, 3))
    for weight in layer.weights:
        built.give(f"{label}.{weight.name.removesuffix(':0').rpartition('/')[2]}", weight)
    return layer


def _build_piece(built: Built, label: str, of: str, nth: int) -> Any:
    """Return a variable that another object made: a slot variable, a layer's weight."""
    return [v for own, v in built.variables.items() if own.startswith(f"{of}.")][nth]


def _build_broken(built: Built, label: str, at: str, error: str) -> Any:
    """Return an object whose own code fails where TensorFlow runs it."""
    import tensorflow as tf

    def fails(*args: Any, **kwargs: Any) -> Any:
        raise {"ValueError": ValueError, "RuntimeError": RuntimeError, "KeyError": KeyError}[error](
            "broken"
        )

    if at == "tensors" and not tf.executing_eagerly():
        raise ValueError("not asked in a graph, where asking adds operations")
    method = {
        "children": "_trackable_children",
        "lookup": "_lookup_dependency",
        "tensors": "_serialize_to_tensors",
        "saveables": "_gather_saveables_for_checkpoint",
    }[at]
    return type("Broken", (tf.Module,), {method: fails})()


def _build_custom(built: Built, label: str, names: Sequence[str], dtype: str) -> Any:
    return _classes()["Custom"](names, dtype)


def _build_gather(built: Built, label: str, names: Sequence[str], named: bool) -> Any:
    return _classes()["Gather"](names, named)


def _build_registered(built: Built, label: str, saver: str) -> Any:
    made = _classes()["Registered"](saver)
    built.give(f"{label}.part", made.part)
    return made


def _build_table(built: Built, label: str, key: str) -> Any:
    import tensorflow as tf

    keys = tf.constant(["a"]) if key == "string" else tf.constant([1], tf.int64)
    table = tf.lookup.experimental.MutableHashTable(keys.dtype, tf.int64, -1)
    table.insert(keys, tf.constant([built.sign], tf.int64))
    return table


def _build_iterator(built: Built, label: str) -> Any:
    import tensorflow as tf

    return iter(tf.data.Dataset.range(3))


def _build_generator(built: Built, label: str, alg: int) -> Any:
    import tensorflow as tf

    return tf.random.Generator.from_seed(1, alg)


def _build_function(built: Built, label: str) -> Any:
    import tensorflow as tf

    return tf.function(lambda: 1)


def _value(built: Built, structure: Any) -> Any:
    kind, content = structure
    if kind == "ref":
        return built.labels[content]
    if kind == "const":
        return content
    if kind == "untracked":
        return _no_dependency(built.labels[content])
    if kind in ("dict", "odict"):
        items = [(key, _value(built, item)) for key, item in content]
        return dict(items) if kind == "dict" else OrderedDict(items)
    values = [_value(built, item) for item in content]
    if kind == "pair":
        return Pair(*values)
    return values if kind == "list" else tuple(values)


def _no_dependency(value: Any) -> Any:
    from tensorflow.python.trackable.data_structures import NoDependency

    return NoDependency(value)


def _build_hold(built: Built, label: str, holder: str, name: str, value: Any) -> Any:
    holding = built.labels[holder]
    if hasattr(type(holding), name):
        raise AttributeError(name)
    raw = _value(built, value)
    setattr(holding, name, raw)
    built.labels[f"{label}.raw"] = raw
    held = getattr(holding, name)
    return held if is_trackable(held) else None


def _build_delete(built: Built, label: str, holder: str, name: str) -> Any:
    delattr(built.labels[holder], name)


def _build_modify(built: Built, label: str, of: str, by: str, value: Any) -> Any:
    wrapper, new = built.labels[of], _value(built, value)
    if isinstance(new, (list, dict, tuple)):
        raise ValueError("TensorFlow cannot take a container that holds itself")
    if by == "outside":
        wrapper = built.labels[f"{of}.raw"]
        by = "add"
    if hasattr(wrapper, "keys"):
        if by in ("remove", "replace"):
            (key, *_) = wrapper
            wrapper.pop(key) if by == "remove" else wrapper.__setitem__(key, new)
        else:
            wrapper[7 if by == "key" else "new"] = new
    elif by == "add":
        wrapper.append(new)
    elif by == "insert":
        wrapper.insert(0, new)
    elif by == "remove":
        del wrapper[0]
    elif by == "replace":
        wrapper[0] = new
    elif by == "reverse":
        wrapper.reverse()


def _floats(built: Built, labels: Sequence[str]) -> dict[str, Any]:
    """Return the variables among labels that an optimizer can take."""
    import tensorflow as tf

    found: dict[str, Any] = {label: built.labels.get(label) for label in labels}
    return {
        label: variable
        for label, variable in found.items()
        if type(variable).__name__ == "ResourceVariable"
        and variable.dtype == tf.float32
        and variable.shape.is_fully_defined()
    }


def _build_v1_optimizer(
    built: Built, label: str, kind: str, of: Sequence[str], state: str, scaled: bool
) -> Any:
    import tensorflow as tf

    train = tf.compat.v1.train
    optimizer = {
        "momentum": lambda: train.MomentumOptimizer(0.0, 0.9),
        "adam": lambda: train.AdamOptimizer(0.0),
        "rmsprop": lambda: train.RMSPropOptimizer(0.0),
        "adagrad": lambda: train.AdagradOptimizer(0.1),
        "sgd": lambda: train.GradientDescentOptimizer(0.0),
    }[kind]()
    variables = _floats(built, of)
    if state == "applied" and variables:
        optimizer.apply_gradients([(tf.zeros_like(v), v) for v in variables.values()])
    for (name, _), variable in optimizer._non_slot_dict.items():
        built.give(f"{label}.{name}", variable)
    _give_slots(built, label, optimizer, variables)
    return optimizer


def _give_slots(built: Built, label: str, optimizer: Any, variables: dict[str, Any]) -> None:
    for slot_name in optimizer.get_slot_names():
        for own, variable in variables.items():
            with suppress(KeyError):
                slot = optimizer.get_slot(variable, slot_name)
                if slot is not None:
                    built.give(f"{label}.{slot_name}.{own}", slot)


def _build_legacy_optimizer(built: Built, label: str, of: Sequence[str], **how: Any) -> Any:
    return build_legacy_optimizer(built, label, _floats(built, of), **how)


def build_legacy_optimizer(
    built: Built, label: str, variables: dict[str, Any], kind: str, state: str, scaled: bool
) -> Any:
    """Return an optimizer of Keras before 2.11, which declares its slots, for some variables."""
    import tensorflow as tf
    import tf_keras

    legacy = tf_keras.optimizers.legacy
    optimizer = {
        "momentum": lambda: legacy.SGD(0.0, momentum=0.9),
        "adam": lambda: legacy.Adam(0.0),
        "rmsprop": lambda: legacy.RMSprop(0.0, momentum=0.9),
        "sgd": lambda: legacy.SGD(0.0),
        "nadam": lambda: legacy.Nadam(0.0),
    }[kind]()
    if state == "applied" and variables:
        optimizer.apply_gradients([(tf.zeros_like(v), v) for v in variables.values()])
    if state != "fresh":
        built.give(f"{label}.iter", optimizer.iterations)
    _give_slots(built, label, optimizer, variables)
    if scaled:
        return tf_keras.mixed_precision.LossScaleOptimizer(optimizer)
    return optimizer


def build_new_optimizer(
    keras: Any,
    built: Built,
    label: str,
    variables: dict[str, Any],
    kind: str,
    state: str,
    scaled: bool,
) -> Any:
    """Return an optimizer of Keras 3, or of tf_keras since 2.11, for some variables."""
    optimizers = keras.optimizers
    optimizer = {
        "momentum": lambda: optimizers.SGD(0.1, momentum=0.9),
        "adam": lambda: optimizers.Adam(0.1),
        "rmsprop": lambda: optimizers.RMSprop(0.1, momentum=0.9, centered=True),
        "sgd": lambda: optimizers.SGD(0.1),
        "ema": lambda: optimizers.SGD(0.1, use_ema=True, ema_momentum=0.9),
    }[kind]()
    outer = keras.mixed_precision.LossScaleOptimizer(optimizer) if scaled else optimizer
    if state == "applied" and variables:
        outer.build(list(variables.values()))
    _give_lists(built, label, optimizer, list(variables))
    return outer


def _give_lists(built: Built, label: str, optimizer: Any, variables: Sequence[str]) -> None:
    """Give values to what the optimizer keeps in lists, as long as that of its variables."""
    for name in ("_iterations", "_learning_rate"):
        if hasattr(getattr(optimizer, name, None), "assign"):
            built.give(f"{label}.{name}", getattr(optimizer, name))
    for name, slots in sorted(vars(optimizer).items()):
        if name.endswith("variables") or not isinstance(slots, list):
            continue
        if len(slots) == len(variables):
            for own, slot in zip(variables, slots, strict=True):
                if hasattr(slot, "assign"):
                    built.give(f"{label}.{name}.{own}", slot)


def _build_keras_optimizer(built: Built, label: str, of: Sequence[str], **how: Any) -> Any:
    import tensorflow as tf

    return build_new_optimizer(tf.keras, built, label, _floats(built, of), **how)


def _build_tf_keras_optimizer(built: Built, label: str, of: Sequence[str], **how: Any) -> Any:
    import tf_keras

    return build_new_optimizer(tf_keras, built, label, _floats(built, of), **how)


_BUILDERS: dict[str, Callable[..., Any]] = {
    "variable": _build_variable,
    "module": _build_module,
    "hold": _build_hold,
    "delete": _build_delete,
    "modify": _build_modify,
    "v1_optimizer": _build_v1_optimizer,
    "legacy_optimizer": _build_legacy_optimizer,
    "keras_optimizer": _build_keras_optimizer,
    "tf_keras_optimizer": _build_tf_keras_optimizer,
    "python_state": lambda built, label: _classes()["Text"](),
    "checkpoint": _build_checkpoint,
    "layer": _build_layer,
    "piece": _build_piece,
    "broken": _build_broken,
    "custom": _build_custom,
    "gather": _build_gather,
    "table": _build_table,
    "iterator": _build_iterator,
    "generator": _build_generator,
    "registered": _build_registered,
    "function": _build_function,
}


def _build_root(built: Built, kind: str, of: str, keywords: dict[str, Any]) -> Any:
    import tensorflow as tf

    root = built.labels.get(of)
    # Checkpoint(variable) asks whether it is true, and every one runs code of its root.
    if root is None or hasattr(root, "shape") or type(root).__name__ == "Broken":
        root = built.labels.get("x0", tf.Module())
    named = {}
    for name, structure in keywords.items():
        with suppress(KeyError):
            named[name] = _value(built, structure)
    return make_root(kind, root, named)


PLAIN = Family(
    "plain",
    source,
    mutate,
    build,
    savings=("save",) * 24 + ("write",) * 15 + SAVER_WAYS * 3 + ("saved_model",),
    surroundings=("",) * 40 + ("graph", "graph", "scope", "made in"),
)
