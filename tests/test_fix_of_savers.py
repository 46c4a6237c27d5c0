"""The fix of a `tf.compat.v1.train.Saver`: its code runs, and every variable has its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.programs import save_by_name

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

Spec = tuple[Sequence[int], str]
HOSTILE = "'\"\\'); raise SystemExit('ran') #\n\\"


@dataclass
class Program:
    """Variables of a graph, by name, and the Saver that a user has made of them."""

    variables: dict[str, Any]
    saver: Any
    session: Any

    def values(self) -> dict[str, Any]:
        return {name: self.session.run(v) for name, v in self.variables.items()}

    def forget(self) -> None:
        for variable in self.variables.values():
            variable.load(np.full(variable.shape, -1, variable.dtype.as_numpy_dtype), self.session)


@dataclass
class Case:
    """A file, the variables of a program, and which name in the file each of them has."""

    saved: Mapping[str, Any]
    live: Mapping[str, Spec]
    names: Mapping[str, str]
    missing: set[str] = field(default_factory=set)
    guesses: int = 0
    lines: int = 1  # that the dict of the code has


def tensors(*names: str, dtype: str = "float32", shape: Sequence[int] = (2, 3)) -> dict[str, Any]:
    """Return tensors of other numbers, each under its name."""
    size = int(np.prod(shape))
    return {
        name: np.arange(n * size + 1, n * size + size + 1).reshape(shape).astype(dtype)
        for n, name in enumerate(names)
    }


def specs(*names: str, dtype: str = "float32", shape: Sequence[int] = (2, 3)) -> dict[str, Spec]:
    return dict.fromkeys(names, (shape, dtype))


def layers(*scopes: str, kernel: str = "kernel", bias: str = "bias") -> list[str]:
    return [f"{scope}/{name}" for scope in scopes for name in (kernel, bias)]


def renamed(old: Sequence[str], new: Sequence[str], **more: Any) -> Case:
    """Return the case of a file whose names are all other ones now."""
    return Case(tensors(*old), specs(*new), dict(zip(new, old, strict=True)), **more)


_OF_ADAM = [f"{name}{end}" for name in layers("a", "b") for end in ("", "/Adam", "/Adam_1")]
_AVERAGE = "/ExponentialMovingAverage"
CASES = {
    "scope renamed": renamed(layers("old/a", "old/b"), layers("new/a", "new/b")),
    "scope added": renamed(layers("a", "b"), layers("new/a", "new/b")),
    "scope removed": renamed(layers("old/a", "old/b"), layers("a", "b")),
    "inner scope renamed": renamed(
        layers("n/enc/l", "n/dec/l"), layers("n/encoder/l", "n/decoder/l"), lines=6
    ),
    "another number": renamed(layers("model_1/a", "model_1/b"), layers("model_2/a", "model_2/b")),
    "weights": renamed(layers("a", "b", kernel="weights", bias="biases"), layers("a", "b")),
    "kernel": renamed(layers("a", "b"), layers("x/a", "x/b", kernel="weights", bias="biases")),
    "averages alone": renamed([f"{n}{_AVERAGE}" for n in layers("a", "b")], layers("a", "b")),
    "averages asked for": renamed(
        layers("o/a", "o/b"), [f"n/{n}{_AVERAGE}" for n in layers("a", "b")], lines=6
    ),
    "slots": renamed([f"old/{n}" for n in _OF_ADAM], [f"new/{n}" for n in _OF_ADAM]),
    "slots of weights": renamed(
        [n.replace("kernel", "weights") for n in _OF_ADAM], [f"x/{n}" for n in _OF_ADAM]
    ),
    "hostile": renamed(layers(f"{HOSTILE}/a", f"{HOSTILE}/b"), layers("a", "b")),
    "everything fits": renamed(layers("a", "b"), layers("a", "b"), lines=0),
    "two equal scopes": Case(
        tensors(*layers("a", "b")), specs(*layers("x", "y")), {}, {*layers("x", "y")}, 4, 0
    ),
    "numbered anew": Case(
        tensors("dense/kernel", "dense_1/kernel"),
        specs("dense_1/kernel", "dense_2/kernel"),
        {},
        {"dense_1/kernel", "dense_2/kernel"},
        2,
        0,
    ),
    "one layer more": Case(
        tensors("l_0/d/w", "l_1/d/w"),
        specs("l_1/d/w", "l_2/d/w"),
        {"l_1/d/w": "l_1/d/w"},
        {"l_2/d/w"},
        1,
    ),
    "nothing fits": Case(
        tensors(*layers("a")), specs("x", "y/z", shape=(7,)), {}, {"x", "y/z"}, 0, 0
    ),
    "averages beside": Case(
        {**tensors(*layers("o/a"), *(f"{n}{_AVERAGE}" for n in layers("o/a")))},
        specs(*layers("n/a")),
        dict(zip(layers("n/a"), layers("o/a"), strict=True)),
        lines=4,
    ),
    "unique shapes": Case(
        {**tensors("a/w"), **tensors("b/w", shape=(4, 5))},
        {**specs("x/matrix"), **specs("y/table", shape=(4, 5))},
        {"x/matrix": "a/w", "y/table": "b/w"},
        lines=4,
    ),
    "last names": Case(
        tensors("bn/gamma", "bn/beta", "bn/moving_mean", shape=(4,)),
        specs(*(f"x/norm/{n}" for n in ("gamma", "beta", "moving_mean")), shape=(4,)),
        {f"x/norm/{n}": f"bn/{n}" for n in ("gamma", "beta", "moving_mean")},
    ),
    "cast": Case(
        {**tensors("o/a/w", "o/b/w"), **tensors("o/step", dtype="int64", shape=())},
        {
            **specs("n/a/w", dtype="float16"),
            **specs("n/b/w"),
            **specs("n/step", dtype="int32", shape=()),
        },
        {"n/a/w": "o/a/w", "n/b/w": "o/b/w", "n/step": "o/step"},
    ),
    "another shape": Case(
        {**tensors(*layers("o/a")), **tensors("o/head/w", shape=(3, 5))},
        {**specs(*layers("n/a")), **specs("n/head/w", shape=(3, 7))},
        dict(zip(layers("n/a"), layers("o/a"), strict=True)),
        {"n/head/w"},
        lines=4,
    ),
}


Make = Callable[[dict[str, Any]], Any]


def program_of(live: Mapping[str, Spec], make: Make | None = None) -> Program:
    """Return a program in the default graph; `make` makes the Saver."""
    import tensorflow as tf

    v1 = tf.compat.v1
    variables = {
        name: v1.get_variable(
            name.replace("\n", ""),
            shape,
            dtype,
            v1.zeros_initializer(),
            trainable="Adam" not in name,
        )
        for name, (shape, dtype) in live.items()
    }
    session = v1.Session()
    session.run([variable.initializer for variable in variables.values()])
    program = Program(variables, make(variables) if make else v1.train.Saver(), session)
    program.forget()
    return program


def run(fix: Any, program: Program, path: str) -> None:
    """Run the code of a fix with the names that it takes from the program."""
    names = {"path": path, "session": program.session, "saver": program.saver}
    exec(fix.code, {name: names[name] for name in fix.free_names})


def restores(case: Case, at: Path, make: Make | None = None) -> Any:
    """Restore by the code, by `apply` and by a new file; compare every variable each time."""
    import tensorflow as tf

    path = save_by_name(at / "model.ckpt", case.saved)
    with tf.Graph().as_default():
        program = program_of(case.live, make)
        fix = cv.check(program.saver, path).fix()
        print(fix.code)
        expected = {
            name: case.saved[case.names[name]] if name in case.names else np.full(shape, -1)
            for name, (shape, _) in case.live.items()
        }

        def compare() -> None:
            for name, value in program.values().items():
                np.testing.assert_array_equal(value, expected[name].astype(value.dtype), name)

        if case.names:
            run(fix, program, path)
        compare()
        program.forget()
        with program.session.as_default():
            assert not fix.is_applied
            fix.apply()
            assert fix.is_applied == bool(case.names)
        compare()
        assert {name.removeprefix("(root).").replace(".", "/") for name in fix.missing} == {
            name.replace(".", "/") for name in case.missing
        }
        assert len(fix.guesses) == case.guesses
        if case.missing:
            with pytest.raises(cv.SourceError, match=r"run fix\.code"):
                fix.write(at / "new")
        else:
            program.forget()
            program.saver.restore(program.session, fix.write(at / "new"))
            compare()
    return fix


@pytest.mark.parametrize("name", CASES)
def test_the_code_restores_all_that_can_be(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    fix = restores(case, tmp_path)
    assert {*fix.pairs} == {*case.names.values()}
    assert {*fix.unused} == {*case.saved} - {*fix.pairs}
    body = fix.code.partition("names = ")[2].partition("\ntf.")[0].partition("\nreader")[0]
    assert len([line for line in body.splitlines() if line]) == case.lines
    for text in (fix.code, str(fix), *(f"{f.why} {f.remedy}" for f in cv_findings(fix))):
        assert "gnore" not in text and "armless" not in text


def cv_findings(fix: Any) -> Any:
    return fix.check.findings
