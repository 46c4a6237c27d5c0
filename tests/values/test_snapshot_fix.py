"""The fix of a check whose saved side is a snapshot, and the file that a snapshot writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.restore_fix.applying import NotAppliedError
from ckpt_viz.errors import CkptVizError, SourceError, UnsupportedError
from tests.support.tensorflow_later import tf
from tests.values.test_snapshot import iterators, new_words

pytestmark = pytest.mark.tf


def program(layer: str = "encoder", start: float = 0.0) -> Any:
    """A layer, its optimizer's slots, a table and Python state; their names vary."""
    module, optimizer = tf.Module(), tf.keras.optimizers.Adam()
    module.kernel = tf.Variable([[start, start + 1]], name="kernel")
    module.bias = tf.Variable([start + 2], name="bias")
    if hasattr(optimizer, "build"):
        optimizer.build([module.kernel, module.bias])
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    if start:
        table.insert(["a"], [7])
        optimizer.iterations.assign(5)
    words = new_words()
    words.words = ["x"] * int(start)
    parts = {layer: module, f"{layer}_optimizer": optimizer, "table": table, "words": words}
    return tf.train.Checkpoint(**parts, title=tf.Variable("one" if start else ""))


def values(checkpoint: Any, layer: str) -> list[Any]:
    module, table = getattr(checkpoint, layer), checkpoint.table
    state = getattr(checkpoint, f"{layer}_optimizer").variables
    variables = [module.kernel, module.bias, checkpoint.title, *state]
    entries = sorted(zip(*(one.numpy().tolist() for one in table.export()), strict=True))
    return [
        [np.asarray(one.numpy()).tolist() for one in variables],
        entries,
        checkpoint.words.words,
    ]


def test_apply_brings_a_snapshot_into_a_changed_program_from_memory(tmp_path: Path) -> None:
    old, new = program(start=3.0), program("body")
    before = cv.snapshot(old)
    expected = values(old, "encoder")
    old.encoder.kernel.assign([[9.0, 9.0]])
    check = cv.check(new, before)
    assert not check.consumed
    fix = check.fix()
    assert fix.missing == fix.unused == ()
    assert fix.prefix is None and not fix.is_applied
    assert fix.check.consumed
    assert fix.apply().is_applied
    assert values(new, "body") == expected
    assert list(tmp_path.iterdir()) == []


def test_the_code_restores_the_file_that_the_snapshot_writes(tmp_path: Path) -> None:
    old, new = program(start=3.0), program("body")
    before = cv.snapshot(old)
    code = cv.check(new, before).fix().code
    assert 'path = snapshot.write("before")' in code
    exec(code, {"ckpt": new, "path": before.write(tmp_path / "before")})
    assert values(new, "body") == values(old, "encoder")
    given = cv.check(new, before).fix().to_code("new", "before")
    assert "read('before')" in given and "snapshot" not in given


def test_write_gives_a_file_that_the_changed_program_restores_by_itself(tmp_path: Path) -> None:
    old, new = program(start=3.0), program("body")
    path = cv.check(new, cv.snapshot(old)).fix().write(tmp_path / "fixed")
    new.restore(path).assert_consumed()
    assert values(new, "body") == values(old, "encoder")


def test_a_value_that_is_refused_leaves_all_variables_as_they_were() -> None:
    old, new = program(start=3.0), program("body")
    fix = cv.check(new, cv.snapshot(old)).fix()
    new.words.deserialize = lambda text: 1 / 0
    with pytest.raises(NotAppliedError, match="as before"):
        fix.apply()
    assert values(new, "body")[0] == values(program("body"), "body")[0]


def test_the_fix_of_a_snapshot_tests_no_bytes() -> None:
    old, new = program(start=3.0), program("body")
    fix = cv.check(new, cv.snapshot(old), verify=True).fix()
    assert len(fix.pairs) == len(cv.check(new, cv.snapshot(old)).fix().pairs)


def test_a_written_snapshot_replaces_no_file(tmp_path: Path) -> None:
    before = cv.snapshot([tf.Variable(1.0)])
    before.write(tmp_path / "before")
    with pytest.raises(CkptVizError, match="before"):
        before.write(tmp_path / "before")


def test_what_numpy_does_not_know_is_not_written(tmp_path: Path) -> None:
    checkpoint, _ = iterators()
    before = cv.snapshot(checkpoint)
    with pytest.raises(UnsupportedError, match="snapshot holds it"):
        before.write(tmp_path / "before")
    assert list(tmp_path.iterdir()) == []


def test_verify_says_how_to_test_a_snapshot(tmp_path: Path) -> None:
    before = cv.snapshot([tf.Variable(1.0)])
    with pytest.raises(SourceError, match=r"values that no file has.*write them"):
        cv.graph(before).verify()
    assert not cv.graph(before.write(tmp_path / "before")).verify(progress=False)


def test_histories_comparisons_and_tables_take_a_snapshot_as_its_file(tmp_path: Path) -> None:
    variable = tf.Variable([3.0, 4.0])
    checkpoint = tf.train.Checkpoint(v=variable)
    before, path = cv.snapshot(checkpoint), checkpoint.write(str(tmp_path / "c"))
    variable.assign([3.0, 9.0])
    after = cv.snapshot(checkpoint)
    rows = [cv.graph(one).values(progress=False)["v"] for one in (before, path)]
    assert [(row.mean, row.l2) for row in rows] == [(3.5, 5.0)] * 2
    history = cv.history([before, after, checkpoint], progress=False)
    (row,) = history.rows
    assert [cell.state.value for cell in row.cells] == ["first", "changed", "equal"]
    assert row.cells[1].l2 == 5.0 and row.cells[1].relative == 1.0
    apart = [cv.compare([one, after], progress=False).distances for one in (before, path)]
    assert apart[0] == apart[1] and apart[0] is not None and apart[0][0][1] > 0


def test_the_explorer_shows_the_fix_of_a_snapshot() -> None:
    from ckpt_viz.entrances.jupyter.answers import fix_answer
    from ckpt_viz.entrances.jupyter.shown import show_of

    old, new = program(start=3.0), program("body")
    shown = show_of(new, cv.snapshot(old))
    answer, _ = fix_answer(shown.check, shown.fix, "new", ())
    assert "path = snapshot.write" in answer["fix"]["code"]
    assert "new.body" in answer["fix"]["code"]
    shown.fix.apply()
    assert shown.again().is_fixed
