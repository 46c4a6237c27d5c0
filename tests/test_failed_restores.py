"""`%load_ext ckpt_viz`: what appears below the traceback of a restore that failed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.jupyter.failed_restores import check_of
from tests.support.programs import ckpt, keras_2, module, saved, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[str, dict[str, Any]], str]]:
    """Run a cell of IPython in a terminal that has the extension; return what it prints."""
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "ckpt_viz")

    def run(cell: str, names: dict[str, Any]) -> str:
        shell.user_ns.update(names)
        capsys.readouterr()
        shell.run_cell(cell)
        return capsys.readouterr().out

    yield run
    shell.run_line_magic("unload_ext", "ckpt_viz")
    InteractiveShell.clear_instance()


def test_a_failed_assert_shows_the_check_and_its_fix(run: Any, tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=var([1.0, 2.0])))
    live = ckpt(net=module(dense=var([0.0, 0.0])))
    out = run("live.restore(path).assert_consumed()", {"live": live, "path": path})
    assert "AssertionError" in out
    after = out.partition("AssertionError")[2]
    assert "renamed" in after.lower()
    assert "net=tf.train.Checkpoint(l1=ckpt.net.dense)" in after


def test_a_restore_that_raises_shows_them_too(run: Any, tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(w=var([1.0, 2.0])))
    live = ckpt(net=module(w=var([0.0, 0.0, 0.0])))
    out = run("live.restore(path)", {"live": live, "path": path})
    assert "restore() would raise ValueError" in out


def test_unrestored_values_of_a_deleted_status_get_a_hint_once(run: Any, tmp_path: Path) -> None:
    logging.getLogger("tensorflow").setLevel("WARNING")  # its default
    path = saved(tmp_path, net=module(a=var(1.0), b=var(2.0)))
    names = {"make": lambda: ckpt(net=module(a=var(0.0))), "path": path}
    assert run("live = make()\nstatus = live.restore(path)", names) == ""
    out = run("del live, status\nimport gc\nfound = gc.collect()", {})
    assert out.count("ckpt_viz: a restore left values of the checkpoint unused") == 1
    assert run("one = 1", {}) == ""


def test_other_errors_and_healthy_restores_show_nothing(run: Any, tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(w=var(1.0)))
    live = ckpt(net=module(w=var(0.0)))
    assert run("status = live.restore(path).assert_consumed()", {"live": live, "path": path}) == ""
    out = run("def restore(self, save_path): 1 / 0\nrestore(1, 2)", {})
    assert "ZeroDivisionError" in out and "would" not in out


def test_load_weights_of_tf_keras_is_a_restore(tmp_path: Path) -> None:
    keras = keras_2()

    def model(units: int) -> Any:
        return keras.Sequential([keras.layers.Dense(units, input_shape=(3,), name="fc")])

    path = str(tmp_path / "weights")
    model(2).save_weights(path)
    with pytest.raises(ValueError, match=r".") as raised:
        model(4).load_weights(path)
    check = check_of(raised.value)
    assert check is not None
    assert check.raises is not None and check.raises.type == "ValueError"


def test_without_a_restore_there_is_no_check() -> None:
    try:
        cv.graph("no/such/path")
    except cv.CheckpointNotFoundError as error:
        assert check_of(error) is None
