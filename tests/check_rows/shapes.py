"""Shapes and dtypes that fit, and the errors of those that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.check_rows.saving import value_key
from tests.check_rows.table import Pair, Topic
from tests.support.programs import ckpt, keras_2, keras_3, saved, var

row = Topic()


@row(raises="ValueError", says=["(2,)", "(1,)", "Variable:0", "Received incompatible tensor"])
def variable_of_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=var([1.0, 2.0])), lambda: ckpt(v=var([1.0])))


@row(raises="ValueError", says=["(2,)", "(1,)", "odd/name:0"])
def named_variable_of_another_shape(at: Path) -> Pair:
    path = saved(at, v=var([1.0, 2.0], name="saved"))
    return Pair(path, lambda: ckpt(v=var([1.0], name="odd/name")))


@row(raises="ValueError", says=["(2, 3)", "(6,)"])
def as_many_elements_in_another_rank(at: Path) -> Pair:
    return Pair(saved(at, v=var([[1.0] * 3] * 2)), lambda: ckpt(v=var([0.0] * 6)))


@row(raises="ValueError", says=["(1,)", "()"])
def scalar_and_vector_of_one(at: Path) -> Pair:
    return Pair(saved(at, v=var([1.0])), lambda: ckpt(v=var(1.0)))


@row(raises="ValueError", says=["(0,)", "(2,)"])
def saved_empty(at: Path) -> Pair:
    import tensorflow as tf

    return Pair(saved(at, v=var(tf.zeros([0]))), lambda: ckpt(v=var([1.0, 2.0])))


@row()
def variable_that_takes_any_shape(at: Path) -> Pair:
    import tensorflow as tf

    path = saved(at, v=var([[1.0, 2.0]]))
    return Pair(path, lambda: ckpt(v=var(0.0, shape=tf.TensorShape(None))))


@row()
def variable_with_an_unknown_dimension(at: Path) -> Pair:
    path = saved(at, v=var([[1.0, 2.0]] * 5))
    return Pair(path, lambda: ckpt(v=var([[0.0, 0.0]], shape=(None, 2))))


@row(raises="ValueError", says=["(5, 3)", "(None, 2)"])
def variable_with_an_unknown_dimension_and_another_wrong(at: Path) -> Pair:
    path = saved(at, v=var([[1.0, 2.0, 3.0]] * 5))
    return Pair(path, lambda: ckpt(v=var([[0.0, 0.0]], shape=(None, 2))))


@row(raises="ValueError", says=["(2,)", "(None, 2)"])
def variable_with_an_unknown_dimension_of_another_rank(at: Path) -> Pair:
    path = saved(at, v=var([1.0, 2.0]))
    return Pair(path, lambda: ckpt(v=var([[0.0, 0.0]], shape=(None, 2))))


@row()
def saved_with_an_unknown_dimension(at: Path) -> Pair:
    path = saved(at, v=var([[0.0, 0.0]], shape=(None, 2)))
    return Pair(path, lambda: ckpt(v=var([[1.0, 2.0]])))


@row(raises="InvalidArgumentError", says=[value_key("v"), "int64", "int32"])
def variable_of_another_dtype(at: Path) -> Pair:
    return Pair(saved(at, v=var(1, dtype="int32")), lambda: ckpt(v=var(1, dtype="int64")))


@row(raises="InvalidArgumentError", says=["float", "double"])
def variable_of_half_the_precision(at: Path) -> Pair:
    return Pair(saved(at, v=var(1.0, dtype="float64")), lambda: ckpt(v=var(1.0)))


@row(raises="InvalidArgumentError", says=["float", "bfloat16"])
def saved_in_bfloat16(at: Path) -> Pair:
    return Pair(saved(at, v=var(1.0, dtype="bfloat16")), lambda: ckpt(v=var(1.0)))


@row(raises="InvalidArgumentError", says=["float", "string"])
def saved_text(at: Path) -> Pair:
    return Pair(saved(at, v=var("text")), lambda: ckpt(v=var(1.0)))


@row(raises="InvalidArgumentError", says=[value_key("a"), value_key("b")])
def two_variables_of_another_dtype(at: Path) -> Pair:
    return Pair(saved(at, a=var(1), b=var(1)), lambda: ckpt(a=var(1.0), b=var(1.0)))


@row(raises="InvalidArgumentError", says=["float", "int32"])
def another_dtype_and_another_shape(at: Path) -> Pair:
    return Pair(saved(at, v=var([1, 2])), lambda: ckpt(v=var(1.0)))


@row()
def every_dtype(at: Path) -> Pair:
    import tensorflow as tf

    names = (
        "float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64",
        "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128",
    )  # fmt: skip

    def make() -> Any:
        values = [tf.Variable(tf.zeros([2], name)) for name in names]
        return ckpt(all=[*values, var(["a", "b"])])

    return Pair(str(make().save(str(at / "ckpt"))), make)


@row()
def what_else_variables_are_is_of_no_interest(at: Path) -> Pair:
    import tensorflow as tf

    def live() -> Any:
        return ckpt(
            v=var(
                0.0,
                name="other",
                trainable=False,
                constraint=tf.nn.relu,
                synchronization=tf.VariableSynchronization.ON_WRITE,
                aggregation=tf.VariableAggregation.SUM,
            )
        )

    return Pair(saved(at, v=var(1.0)), live)


@row(raises="ValueError", says=["(2,)", "(3,)"])
def variables_around_one_of_another_shape(at: Path) -> Pair:
    path = saved(at, a=var(1.0), b=var([1.0, 2.0]), c=var(1.0))
    return Pair(path, lambda: ckpt(a=var(0.0), b=var([0.0] * 3), c=var(0.0)))


@row(raises="ValueError", says=["(4, 2)", "(3, 2)"])
def keras_3_variable_of_another_shape(at: Path) -> Pair:
    keras = keras_3()

    def layer(size: int) -> Any:
        made = keras.layers.Dense(2)
        made.build((None, size))
        return made

    return Pair(saved(at, layer=layer(4)), lambda: ckpt(layer=layer(3)))


@row(raises="InvalidArgumentError", says=["float", "half"])
def keras_3_variable_of_another_dtype(at: Path) -> Pair:
    keras = keras_3()

    def layer(dtype: str) -> Any:
        made = keras.layers.Dense(2, dtype=dtype)
        made.build((None, 3))
        return made

    return Pair(saved(at, layer=layer("float16")), lambda: ckpt(layer=layer("float32")))


@row(raises="ValueError", says=["(4, 2)", "(3, 2)"])
def keras_2_variable_of_another_shape(at: Path) -> Pair:
    keras = keras_2()

    def layer(size: int) -> Any:
        made = keras.layers.Dense(2)
        made.build((None, size))
        return made

    return Pair(saved(at, layer=layer(4)), lambda: ckpt(layer=layer(3)))


@row()
def keras_2_mixed_precision(at: Path) -> Pair:
    keras = keras_2()

    def layer(dtype: str) -> Any:
        made = keras.layers.Dense(2, dtype=dtype)
        made.build((None, 3))
        return made

    return Pair(saved(at, layer=layer("float32")), lambda: ckpt(layer=layer("mixed_bfloat16")))


@row(raises="ValueError", says=["(4, 2)", "(3, 2)"])
def keras_2_mixed_precision_of_another_shape(at: Path) -> Pair:
    keras = keras_2()

    def layer(size: int, dtype: str) -> Any:
        made = keras.layers.Dense(2, dtype=dtype)
        made.build((None, size))
        return made

    return Pair(
        saved(at, layer=layer(4, "float32")),
        lambda: ckpt(layer=layer(3, "mixed_bfloat16")),
    )
