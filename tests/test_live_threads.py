"""A look beside a running or interrupted thread of the program leaves no trace.

The program then saves the same as its twin, which was not looked at.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.ground import gc_pause
from ckpt_viz.live.tensorflow_names.shadows import steadily
from tests.support.amounts import amount
from tests.support.laws import state_of
from tests.support.programs import ckpt, keras_2, keras_3, module, var

pytestmark = pytest.mark.tf

WALKS = amount(30, 150)


class Program(NamedTuple):
    """A program, and what it does while somebody looks at it."""

    checkpoint: Any
    goes_on: Callable[[], object]


def appends_to_a_list() -> Program:
    root = module(items=[var(1.0)])
    return Program(ckpt(model=root), lambda: root.items.append(var(2.0)))


def sets_a_key() -> Program:
    root = module(table={"a": var(1.0)})
    return Program(ckpt(model=root), lambda: root.table.update(b=var(2.0)))


def appends_to_a_list_in_a_dict() -> Program:
    root = module(table={"a": [var(1.0)]})
    return Program(ckpt(model=root), lambda: root.table["a"].append(var(2.0)))


def fills_an_empty_dict() -> Program:
    root = module(table={}, items=[])
    return Program(
        ckpt(model=root), lambda: (root.table.update(a=var(1.0)), root.items.append(var(2.0)))
    )


def gives_a_bare_object_its_first_child() -> Program:
    import tensorflow as tf

    root = module(bare=tf.Module())
    return Program(ckpt(model=root), lambda: setattr(root.bare, "v", var(1.0)))


def builds_a_layer_of_keras_3() -> Program:
    layer = keras_3().layers.Dense(2, kernel_initializer="ones")
    return Program(ckpt(layer=layer), lambda: layer.build((None, 3)))


def gives_a_layer_of_keras_3_a_variable_while_it_is_listed() -> Program:
    base: Any = keras_3().layers.Layer
    holder: list[Callable[[], object]] = []

    class Listed(base):  # type: ignore[misc]
        @property
        def _checkpoint_dependencies(self) -> Any:
            if holder and type(self) is Listed:
                _in_another_thread(holder.pop())
            return super()._checkpoint_dependencies

    layer = Listed()

    def goes_on() -> None:
        layer.v = var(1.0)

    holder.append(goes_on)
    return Program(ckpt(layer=layer), lambda: list(map(_in_another_thread, holder)))


def builds_a_layer_of_keras_2() -> Program:
    layer = keras_2().layers.Dense(2, kernel_initializer="ones")
    return Program(ckpt(layer=layer), lambda: layer.build((None, 3)))


def builds_an_optimizer_of_keras_2() -> Program:
    optimizer, v = keras_2().optimizers.Adam(), var([1.0, 2.0])
    return Program(ckpt(optimizer=optimizer, v=v), lambda: optimizer.build([v]))


def builds_an_optimizer_of_keras_2_that_scales_the_loss() -> Program:
    inner, v = keras_2().optimizers.SGD(momentum=0.9), var([1.0, 2.0])
    optimizer = keras_2().mixed_precision.LossScaleOptimizer(inner)
    return Program(ckpt(optimizer=optimizer, v=v), lambda: inner.build([v]))


CHANGES = (
    appends_to_a_list,
    sets_a_key,
    appends_to_a_list_in_a_dict,
    fills_an_empty_dict,
    gives_a_bare_object_its_first_child,
    builds_a_layer_of_keras_3,
    gives_a_layer_of_keras_3_a_variable_while_it_is_listed,
    builds_a_layer_of_keras_2,
    builds_an_optimizer_of_keras_2,
    builds_an_optimizer_of_keras_2_that_scales_the_loss,
)


def _in_another_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def _with_an_end(program: Program, *changes: Callable[[], object]) -> list[Callable[[], object]]:
    """Add an object to a program that comes last in a walk; when listed, another thread works.

    Returns the changes that are still to come.
    """
    import tensorflow as tf

    to_come = list(changes)

    class Last(tf.Module):  # type: ignore[misc]
        def _trackable_children(self, *args: Any, **kwargs: Any) -> Any:
            while to_come:
                _in_another_thread(to_come.pop())
            return super()._trackable_children(*args, **kwargs)

    # It is deeper than all else, and a bare module where nothing happens.
    program.checkpoint.last = module(last=module(last=module(last=Last())))
    return to_come


def _saved(checkpoint: Any, prefix: Path) -> dict[str, np.ndarray[Any, Any]]:
    import tensorflow as tf

    reader = tf.train.load_checkpoint(checkpoint.write(str(prefix)))
    return {
        name: reader.get_tensor(name)
        for name in reader.get_variable_to_shape_map()
        if name != "_CHECKPOINTABLE_OBJECT_GRAPH"
    }


def _same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return left.keys() == right.keys() and all(
        np.array_equal(left[name], right[name]) for name in left
    )


LOOKS: dict[str, Callable[[Any, str], object]] = {
    "graph": lambda it, path: cv.graph(it),
    "check": lambda it, path: cv.check(it, path),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("make", CHANGES, ids=lambda make: make.__name__)
def test_a_program_that_goes_on_during_a_look_saves_what_its_twin_saves(
    make: Callable[[], Program], look: str, tmp_path: Path
) -> None:
    program, twin = make(), make()
    _with_an_end(twin)
    twin.goes_on()
    path = twin.checkpoint.write(str(tmp_path / "before"))
    to_come = _with_an_end(program, program.goes_on)
    LOOKS[look](program.checkpoint, path)
    assert not to_come
    assert _same(
        _saved(program.checkpoint, tmp_path / "program"), _saved(twin.checkpoint, tmp_path / "twin")
    )


def test_a_restore_that_waits_since_a_look_has_begun_goes_on_waiting(tmp_path: Path) -> None:
    import tensorflow as tf

    path = ckpt(bare=module(v=var(5.0))).write(str(tmp_path / "ckpt"))
    bare = tf.Module()
    program = Program(ckpt(bare=bare), lambda: None)
    _with_an_end(program, lambda: ckpt(bare=bare).read(path))
    cv.graph(program.checkpoint)
    bare.v = var(1.0)
    assert bare.v.numpy() == 5.0


class _Halting:
    """What a list wrapper tells of a change, after it has made it and before it remembers it."""

    def __init__(self) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()

    def invalidate_all(self) -> None:
        self.reached.set()
        assert self.go_on.wait(60)


def test_a_list_that_is_being_changed_is_not_taken_for_a_broken_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = module(items=[var(1.0)])
    halting = root.items._self_attribute_sentinel = _Halting()
    appending = threading.Thread(target=root.items.append, args=(var(2.0),))
    appending.start()
    assert halting.reached.wait(60)

    def to_the_end(_: float) -> None:
        halting.go_on.set()
        appending.join()

    monkeypatch.setattr(time, "sleep", to_the_end)
    graph = cv.graph(root)
    assert not any(node.error for node in graph.nodes)
    appending.join()
    assert len(_saved(ckpt(root), tmp_path / "ckpt")) == 2


@pytest.mark.parametrize("times", [2, 100])
def test_a_look_that_a_thread_disturbs_begins_again_and_at_last_fails(times: int) -> None:
    table = dict.fromkeys(range(4))
    left = [times]

    def look() -> int:
        for key in table:
            if left[0]:
                left[0] -= 1
                table[-key - left[0] - 1] = None
        return len(table)

    if times > 10:
        with pytest.raises(cv.SourceError, match="pause the thread"):
            steadily(look)
    else:
        assert steadily(look) == 6


def _busy() -> Program:
    """Return a program that changes all it has, one change a step."""
    import tensorflow as tf

    root = module(items=[var(0.0)], table={"a": var(0.0)}, bare=tf.Module())
    layers = [keras_3().layers.Dense(1, kernel_initializer="ones") for _ in range(4)]
    optimizer = keras_2().optimizers.SGD(momentum=0.9)
    checkpoint = ckpt(
        root,
        layers=module(of_keras={f"layer{i}": layer for i, layer in enumerate(layers)}),
        opt=optimizer,
    )
    steps = iter(range(10**9))

    def goes_on() -> None:
        step = next(steps)
        if step % 50 == 49:  # to stay small
            root.items, root.table = [], {}
        root.items.append(var(float(step)))
        root.table[f"k{step % 30}"] = var(float(step))
        setattr(root.bare, f"v{step % 50}", var(float(step)))
        setattr(root, f"new{step % 20}", module(v=var(float(step))))
        if step < len(layers):
            layers[step].build((None, 3))
        if step == 10:
            optimizer.build([root.bare.v0])

    return Program(checkpoint, goes_on)


def test_walks_beside_a_busy_thread_end_and_leave_what_an_untouched_twin_saves(
    tmp_path: Path,
) -> None:
    program, twin = _busy(), _busy()
    path = twin.checkpoint.write(str(tmp_path / "before"))
    stop, taken = threading.Event(), [0]

    def works() -> None:
        while not stop.is_set():
            program.goes_on()
            taken[0] += 1
            time.sleep(0.001 * (taken[0] % 3))

    worker = threading.Thread(target=works)
    worker.start()
    try:
        for walk in range(WALKS):
            if walk % 10:
                _assert_consistent(cv.graph(program.checkpoint))
            else:
                check = cv.check(program.checkpoint, path)
                assert check.raises is None
                _assert_consistent(check.live)
    finally:
        stop.set()
        worker.join()
    for _ in range(taken[0]):
        twin.goes_on()
    assert _same(
        _saved(program.checkpoint, tmp_path / "program"), _saved(twin.checkpoint, tmp_path / "twin")
    )


def _assert_consistent(graph: Any) -> None:
    assert not [node.error for node in graph.nodes if node.error]
    for node_id, node in enumerate(graph.nodes):
        names = [child.local_name for child in node.children]
        assert len(names) == len(set(names))
        assert all(0 <= child.node_id < len(graph.nodes) for child in node.children)
        assert node_id == 0 or graph.edges_to[node_id] or node.slot is not None


@contextmanager
def _interrupted_at(event: int) -> Iterator[list[str]]:
    """Raise KeyboardInterrupt before the n-th line of ckpt_viz that runs; give their files."""
    seen: list[str] = []
    home = os.path.dirname(cv.__file__)

    def trace(frame: FrameType, what: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(home):
            return None
        if what == "line":
            seen.append(os.path.basename(frame.f_code.co_filename))
            if len(seen) == event:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield seen
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("look", LOOKS)
def test_an_interrupted_look_leaves_no_trace(look: str, tmp_path: Path) -> None:
    program, twin = _busy(), _busy()
    path = twin.checkpoint.write(str(tmp_path / "ckpt"))
    LOOKS[look](program.checkpoint, path)  # the first one imports
    before, thresholds = state_of(program.checkpoint), gc.get_threshold()
    with _interrupted_at(-1) as lines:
        LOOKS[look](program.checkpoint, path)
    # Some lines everywhere, and each where the garbage collector is paused.
    pauses = [
        line for line, file in enumerate(lines, 1) if file == os.path.basename(gc_pause.__file__)
    ]
    assert pauses
    for event in [*range(1, len(lines) + 1, len(lines) // 40), *pauses]:
        with pytest.raises(KeyboardInterrupt), _interrupted_at(event):
            LOOKS[look](program.checkpoint, path)
        assert gc.isenabled() and gc.get_threshold() == thresholds
    assert state_of(program.checkpoint) == before


def test_what_a_thread_makes_of_the_garbage_collector_during_a_look_stays(tmp_path: Path) -> None:
    program = Program(ckpt(v=var(1.0)), lambda: None)
    path = program.checkpoint.write(str(tmp_path / "ckpt"))
    thresholds = gc.get_threshold()
    try:
        ways: list[tuple[Callable[[], object], Callable[[], bool]]] = [
            (gc.disable, lambda: not gc.isenabled()),
            (lambda: gc.set_threshold(500, 5, 5), lambda: gc.get_threshold() == (500, 5, 5)),
        ]
        for change, is_so in ways:
            to_come = _with_an_end(program, change)
            cv.check(program.checkpoint, path)
            assert not to_come
            assert is_so()
    finally:
        gc.enable()
        gc.set_threshold(*thresholds)
