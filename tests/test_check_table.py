"""Hand-written pairs of a checkpoint and a program, each restored dry and for real.

Every row of `tests/check_rows` shows one behaviour of TensorFlow in a restore. Its name says what
is special about the pair, and its decorator gives the expected result. `tests.support.oracle`
compares the rest.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.matching.changes.kind import Kind
from tests.check_rows import (
    binding,
    broken_files,
    by_name,
    containers,
    damaged,
    distribution,
    graph_mode,
    keras_models,
    paths,
    shapes,
    slots,
    steps,
    values,
    verdicts,
    wrappers,
)
from tests.check_rows.contexts import graph, skipping_slots
from tests.check_rows.objects import (
    applied,
    filled_table,
    registered,
    sequential,
    sharded,
    tracking_its_slot,
    training,
)
from tests.check_rows.saving import saved_by_another_saver, saved_training
from tests.check_rows.table import Pair, Row, check_row
from tests.support.laws import state_of
from tests.support.oracle import compare, outcome_of_check, outcome_of_restore, raised_by
from tests.support.programs import ckpt, keras_2, keras_3, module, saved, v1_adam, var
from tests.support.told import told

pytestmark = [
    pytest.mark.tf,
    pytest.mark.usefixtures("quiet_tensorflow"),
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),  # Keras'
]

TOPICS = (
    paths, binding, values, shapes, slots, verdicts, by_name, containers, distribution,
    broken_files, damaged, graph_mode, keras_models, steps, wrappers,
)  # fmt: skip


def _rows() -> Iterator[Any]:
    for topic in TOPICS:
        about = topic.__name__.rpartition(".")[2]
        for case in topic.row.rows:
            yield pytest.param(case, id=f"{about}: {case.name}")


@pytest.mark.parametrize("case", list(_rows()))
def test_dry_run_says_what_the_restore_says(case: Row, tmp_path: Path) -> None:
    check_row(case, tmp_path)


def test_a_check_says_the_same_twice(tmp_path: Path) -> None:
    path = saved(tmp_path, v=var(), late=module(w=var()))
    target = ckpt(v=var(), own=[])
    first, second = cv.check(target, path), cv.check(target, path)
    assert outcome_of_check(first) == outcome_of_check(second)
    assert first.trace == second.trace


def test_a_check_before_does_not_change_what_the_restore_does(tmp_path: Path) -> None:
    path = saved_training(tmp_path, v1_adam())

    def checked() -> Any:
        target = training(v1_adam(), steps=False)
        cv.check(target, path)
        return target

    compare(checked, path)


def test_a_checkpoint_can_be_checked_in_every_state_of_being_written(tmp_path: Path) -> None:
    path = saved(tmp_path, v=var(), w=var([1.0, 2.0]))
    index, data = Path(f"{path}.index"), Path(f"{path}.data-00000-of-00001")
    whole = {file: file.read_bytes() for file in (index, data)}

    def live() -> Any:
        return ckpt(v=var(0.0), w=var([0.0, 0.0]))

    said = []
    for index_size, data_size in ((0, 0), (50, 10), (-1, 0), (-1, 10), (-1, None), (-1, -1)):
        index.write_bytes(whole[index][: len(whole[index]) if index_size < 0 else index_size])
        if data_size is None:
            data.unlink()
        else:
            data.write_bytes(whole[data][: len(whole[data]) if data_size < 0 else data_size])
        said.append(compare(live, path).outcome.raises)
    assert said == ["OpError", "OpError", "IndexError", "IndexError", "OpError", None]


def test_slot_that_is_an_attribute_raises_in_no_assert_that_leaves_slots_out(
    tmp_path: Path,
) -> None:
    path = saved(tmp_path, v=var([1.0]), again=var([1.0]))
    said = []
    for options in (skipping_slots(), None):
        check = compare(tracking_its_slot, path, options=options).check
        (finding,) = (one for one in told(check) if one.kind is Kind.SLOT_REUSED)
        said.append((finding.severity.value, "every assert" in finding.why))
    assert said == [("warning", False), ("fail", True)]


def test_latest_checkpoint_is_none_in_the_cases_that_the_finding_names(tmp_path: Path) -> None:
    import tensorflow as tf

    (finding,) = cv.check(ckpt(v=var()), None).findings
    assert "`checkpoint` file is missing or names a missing checkpoint" in str(finding.remedy)
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    path = saved(tmp_path, v=var())
    assert tf.train.latest_checkpoint(str(tmp_path)) == path  # so "there is none" would be false
    Path(f"{path}.index").unlink()
    assert tf.train.latest_checkpoint(str(tmp_path)) is None


def _flip(file: str, place: int) -> None:
    damaged = bytearray(Path(file).read_bytes())
    damaged[place] ^= 1
    Path(file).write_bytes(damaged)


def test_damaged_value_passes_with_the_note_that_no_values_were_read(tmp_path: Path) -> None:
    import tensorflow as tf

    path = saved(tmp_path, v=var([1.0, 2.0]))
    _flip(f"{path}.data-00000-of-00001", 2)
    target = ckpt(v=var([0.0, 0.0]))
    check = cv.check(target, path)
    with pytest.raises(tf.errors.DataLossError, match="Checksum does not match"):
        target.restore(path)
    assert check.consumed and check.findings == ()
    (note,) = check.notes
    assert "not read" in note and "DataLossError" in note
    assert note in str(check) and note in check.to_json()["notes"] and note in check.to_svg()


def test_damage_outside_of_values_raises_in_the_check_too(tmp_path: Path) -> None:
    path = saved(tmp_path, v=var([1.0, 2.0]))
    index, data = f"{path}.index", f"{path}.data-00000-of-00001"
    in_graph = Path(data).read_bytes().index(b"VARIABLE_VALUE")
    whole = {file: Path(file).read_bytes() for file in (index, data)}
    for file, place in ((data, in_graph), (index, 30), (index, -3), (index, -60)):
        _flip(file, place)
        found = compare(lambda: ckpt(v=var([0.0, 0.0])), path)
        assert found.outcome.raises == "OpError", (file, place)
        assert found.check.notes == ()
        Path(file).write_bytes(whole[file])


def test_check_that_would_read_no_value_has_no_note(tmp_path: Path) -> None:
    path = saved(tmp_path, v=var())
    status = ckpt(v=var()).restore(path)
    written = ckpt().write(str(tmp_path / "empty"))
    other = cv.check(ckpt(v=var()), path, method="read")
    for check in (
        cv.check(status),
        cv.check(ckpt(v=var()), None),
        cv.check(ckpt(v=var()), f"{path}.index"),
        cv.check(ckpt(v=var([1.0, 2.0])), path),
        cv.check(ckpt(), written),
    ):
        assert check.notes == () and "not read" not in str(check)
    assert other.notes and not other.consumed  # the restore returns, and an assert fails
    assert "not read" not in str(cv.diff(path, path))


def test_registered_saver_that_is_unknown_is_treated_as_this_tensorflow_does(
    tmp_path: Path,
) -> None:
    path = saved_by_another_saver(tmp_path)
    compare(lambda: ckpt(m=registered("Strict")(), v=var()), path)


def test_value_of_the_later_restore_reaches_the_attribute(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first = saved(tmp_path / "first", v=var(1.0), late=var(1.0))
    second = saved(tmp_path / "second", v=var(2.0), late=var(2.0))
    target = ckpt(v=var(0.0))
    statuses = [target.restore(first), target.restore(second)]
    target.late = var(0.0)
    assert target.late.numpy() == 2.0
    for path, status in zip((first, second), statuses, strict=True):
        check = cv.check(target, path)
        assert check.consumed and check.bound["(root).late"] == "(root).late"
        status.assert_consumed()
    assert target.late.numpy() == 2.0


def test_wrong_shape_that_waits_is_an_error_once_the_attribute_is_set(tmp_path: Path) -> None:
    path = saved(tmp_path, v=var(), late=var([1.0, 2.0]))

    def waiting() -> Any:
        target = ckpt(v=var(0.0))
        target.restore(path).expect_partial()
        return target

    found = compare(waiting, path)
    assert found.outcome.unresolved == ("(root).late",)
    with pytest.raises(ValueError, match=r"shape \(2,\)") as raised:
        waiting().late = var(0.0)
    check = cv.check(ckpt(v=var(0.0), late=var(0.0)), path)
    assert check.raises is not None
    assert check.raises.type == "ValueError" and check.raises.message == str(raised.value)


def test_layer_that_is_built_later_takes_its_values(tmp_path: Path) -> None:
    keras = keras_3()
    path = saved(tmp_path, model=sequential(keras, 2, 2))

    def unbuilt() -> Any:
        return ckpt(model=sequential(keras, 2, 2, built=False))

    assert compare(unbuilt, path).outcome.consumed == "AssertionError"
    target = unbuilt()
    status = target.restore(path)
    target.model.build((None, 3))
    status.assert_consumed()
    assert cv.check(target, path).consumed


def test_keras_3_model_without_build_takes_only_some_of_its_values(tmp_path: Path) -> None:
    pair = keras_models.keras_3_subclassed_model_without_build(tmp_path)
    import tensorflow as tf

    target = pair.make()
    status = target.restore(pair.path)
    target.model(tf.zeros((1, 3)))
    check = cv.check(target, pair.path)
    assert check.consumed and check.raises is None  # now that it is built
    with pytest.raises(AssertionError, match="not assigned a value"):
        status.assert_consumed()


def test_empty_list_with_a_value_of_its_own_is_left_out_of_the_asserts(tmp_path: Path) -> None:
    import tensorflow as tf
    from tensorflow.python.trackable.data_structures import List

    class Valued(List):  # type: ignore[misc]
        def _serialize_to_tensors(self) -> dict[str, Any]:
            return {"value": tf.constant(1.0)}

    def live() -> Any:
        return ckpt(v=var(), x=Valued())

    found = compare(live, saved(tmp_path, v=var()))
    assert found.check.consumed
    assert found.outcome.unmatched == ()


def _in_session(pair: Pair) -> tuple[Any, Any]:
    """Return the check of a restore in a graph, and what its target's `v` is worth then.

    In place of a value the exception that the session raises.
    """
    import tensorflow as tf

    with graph(), tf.compat.v1.Session() as session:
        target = pair.make()
        check = cv.check(target, pair.path, verify=pair.verify)
        status = target.restore(pair.path).assert_consumed()
        session.run(target.v.initializer)
        try:
            status.run_restore_ops(session)
        except Exception as error:
            return check, error
        return check, session.run(target.v)


def test_in_a_graph_the_session_finds_the_wrong_dtype(tmp_path: Path) -> None:
    check, error = _in_session(graph_mode.in_a_graph_a_wrong_dtype_passes(tmp_path))
    (failure,) = (step.failure for step in check.trace if step.failure is not None)
    assert failure.in_session and type(error).__name__ == failure.type
    assert failure.message in str(error)
    assert check.raises is None and check.consumed


def test_in_a_graph_the_session_finds_the_missing_tensor(tmp_path: Path) -> None:
    check, error = _in_session(graph_mode.in_a_graph_a_missing_tensor_passes(tmp_path))
    (failure,) = (step.failure for step in check.trace if step.failure is not None)
    assert failure.in_session and type(error).__name__ == failure.type == "NotFoundError"
    assert check.raises is None and check.consumed


def test_in_a_graph_the_session_finds_the_damage(tmp_path: Path) -> None:
    check, error = _in_session(damaged.in_a_graph_the_session_finds_it(tmp_path))
    (finding,) = (one for one in told(check) if one.kind is Kind.DAMAGED)
    assert finding.severity == "warning" and "run_restore_ops() raises DataLossError" in finding.why
    assert type(error).__name__ == "DataLossError"
    assert check.raises is None and check.consumed


def test_in_a_graph_a_variable_ends_up_with_the_wrong_shape(tmp_path: Path) -> None:
    check, value = _in_session(graph_mode.in_a_graph_a_wrong_shape_passes(tmp_path))
    assert value.shape == (2,)
    assert check.raises is None and check.consumed


@pytest.mark.parametrize(
    ("value", "said"), [(0.0, "that is false"), ([1.0, 2.0], r"bool\(\) raises")]
)
def test_what_a_checkpoint_would_not_take_as_its_root_is_refused(
    tmp_path: Path, value: Any, said: str
) -> None:
    path = saved(tmp_path, v=var(value))
    root = var(value)
    with pytest.raises(cv.SourceError, match=said):
        cv.check(root, path)
    # A false one is left out, of the other TensorFlow cannot tell.
    try:
        status = ckpt(root).read(path)
    except ValueError:
        assert isinstance(value, list)
    else:
        assert raised_by(status.assert_existing_objects_matched) is not None
    assert cv.check(ckpt(v=root), path).consumed


def test_slots_of_a_sharded_variable_are_those_of_its_shards(tmp_path: Path) -> None:
    pair = distribution.sharded_and_the_slots_of_its_shards(tmp_path)
    watched = pair.make()
    before = state_of(watched)
    check = cv.check(watched, pair.path)
    assert state_of(watched) == before
    target = pair.make()
    status = target.restore(pair.path)
    slots = [target.optimizer.get_slot(shard, "m").numpy() for shard in target.v.variables]
    assert all((slot == 1.0).all() for slot in slots)
    assert check.raises is None
    assert [
        raised_by(status.assert_consumed) is None,
        raised_by(status.assert_existing_objects_matched) is None,
    ] == [check.consumed, check.existing_objects_matched]
    name = "(root).optimizer's state 'm' for (root).v"
    assert check.bound[name] == name
    assert Kind.VALUE_LOST not in {finding.kind for finding in check.findings}


_SHARDS = (((3, 3), (2, 2, 2)), ((2, 2, 2), (3, 3)), ((3, 3), (3, 3)), ((3, 3), ()), ((), (3, 3)))


@pytest.mark.parametrize("beside", ["", "before", "x_after"])
@pytest.mark.parametrize("optimizer", ["legacy Adam", "legacy SGD", "TensorFlow 1's Adam", "Adam"])
def test_slots_of_other_shards_are_judged_as_tensorflow_judges_them(
    tmp_path: Path, optimizer: str, beside: str
) -> None:
    """Of objects that nothing holds, only the last one that the assert lists is still there."""
    keras = keras_2().optimizers
    make = {
        "legacy Adam": keras.legacy.Adam,
        "legacy SGD": lambda: keras.legacy.SGD(momentum=0.9),
        "TensorFlow 1's Adam": v1_adam,
        "Adam": keras.Adam,
    }[optimizer]

    def trained(parts: tuple[int, ...]) -> Any:
        variable = sharded(*parts) if parts else var([[1.0, 1.0]] * 6)
        others = {beside: var([1.0])} if beside else {}
        made = applied(make(), *(variable.variables if parts else [variable]), *others.values())
        return ckpt(variable=variable, optimizer=made, **others)

    for number, (saved_parts, parts) in enumerate(_SHARDS):
        path = trained(saved_parts).save(str(tmp_path / str(number)))
        target = trained(parts)
        check = cv.check(target, path)
        said, done = outcome_of_check(check), outcome_of_restore(target, path)
        for name in ("raises", "consumed", "existing_objects_matched", "nontrivial_match"):
            assert getattr(said, name) == getattr(done, name), (number, name, done.messages)
        assert said.unresolved == done.unresolved, number
        if done.raises is None:
            found = re.search(r"Found (\d+)", done.messages.get("existing_objects_matched", ""))
            assert len(check.unmatched) == (int(found[1]) if found else 0), number


def test_slots_of_shards_that_the_asserts_miss_are_said_to_be_restored(tmp_path: Path) -> None:
    pair = distribution.sharded_and_the_slots_of_its_shards(tmp_path)
    check = cv.check(pair.make(), pair.path)
    (finding,) = check.findings
    assert (finding.kind, finding.severity) == (Kind.UNRESOLVED, "fail")
    assert "The restore fills 2 slot variables" in finding.why


def _run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        cwd=Path(__file__).parent.parent,
        timeout=300,
        check=False,
    )


_ABORTING = """
import sys
import ckpt_viz as cv
from tests.check_rows.objects import ckpt, dense_table_of
check = cv.check(ckpt(t=dense_table_of()), sys.argv[1])
print(check.raises.type, flush=True)
ckpt(t=dense_table_of()).restore(sys.argv[1])
print("still there", flush=True)
"""


def test_process_ends_where_a_dense_table_takes_the_one_entry_of_a_mutable_one(
    tmp_path: Path,
) -> None:
    done = _run(_ABORTING, saved(tmp_path, t=filled_table(1)))
    assert done.stdout.split() == ["SIGABRT"], done.stderr[-2000:]
    assert done.returncode == -signal.SIGABRT


_ON_TWO_CPUS = """
import sys
from pathlib import Path
import tensorflow as tf
cpu = tf.config.LogicalDeviceConfiguration()
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [cpu] * 2)
from tests.check_rows import distribution, objects, table
from tests.support.oracle import silence_tensorflow
silence_tensorflow()
assert len(objects.devices()) == 2
for number, row in enumerate(distribution.row.rows):
    at = Path(sys.argv[1], str(number))
    at.mkdir()
    table.check_row(row, at)
    print(row.name, flush=True)
"""


def test_dry_run_says_what_the_restore_says_on_two_devices(tmp_path: Path) -> None:
    done = _run(_ON_TWO_CPUS, str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == [case.name for case in distribution.row.rows]
