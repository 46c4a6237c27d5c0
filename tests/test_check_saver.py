"""Checks of a `tf.compat.v1.train.Saver`: which variables its restore would touch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv

pytestmark = pytest.mark.tf

Shapes = dict[str, Sequence[int]]


def _variables(shapes: Shapes, dtype: str = "float32") -> list[Any]:
    import tensorflow as tf

    return [
        tf.compat.v1.get_variable(name, shape, dtype, tf.compat.v1.zeros_initializer())
        for name, shape in shapes.items()
    ]


def _references(shapes: Shapes) -> list[Any]:
    import tensorflow as tf

    return [
        tf.compat.v1.get_variable(name, shape, use_resource=False) for name, shape in shapes.items()
    ]


def _saved(path: Path, shapes: Shapes) -> str:
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        _variables(shapes)
        session.run(tf.compat.v1.global_variables_initializer())
        return str(tf.compat.v1.train.Saver().save(session, str(path / "model")))


def _compare(make: Callable[[], Any], prefix: str | None) -> Any:
    """Check a Saver in a graph, compare with what its restore raises, and return the check."""
    import tensorflow as tf

    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        saver = make()
        version = graph.version
        check = cv.check(saver, prefix)
        assert graph.version == version
        raised = None
        try:
            saver.restore(session, prefix)
        except Exception as error:
            raised = type(error).__name__
    assert (check.raises.type if check.raises else None) == raised
    return check


def _saver(*args: Any, **kwargs: Any) -> Any:
    import tensorflow as tf

    return tf.compat.v1.train.Saver(*args, **kwargs)


def test_saver_of_the_same_variables_restores_all(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2], "b": [3]})

    def same() -> Any:
        _variables({"a": [2], "b": [3]})
        return _saver()

    check = _compare(same, prefix)
    assert check.consumed
    assert check.bound == {"a": "(root).a", "b": "(root).b"}


def test_missing_names_are_all_told(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2]})

    def more() -> Any:
        _variables({"a": [2], "c": [1], "d": [1]})
        return _saver()

    check = _compare(more, prefix)
    assert check.raises.type == "NotFoundError"
    assert check.unmatched == ("(root).c", "(root).d")
    assert "c, d" in check.raises.message


def test_partial_saver_leaves_the_rest_of_the_file(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2], "b": [3]})
    check = _compare(lambda: _saver(_variables({"a": [2], "z": [1]})[:1]), prefix)
    assert check.consumed
    (leftover,) = check.findings
    assert (leftover.kind, leftover.saved) == ("leftover", "b")


def test_renaming_saver_reads_by_its_own_names(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2]})
    check = _compare(lambda: _saver({"a": _variables({"other": [2]})[0]}), prefix)
    assert check.consumed
    assert list(check.bound) == ["a"]


def test_shape_and_dtype(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2]})
    check = _compare(lambda: _saver(_variables({"a": [3]})), prefix)
    assert check.consumed  # a resource variable of a graph takes any shape
    assert (check.findings[0].kind, check.findings[0].severity) == ("shape", "warning")
    check = _compare(lambda: _saver(_references({"a": [3]})), prefix)
    assert (check.findings[0].kind, check.findings[0].severity) == ("shape", "error")
    check = _compare(lambda: _saver(_variables({"a": [2]}, "int32")), prefix)
    assert check.findings[0].kind == "dtype"


def test_path_that_is_none_and_one_that_leads_nowhere(tmp_path: Path) -> None:
    def one() -> Any:
        return _saver(_variables({"a": [2]}))

    for path in (None, str(tmp_path / "nothing")):
        assert _compare(one, path).raises.type == "ValueError"


def test_object_based_checkpoint_is_read_by_full_names(tmp_path: Path) -> None:
    import tensorflow as tf

    held = tf.train.Checkpoint(x=tf.Variable([1.0, 2.0], name="a"))
    prefix = held.write(str(tmp_path / "objects"))
    check = _compare(lambda: _saver(_variables({"a": [2]})), prefix)
    assert check.consumed
    check = _compare(lambda: _saver(_variables({"a": [2], "b": [1]})), prefix)
    assert check.raises.type == "NotFoundError"


def test_eager_saver(tmp_path: Path) -> None:
    import tensorflow as tf

    prefix = _saved(tmp_path, {"a": [2]})
    variable = tf.Variable([1.0, 2.0], name="a")
    saver = tf.compat.v1.train.Saver([variable])
    assert cv.check(saver, prefix).consumed
    saver.restore(None, prefix)
    assert variable.numpy().tolist() == [0.0, 0.0]
    longer = tf.compat.v1.train.Saver([tf.Variable([1.0, 2.0, 3.0], name="a")])
    with pytest.raises(ValueError):
        longer.restore(None, prefix)
    raised = cv.check(longer, prefix).raises
    assert raised is not None
    assert raised.type == "ValueError"
