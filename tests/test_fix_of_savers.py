"""The fix of a `tf.compat.v1.train.Saver`: its code runs, and every variable has its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from tests.support.programs import ckpt, keras_3, module, save_by_name, var

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
    "a new variable in the scope": Case(
        tensors(*layers("old/a", "old/b")),
        specs(*layers("new/a", "new/b"), "new/extra"),
        dict(zip(layers("new/a", "new/b"), layers("old/a", "old/b"), strict=True)),
        {"new/extra"},
        lines=6,
    ),
    "other variables beside": Case(
        {**tensors(*layers("a", "b"), "step"), **tensors("table", shape=(4, 5))},
        {**specs(*layers("n/a", "n/b"), "step"), **specs("table", shape=(4, 5))},
        {"step": "step", "table": "table", **{f"n/{n}": n for n in layers("a", "b")}},
        lines=5,
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
    for text in (fix.code, str(fix), *(f"{f.why} {f.remedy}" for f in fix.check.findings)):
        assert "gnore" not in text and "armless" not in text


# --- parts


def partitioned(name: str, shape: Sequence[int], parts: int, axis: int = 0) -> Any:
    import tensorflow as tf

    v1 = tf.compat.v1
    with v1.variable_scope("", partitioner=v1.fixed_size_partitioner(parts, axis)):
        return v1.get_variable(name, shape, initializer=v1.zeros_initializer())


WHOLE = np.arange(12, dtype=np.float32).reshape(6, 2)


def in_parts(name: str, *sizes: int, axis: int = 0) -> dict[str, Any]:
    """Return the whole value in parts of their own names."""
    pieces = np.split(WHOLE, np.cumsum(sizes)[:-1], axis=axis)
    return {f"{name}/part_{n}": piece for n, piece in enumerate(pieces)}


def values_after(make: Callable[[], Any], path: str, session_names: Sequence[str] = ()) -> Any:
    """Return the values of all variables after the code of a fix, by their own names; the fix."""
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        saver = make()
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        fix = cv.check(saver, path).fix()
        print(fix.code)
        names = {"path": path, "session": session, "saver": saver}
        exec(fix.code, {name: names[name] for name in fix.free_names})
        every = [*v1.global_variables(), *v1.local_variables()]
        values = {v.op.name: session.run(v) for v in every}
        assert fix.is_applied
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        fix.apply()
        for variable in every:
            np.testing.assert_array_equal(session.run(variable), values[variable.op.name])
        if not fix.missing:
            session.run(v1.global_variables_initializer())
            saver.restore(session, fix.write(f"{path}-new"))
            for variable in every:
                np.testing.assert_array_equal(session.run(variable), values[variable.op.name])
    return values, fix


@pytest.mark.parametrize(("sizes", "axis"), [((2, 2, 2), 0), ((1, 5), 0), ((1, 1), 1)])
def test_parts_in_the_file_are_joined(sizes: Sequence[int], axis: int, tmp_path: Path) -> None:
    import tensorflow as tf

    path = save_by_name(tmp_path / "model", in_parts("old/w", *sizes, axis=axis))

    def make() -> Any:
        tf.compat.v1.get_variable("new/w", WHOLE.shape)
        return tf.compat.v1.train.Saver()

    values, fix = values_after(make, path)
    np.testing.assert_array_equal(values["new/w"], WHOLE)
    assert len(fix.pairs) == len(sizes) and not fix.missing and not fix.unused
    assert fix.code.count("get_tensor") == (1 if len(sizes) > 2 else 2)


@pytest.mark.parametrize("sizes", [(6,), (1, 5), (3, 3), (2, 2, 2)])
@pytest.mark.parametrize("by_dict", [False, True])
def test_variables_in_parts_take_their_slices(
    sizes: Sequence[int], by_dict: bool, tmp_path: Path
) -> None:
    """The file has one tensor, as many parts, or other ones; the Saver knows whole or parts."""
    import tensorflow as tf

    saved = in_parts("old/w", *sizes) if len(sizes) > 1 else {"old/w": WHOLE}
    path = save_by_name(tmp_path / "model", saved)

    def make() -> Any:
        parts = list(partitioned("new/w", WHOLE.shape, 3))
        by_name = {part.op.name: part for part in parts}
        return tf.compat.v1.train.Saver(by_name if by_dict else None)

    values, fix = values_after(make, path)
    every = [values[f"new/w/part_{n}"] for n in range(3)]
    np.testing.assert_array_equal(np.concatenate(every), WHOLE)
    assert not fix.missing and not fix.unused


@pytest.mark.parametrize("by_dict", [False, True])
def test_parts_along_another_axis_take_their_slices(by_dict: bool, tmp_path: Path) -> None:
    import tensorflow as tf

    path = save_by_name(tmp_path / "model", {"old/w": WHOLE.T})

    def make() -> Any:
        parts = list(partitioned("new/w", WHOLE.T.shape, 3, axis=1))
        by_name = {part.op.name: part for part in parts}
        return tf.compat.v1.train.Saver(by_name if by_dict else None)

    values, _ = values_after(make, path)
    every = [values[f"new/w/part_{n}"] for n in range(3)]
    np.testing.assert_array_equal(np.concatenate(every, axis=1), WHOLE.T)


def test_a_partitioned_variable_of_a_finalized_graph(tmp_path: Path) -> None:
    import tensorflow as tf

    v1 = tf.compat.v1
    path = save_by_name(tmp_path / "model", {"old/w": WHOLE, "old/b": np.float32(3)})
    with tf.Graph().as_default() as graph, v1.Session() as session:
        parts = list(partitioned("w", WHOLE.shape, 2))
        step = v1.get_variable("b", ())
        saver = v1.train.Saver()
        session.run(v1.global_variables_initializer())
        graph.finalize()
        exec(cv.check(saver, path).fix().code, {"path": path, "session": session})
        np.testing.assert_array_equal(np.concatenate(session.run(parts)), WHOLE)
        assert session.run(step) == 3


# --- Savers of other kinds


def test_a_dict_takes_values_by_its_names_and_by_those_of_the_variables(tmp_path: Path) -> None:
    import tensorflow as tf

    path = save_by_name(tmp_path / "model", tensors("a/x", "v1", "v2"))

    def make() -> Any:
        made = [tf.compat.v1.get_variable(f"v{n}", (2, 3)) for n in range(3)]
        names = ("b/a/x", "one", "two/ExponentialMovingAverage")
        return tf.compat.v1.train.Saver(dict(zip(names, made, strict=True)))

    values, fix = values_after(make, path)
    for name, own in {"a/x": "v0", "v1": "v1", "v2": "v2"}.items():
        np.testing.assert_array_equal(values[own], tensors("a/x", "v1", "v2")[name])
    assert fix.free_names == ("session", "path")


@pytest.mark.parametrize("by_dict", [False, True])
def test_variables_in_no_collection_come_from_the_saver(by_dict: bool, tmp_path: Path) -> None:
    import tensorflow as tf

    v1 = tf.compat.v1
    path = save_by_name(tmp_path / "model", tensors("old/a", "old/b", HOSTILE))
    with tf.Graph().as_default(), v1.Session() as session:
        made = [v1.get_variable(f"new/{n}", (2, 3), collections=[]) for n in "ab"]
        names = ("new/a", f"{HOSTILE}/b")
        saver = v1.train.Saver(dict(zip(names, made, strict=True)) if by_dict else made)
        session.run([variable.initializer for variable in made])
        fix = cv.check(saver, path).fix(guesses=True)
        assert fix.free_names == ("saver", "session", "path")
        exec(fix.to_code("mine[0]"), {"mine": [saver], "session": session, "path": path})
        for variable, name in zip(made, ("old/a", "old/b"), strict=True):
            np.testing.assert_array_equal(session.run(variable), tensors("old/a", "old/b")[name])


def test_local_variables_are_restored(tmp_path: Path) -> None:
    import tensorflow as tf

    v1 = tf.compat.v1
    path = save_by_name(tmp_path / "model", tensors("old/a", "old/b"))

    def make() -> Any:
        a = v1.get_variable("new/a", (2, 3))
        b = v1.get_variable("new/b", (2, 3), collections=["local_variables"])
        return v1.train.Saver([a, b])

    values, fix = values_after(make, path)
    np.testing.assert_array_equal(values["new/b"], tensors("old/a", "old/b")["old/b"])
    assert fix.free_names == ("saver", "session", "path")


def test_a_graph_that_is_not_the_default_graph(tmp_path: Path) -> None:
    import tensorflow as tf

    path = save_by_name(tmp_path / "model", tensors(*layers("old/a")))
    graph = tf.Graph()
    with graph.as_default():
        program = program_of(specs(*layers("new/a")))
    fix = cv.check(program.saver, path).fix()
    run(fix, program, path)
    with graph.as_default():
        for name, value in program.values().items():
            np.testing.assert_array_equal(value, tensors(*layers("old/a"))["old" + name[3:]])


@pytest.mark.parametrize("by_dict", [False, True])
def test_eager_variables(by_dict: bool, tmp_path: Path) -> None:
    saved = {**tensors(*layers("old/a", "old/b")), "old/n": np.int64(7)}
    path = save_by_name(tmp_path / "model", saved)
    names = [*layers("new/a", "new/b"), "new/n"]
    zeros = [np.zeros(np.shape(value), np.float32) for value in saved.values()]
    zeros[-1] = zeros[-1].astype(np.int32)
    made = [var(value, name=name) for name, value in zip(names, zeros, strict=True)]
    saver = _saver(dict(zip(names, made, strict=True)) if by_dict else made)
    fix = cv.check(saver, path).fix()
    assert fix.free_names == ("saver", "path")
    for restore in (lambda: exec(fix.code, {"saver": saver, "path": path}), fix.apply):
        assert not fix.is_applied
        restore()
        for variable, value in zip(made, saved.values(), strict=True):
            np.testing.assert_array_equal(variable, value)
        assert fix.is_applied
        for variable in made:
            variable.assign(np.zeros(variable.shape, variable.dtype.as_numpy_dtype))
    saver.restore(None, fix.write(tmp_path / "new"))
    np.testing.assert_array_equal(made[0], saved["old/a/kernel"])


def test_variables_of_keras_3_are_assigned(tmp_path: Path) -> None:
    """A Saver appends to their names, so a dict cannot name a tensor of the file."""
    keras = keras_3()
    path = save_by_name(tmp_path / "model", tensors("old/a", "old/b"))
    made = [keras.Variable(np.zeros((2, 3)), dtype="float32") for _ in "ab"]
    saver = _saver(dict(zip(("new/a", "new/b"), made, strict=True)))
    fix = cv.check(saver, path).fix()
    for restore in (lambda: exec(fix.code, {"saver": saver, "path": path}), fix.apply):
        restore()
        for variable, value in zip(made, tensors("old/a", "old/b").values(), strict=True):
            np.testing.assert_array_equal(variable, value)
            variable.assign(np.zeros((2, 3)))


def _saver(*args: Any, **options: Any) -> Any:
    import tensorflow as tf

    return tf.compat.v1.train.Saver(*args, **options)


def test_a_number_that_is_too_large_changes_nothing(tmp_path: Path) -> None:
    path = save_by_name(tmp_path / "model", {"old/n": np.int64(2**40), "old/w": np.float32(1)})
    n, w = var(np.int32(5), name="new/n"), var(np.float32(5), name="new/w")
    saver = _saver([n, w])
    fix = cv.check(saver, path).fix()
    with pytest.raises(AssertionError, match=r"new/n"):
        exec(fix.code, {"saver": saver, "path": path})
    with pytest.raises(cv.SourceError, match=r"int32 cannot hold"):
        fix.apply()
    assert n.numpy() == 5 == w.numpy()


def test_values_of_an_object_based_checkpoint(tmp_path: Path) -> None:
    """A Saver reads such a file by full names; the code reads it by its keys."""
    import tensorflow as tf

    w, b = var(WHOLE, name="old/w"), var([1.0, 2.0], name="old/b")
    path = str(ckpt(net=module(w=w, b=b)).write(str(tmp_path / "objects")))

    def make() -> Any:
        partitioned("new/w", WHOLE.shape, 2)
        tf.compat.v1.get_variable("new/b", (2,))
        return tf.compat.v1.train.Saver()

    values, _ = values_after(make, path)
    parts = [values["new/w/part_0"], values["new/w/part_1"]]
    np.testing.assert_array_equal(np.concatenate(parts), WHOLE)
    np.testing.assert_array_equal(values["new/b"], [1, 2])


def test_a_fix_is_applied_in_a_given_session(tmp_path: Path) -> None:
    import tensorflow as tf

    saved = tensors(*layers("old/a"))
    path = save_by_name(tmp_path / "model", saved)
    graph = tf.Graph()
    with graph.as_default():
        program = program_of(specs(*layers("new/a")))
        fix = cv.fix(program.saver, path)
    with pytest.raises(cv.SourceError, match=r"call fix\.apply\(session\)"):
        fix.apply()
    with (
        tf.compat.v1.Session(graph=tf.Graph()) as other,
        pytest.raises(cv.SourceError, match="found no session of its graph"),
    ):
        fix.apply(other)
    fix.apply(program.session)
    with graph.as_default():
        values = program.values()
    for name in layers("a"):
        np.testing.assert_array_equal(values[f"new/{name}"], saved[f"old/{name}"])


def test_files_of_the_first_format(tmp_path: Path) -> None:
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("old/w", (3, 2), initializer=v1.ones_initializer())
        v1.get_variable("old/n", (), tf.int64, initializer=v1.ones_initializer())
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver(write_version=1).save(session, str(tmp_path / "model"))

    def make() -> Any:
        v1.get_variable("new/w", (3, 2), initializer=v1.zeros_initializer())
        v1.get_variable("new/n", (), tf.int32, initializer=v1.zeros_initializer())
        return v1.train.Saver()

    values, _ = values_after(make, str(path))
    assert values["new/w"].all() and values["new/n"] == 1


# --- guesses, and what stays out


def test_accepted_guesses_are_restored(tmp_path: Path) -> None:
    import tensorflow as tf

    saved = tensors(*layers("a", "b"))
    path = save_by_name(tmp_path / "model", saved)
    with tf.Graph().as_default():
        program = program_of(specs(*layers("x", "y")))
        check = cv.check(program.saver, path)
        assert "a/kernel may belong to" in check.fix().code.replace(".", "/")
        run(check.fix(guesses="a"), program, path)
        values = program.values()
        np.testing.assert_array_equal(values["x/kernel"], saved["a/kernel"])
        assert (values["y/kernel"] == -1).all()


def test_a_value_of_another_shape_is_named_with_both(tmp_path: Path) -> None:
    import tensorflow as tf

    case = CASES["another shape"]
    path = save_by_name(tmp_path / "model", case.saved)
    with tf.Graph().as_default():
        findings = cv.check(program_of(case.live).saver, path).findings
    assert [finding.why for finding in findings if "head" in finding.why] == [
        "The file has no 'n/head/w', but has 'o/head/w' of shape 3×5, not 3×7."
    ]


def test_what_stays_out_is_named_on_both_sides(tmp_path: Path) -> None:
    import tensorflow as tf

    averages = [f"{name}{_AVERAGE}" for name in layers("a")]
    path = save_by_name(tmp_path / "model", tensors(*layers("a"), *averages, "gone/z"))
    with tf.Graph().as_default():
        program = program_of({**specs(*layers("a")), **specs("new/z", shape=(7,))})
        code = cv.check(program.saver, path).fix().code
    assert code.split("# ", 1)[1] == (
        "These keep their values; the checkpoint has none for them:\n"
        "#   new.z\n"
        "# The checkpoint has these; the program has no place for them:\n"
        f"#   the state 'average' of a.bias: {averages[1]}\n"
        f"#   the state 'average' of a.kernel: {averages[0]}\n"
        "#   gone.z: gone/z\n"
    )


# --- where people meet it


def test_the_command_line_prints_the_code_for_two_files(tmp_path: Path) -> None:
    import tensorflow as tf

    saved = tensors(*layers("old/a", "old/b"))
    path = save_by_name(tmp_path / "saved", saved)
    live = save_by_name(tmp_path / "live", tensors(*layers("new/a", "new/b")))
    result = CliRunner().invoke(main, ["fix", live, path], catch_exceptions=False)
    assert result.exit_code == 0
    checked = CliRunner().invoke(main, ["check", live, path], catch_exceptions=False)
    assert "restores all 4 values." in checked.output
    assert "ckpt-viz fix" in checked.output
    with tf.Graph().as_default():
        program = program_of(specs(*layers("new/a", "new/b")))
        exec(result.output, {"session": program.session})
        for name, value in program.values().items():
            np.testing.assert_array_equal(value, saved[f"old{name[3:]}"])


def test_the_explorer_draws_the_fix(tmp_path: Path) -> None:
    import tensorflow as tf

    from ckpt_viz.entrances.jupyter.answers import answer
    from ckpt_viz.entrances.jupyter.shown import show_of

    path = save_by_name(tmp_path / "model", tensors(*layers("old/a", "old/b")))
    with tf.Graph().as_default():
        program = program_of(specs(*layers("new/a", "new/b")))
        shown = show_of(program.saver, path)
        fix = answer(shown, {"ask": "fix", "guesses": []})[0]["fix"]
        assert not shown.is_applied and fix["short"].endswith(".fix().apply()")
        exec(fix["code"], {"session": program.session})
        with program.session.as_default():
            assert shown.is_applied
            assert shown.again().is_fixed


def test_a_file_that_is_none_has_no_fix(tmp_path: Path) -> None:
    saver = _saver([var(1.0, name="a")])
    with pytest.raises(cv.SourceError, match=r"a fix needs a checkpoint that can be read"):
        cv.check(saver, str(tmp_path / "nothing")).fix()


def test_ten_thousand_names_of_a_renamed_scope_are_one_rule(tmp_path: Path) -> None:
    names = [f"n/l_{n}/{own}" for n in range(2500) for own in ("kernel", "bias", "beta", "gamma")]
    value = np.zeros(2, np.float32)
    saved, live = (
        save_by_name(tmp_path / scope, {f"{scope}/{name}": value for name in names})
        for scope in ("old", "new")
    )
    fix = cv.check(live, saved).fix()
    assert len(fix.code.splitlines()) == 7 and len(fix.pairs) == 10_000
