"""What an object reads for its node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.check_rows.objects import (
    dense_table,
    dense_table_of,
    filled_table,
    generator,
    iterator,
    mutable_table,
    registered,
    serializing,
    special,
    state_of_python,
    static_table,
    with_saveables,
)
from tests.check_rows.saving import drop, saved_by_unknown_saver, value_key
from tests.check_rows.table import Pair, Topic
from tests.support.programs import ckpt, module, rewritten, saved, var, with_children, written

row = Topic()


@row()
def live_variable_on_a_node_without_a_value(at: Path) -> Pair:
    return Pair(saved(at, x=module(), v=var()), lambda: ckpt(x=var(), v=var()))


@row("consumed")
def live_module_on_the_node_of_a_variable(at: Path) -> Pair:
    return Pair(saved(at, x=var()), lambda: ckpt(x=module()))


@row("consumed")
def attribute_that_the_class_no_longer_knows(at: Path) -> Pair:
    def add(proto: Any, values: dict[str, Any]) -> None:
        for node in proto.nodes[1:2]:
            node.attributes.add(name="OBJECT_CONFIG_JSON", checkpoint_key="m/.ATTRIBUTES/OBJECT")
        values["m/.ATTRIBUTES/OBJECT"] = "{}"

    path = rewritten(at, saved(at, m=module(v=var())), add)
    return Pair(path, lambda: ckpt(m=module(v=var())))


@row()
def two_registered_savers_that_alternate(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(
            a=registered("Strict")(), b=registered("Lenient", False)(), c=registered("Strict")()
        )

    return Pair(str(make().save(str(at / "ckpt"))), make)


@row()
def attribute_that_a_variable_does_not_know(at: Path) -> Pair:
    def add(proto: Any, values: dict[str, Any]) -> None:
        key = value_key("v").replace("VARIABLE_VALUE", "MORE")
        proto.nodes[1].attributes.add(name="MORE", checkpoint_key=key)
        values[key] = 1.0

    return Pair(rewritten(at, saved(at, v=var()), add), lambda: ckpt(v=var()))


@row(raises="NotFoundError", says=[value_key("v")])
def tensor_that_the_graph_names_is_missing(at: Path) -> Pair:
    path = rewritten(at, saved(at, v=var()), lambda proto, values: drop(values, value_key("v")))
    return Pair(path, lambda: ckpt(v=var()))


@row(raises="NotFoundError", says=[value_key("v")])
def tensor_that_the_graph_names_is_missing_in_a_read(at: Path) -> Pair:
    path = rewritten(at, written(at, v=var()), lambda proto, values: drop(values, value_key("v")))
    return Pair(path, lambda: ckpt(v=var()), "read")


@row(raises="NotFoundError", says=[value_key("b")])
def missing_tensor_comes_before_wrong_dtype(at: Path) -> Pair:
    path = saved(at, a=var(1), b=var())
    path = rewritten(at, path, lambda proto, values: drop(values, value_key("b")))
    return Pair(path, lambda: ckpt(a=var(1.0), b=var()))


@row(raises="InvalidArgumentError", says=[value_key("b"), "int32", "float"])
def wrong_dtype_comes_before_wrong_shape(at: Path) -> Pair:
    path = saved(at, a=var([1.0, 2.0]), b=var(1.0))
    return Pair(path, lambda: ckpt(a=var(1.0), b=var(1)))


@row(raises="ValueError", says=["(2,)"])
def first_of_two_wrong_shapes(at: Path) -> Pair:
    path = saved(at, a=var([1.0, 2.0]), b=var([1.0, 2.0, 3.0]))
    return Pair(path, lambda: ckpt(a=var(1.0), b=var(1.0)))


@row(raises="ValueError", says=["(2,)"])
def wrong_shape_at_the_root_comes_before_wrong_dtype_of_a_keyword(at: Path) -> Pair:
    path = saved(at, module(v=var([1.0, 2.0])), step=var(1))
    return Pair(path, lambda: ckpt(module(v=var(1.0)), step=var(1.0)))


@row()
def python_state(at: Path) -> Pair:
    return Pair(saved(at, state=state_of_python()), lambda: ckpt(state=state_of_python()))


@row()
def python_state_on_the_node_of_a_variable(at: Path) -> Pair:
    return Pair(saved(at, state=var("text")), lambda: ckpt(state=state_of_python()))


@row(raises="NotFoundError")
def variable_on_the_node_of_python_state(at: Path) -> Pair:
    return Pair(saved(at, state=state_of_python()), lambda: ckpt(state=var("text")))


@row("consumed")
def module_on_the_node_of_python_state(at: Path) -> Pair:
    return Pair(saved(at, state=state_of_python()), lambda: ckpt(state=module()))


@row("existing")
def python_state_that_was_not_saved(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), state=state_of_python()))


@row(raises="NotFoundError", says=["py_state"])
def python_state_that_the_file_lacks(at: Path) -> Pair:
    path = saved(at, state=state_of_python())
    key = "state/.ATTRIBUTES/py_state"
    path = rewritten(at, path, lambda proto, values: drop(values, key))
    return Pair(path, lambda: ckpt(state=state_of_python()))


@row(raises="NotFoundError", says=["py_state"])
def python_state_is_read_before_tensors(at: Path) -> Pair:
    path = saved(at, a=var(1), state=state_of_python())
    key = "state/.ATTRIBUTES/py_state"
    path = rewritten(at, path, lambda proto, values: drop(values, key))
    return Pair(path, lambda: ckpt(a=var(1.0), state=state_of_python()))


@row()
def object_that_serializes_itself(at: Path) -> Pair:
    path = saved(at, m=serializing(a=1.0, b=[2]))
    return Pair(path, lambda: ckpt(m=serializing(a=0.0, b=[0])))


@row()
def object_that_serializes_itself_has_children(at: Path) -> Pair:
    def make() -> Any:
        return ckpt(m=with_children(serializing(a=1.0), v=var()))

    return Pair(str(make().save(str(at / "ckpt"))), make)


@row(raises="NotFoundError", says=["m/.ATTRIBUTES/b"])
def object_serializes_more_than_was_saved(at: Path) -> Pair:
    path = saved(at, m=serializing(a=1.0))
    return Pair(path, lambda: ckpt(m=serializing(a=1.0, b=2.0)))


@row()
def object_serializes_less_than_was_saved(at: Path) -> Pair:
    path = saved(at, m=serializing(a=1.0, b=2.0))
    return Pair(path, lambda: ckpt(m=serializing(a=1.0)))


@row(raises="InvalidArgumentError", says=["int32", "float", "m/.ATTRIBUTES/a"])
def object_serializes_another_dtype(at: Path) -> Pair:
    return Pair(saved(at, m=serializing(a=1.0)), lambda: ckpt(m=serializing(a=1)))


@row()
def object_serializes_another_shape(at: Path) -> Pair:
    return Pair(saved(at, m=serializing(a=1.0)), lambda: ckpt(m=serializing(a=[1.0, 2.0])))


@row()
def object_serializes_odd_names(at: Path) -> Pair:
    path = saved(at, m=serializing(**{"ü %s": 1.0, "": 2.0}))
    return Pair(path, lambda: ckpt(m=serializing(**{"ü %s": 0.0, "": 0.0})))


@row(raises="NotFoundError", says=["m/.ATTRIBUTES/a.Sb..c"])
def object_serializes_a_name_that_is_escaped_twice_when_saved(at: Path) -> Pair:
    path = saved(at, m=serializing(**{"a/b.c": 1.0}))
    return Pair(path, lambda: ckpt(m=serializing(**{"a/b.c": 0.0})))


@row()
def object_serializes_nothing_on_the_node_of_a_variable(at: Path) -> Pair:
    return Pair(saved(at, m=var()), lambda: ckpt(m=serializing()))


@row("existing")
def object_that_serializes_nothing_was_not_saved(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), m=serializing()))


@row(raises="NotFoundError", says=["m/.ATTRIBUTES/a"])
def object_that_serializes_itself_on_the_node_of_a_variable(at: Path) -> Pair:
    return Pair(saved(at, m=var()), lambda: ckpt(m=serializing(a=1.0)))


@row(raises="NotFoundError", says=[value_key("m")])
def variable_on_the_node_of_an_object_that_serializes_itself(at: Path) -> Pair:
    return Pair(saved(at, m=serializing(a=1.0)), lambda: ckpt(m=var()))


@row(raises="ZeroDivisionError")
def object_raises_when_it_serializes_itself(at: Path) -> Pair:
    def fail(self: Any) -> Any:
        raise ZeroDivisionError("no tensors for you")

    return Pair(
        saved(at, m=serializing(a=1.0)),
        lambda: ckpt(m=special(_serialize_to_tensors=fail)()),
    )


@row(raises="NotImplementedError")
def object_that_cannot_take_what_it_saves(at: Path) -> Pair:
    def tensors(self: Any) -> Any:
        import tensorflow as tf

        return {"a": tf.constant(1.0)}

    make = special(_serialize_to_tensors=tensors)
    return Pair(saved(at, m=make()), lambda: ckpt(m=make()))


@row(raises="ZeroDivisionError")
def object_raises_without_a_message(at: Path) -> Pair:
    def fail(self: Any) -> Any:
        raise ZeroDivisionError

    return Pair(
        saved(at, m=serializing(a=1.0)),
        lambda: ckpt(m=special(_serialize_to_tensors=fail)()),
    )


@row("existing")
def object_that_would_raise_is_not_asked_without_a_node(at: Path) -> Pair:
    def fail(self: Any) -> Any:
        raise ZeroDivisionError("no tensors for you")

    return Pair(
        saved(at, v=var()),
        lambda: ckpt(v=var(), m=special(_serialize_to_tensors=fail)()),
    )


@row()
def object_with_saveables(at: Path) -> Pair:
    return Pair(saved(at, m=with_saveables(A=1.0)), lambda: ckpt(m=with_saveables(A=0.0)))


@row("consumed")
def object_with_fewer_saveables(at: Path) -> Pair:
    path = saved(at, m=with_saveables(A=1.0, B=2.0))
    return Pair(path, lambda: ckpt(m=with_saveables(A=0.0)))


@row()
def object_with_more_saveables(at: Path) -> Pair:
    path = saved(at, m=with_saveables(A=1.0))
    return Pair(path, lambda: ckpt(m=with_saveables(A=0.0, B=0.0)))


@row("consumed")
def object_with_other_saveables(at: Path) -> Pair:
    return Pair(saved(at, m=with_saveables(A=1.0)), lambda: ckpt(m=with_saveables(B=0.0)))


@row(raises="NotFoundError", says=["m/.ATTRIBUTES/A"])
def attribute_that_begins_like_a_saveable(at: Path) -> Pair:
    return Pair(saved(at, m=with_saveables(AB=1.0)), lambda: ckpt(m=with_saveables(A=0.0)))


@row(raises="ValueError")
def attribute_that_begins_like_two_saveables(at: Path) -> Pair:
    path = saved(at, m=with_saveables(ABC=1.0))
    return Pair(path, lambda: ckpt(m=with_saveables(A=0.0, AB=0.0)))


@row(raises="InvalidArgumentError", says=["int32", "float"])
def object_with_a_saveable_of_another_dtype(at: Path) -> Pair:
    return Pair(saved(at, m=with_saveables(A=1.0)), lambda: ckpt(m=with_saveables(A=0)))


@row("existing")
def object_with_saveables_was_not_saved(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), m=with_saveables(A=1.0)))


@row()
def object_whose_saveables_are_variables(at: Path) -> Pair:
    def make() -> Any:
        inner = var(2.0)
        return ckpt(m=special(_gather_saveables_for_checkpoint=lambda self: {"INNER": inner})())

    return Pair(str(make().save(str(at / "ckpt"))), make)


@row()
def registered_saver(at: Path) -> Pair:
    kind = registered("Strict")
    return Pair(saved(at, m=kind(), v=var()), lambda: ckpt(m=kind(), v=var()))


@row(raises="ValueError", says=["check_table.Strict", "predicate"])
def registered_saver_refuses_the_object(at: Path) -> Pair:
    return Pair(saved(at, m=registered("Strict")()), lambda: ckpt(m=module()))


@row()
def registered_saver_that_is_not_strict_skips_the_object(at: Path) -> Pair:
    return Pair(saved(at, m=registered("Lenient", False)()), lambda: ckpt(m=module()))


@row()
def registered_saver_is_unknown(at: Path) -> Pair:
    return Pair(saved_by_unknown_saver(at), lambda: ckpt(m=registered("Strict")(), v=var()))


@row()
def registered_saver_is_unknown_and_the_object_a_variable(at: Path) -> Pair:
    return Pair(saved_by_unknown_saver(at), lambda: ckpt(m=var(), v=var()))


@row()
def object_with_a_registered_saver_on_the_node_of_a_variable(at: Path) -> Pair:
    return Pair(saved(at, m=var()), lambda: ckpt(m=registered("Strict")()))


@row()
def object_with_a_registered_saver_on_a_node_without_values(at: Path) -> Pair:
    return Pair(saved(at, m=module()), lambda: ckpt(m=registered("Strict")()))


@row()
def object_with_a_registered_saver_was_not_saved(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), m=registered("Strict")()))


@row()
def node_with_a_registered_saver_has_no_object(at: Path) -> Pair:
    return Pair(saved(at, v=var(), m=registered("Strict")()), lambda: ckpt(v=var()))


@row(raises="ValueError")
def key_without_the_separator(at: Path) -> Pair:
    def change(proto: Any, values: dict[str, Any]) -> None:
        proto.nodes[1].attributes[0].checkpoint_key = "plain"

    return Pair(rewritten(at, saved(at, v=var()), change), lambda: ckpt(v=var()))


@row(raises="NotFoundError")
def python_state_of_a_key_without_the_separator(at: Path) -> Pair:
    def change(proto: Any, values: dict[str, Any]) -> None:
        proto.nodes[1].attributes[0].checkpoint_key = "plain"

    return Pair(
        rewritten(at, saved(at, v=state_of_python()), change), lambda: ckpt(v=state_of_python())
    )


@row(raises="ValueError")
def generator_of_another_algorithm(at: Path) -> Pair:
    import tensorflow as tf

    return Pair(
        saved(at, g=tf.random.Generator.from_seed(1, alg="philox")),
        lambda: ckpt(g=tf.random.Generator.from_seed(1, alg="threefry")),
    )


@row(raises="RuntimeError")
def object_raises_when_it_lists_its_saveables(at: Path) -> Pair:
    def fail(self: Any) -> Any:
        raise RuntimeError("no saveables for you")

    return Pair(
        saved(at, m=var()), lambda: ckpt(m=special(_gather_saveables_for_checkpoint=fail)())
    )


def _value_kinds() -> dict[str, Callable[[], Any]]:
    return {
        "variable": var,
        "mutable table": mutable_table,
        "dense table": dense_table,
        "static table": static_table,
        "iterator": iterator,
        "generator": generator,
        "python state": state_of_python,
        "module": module,
    }


# The result of restoring each kind of value into each kind of object. "." means that all asserts
# pass, "c" that consumed fails, "e" that existing objects matched fails, too. "k" means that the
# key is not found, "i" that the value is refused.
_KINDS = (
    "variable", "mutable table", "dense table", "static table", "iterator", "generator",
    "python state", "module",
)  # fmt: skip


_BECOMES = {
    "variable": ".kkcke.c",
    "mutable table": "k.ickekc",
    "dense table": "k..ckekc",
    "static table": ".....e..",
    "iterator": "kkkc.ekc",
    "generator": "ccccc.cc",
    "python state": "kkkcke.c",
    "module": ".....e..",
}


_SAYS: Mapping[str, Mapping[str, Any]] = {
    ".": {"fails": ""},
    "c": {"fails": "consumed"},
    "e": {"fails": "existing"},
    "k": {"raises": "NotFoundError"},
    "i": {"raises": "InvalidArgumentError"},
}


def _value_pair(saved_kind: str, live_kind: str) -> Callable[[Path], Pair]:
    def pair(at: Path) -> Pair:
        makers = _value_kinds()
        return Pair(saved(at, x=makers[saved_kind]()), lambda: ckpt(x=makers[live_kind]()))

    return pair


for _saved_kind, _letters in _BECOMES.items():
    for _live_kind, _letter in zip(_KINDS, _letters, strict=True):
        row(name=f"{_saved_kind} saved, {_live_kind} live", **_SAYS[_letter])(
            _value_pair(_saved_kind, _live_kind)
        )


@row()
def table_with_entries(at: Path) -> Pair:
    return Pair(saved(at, t=filled_table(3)), lambda: ckpt(t=filled_table(1)))


@row()
def table_of_vectors(at: Path) -> Pair:
    return Pair(saved(at, t=filled_table(3, 2)), lambda: ckpt(t=filled_table(0, 2)))


@row(raises="InvalidArgumentError")
def table_of_other_vectors(at: Path) -> Pair:
    return Pair(saved(at, t=filled_table(3, 2)), lambda: ckpt(t=filled_table(0, 3)))


@row(raises="InvalidArgumentError")
def entries_of_a_mutable_table_in_a_dense_one(at: Path) -> Pair:
    return Pair(saved(at, t=filled_table(3)), lambda: ckpt(t=dense_table_of()))


@row(raises="InvalidArgumentError")
def no_entries_of_a_mutable_table_in_a_dense_one(at: Path) -> Pair:
    return Pair(saved(at, t=filled_table(0)), lambda: ckpt(t=dense_table_of()))


@row(raises="InvalidArgumentError")
def entries_of_a_mutable_table_in_a_dense_one_with_vectors_for_keys(at: Path) -> Pair:
    return Pair(saved(at, t=filled_table(3)), lambda: ckpt(t=dense_table_of(key_shape=[2])))


@row(raises="InvalidArgumentError", says=["int64", "string"])
def table_with_keys_of_another_dtype(at: Path) -> Pair:
    return Pair(saved(at, t=filled_table(3)), lambda: ckpt(t=mutable_table()))
