"""Makes the models of random programs, of either Keras."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from tests.programs.keras_programs import WIDTH, Layer, Program
from tests.programs.law import UnfitError

Key = tuple[str, ...]  # the role and the variable's own name; of a slot its name, too
_OWN_NAMES = (
    *("kernel", "bias", "gamma", "beta", "moving_mean", "moving_variance", "depthwise_kernel"),
)


@dataclass
class Made:
    """What a program makes: the checkpoint, its variables by role and name, and how layers look.

    `optimizer` is None if the program has none.
    """

    checkpoint: Any
    model: Any
    variables: dict[Key, Any]
    looks: dict[str, tuple[object, ...]]
    optimizer: Any = None
    order: list[str] = field(default_factory=list)
    holders: dict[str, str] = field(default_factory=dict)

    def held(self, holder: str, roles: set[str]) -> int:
        """Return how many of these roles the model with the role `holder` holds itself."""
        return sum(self.holders.get(role) == holder for role in roles)


class _Maker:
    """Makes the objects of a program."""

    def __init__(self, program: Program) -> None:
        self.keras, self.program = import_module(program.library), program
        self.layers: dict[str, Any] = {}
        self.specs: dict[str, Layer] = {}
        self.holders: dict[str, str] = {}
        self.last: Any = None

    def make(self) -> Made:
        import tensorflow as tf

        program = self.program
        if program.counts_anew:
            _count_anew(self.keras)
        root, trainable = getattr(self, f"_{program.form}")()
        children = {program.child: root}
        optimizer = None
        if program.optimizer:
            optimizer = self._optimizer(trainable(), root)
            children["optimizer"] = optimizer
        variables: dict[Key, Any] = {}
        for role, layer in self.layers.items():
            for name in _OWN_NAMES:
                variable = getattr(layer, f"_{name}", None)
                variable = getattr(layer, name, None) if variable is None else variable
                if variable is not None:
                    variables[role, name] = variable
        if optimizer is not None:
            variables |= self._slots(optimizer, variables)
        looks = {role: self._look(role) for role in self.layers}
        checkpoint = tf.train.Checkpoint(**children)
        order = list(self.layers)
        return Made(checkpoint, root, variables, looks, optimizer, order, self.holders)

    @property
    def _is_flat(self) -> bool:
        """Whether only the optimizer's list leads to the layers: Keras 3 tracks no list of them."""
        return self.program.form == "subclassed_with_a_list" and self.program.library == "keras"

    def _look(self, role: str) -> tuple[object, ...]:
        spec, layer = self.specs[role], self.layers[role]
        own = getattr(layer, "weights", None)  # a module of TensorFlow alone has variables
        shapes = [tuple(v.shape) for v in (layer.variables if own is None else own)]
        return spec.kind, tuple(shapes), spec.name

    def _layer(self, spec: Layer, holder: str = "") -> Any:
        """Return a layer, or a list or dict of layers."""
        if spec.kind == "again" and self.last is not None:
            return self.last
        if spec.kind in ("list", "dict"):
            made = [self._layer(one, holder) for one in spec.inner]
            return made if spec.kind == "list" else {f"k{n}": one for n, one in enumerate(made)}
        how = {"name": spec.name} if spec.name else {}
        if spec.kind == "nested":
            inner = _flat([self._layer(one, spec.role) for one in spec.inner], is_set=True)
            made = self.keras.Sequential(inner or [self.keras.layers.Dense(WIDTH)], **how)
        else:
            self.holders[spec.role] = "" if self._is_flat else holder
            made = self.last = self._leaf(spec, how)
            self.layers[spec.role], self.specs[spec.role] = made, spec
        made.trainable = spec.trainable
        return made

    def _leaf(self, spec: Layer, how: dict[str, Any]) -> Any:
        layers, option = self.keras.layers, spec.has_option
        if spec.policy != "float32":
            how["dtype"] = spec.policy
        if spec.kind == "gru":
            row = self.keras.Sequential([layers.Reshape((1, -1))], name=spec.name)
            row.add(layers.GRU(spec.units, use_bias=option, dtype=spec.policy))
            return row
        if spec.kind.startswith("own "):
            return _own(layers.Dense, spec.kind)(spec.units, use_bias=option, **how)
        return {
            "norm": lambda: layers.LayerNormalization(center=option, **how),
            "batch_norm": lambda: layers.BatchNormalization(scale=option, **how),
            "dropout": lambda: layers.Dropout(0.5, **how),
            "activation": lambda: layers.Activation("relu", **how),
            "flatten": lambda: layers.Flatten(**how),
        }.get(spec.kind, lambda: layers.Dense(spec.units, use_bias=option, **how))()

    # --- forms

    def _all(self) -> list[Any]:
        return [self._layer(spec) for spec in self.program.layers]

    def _named(self) -> dict[str, Any]:
        return {"name": self.program.model_name} if self.program.model_name else {}

    def _sequential(self) -> Any:
        inputs = self.keras.Input((WIDTH,))
        row = _flat(self._all(), is_set=True)
        model = self.keras.Sequential([inputs, *row], **self._named())
        return model, lambda: model.trainable_variables

    def _functional(self) -> Any:
        layers = self.keras.layers
        x = inputs = self.keras.Input((WIDTH,))
        again: list[Any] = []
        ways = [(s.way, one) for s in self.program.layers for one in _flat([self._layer(s)])]
        for way, layer in ways or [("", layers.Dense(WIDTH))]:
            before, x = x, layer(x)
            if way in ("residual", "beside") and before.shape[-1] == x.shape[-1]:
                other = before if way == "residual" else layers.Activation("tanh")(before)
                x = layers.Add()([x, other])
            if way == "again" and before.shape[-1] == WIDTH:
                again.append(layer)
        for layer in again:
            if x.shape[-1] == WIDTH:
                x = layer(x)
        model = self.keras.Model(inputs, x, **self._named())
        return model, lambda: model.trainable_variables

    def _subclassed(self) -> Any:
        base: Any = self.keras.Model
        attributes: dict[str, Any] = {}
        for spec, one in zip(self.program.layers, made := self._all(), strict=True):
            name = spec.attribute or self.program.attribute.format(spec.role)
            while name in attributes:
                name += "2"
            attributes[name] = one
        if self.program.form == "subclassed_with_a_list":
            attributes = {"blocks": made}
        row = _flat(made)

        class Net(base):  # type: ignore[misc]
            def __init__(self, **how: Any) -> None:
                super().__init__(**how)
                for name, value in attributes.items():
                    setattr(self, name, value)

            def call(self, x: Any) -> Any:
                for layer in row:
                    x = layer(x)
                return x

        model = Net(**self._named())
        model(_ones())
        return model, lambda: model.trainable_variables

    _subclassed_with_a_list = _subclassed

    def _list(self) -> Any:
        made = self._all()
        _called(made)
        return made, lambda: [v for layer in made for v in layer.trainable_variables]

    def _dict(self) -> Any:
        made = self._all()
        _called(made)
        by_name = {spec.role: one for spec, one in zip(self.program.layers, made, strict=True)}
        return by_name, lambda: [v for layer in made for v in layer.trainable_variables]

    def _module(self) -> Any:
        """Return a tree of modules of TensorFlow alone."""
        import tensorflow as tf

        width = WIDTH

        def part(spec: Layer) -> Any:
            nonlocal width
            made = tf.Module()
            if spec.inner:
                parts = [part(one) for one in spec.inner]
                if spec.kind == "list":
                    return parts
                for one, inner in zip(spec.inner, parts, strict=True):
                    setattr(made, one.attribute or one.role, inner)
                return made
            if spec.kind == "norm":
                sizes: dict[str, tuple[int, ...]] = {"gamma": (width,), "beta": (width,)}
            else:
                sizes = {"kernel": (width, spec.units), "bias": (spec.units,)}
                width = spec.units
            for name, shape in sizes.items():
                if spec.has_option or name != "bias":
                    setattr(made, name, tf.Variable(tf.zeros(shape), name=name))
            self.layers[spec.role], self.specs[spec.role] = made, spec
            return made

        root = tf.Module()
        for spec in self.program.layers:
            attribute = spec.attribute or self.program.attribute.format(spec.role)
            setattr(root, attribute, part(spec))
        return root, lambda: root.trainable_variables

    def _mobilenet(self) -> Any:
        """Return the first blocks of Keras' own network for images, and the program's layers."""
        base = self.keras.Model.from_config(deepcopy(_first_blocks(self.keras)))
        for layer in base.layers:
            self.layers[layer.name] = layer
            self.specs[layer.name] = Layer(layer.name, type(layer).__name__, layer.name)
        x = self.keras.layers.GlobalAveragePooling2D()(base.output)
        for spec in self.program.layers:
            x = self._layer(spec)(x)
        model = self.keras.Model(base.input, x, **self._named())
        return model, lambda: model.trainable_variables

    # --- optimizers

    def _optimizer(self, variables: Sequence[Any], model: Any) -> Any:
        import tensorflow as tf

        optimizers = self.keras.optimizers
        optimizer = {
            "adam": lambda: optimizers.Adam(),
            "adamw": lambda: optimizers.AdamW(),
            "lion": lambda: optimizers.Lion(),
            "muon": lambda: optimizers.Muon(),
            "momentum": lambda: optimizers.SGD(momentum=0.9),
            "sgd": lambda: optimizers.SGD(0.1),
            "rmsprop": lambda: optimizers.RMSprop(0.1),
            "legacy adam": lambda: optimizers.legacy.Adam(),
        }[self.program.optimizer]()
        if self.program.scaled:
            scaling = getattr(self.keras, "mixed_precision", optimizers)  # Keras 3 has none there
            if not hasattr(scaling, "LossScaleOptimizer"):
                scaling = optimizers
            optimizer = scaling.LossScaleOptimizer(optimizer)
        if self.program.compiled:
            model.compile(optimizer, "mse")
        if variables and (self.program.stepped or self.program.optimizer == "legacy adam"):
            optimizer.apply_gradients([(tf.zeros(v.shape), v) for v in variables])
        elif variables and self.program.is_built:
            optimizer.build(list(variables))
        return optimizer

    def _slots(self, optimizer: Any, variables: dict[Key, Any]) -> dict[Key, Any]:
        found: dict[Key, Any] = {}
        optimizer = inner_optimizer(optimizer)
        for key, variable in variables.items():
            if hasattr(optimizer, "get_slot"):
                for name in optimizer.get_slot_names():
                    if _has_slot(optimizer, variable, name):
                        slot_key = (*key, name)
                        found[slot_key] = optimizer.get_slot(variable, name)
                continue
            index = _index(optimizer, variable)
            for name in ("_momentums", "_velocities", "momentums"):
                slots = getattr(optimizer, name, None)
                if index is not None and slots and index < len(slots):
                    slot_key = (*key, name.strip("_"))
                    found[slot_key] = slots[index]
        return found


