"""A change of live objects happens wholly or not at all, whatever raises, and wherever.

Real signals and real errors come at every step: before and after each object takes its value, on
the way there and on the way back. A hook in the objects' own code counts these steps.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.answers.restore_fix.applying import NotAppliedError
from ckpt_viz.errors import HalfChangedError, ReadLimitError, SourceError
from ckpt_viz.ground.interrupts import Interrupts
from tests.support.programs import ckpt, keras_2, module, var


class Steps:
    """Counts the steps of objects that take values, and does something at some of them."""

    def __init__(self) -> None:
        self.count = 0
        self.do: Callable[[int], None] = lambda step: None

    def __call__(self) -> None:
        self.count += 1
        self.do(self.count)

    def begin(self, do: Callable[[int], None] = lambda step: None) -> None:
        self.count, self.do = 0, do


steps = Steps()


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def refuse() -> None:
    raise RuntimeError("no")


# At which steps from the k-th on something happens.
FAULTS: dict[str, Callable[[int], Callable[[int], None]]] = {
    "refuses once": lambda k: lambda step: refuse() if step == k else None,
    "refuses always": lambda k: lambda step: refuse() if step >= k else None,
    "Ctrl+C": lambda k: lambda step: interrupt() if step == k else None,
    "Ctrl+C again and again": lambda k: lambda step: interrupt() if step >= k else None,
    "Ctrl+C, then refuses": lambda k: (
        lambda step: interrupt() if step == k else refuse() if step > k else None
    ),
}


def counted_variable(value: Any, **options: Any) -> Any:
    from tensorflow.python.ops.resource_variable_ops import ResourceVariable

    class Counted(ResourceVariable):  # type: ignore[misc]
        """A variable in whose assignments something may happen."""

        def assign(self, *arguments: Any, **options: Any) -> Any:
            steps()
            assigned = super().assign(*arguments, **options)
            steps()
            return assigned

        def _restore_from_tensors(self, tensors: Any) -> Any:
            steps()
            restored = super()._restore_from_tensors(tensors)
            steps()
            return restored

    return Counted(value, **options)


def words(text: str) -> Any:
    import tensorflow as tf

    class Words(tf.train.experimental.PythonState):  # type: ignore[misc]
        """Python state."""

        def serialize(self) -> str:
            return str(self.text)

        def deserialize(self, text: bytes) -> None:
            steps()
            self.text = text.decode()
            steps()

    made = Words()
    made.text = text
    return made


def scaled(number: float) -> Any:
    import tensorflow as tf

    class Scaled(tf.__internal__.tracking.Trackable):  # type: ignore[misc]
        """An object with code of its own."""

        def _serialize_to_tensors(self) -> dict[str, Any]:
            return {"half": self.number / 2}

        def _restore_from_tensors(self, tensors: dict[str, Any]) -> None:
            steps()
            self.number = tensors["half"] * 2
            steps()

    made = Scaled()
    made.number = tf.constant(number)
    return made


def program(part: str, base: int, *, has_own_code: bool = True) -> Any:
    """A part under a name that varies, with a value of every kind."""
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a"], [base])
    inner = module(
        first=counted_variable([float(base), np.nan]),
        number=counted_variable(base),
        word=var(str(base)),
        words=words("x" * base),
        scaled=scaled(float(base)) if has_own_code else module(scaled=var(float(base))),
        last=counted_variable(1.0 / base),
    )
    return ckpt(**{part: inner}, table=table)


def values(checkpoint: Any, part: str) -> dict[str, Any]:
    inner, table = getattr(checkpoint, part), checkpoint.table
    variables = {
        name: np.asarray(getattr(inner, name).numpy()).tolist()
        for name in ("first", "number", "word", "last")
    }
    found = {
        **variables,
        "words": inner.words.text,
        "scaled": float(getattr(inner.scaled, "number", None) or inner.scaled.scaled),
        "table": [one.numpy().tolist() for one in table.export()],
    }
    return {name: repr(value) for name, value in found.items()}  # NaN equals NaN


def records(checkpoint: Any, part: str) -> list[Any]:
    """What TensorFlow remembers of restores, and of values that wait."""
    inner = getattr(checkpoint, part)
    return [
        (dict(one._deferred_dependencies), one._update_uid)
        for one in (checkpoint, inner, inner.first, inner.word)
    ]


@pytest.fixture(autouse=True)
def _no_steps() -> Iterator[None]:
    yield
    steps.begin()


def outcome(change: Callable[[], object]) -> BaseException | None:
    try:
        change()
    except (KeyboardInterrupt, Exception) as error:
        return error
    return None


def is_whole(found: dict[str, str], error: Any, old: dict[str, str], new: dict[str, str]) -> bool:
    """Return whether everything is old or new, or the error names exactly what has changed."""
    if isinstance(error, HalfChangedError):
        same = {name for name in old if found[name] == old[name]}
        return (_last(error.old), _last(error.changed)) == (same, old.keys() - same)
    if error is None:
        return found == new
    return found == old or (isinstance(error, KeyboardInterrupt) and found == new)


def _last(names: tuple[str, ...]) -> set[str]:
    return {name.rpartition(".")[2] for name in names} - {"save_counter"}


@pytest.mark.tf
@pytest.mark.parametrize("source", ["file", "memory"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fix_is_applied_wholly_or_not_at_all(source: str, fault: str, tmp_path: Path) -> None:
    was, live = (
        program(part, base, has_own_code=source == "memory")
        for part, base in (("encoder", 3), ("body", 2))
    )
    saved = was.save(str(tmp_path / "was")) if source == "file" else cv.snapshot(was)
    before = cv.snapshot(live)
    fix = cv.check(live, saved).fix()
    old, new = values(live, "body"), values(was, "encoder")
    fix.apply()
    assert values(live, "body") == new
    every = 2 * 7
    for k in range(1, every + 1):
        steps.begin()
        before.restore()
        known = records(live, "body")
        steps.begin(FAULTS[fault](k))
        error = outcome(fix.apply)
        assert is_whole(values(live, "body"), error, old, new), (k, error)
        if values(live, "body") == old:
            assert records(live, "body") == known
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    steps.begin()
    before.restore()
    fix.apply()  # and no step was left out
    assert steps.count <= every


@pytest.mark.tf
@pytest.mark.parametrize("fault", FAULTS)
def test_a_snapshot_is_put_back_but_for_what_is_named(fault: str) -> None:
    live, other = program("body", 2), program("body", 3)
    before, old = cv.snapshot(live), values(live, "body")
    change = cv.check(live, cv.snapshot(other)).fix()
    for k in range(1, 5):
        steps.begin()
        change.apply()
        steps.begin(FAULTS[fault](k))
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            error = outcome(lambda: _restored.append(before.restore()))
        assert isinstance(error, KeyboardInterrupt) is fault.startswith("Ctrl+C")
        said = str(_restored.pop() if error is None else [str(one.message) for one in warned])
        found = values(live, "body")
        assert all(f".{name}:" in said for name in old if found[name] != old[name])
        assert found == old or "refuses" in fault


_restored: list[Any] = []


@pytest.mark.tf
def test_a_block_names_what_it_leaves_before_a_second_interrupt() -> None:
    live = program("body", 2)
    with (
        pytest.warns(RuntimeWarning, match=r"body.words: it did not take its value"),
        pytest.raises(KeyboardInterrupt),
        cv.snapshot(live),
    ):
        live.body.words.text = ""
        steps.begin(lambda step: interrupt() if step == 1 else refuse())
        interrupt()


@pytest.mark.tf
@pytest.mark.parametrize("fails", [True, False])
def test_a_failed_fix_leaves_no_value_waiting(fails: bool, tmp_path: Path) -> None:
    """Children that are not built, slots of optimizers, the counter of saves."""
    import tensorflow as tf

    keras = keras_2()
    makers: list[Callable[[], Any]] = [
        lambda: tf.compat.v1.train.MomentumOptimizer(0.5, 0.9),
        lambda: keras.optimizers.legacy.SGD(0.5, momentum=0.9),
    ]
    for make in makers:
        was = ckpt(net=module(w=var([2.0]), late=var(5.0)), opt=make())
        was.opt.apply_gradients([(tf.ones_like(v), v) for v in (was.net.w, was.net.late)])
        path = was.save(str(tmp_path / "was"))
        live = ckpt(net=module(w=counted_variable([2.0])), opt=make())
        live.opt.apply_gradients([(tf.zeros([1]), live.net.w)])
        fix = cv.check(live, path).fix()
        # The whole restore passes; then one value is another one.
        spoil = partial(live.net.w.assign, [7.0])
        steps.begin(lambda step: spoil() if fails and step == 2 else None)  # noqa: B023
        with pytest.raises(NotAppliedError) if fails else nullcontext():
            fix.apply()
        steps.begin()
        assert (live._save_counter is None) is fails
        live.net.late = var(0.0)
        assert live.net.late.numpy() == (0.0 if fails else 4.5)
        live.opt.apply_gradients([(tf.zeros([]), live.net.late)])
        slot = live.opt.get_slot(live.net.late, "momentum")
        assert bool(slot.numpy() == 0.0) is fails
        live.restore(path).assert_consumed()
        assert (live.net.late.numpy(), live.net.w.numpy().tolist()) == (4.5, [1.5])


@pytest.mark.tf
@pytest.mark.parametrize("fault", FAULTS)
def test_a_session_is_put_back_but_for_what_is_named(fault: str) -> None:
    import tensorflow as tf

    class Own(tf.__internal__.tracking.Trackable):  # type: ignore[misc]
        """An object of a graph whose restore may fail."""

        def __init__(self, variable: Any) -> None:
            self.variable = variable

        def _serialize_to_tensors(self) -> dict[str, Any]:
            return {"x": tf.identity(self.variable)}

        def _restore_from_tensors(self, tensors: dict[str, Any]) -> Any:
            done = tf.compat.v1.numpy_function(steps, [], [])
            with tf.control_dependencies([done]):
                return self.variable.assign(tensors["x"])

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        kept = [v1.Variable(float(n), use_resource=True) for n in range(3)]
        own = Own(v1.Variable(5.0, use_resource=True))
        session.run(v1.global_variables_initializer())
        change = tf.group([one.assign(9.0) for one in (*kept, own.variable)])
        before = cv.snapshot({"own": own, **{one.name: one for one in kept}}, session)
        session.run(change)
        steps.begin(FAULTS[fault](1))
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            error = outcome(lambda: _restored.append(before.restore()))
        assert isinstance(error, KeyboardInterrupt) is fault.startswith("Ctrl+C")
        said = str(_restored.pop() if error is None else [str(one.message) for one in warned])
        assert session.run(kept) == [0.0, 1.0, 2.0]
        assert session.run(own.variable) == 5.0 or "not restored: own/" in said


@pytest.mark.tf
def test_replicas_get_their_own_values_back(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = tmp_path / "replicas.py"
    script.write_text(REPLICAS.replace("PATH", repr(str(tmp_path / "was"))))
    subprocess.run([sys.executable, str(script)], check=True)


REPLICAS = """
import tensorflow as tf
import ckpt_viz as cv
from tests.test_rollback import ckpt, module, refuse, steps, words

