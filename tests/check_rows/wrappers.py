"""Objects that represent a variable which may be tracked beside them: two names for one value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.check_rows.contexts import graph
from tests.check_rows.objects import mirrored, sharded, special
from tests.check_rows.table import Pair, Topic
from tests.support.programs import ckpt, keras_2, keras_3, saved, tensors, var

row = Topic()

_TWO_NAMES = "The same saveable will be restored with two names: "


def _two_saved(at: Path, *names: str, shape: tuple[int, ...] = (2,)) -> str:
    """Save different values under these names, which go into the file in alphabetical order."""
    import tensorflow as tf

    return saved(at, **{name: var(tf.ones(shape) * place) for place, name in enumerate(names)})


def _cast(variable: Any) -> Any:
    """Return the wrapper that tf_keras puts around a variable where the policy is mixed."""
    keras_2()
    from tf_keras.src.mixed_precision import autocast_variable

    return autocast_variable.create_autocast_variable(variable)


def _half_dense() -> Any:
    layer = keras_2().layers.Dense(2, dtype="mixed_float16")
    layer.build((None, 2))
    return layer


def _cast_and_variable(*names: str, make: Callable[[], Any] = lambda: var([0.0, 0.0])) -> Any:
    variable = make()
    return ckpt(**{name: _cast(variable) if name == "cast" else variable for name in names})


@row(raises="ValueError", says=[_TWO_NAMES + "variable/.ATTRIBUTES/"])
def kernel_of_mixed_precision_and_its_variable(at: Path) -> Pair:
    def make() -> Any:
        kernel = _half_dense().kernel
        return ckpt(kernel=kernel, variable=kernel._variable)

    return Pair(_two_saved(at, "kernel", "variable", shape=(2, 2)), make)


@row(raises="ValueError", says=[_TWO_NAMES + "variable/.ATTRIBUTES/"])
def layer_of_mixed_precision_and_the_variable_of_its_kernel(at: Path) -> Pair:
    def make() -> Any:
        layer = _half_dense()
        return ckpt(layer=layer, variable=layer.kernel._variable)

    return Pair(saved(at, layer=_half_dense(), variable=_half_dense().kernel), make)


@row(raises="ValueError", says=[_TWO_NAMES + "kernel/.ATTRIBUTES/VARIABLE_VALUE"])
def kernel_of_mixed_precision_after_its_variable(at: Path) -> Pair:
    def make() -> Any:
        kernel = _half_dense().kernel
        return ckpt(a_variable=kernel._variable, kernel=kernel)

    return Pair(_two_saved(at, "a_variable", "kernel", shape=(2, 2)), make)


@row("existing")
def kernel_of_mixed_precision_and_its_variable_that_was_not_saved(at: Path) -> Pair:
    def make() -> Any:
        kernel = _half_dense().kernel
        return ckpt(kernel=kernel, variable=kernel._variable)

    return Pair(_two_saved(at, "kernel", shape=(2, 2)), make)


@row(raises="ValueError", says=[_TWO_NAMES + "variable/.ATTRIBUTES/"])
def wrapper_before_its_variable(at: Path) -> Pair:
    return Pair(_two_saved(at, "cast", "variable"), lambda: _cast_and_variable("cast", "variable"))


@row()
def wrapper_after_its_variable(at: Path) -> Pair:
    path = _two_saved(at, "a_variable", "cast")
    return Pair(path, lambda: _cast_and_variable("a_variable", "cast"))


@row(raises="ValueError", says=[_TWO_NAMES + "cast/.ATTRIBUTES/VARIABLE_VALUE"])
def wrapper_after_its_variable_in_a_second_restore(at: Path) -> Pair:
    path = _two_saved(at, "a_variable", "cast")
    (at / "before").mkdir()
    before = saved(at / "before", cast=var([3.0, 3.0]))

    def make() -> Any:
        target = _cast_and_variable("a_variable", "cast")
        target.restore(before).expect_partial()
        return target

    return Pair(path, make)


@row()
def wrapper_of_a_mirrored_variable_and_that_variable(at: Path) -> Pair:
    def make() -> Any:
        return _cast_and_variable("cast", "variable", make=lambda: mirrored([0.0, 0.0]))

    return Pair(_two_saved(at, "cast", "variable"), make)


@row(within=graph)
def wrapper_and_its_variable_in_a_graph(at: Path) -> Pair:
    return Pair(_two_saved(at, "cast", "variable"), lambda: _cast_and_variable("cast", "variable"))


@row()
def wrapper_and_its_variable_by_name(at: Path) -> Pair:
    def make() -> Any:
        return _cast_and_variable("cast", "variable", make=lambda: var([0.0, 0.0], name="v"))

    return Pair(tensors(at, v=[1.0, 2.0]), make)


@row()
def keras_3_variable_and_the_one_that_it_wraps(at: Path) -> Pair:
    def make() -> Any:
        dense = keras_3().layers.Dense(2, dtype="mixed_float16")
        dense.build((None, 2))
        return ckpt(kernel=dense.kernel, variable=dense.kernel.value)

    return Pair(_two_saved(at, "kernel", "variable", shape=(2, 2)), make)


def _handing_out(variable: Any, attribute: str = "VARIABLE_VALUE") -> Any:
    """Return an object of the user's own that saves a variable as its own value."""
    return special(
        _gather_saveables_for_checkpoint=lambda self: {attribute: variable},
    )()


@row(raises="ValueError", says=[_TWO_NAMES])
def object_that_hands_out_a_variable_that_is_tracked(at: Path) -> Pair:
    def make() -> Any:
        variable = var([0.0, 0.0])
        return ckpt(hands=_handing_out(variable), variable=variable)

    return Pair(_two_saved(at, "hands", "variable"), make)


@row(raises="ValueError", says=[_TWO_NAMES])
def two_objects_that_hand_out_one_variable(at: Path) -> Pair:
    def make() -> Any:
        variable = var([0.0, 0.0])
        return ckpt(one=_handing_out(variable), other=_handing_out(variable))

    return Pair(_two_saved(at, "one", "other"), make)


def _delegating_to(variable: Any) -> Any:
    import tensorflow as tf
    from tensorflow.python.trackable.base_delegate import DelegatingTrackableMixin

    class Delegating(DelegatingTrackableMixin, tf.__internal__.tracking.AutoTrackable):  # type: ignore[misc]
        pass

    made = object.__new__(Delegating)
    object.__setattr__(made, "_trackable", variable)
    return made


@row()
def delegate_and_what_it_delegates_to(at: Path) -> Pair:
    def make() -> Any:
        variable = var([0.0, 0.0])
        return ckpt(delegate=_delegating_to(variable), variable=variable)

    return Pair(_two_saved(at, "delegate", "variable"), make)


@row(raises="ValueError", says=[_TWO_NAMES])
def sharded_variable_and_one_of_its_shards(at: Path) -> Pair:
    def make() -> Any:
        variable = sharded(1, 1)
        return ckpt(shard=variable.variables[0], whole=variable)

    path = saved(at, shard=var([[1.0, 1.0]]), whole=var([[1.0, 1.0], [1.0, 1.0]]))
    return Pair(path, make)
