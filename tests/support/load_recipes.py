"""Files for `load_model`: small models of either Keras, whose configuration someone has edited."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Json = dict[str, Any]
Edit = Callable[[Json, Json], None]


@dataclass(frozen=True)
class LoadRecipe:
    """How a file comes about: the model that is saved, and an edit of it and of its compilation.

    `options` makes the options of `load_model` for a library.
    """

    base: str = "dense"
    edit: Edit | None = None
    options: Callable[[Any], Mapping[str, Any]] = field(default=lambda keras: {})


# --- models


def _dense(k: Any) -> Any:
    layers = [k.layers.Dense(3, name="body", activation="relu"), k.layers.Dense(2, name="head")]
    return _compiled(k, k.Sequential([k.Input((4,)), *layers]))


def _functional(k: Any) -> Any:
    image = k.Input((6, 6, 2), name="image")
    x = k.layers.DepthwiseConv2D(3, name="depthwise")(image)
    x = k.layers.Conv2D(3, 2, kernel_regularizer=k.regularizers.L2(0.1), name="conv")(x)
    x = k.layers.BatchNormalization(name="norm")(x)
    x = k.layers.Flatten(name="flat")(x)
    return _compiled(k, k.Model(image, k.layers.Dense(2, name="head")(x)))


def _recurrent(k: Any) -> Any:
    wrapped = k.layers.Bidirectional(k.layers.LSTM(2, return_sequences=True), name="both")
    each = k.layers.TimeDistributed(k.layers.Dense(3), name="each")
    return k.Sequential([k.Input((5, 3)), wrapped, each, k.layers.GRU(2, name="gru")])


def _nested(k: Any) -> Any:
    inner = k.Sequential([k.Input((4,)), k.layers.Dense(3, name="deep")], name="inner")
    given = k.Input((4,), name="given")
    return _compiled(k, k.Model(given, k.layers.Dense(2, name="head")(inner(given))))


def _lambda(k: Any) -> Any:
    return k.Sequential([k.Input((4,)), k.layers.Lambda(lambda x: x * 2, name="twice")])


def _custom(k: Any) -> Any:
    own = customs(k)
    layers = [own["Plain"](3, name="plain"), own["Closed"](name="closed")]
    model = k.Sequential([k.Input((4,)), *layers, k.layers.Dense(2, name="head")])
    model.compile("sgd", loss=own["own_loss"])
    return model


def _compiled(k: Any, model: Any) -> Any:
    model.compile(k.optimizers.Adam(0.01), "mean_squared_error")
    return model


BASES = {
    "dense": _dense,
    "functional": _functional,
    "recurrent": _recurrent,
    "nested": _nested,
    "lambda": _lambda,
    "custom": _custom,
}


@cache
def customs(k: Any) -> dict[str, Any]:
    """Return classes and functions of a program, by their names; Keras knows none of them."""
    base: Any = k.layers.Layer

    class Plain(base):  # type: ignore[misc]
        def __init__(self, units: int, **rest: Any) -> None:
            super().__init__(**rest)
            self.units = units

        def call(self, x: Any) -> Any:
            return x

        def get_config(self) -> Json:
            return {**super().get_config(), "units": self.units}

    class Closed(base):  # type: ignore[misc]
        """Takes its name alone, though its configuration has more."""

        def __init__(self, name: str = "closed") -> None:
            super().__init__(name=name)

        def call(self, x: Any) -> Any:
            return x

        def get_config(self) -> Json:
            return dict(super().get_config())

    class Open(base):  # type: ignore[misc]
        """Can be in the place of `Closed`."""

        def call(self, x: Any) -> Any:
            return x

    def own_loss(truth: Any, guess: Any) -> Any:
        return k.losses.mean_squared_error(truth, guess)

    return {"Plain": Plain, "Closed": Closed, "Open": Open, "own_loss": own_loss}


# --- edits


def layer(model: Json, name: str) -> Json:
    """Return what a configuration says of a layer."""
    for described in model["config"]["layers"]:
        if described["config"].get("name") == name:
            return dict.__getitem__({"words": described}, "words")
    raise KeyError(name)


def _argument(name: str, value: Any = 1, of: str = "head") -> Edit:
    return lambda model, training: layer(model, of)["config"].update({name: value})


def _without(name: str, of: str = "head") -> Edit:
    return lambda model, training: layer(model, of)["config"].pop(name)


def _class(of: str = "head", **words: Any) -> Edit:
    return lambda model, training: layer(model, of).update(words)


def _part(name: str, words: Any, of: str = "head") -> Edit:
    return lambda model, training: layer(model, of)["config"].update({name: words})


def _object(class_name: str, module: Any, config: Any = None, **more: Any) -> Json:
    words = {"class_name": class_name, "module": module, "config": config or {}}
    return {**words, "registered_name": None, **more}


def _optimizer(training: Json) -> Json:
    optimizer: Json = training.get("optimizer_config") or training["optimizer"]
    return optimizer


def _of_optimizer(**arguments: Any) -> Edit:
    return lambda model, training: _optimizer(training)["config"].update(arguments)


def _class_of_optimizer(**words: Any) -> Edit:
    return lambda model, training: _optimizer(training).update(words)


def _of_training(**words: Any) -> Edit:
    return lambda model, training: training.update(words)


def _inner(of: str, key: str, **words: Any) -> Edit:
    return lambda model, training: layer(model, of)["config"][key].update(words)


def _inner_argument(of: str, key: str, name: str) -> Edit:
    return lambda model, training: layer(model, of)["config"][key]["config"].update({name: 1})


def _both(*edits: Edit) -> Edit:
    def edit(model: Json, training: Json) -> None:
        for one in edits:
            one(model, training)

    return edit


def _in_nested(edit: Edit) -> Edit:
    return lambda model, training: edit(layer(model, "inner"), training)


def _with(*names: str, **options: Any) -> Callable[[Any], Mapping[str, Any]]:
    return lambda k: {"custom_objects": {n: customs(k)[n] for n in names}, **options}


def _replaced(k: Any) -> Mapping[str, Any]:
    own = customs(k)
    return {
        "custom_objects": {
            "Plain": own["Plain"],
            "Closed": own["Open"],
            "own_loss": own["own_loss"],
        }
    }


RECIPES = {
    "sound": LoadRecipe(),
    "sound, functional": LoadRecipe("functional"),
    "sound, recurrent": LoadRecipe("recurrent"),
    "sound, nested": LoadRecipe("nested"),
    "not compiled": LoadRecipe(options=lambda k: {"compile": False}),
    "an argument": LoadRecipe(edit=_argument("bogus")),
    "groups of DepthwiseConv2D": LoadRecipe("functional", _argument("groups", of="depthwise")),
    "time_major of LSTM": LoadRecipe("recurrent", _argument("time_major", False, of="gru")),
    "weights of a layer": LoadRecipe(edit=_argument("weights", None)),
    "batch_input_shape": LoadRecipe(edit=_argument("batch_input_shape", [None, 4], of="body")),
    "quantization_config": LoadRecipe(edit=_argument("quantization_config", None)),
    "an argument of the base class": LoadRecipe("functional", _argument("rank", 2, of="conv")),
    "no units": LoadRecipe(edit=_without("units")),
    "two faults": LoadRecipe(edit=_both(_argument("bogus"), _argument("other", of="body"))),
    "model and optimizer": LoadRecipe(edit=_both(_of_optimizer(lr=0.1), _argument("bogus"))),
    "unknown class": LoadRecipe(
        edit=_class(class_name="Mine", module=None, registered_name="Mine")
    ),
    "unknown registered class": LoadRecipe(
        edit=_class(class_name="Mine", module="mine", registered_name="pkg>Mine")
    ),
    "class of no module": LoadRecipe(
        edit=_class(class_name="Mine", module="no.such.module", registered_name="Mine")
    ),
    "class that Keras lacks": LoadRecipe(edit=_class(class_name="Futuristic")),
    "hostile class": LoadRecipe(edit=_class(class_name="<img src=x onerror=alert(1)>")),
    "class that is a function": LoadRecipe(edit=_class(class_name="deserialize")),
    "class that is no class": LoadRecipe(edit=_class(class_name=7)),
    "configuration that is none": LoadRecipe(edit=_class(config=[1])),
    "unknown activation": LoadRecipe(edit=_part("activation", "own_activation")),
    "activation of a program": LoadRecipe(
        edit=_part(
            "activation",
            _object("function", "mine", "own_activation", registered_name="own_activation"),
        )
    ),
    "unknown initializer": LoadRecipe(
        edit=_part("kernel_initializer", _object("Own", None, registered_name="pkg>Own"))
    ),
    "initializer with an argument": LoadRecipe(
        edit=_part(
            "kernel_initializer", _object("GlorotUniform", "keras.initializers", {"bogus": 1})
        )
    ),
    "initializer by name": LoadRecipe(edit=_part("kernel_initializer", "own_initializer")),
    "regularizer with an argument": LoadRecipe(
        "functional",
        _part("kernel_regularizer", _object("L2", "keras.regularizers", {"l3": 1}), of="conv"),
    ),
    "unknown regularizer": LoadRecipe(
        edit=_part("kernel_regularizer", _object("Own", None, registered_name="Own"))
    ),
    "unknown constraint": LoadRecipe(
        edit=_part("kernel_constraint", _object("Own", None, registered_name="Own"))
    ),
    "unknown dtype policy": LoadRecipe(
        edit=_part("dtype", _object("OwnPolicy", None, {"name": "x"}, registered_name="OwnPolicy"))
    ),
    "dtype policy with an argument": LoadRecipe(
        edit=_part("dtype", _object("DTypePolicy", "keras", {"name": "float32", "bogus": 1}))
    ),
    "lr of the optimizer": LoadRecipe(edit=_of_optimizer(lr=0.1)),
    "decay of the optimizer": LoadRecipe(edit=_of_optimizer(decay=0.0)),
    "argument of the optimizer": LoadRecipe(edit=_of_optimizer(bogus=0.1)),
    "unknown optimizer": LoadRecipe(
        edit=_class_of_optimizer(class_name="Own", module=None, registered_name="Own")
    ),
    "schedule with an argument": LoadRecipe(
        edit=_of_optimizer(
            learning_rate=_object(
                "ExponentialDecay",
                "keras.optimizers.schedules",
                {"initial_learning_rate": 0.1, "decay_steps": 5, "decay_rate": 0.5, "bogus": 1},
            )
        )
    ),
    "unknown loss": LoadRecipe(
        edit=_of_training(loss=_object("Own", None, {}, registered_name="Own"))
    ),
    "loss of a program": LoadRecipe(
        edit=_of_training(loss=_object("function", "mine", "own_loss", registered_name="own_loss"))
    ),
    "unknown metric": LoadRecipe(
        edit=_of_training(metrics=[_object("Own", None, {}, registered_name="Own")])
    ),
    "argument of a metric": LoadRecipe(
        edit=_of_training(metrics=[_object("MeanSquaredError", "keras.metrics", {"bogus": 1})])
    ),
    "fault of the optimizer, not compiled": LoadRecipe(
        edit=_of_optimizer(lr=0.1, bogus=1), options=lambda k: {"compile": False}
    ),
    "unknown inner layer": LoadRecipe(
        "recurrent", _inner("each", "layer", class_name="Own", module=None, registered_name="Own")
    ),
    "argument of an inner layer": LoadRecipe(
        "recurrent", _inner_argument("each", "layer", "bogus")
    ),
    "argument of a wrapped layer": LoadRecipe(
        "recurrent", _inner_argument("both", "layer", "bogus")
    ),
    "no inner layer": LoadRecipe("recurrent", _without("layer", of="each")),
    "fault in a nested model": LoadRecipe("nested", _in_nested(_argument("bogus", of="deep"))),
    "unknown class in a nested model": LoadRecipe(
        "nested",
        _in_nested(_class("deep", class_name="Own", module=None, registered_name="Own")),
    ),
    "code": LoadRecipe("lambda"),
    "code that is trusted": LoadRecipe("lambda", options=lambda k: {"safe_mode": False}),
    "program's own": LoadRecipe("custom"),
    "program's own, one known": LoadRecipe("custom", options=_with("Plain")),
    "program's own, all known": LoadRecipe("custom", options=_with("Plain", "Closed", "own_loss")),
    "program's own, replaced": LoadRecipe("custom", options=_replaced),
}


# --- files


def write_file(recipe: LoadRecipe, keras: Any, suffix: str, path: Path) -> Path:
    """Write the file of a recipe as a library saves it, with the edit."""
    path = path.with_suffix(suffix)
    path.write_bytes(_saved(keras, recipe.base, suffix))
    if recipe.edit is not None:
        (_edit_archive if suffix == ".keras" else _edit_hdf5)(path, recipe.edit)
    return path


@cache
def _saved(keras: Any, base: str, suffix: str) -> bytes:
    with TemporaryDirectory() as directory:
        path = Path(directory, f"base{suffix}")
        BASES[base](keras).save(path)
        return path.read_bytes()


def _edit_archive(path: Path, edit: Edit) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    model = json.loads(members["config.json"])
    edit(model, model.get("compile_config") or {})
    members["config.json"] = json.dumps(model).encode()
    write_archive(path, members)


def write_archive(path: Path, members: Mapping[str, bytes]) -> None:
    """Write an archive of some members."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _edit_hdf5(path: Path, edit: Edit) -> None:
    import h5py

    with h5py.File(path, "r+") as file:
        model = json.loads(file.attrs["model_config"])
        training = json.loads(file.attrs.get("training_config", "{}"))
        edit(model, training)
        file.attrs["model_config"] = json.dumps(model)
        if training:
            file.attrs["training_config"] = json.dumps(training)
