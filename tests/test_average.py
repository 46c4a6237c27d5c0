"""The average of checkpoints: NumPy computes every mean, and TensorFlow restores the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from tests.support.programs import ckpt, keras_3_adam, module, var, written

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64")


def _value(dtype: str, seed: int, size: int = 7) -> Any:
    import tensorflow as tf

    rng = np.random.default_rng(seed)
    real = tf.constant(rng.normal(size=(3, size)))
    if dtype == "complex64":
        return tf.cast(tf.complex(real, tf.constant(rng.normal(size=(3, size)))), dtype)
    return tf.cast(real, dtype)


def _programs() -> list[Any]:
    """Three saves of a training, with values of several dtypes."""
    import tensorflow as tf

    programs = []
    for seed in range(3):
        values = {dtype: tf.Variable(_value(dtype, seed)) for dtype in DTYPES}
        net = module(**values, text=tf.Variable([f"save {seed}"]), step=tf.Variable(seed + 10))
        optimizer = keras_3_adam(values["float32"])
        optimizer.apply_gradients([(tf.ones((3, 7)) * seed, values["float32"])])
        programs.append(ckpt(net=net, optimizer=optimizer))
    return programs


@pytest.mark.parametrize("weights", [None, [1, 1, 2], [0.0, 3.0, 1.0]])
def test_a_mean_is_that_of_numpy(weights: list[float] | None, tmp_path: Path) -> None:
    programs = _programs()
    paths = [program.save(str(tmp_path / f"ckpt{i}")) for i, program in enumerate(programs)]
    mean = cv.average(paths, weights)
    new = mean.write(tmp_path / "mean")
    shares = np.array(weights or [1, 1, 1], np.float64)
    shares /= shares.sum()
    restored = _programs()[0]
    restored.restore(new).assert_consumed().assert_existing_objects_matched()
    saved = [cv.graph(path) for path in paths]
    for node in mean.nodes:
        for attribute in node.attributes:
            key = attribute.checkpoint_key
            values = [graph.read(key) for graph in saved]
            if attribute.dtype in DTYPES:
                wide = np.complex128 if attribute.dtype == "complex64" else np.float64
                total = sum(
                    share * value.astype(wide) for share, value in zip(shares, values, strict=True)
                )
                expected = np.asarray(total).astype(values[0].dtype)
            else:
                expected = values[-1]
            np.testing.assert_array_equal(mean.read(key), expected)
            np.testing.assert_array_equal(cv.graph(new).read(key), expected)
    assert restored.net.text.numpy().tolist() == [b"save 2"] and int(restored.net.step) == 12


def test_large_values_are_averaged_piece_by_piece(tmp_path: Path) -> None:
    import tensorflow as tf

    size = 5_000_001  # more than one piece of float32
    arrays = [np.random.default_rng(i).normal(size=size).astype(np.float32) for i in range(2)]
    paths = [written(tmp_path / str(i), v=tf.Variable(a)) for i, a in enumerate(arrays)]
    snapshot = cv.snapshot(ckpt(v=tf.Variable(arrays[0]))).graph
    for mean in (cv.average(paths), cv.average([snapshot, paths[1]])):
        expected = ((0.5 * arrays[0].astype(np.float64)) + 0.5 * arrays[1]).astype(np.float32)
        np.testing.assert_array_equal(mean.read("v"), expected)
        key = mean.nodes[mean.node_id("v")].attributes[0].checkpoint_key
        np.testing.assert_array_equal(mean.beginning(key, 5), expected[:5])
    new = cv.average(paths).cast({"v": "float16"}).renamed({"v": "w"}).write(tmp_path / "mean")
    np.testing.assert_array_equal(cv.graph(new).read("w"), expected.astype(np.float16))


def test_renamed_parts_and_scopes_are_mapped(tmp_path: Path) -> None:
    a = written(tmp_path / "a", old=module(kernel=var([[1.0, 2.0]]), bias=var([1.0])))
    b = written(tmp_path / "b", new=module(kernel=var([[3.0, 4.0]]), bias=var([3.0])))
    mean = cv.average([a, b])
    assert mean.read("new.kernel").tolist() == [[2.0, 3.0]]
    assert mean.read("new.bias").tolist() == [2.0]


_OTHER_NAMES: dict[str, tuple[Any, Any]] = {
    "a value": (lambda value: {"v": value}, lambda value: {"w": value}),
    "in a module": (
        lambda value: {"m": module(kernel=var([[1.0]]), v=value)},
        lambda value: {"m": module(kernel=var([[2.0]]), w=value)},
    ),
    "a list": (
        lambda value: {"m": [value, var(1.0)]},
        lambda value: {"m": module(a=value, b=var(2.0))},
    ),
}


@pytest.mark.parametrize("case", _OTHER_NAMES)
def test_a_value_is_not_averaged_with_one_that_only_has_its_shape(
    case: str, tmp_path: Path
) -> None:
    first, second = _OTHER_NAMES[case]
    a = written(tmp_path / "a", **first(var([1.0, 2.0])))
    b = written(tmp_path / "b", **second(var([3.0, 4.0])))
    with pytest.raises(cv.EditError, match=r"only its shape tells that .*renamed\(\{") as caught:
        cv.average([a, b])
    history = cv.history([a, b], unchanged=True, progress=False)
    assert not any(
        row.cells[1].state.value == "changed" and "kernel" not in row.key for row in history.rows
    )
    (mark,) = history.marks
    for name in (*mark.new[:1], *mark.gone[:1]):
        assert name in str(caught.value) and name in history.headline
    if case == "a value":
        mean = cv.average([cv.graph(a).renamed({"v": "w"}), b])
        assert mean.read("w").tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("other", "weights", "error", "message"),
    [
        ({"net": module}, None, cv.EditError, "b.*has no value for net.v"),
        ({"extra": True}, None, cv.EditError, "a.*has no value for extra"),
        ({"shape": [1.0]}, None, cv.EditError, "net.v of the same dtype and shape"),
        ({}, [1.0], cv.SourceError, "expected 2 finite numbers"),
        ({}, [1.0, float("nan")], cv.SourceError, "expected 2 finite numbers"),
        ({}, [1.0, -1.0], cv.SourceError, "whose sum is more than 0"),
        ({}, ["1", "2"], cv.SourceError, "expected 2 finite numbers"),
        ({}, "mean/ckpt", cv.SourceError, r"cv.average\(sources\).write\('mean/ckpt'\)"),
    ],
)
def test_checkpoints_that_have_no_average_say_why(
    other: dict[str, Any],
    weights: Any,
    error: type[Exception],
    message: str,
    tmp_path: Path,
) -> None:
    first = written(tmp_path / "a", net=module(v=var([1.0, 2.0])), w=var([[1.0]]))
    net = module() if "net" in other else module(v=var(other.get("shape", [1.0, 2.0])))
    more = {"extra": var([[[1.0]]])} if "extra" in other else {}
    second = written(tmp_path / "b", net=net, w=var([[1.0]]), **more)
    with pytest.raises(error, match=message):
        cv.average([first, second], weights)


def test_too_few_live_and_nan_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a", net=module(v=var([1.0, 2.0])))
    other = written(tmp_path / "b", net=module(v=var([1.0, float("nan")])))
    with pytest.raises(cv.SourceError, match="found 1 checkpoints, expected at least two"):
        cv.average([path])
    with pytest.raises(cv.SourceError, match="found live objects"):
        cv.average([path, ckpt(net=module(v=var([1.0, 2.0])))])
    mean = cv.average([other, path])
    with pytest.raises(cv.UnsupportedError, match=r"b/written: net.v has a NaN.*leave this"):
        mean.write(tmp_path / "mean")
    assert [*tmp_path.glob("mean*")] == []


def test_the_command_prints_what_it_wrote(tmp_path: Path) -> None:
    paths = [written(tmp_path / str(i), v=var([float(i), 2.0])) for i in range(3)]
    new = str(tmp_path / "mean")
    result = CliRunner().invoke(main, ["average", *paths, "--to", new, "--weights", "1,1,2"])
    assert result.output == (
        f"Wrote the average of 3 checkpoints, 1 value, 2 parameters, 8 bytes, to {new}.index and "
        f"{new}.data-00000-of-00001.\n"
    )
    assert cv.graph(new).read("v").tolist() == [1.25, 2.0]
    wrong = CliRunner().invoke(main, ["average", *paths, "--to", new, "--weights", "a,b"])
    assert (wrong.exit_code, "expected numbers and commas" in wrong.output) == (2, True)
