"""Parts of several checkpoints under one root: TensorFlow restores them, and writes the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.programs import (
    ckpt,
    keras_2_adam,
    keras_3_adam,
    legacy_adam,
    module,
    object_graph_in,
    v1_adam,
    var,
    written,
)

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
OPTIMIZERS = (keras_3_adam, keras_2_adam, legacy_adam, v1_adam)


def _net(value: float, size: int = 2) -> Any:
    head = module(kernel=var([value + 2] * size))
    return module(kernel=var([[value] * size]), bias=var([value + 1]), head=head)


def _program(maker: Callable[..., Any], value: float = 0.0, **parts: Any) -> Any:
    net = parts.pop("net", None) or _net(value)
    return ckpt(net=net, optimizer=maker(net.kernel, net.bias, net.head.kernel), **parts)


def _set_state(program: Any, value: float) -> None:
    """Give all variables of the optimizer one value."""
    own = program.optimizer.variables
    for variable in own() if callable(own) else own:
        variable.assign(np.full(variable.shape, value))


def _state(program: Any) -> list[Any]:
    own = program.optimizer.variables
    values = [variable.numpy().tolist() for variable in (own() if callable(own) else own)]
    return sorted(values, key=repr)  # TensorFlow 1 sorts them by names that it counts


@pytest.mark.parametrize("maker", OPTIMIZERS)
@pytest.mark.parametrize("first", ["net", "optimizer"])
def test_a_model_and_the_optimizer_of_another_training(
    first: str, maker: Callable[..., Any], tmp_path: Path
) -> None:
    one, other, program = _program(maker, 1.0), _program(maker, 5.0), _program(maker)
    _set_state(other, 7.0)
    paths = {"net": written(tmp_path / "one", one), "optimizer": written(tmp_path / "other", other)}
    both = cv.merged({place: paths[place] for place in (first, *(paths.keys() - {first}))})
    path = both.write(tmp_path / "both")
    program.read(path).assert_consumed().assert_existing_objects_matched()
    assert program.net.kernel.numpy().tolist() == [[1.0, 1.0]]
    assert program.net.head.kernel.numpy().tolist() == [3.0, 3.0]
    assert _state(program) == _state(other)
    if first == "net":  # the order in which the program sets its attributes
        assert object_graph_in(path) == object_graph_in(written(tmp_path / "expected", program))


@pytest.mark.parametrize("maker", OPTIMIZERS)
def test_whole_checkpoints_side_by_side(maker: Callable[..., Any], tmp_path: Path) -> None:
    paths = [str(_program(maker, v).save(str(tmp_path / str(v)))) for v in (1.0, 5.0)]
    both = cv.merged({"one": paths[0], "two": paths[1], "again": paths[1]})
    members = {name: _program(maker) for name in ("one", "two", "again")}
    parts = {name: module(net=m.net, optimizer=m.optimizer) for name, m in members.items()}
    ckpt(**parts).read(both.write(tmp_path / "both")).assert_consumed()
    read = [float(member.net.bias[0]) for member in members.values()]
    assert read == [2.0, 6.0, 6.0]
    text = str(both)
    assert text.count("save_counter (1 value)") == 3  # a counter belongs to its own checkpoint


def test_parts_of_one_checkpoint_share_what_they_share_there(tmp_path: Path) -> None:
    embedding = var([1.0])
    path = written(tmp_path / "a", a=module(e=embedding), b=module(e=embedding, w=var(2.0)))
    both = cv.merged({"first": (path, "a"), "second": (path, "b")})
    new = both.write(tmp_path / "both")
    shared = var([0.0])
    ckpt(first=module(e=shared), second=module(e=shared, w=var(0.0))).read(new).assert_consumed()
    assert shared.numpy().tolist() == [1.0]
    alone = cv.merged({"second": (path, "b")})
    assert alone.read("second.e").tolist() == [1.0]


def test_a_part_takes_the_place_of_another_inside(tmp_path: Path) -> None:
    one = written(tmp_path / "one", net=_net(1.0), items=[var(1.0), var(2.0)])
    other = written(tmp_path / "other", net=_net(5.0, size=3), items=[var(8.0)])
    both = cv.merged({"net.head": other, "net": one, "items": one, "items.2": (other, "items.0")})
    assert both.read("net.kernel").tolist() == [[1.0, 1.0]]
    assert both.read("net.head.kernel").tolist() == [7.0, 7.0, 7.0]
    assert [float(both.read(f"items.{i}")) for i in range(3)] == [1.0, 2.0, 8.0]
    program = ckpt(net=_net(0.0), items=[var(), var(), var()])
    program.net.head = module(kernel=var([0.0] * 3))
    program.read(both.write(tmp_path / "both")).assert_consumed()


def test_slots_of_a_replaced_part_lead_to_the_new_one(tmp_path: Path) -> None:
    for maker in OPTIMIZERS:
        at = tmp_path / maker.__name__
        one = _program(maker, 1.0)
        _set_state(one, 3.0)
        paths = written(at / "one", one), written(at / "other", _program(maker, 5.0))
        both = cv.merged({"net": paths[0], "net.head": paths[1], "optimizer": paths[0]})
        program = _program(maker)
        program.read(both.write(at / "both")).assert_consumed().assert_existing_objects_matched()
        assert program.net.head.kernel.numpy().tolist() == [7.0, 7.0]
        assert _state(program) == _state(one)


def test_edited_averaged_and_held_checkpoints_are_merged(tmp_path: Path) -> None:
    paths = [written(tmp_path / str(v), net=_net(v)) for v in (1.0, 5.0)]
    mean = cv.average(paths).cast({"net.bias": "float16"})
    held = cv.snapshot(ckpt(net=_net(9.0))).graph
    both = cv.merged({"mean": (mean, "net"), "held": (held, "net")})
    again = cv.merged({"inner": both, "head": (paths[0], "net.head")}).renamed({"head": "last"})
    graph = cv.graph(again.write(tmp_path / "both"))
    assert graph.read("inner.mean.kernel").tolist() == [[3.0, 3.0]]
    assert graph.read("inner.mean.bias").dtype == np.float16
    assert graph.read("inner.held.bias").tolist() == [10.0]
    assert graph.read("last.kernel").tolist() == [3.0, 3.0]
    assert again.find("inner.held.bias") and cv.diff(again, graph, values=True).is_empty


def test_a_merged_graph_is_checked_and_fixed_as_its_file_is(tmp_path: Path) -> None:
    one, other = (written(tmp_path / str(v), net=_net(v)) for v in (1.0, 5.0))
    both = cv.merged({"a": (one, "net"), "b": (other, "net")})
    program = ckpt(a=_net(0.0), c=_net(0.0))
    check = cv.check(program, both)
    of_file = cv.check(program, cv.graph(both.write(tmp_path / "both")))
    kinds = [[finding.kind for finding in found.findings] for found in (check, of_file)]
    assert kinds[0] == kinds[1] and kinds[0]
    check.fix().apply()
    assert program.c.bias.numpy().tolist() == [6.0] and program.a.bias.numpy().tolist() == [2.0]


# --- names


def _by_names(path: Path, **values: float) -> str:
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        for name, value in values.items():
            v1.get_variable(name.replace("__", "/"), initializer=[value])
        session.run(v1.global_variables_initializer())
        return str(v1.train.Saver().save(session, str(path)))


def test_scopes_of_several_files(tmp_path: Path) -> None:
    import tensorflow as tf

    v1 = tf.compat.v1
    one = _by_names(tmp_path / "one", net__w=1.0, head__w=2.0)
    other = _by_names(tmp_path / "other", net__w=3.0, head__w=4.0)
    both = cv.merged({"net": one, "old": (other, "head/"), "all": other, "copy/": (other, "head")})
    path = both.write(tmp_path / "both")
    names = {"net/w": 1.0, "old/w": 4.0, "all/net/w": 3.0, "all/head/w": 4.0, "copy/w": 4.0}
    with tf.Graph().as_default(), v1.Session() as session:
        variables = {name: v1.get_variable(name, [1]) for name in names}
        v1.train.Saver().restore(session, path)
        read = {name: float(value[0]) for name, value in session.run(variables).items()}
    assert read == names
    with pytest.raises(cv.EditError, match="become one name, net/w"):
        cv.merged({"net": one, "net/": other})
    with pytest.raises(cv.SourceError, match=r"holds names, and .* objects"):
        cv.merged({"net": one, "b": written(tmp_path / "c", v=var())})


# --- what has no answer


def _odd(tmp_path: Path) -> dict[str, Any]:
    net = _net(1.0)
    return {
        "a": written(tmp_path / "a", _program(legacy_adam, net=net)),
        "wide": written(tmp_path / "wide", net=_net(1.0, size=4)),
        "bare": written(tmp_path / "bare", optimizer=legacy_adam(net.kernel)),
        "live": ckpt(net=net),
    }


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ({}, cv.SourceError, "no checkpoint to merge"),
        ({"net": "live"}, cv.SourceError, "found live objects, expected checkpoints"),
        ({"net": "wide", "optimizer": "a"}, cv.EditError, "has slots of net.kernel, and no part"),
        ({"optimizer": "a"}, cv.EditError, "has slots of net.kernel.*add its part"),
        ({"net": "a", "x.y": ("a", "net.head")}, cv.EditError, "found no x to hold a part"),
        ({"net": ("a", "nothing")}, cv.NoSuchNodeError, "expected the name of one node"),
        ({"": "a"}, cv.EditError, "found an empty place"),
        ({"net..head": "a"}, cv.EditError, "found no net. to hold"),
    ],
)
def test_parts_that_cannot_be_merged_say_why(
    parts: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    sources = _odd(tmp_path)
    given = {
        place: (sources[part[0]], part[1]) if isinstance(part, tuple) else sources[part]
        for place, part in parts.items()
    }
    with pytest.raises(error, match=message):
        cv.merged(given)


def test_without_slots_an_optimizer_needs_no_variable(tmp_path: Path) -> None:
    graph = cv.graph(_odd(tmp_path)["a"]).without("role:slot")
    assert cv.merged({"optimizer": graph}).find("role:slot") == ()


@pytest.mark.parametrize("maker", [keras_3_adam, legacy_adam])
def test_slots_do_not_lead_to_a_variable_that_only_has_the_shape(
    maker: Callable[..., Any], tmp_path: Path
) -> None:
    net = module(v=var([1.0, 2.0]))
    trained = written(tmp_path / "trained", net=net, optimizer=maker(net.v))
    other = written(tmp_path / "other", net=module(w=var([1.0, 2.0])))
    with pytest.raises(cv.EditError, match=r"only its shape tells what net\.v is"):
        cv.merged({"net": other, "optimizer": trained})
    renamed = cv.graph(trained).renamed({"net.v": "net.w"})
    merged = cv.merged({"net": other, "optimizer": renamed})
    assert merged.read("net.w").tolist() == [1.0, 2.0]
