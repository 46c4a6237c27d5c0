"""The comparison of a check's steps with what TensorFlow does can fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.matching.engines.trace import Action, Trace
from tests.check_rows.objects import applied, registered, state_of_python
from tests.support.oracle import outcome_of_restore
from tests.support.programs import ckpt, legacy_adam, module, var
from tests.support.watched_restore import differing_events

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

_ACTIONS = {
    *(Action.BIND, Action.KEEP, Action.DEFER, Action.DROP),
    *(Action.GATHER, Action.VALUELESS, Action.CREATE, Action.RESTORE),
}


def _program(is_trained: bool) -> Any:
    kernel, optimizer = var([1.0]), legacy_adam()
    if is_trained:
        applied(optimizer, kernel)
    layer = module(kernel=kernel, bias=var([1.0, 2.0]))
    children = {"a": layer, "b": layer, "o": optimizer, "p": state_of_python()}
    late = {"late": var(1.0), "late_and_empty": module()} if is_trained else {}
    return ckpt(**children, **late, r=registered("Strict")())


def test_steps_that_change_places_differ_from_what_tensorflow_does(tmp_path: Path) -> None:
    path = _program(is_trained=True).save(str(tmp_path / "ckpt"))
    trace = cv.check(_program(is_trained=False), path)._run.trace
    assert isinstance(trace, Trace)
    assert {step.action for step in trace.steps} == _ACTIONS
    watch = outcome_of_restore(_program(is_trained=False), path).watch
    assert differing_events(trace, watch) == []
    for place in range(len(trace.steps) - 1):
        steps = list(trace.steps)
        steps[place : place + 2] = reversed(steps[place : place + 2])
        assert differing_events(replace(trace, steps=steps), watch), trace.steps[place]
    assert differing_events(replace(trace, steps=trace.steps[:-1]), watch)


def test_a_step_with_another_object_differs_from_what_tensorflow_does(tmp_path: Path) -> None:
    path = ckpt(a=var(1.0), b=var(1.0)).write(str(tmp_path / "ckpt"))
    trace = cv.check(target := ckpt(a=var(0.0), b=var(0.0)), path)._run.trace
    assert isinstance(trace, Trace)
    watch = outcome_of_restore(target, path, method="read").watch
    first, second = (step.obj for step in trace.steps_of(Action.GATHER)[:2])
    others = {first: second, second: first}
    steps = [
        step._replace(obj=others.get(step.obj, step.obj)) if step.action is Action.RESTORE else step
        for step in trace.steps
    ]
    assert differing_events(replace(trace, steps=steps), watch)