@cache
def _first_blocks(keras: Any) -> Any:
    network, size = keras.applications.MobileNetV2, (32, 32, 3)
    base = network(size, alpha=0.35, weights=None, include_top=False)
    return keras.Model(base.input, base.get_layer("block_2_add").output).get_config()


def inner_optimizer(optimizer: Any) -> Any:
    """Return the optimizer that keeps the slots: one that scales the loss has it inside."""
    return getattr(optimizer, "inner_optimizer", optimizer)


def _count_anew(keras: Any) -> None:
    """Make Keras number the layers from 0, as in a new process."""
    if hasattr(keras.backend, "reset_uids"):
        keras.backend.reset_uids()
        return
    from keras.src.backend.common.global_state import set_global_attribute

    set_global_attribute("object_name_uids", None)


def _has_slot(optimizer: Any, variable: Any, name: str) -> bool:
    from tf_keras.src.optimizers.legacy.optimizer_v2 import _var_key

    return name in optimizer._slots.get(_var_key(variable), {})


def _index(optimizer: Any, variable: Any) -> int | None:
    if hasattr(optimizer, "_trainable_variables"):
        same = [i for i, v in enumerate(optimizer._trainable_variables) if v is variable]
        return same[0] if same else None
    found: int | None = getattr(optimizer, "_index_dict", {}).get(optimizer._var_key(variable))
    return found


def _ones() -> Any:
    import tensorflow as tf

    return tf.ones((1, WIDTH))


def _called(layers: Sequence[Any]) -> None:
    x = _ones()
    for layer in layers:
        x = layer(x)


def _flat(layers: Any, *, is_set: bool = False) -> list[Any]:
    """Return the layers in lists and dicts; as a set, each once."""
    if not isinstance(layers, (list, dict)):
        return [layers]
    items = layers.values() if isinstance(layers, dict) else layers
    row = [layer for item in items for layer in _flat(item)]
    return [*{id(layer): layer for layer in row}.values()] if is_set else row


def _own(dense: Any, kind: str) -> Any:
    """Return a layer that loads its weights in a way of its own."""

    class Own(dense):  # type: ignore[misc]
        def load_own_variables(self, store: Any) -> None:
            if kind == "own all":
                super().load_own_variables(store)
            elif kind == "own first":
                kernel: Any = getattr(self, "_kernel", self.kernel)
                kernel.assign(store["0"])
            elif kind == "own fails":
                raise OSError("no")

    return Own


def make(program: Program) -> Made:
    """Make the objects of a program."""
    try:
        return _Maker(program).make()
    except ValueError as error:  # two layers of one name
        raise UnfitError("Keras refuses it") from error
