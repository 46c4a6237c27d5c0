"""The fix of a check that has tested the bytes: damaged values stay out, all others get in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.check_rows.saving import value_key
from tests.support.damage import flipped
from tests.support.oracle import raised_by
from tests.support.programs import ckpt, module, tensors, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def _program(name: str = "model", value: float = 0.0) -> Any:
    return ckpt(**{name: module(a=var([value] * 2), b=var([[value] * 3]))})


def _saved(at: Path) -> str:
    path = str(_program(value=7.0).save(str(at / "ckpt")))
    return flipped(path, value_key("model/a"), 3)


def _values(model: Any) -> list[float]:
    return [float(model.a.numpy().max()), float(model.b.numpy().max())]


@pytest.mark.parametrize("name", ["model", "net"])
def test_code_restores_all_but_the_damaged_values(tmp_path: Path, name: str) -> None:
    """Also in a renamed part, whose values the checked restore does not read."""
    path, live = _saved(tmp_path), _program(name)
    fix = cv.check(live, path, verify=True).fix()
    assert f"(root).{name}.b" in fix.pairs.values()
    assert f"(root).{name}.a" not in fix.pairs.values()
    assert f"(root).{name}.a" in fix.missing
    assert value_key("model/a") in fix.unused
    exec(fix.code, {"ckpt": live, "path": path})
    assert _values(getattr(live, name)) == [0.0, 7.0]
    assert f"but their bytes are damaged:\n#   {name}.a: model/a/" in fix.code


def test_apply_restores_all_but_the_damaged_values(tmp_path: Path) -> None:
    path, live = _saved(tmp_path), _program()
    cv.check(live, path, verify=True).fix().apply()
    assert _values(live.model) == [0.0, 7.0]


def test_written_checkpoint_restores_all_but_the_damaged_values(tmp_path: Path) -> None:
    path, live = _saved(tmp_path), _program()
    new = cv.check(live, path, verify=True).fix().write(tmp_path / "fixed")
    assert cv.graph(new).verify() == ()
    live.restore(new).expect_partial()
    assert _values(live.model) == [0.0, 7.0]


def test_without_the_test_the_fix_fails_and_changes_nothing(tmp_path: Path) -> None:
    path, live = _saved(tmp_path), _program()
    fix = cv.check(live, path).fix()
    assert value_key("model/a") in fix.pairs
    assert raised_by(fix.apply) is not None
    assert _values(live.model) == [0.0, 0.0]


def test_fix_of_a_whole_checkpoint_is_the_same_with_the_test(tmp_path: Path) -> None:
    path = flipped(_saved(tmp_path), value_key("model/a"), 3)  # a second time: whole again
    codes = [cv.check(_program("net"), path, verify=one).fix().code for one in (False, True)]
    assert codes[0] == codes[1]


def test_fix_by_names_leaves_damaged_values_out(tmp_path: Path) -> None:
    values = {"net/a": np.full(2, 7.0, "float32"), "net/b": np.full((1, 3), 7.0, "float32")}
    path = flipped(tensors(tmp_path, **values), "net/a", 3)
    live = ckpt(net=module(a=var([0.0] * 2, name="net/a"), b=var([[0.0] * 3], name="net/b")))
    fix = cv.check(live, path, verify=True).fix()
    assert list(fix.pairs) == ["net/b"]
    assert "net/a" in fix.unused


@pytest.mark.parametrize(
    ("damage", "request_of"),
    [
        (
            lambda _: b"version https://git-lfs.github.com/spec/v1\n",
            "Repair {}: a Git LFS pointer instead of the file; run `git lfs pull`.",
        ),
        (
            lambda data: data[:-20],
            "Repair {}: begins like a TensorFlow checkpoint index but is cut short or damaged.",
        ),
        (lambda data: data[:10] + b"?" + data[11:], "Copy {} again from where it came."),
    ],
)
def test_the_remedy_for_an_index_has_the_parts_of_the_readers_error(
    damage: Callable[[bytes], bytes], request_of: str, tmp_path: Path
) -> None:
    path = str(_program(value=7.0).save(str(tmp_path / "a: b")))  # a path has no parts to read
    index = Path(f"{path}.index")
    index.write_bytes(damage(index.read_bytes()))
    (finding,) = cv.check(_program(), path).findings
    assert str(finding.remedy) == request_of.format(index)