cpu = tf.config.LogicalDeviceConfiguration()
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [cpu] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def program(name, start):
    with strategy.scope():
        total = tf.Variable(
            start,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        mirrored = tf.Variable([start])
    return ckpt(**{name: module(total=total, mirrored=mirrored, words=words("x"))})


def values():
    return [one.numpy().tolist() for part in (live.body.total, live.body.mirrored)
            for one in part.values]


path = program("encoder", 4.0).save(PATH)
live = program("body", 2.0)
for number, one in enumerate(live.body.total.values):
    one.assign(3.0 + number)
before = values()
fix = cv.check(live, path).fix()
steps.begin(lambda step: refuse() if step == 2 else None)
try:
    fix.apply()
except RuntimeError:
    assert values() == before, values()
    assert steps.count > 2
else:
    raise AssertionError
"""


@pytest.mark.tf
def test_an_object_that_cannot_be_copied_is_refused_before_anything_changes() -> None:
    was, live = program("encoder", 3), program("body", 2)
    fix = cv.check(live, cv.snapshot(was)).fix()
    old = values(live, "body")
    live.body.words.serialize = refuse
    with pytest.raises(SourceError, match=r"words: its value cannot be copied.*nothing was"):
        fix.apply()
    assert values(live, "body") == old


@pytest.mark.tf
def test_old_values_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from ckpt_viz.files.values import memory

    was, live = ckpt(a=var(np.zeros(9_000_000))), ckpt(b=var(np.ones(9_000_000)))
    fix = cv.check(live, cv.snapshot(was)).fix()
    monkeypatch.setattr(memory, "available_bytes", lambda: 70_000_000)
    with pytest.raises(ReadLimitError, match="a copy of the old values needs 72,000,000 bytes"):
        fix.apply()
    assert live.b.numpy().all()


# --- signals


def test_a_signal_interrupts_once_and_then_waits() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:
        try:
            interrupt()
            done.append("never")
        finally:
            interrupts.hold()
            for _ in range(3):
                interrupt()
            done.append("finished")
    assert done == ["finished"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_does_not_raise_is_called_as_often_as_before() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with Interrupts() as interrupts:
            interrupt()
            interrupt()
            assert seen == [signal.SIGINT] * 2
            interrupts.hold()
            interrupt()
            assert seen == [signal.SIGINT] * 2 and interrupts.are_waiting
        assert seen == [signal.SIGINT] * 3
    finally:
        signal.signal(signal.SIGINT, before)


def test_all_signals_have_their_own_handlers_again_afterwards() -> None:
    own: dict[int, Any] = {number: lambda *_: None for number in (signal.SIGINT, signal.SIGUSR1)}
    before = {number: signal.signal(number, handler) for number, handler in own.items()}
    try:
        with Interrupts():
            assert not any(signal.getsignal(number) is own[number] for number in own)
        assert {number: signal.getsignal(number) for number in own} == own
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_inner_contexts_wait_for_the_outer_one() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), Interrupts(held=True):
        with Interrupts(held=True):
            interrupt()
        done.append("outer")
    assert done == ["outer"]


def test_another_thread_has_no_signals_to_hold() -> None:
    found = []

    def work() -> None:
        with Interrupts(held=True):
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
