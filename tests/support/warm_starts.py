"""TensorFlow as the oracle of a warm start: the check first, then the call on the same program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.matching.engines.trace import Action
from tests.support.oracle import raised_by
from tests.support.plain_english import faults_in, sentences_in
from tests.support.promises import unkept
from tests.support.spellings import misspelled, quoted_in
from tests.support.told import told

Values = dict[int, Any]  # by the id of a variable


@dataclass(frozen=True)
class Result:
    """What a warm start does, dry or real: the classes of both errors, and all values after it.

    There are no values if the initializers raise.
    """

    raised: str | None
    raised_later: str | None
    values: Values | None


@dataclass(frozen=True)
class Variables:
    """The variables of a program, by name; `get` makes more of them with a value of their own."""

    made: dict[str, Any] = field(default_factory=dict)

    def get(
        self, name: str, shape: Sequence[int] = (3, 2), dtype: str = "float32", **options: Any
    ) -> Any:
        """Make a variable with `get_variable`."""
        import tensorflow as tf

        value = tf.compat.v1.constant_initializer(-1 - len(self.made))
        self.made[name] = tf.compat.v1.get_variable(name, shape, dtype, value, **options)
        return self.made[name]

    def new(
        self, name: str, shape: Sequence[int] = (3, 2), dtype: str = "float32", **options: Any
    ) -> Any:
        """Make a variable outside of the variable store."""
        import tensorflow as tf

        value = np.full(shape, -1 - len(self.made), dtype)
        self.made[name] = tf.Variable(value, name=name, **options)
        return self.made[name]

    def parts(
        self, name: str, shape: Sequence[int] = (3, 2), *, number: int = 2, **options: Any
    ) -> list[Any]:
        """Make a partitioned variable and return its list."""
        import tensorflow as tf

        partitioner = tf.compat.v1.fixed_size_partitioner(number)
        return list(self.get(name, shape, partitioner=partitioner, **options))

    def __getitem__(self, name: str) -> Any:
        return self.made[name]

    def flat(self) -> list[Any]:
        """Return all variables, partitions one by one."""
        return [
            part
            for made in self.made.values()
            for part in (made if type(made).__name__ == "PartitionedVariable" else [made])
        ]


def compare(
    make: Callable[[Variables], Any], path: Any, *, text: bool = True, **options: Any
) -> RestoreCheck:
    """Check the warm start of a program in a graph; compare it with TensorFlow, and return it.

    `make` makes the variables and returns the map. With `text`, the texts begin alike.
    """
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        program = Variables()
        source = make(program)
        before = _state(graph, program)
        check = cv.check(source, path, **options)
        cv.graph(source)
        assert _state(graph, program) == before
        error = raised_by(lambda: _call(source, path))
        later, values = _after_session(graph, program)
    _compare(check, program, error, Result(_class_of(error), later, values), path, text)
    return check


def compare_eagerly(
    make: Callable[[Variables], Any], path: Any, *, text: bool = True
) -> RestoreCheck:
    """Do the same where the call assigns values at once."""
    program = Variables()
    source = make(program)
    before = _values(program)
    check = cv.check(source, path)
    assert _equal(_values(program), before)
    error = raised_by(lambda: _call(source, path))
    _compare(check, program, error, Result(_class_of(error), None, _values(program)), path, text)
    return check


def _call(source: Any, path: Any) -> None:
    import tensorflow as tf

    if hasattr(source, "vars_to_warm_start"):
        tf.compat.v1.train.warm_start(
            path if path is not None else source.ckpt_to_initialize_from,
            source.vars_to_warm_start,
            source.var_name_to_vocab_info,
            source.var_name_to_prev_var_name,
        )
    else:
        tf.compat.v1.train.init_from_checkpoint(path, source)


def _state(graph: Any, program: Variables) -> object:
    """Return all that the check might change: operations, collections, initializers."""
    collections = {key: len(graph.get_collection(key)) for key in graph.get_all_collection_keys()}
    stored = graph.get_collection(("__variable_store",))
    names = [list(each._vars) for each in stored]
    variables = [
        (id(getattr(v, "_initializer_op", None)), id(getattr(v, "_initial_value", None)))
        for v in program.flat()
    ]
    return graph.version, collections, names, variables


def _after_session(graph: Any, program: Variables) -> tuple[str | None, Values | None]:
    import tensorflow as tf

    if graph.finalized:
        return None, None
    with tf.compat.v1.Session(graph=graph) as session:
        initializer = tf.compat.v1.global_variables_initializer()
        error = raised_by(lambda: session.run(initializer))
        if error is not None:
            return _class_of(error), None
        own = [v for v in program.flat() if getattr(v, "graph", None) is graph]
        return None, {id(v): session.run(v) for v in own}


def _values(program: Variables) -> Values:
    return {id(v): v.numpy().copy() for v in program.flat() if _is_eager(v)}


def _is_eager(variable: Any) -> bool:
    return not getattr(variable, "_in_graph_mode", True)


def _class_of(error: Exception | None) -> str | None:
    return None if error is None else type(error).__name__


def _equal(left: Values, right: Values) -> bool:
    return left.keys() == right.keys() and all(
        np.array_equal(left[number], right[number]) for number in left
    )


def _compare(
    check: RestoreCheck,
    program: Variables,
    error: Exception | None,
    real: Result,
    path: Any,
    text: bool,
) -> None:
    raised = check.raises
    assert (raised and raised.type) == real.raised, error
    if raised is not None and text:
        assert str(error).startswith(raised.message), (str(error), raised.message)
    at_last = raised_by(check.assert_consumed)
    assert (_class_of(at_last) if raised is None else None) == (
        real.raised_later if raised is None else None
    )
    assert_plain(check)
    severities = {str(f.severity.value) for f in check.findings}
    assert ("error" in severities) == (raised is not None)
    assert ("fail" in severities) >= (check.consumed is False and raised is None)
    if real.values is None:
        return
    sources = _sources(check)
    for number, variable in enumerate(program.flat()):
        if id(variable) in real.values:
            value = real.values[id(variable)]
            expected = _expected(check, variable, sources.get(id(variable)), path)
            if expected is None:  # its own
                assert np.all(np.asarray(value, "float64") < 0), (variable.name, value)
            else:
                assert np.array_equal(value, expected), (number, variable.name, value, expected)
    _compare_those_left(check, program, sources)


def assert_plain(check: RestoreCheck) -> None:
    """Assert that all sentences of a check can be read at once, and keep what they promise."""
    quoted = [*quoted_in(check)]
    for finding in told(check):
        for text in (finding.why, str(finding.remedy)):
            assert text and text[-1] in ".?" and text.isprintable(), text
            assert [*faults_in(text, quoted)] == []
            assert len(sentences_in(text, quoted)) <= 2, text
    assert misspelled(check) == []
    assert [*unkept(check)] == []


def _sources(check: RestoreCheck) -> Mapping[int, str]:
    """Return, by the id of a variable, the name of its value, if the call raises none or then."""
    sources: dict[int, str] = {}
    for step in check.trace:
        if step.failure is not None and not step.failure.in_session:
            break
        if step.action is Action.RESTORE:
            assert step.obj is not None
            live: Any = check.live.object(step.obj)
            for variable in live if isinstance(live, list) else [live]:
                sources[id(variable)] = step.name
    return sources


def _expected(check: RestoreCheck, variable: Any, name: str | None, path: Any) -> Any:
    if name is None:
        return None
    import tensorflow as tf

    path = check._run.reading if path is None else path
    value = tf.train.load_checkpoint(path).get_tensor(name)
    info = getattr(variable, "_save_slice_info", None)
    if info is None or list(value.shape) != list(info.full_shape):
        return value
    bounds = zip(info.var_offset, info.var_shape, strict=True)
    return value[tuple(slice(start, start + size) for start, size in bounds)]


def _compare_those_left(
    check: RestoreCheck, program: Variables, sources: Mapping[int, str]
) -> None:
    """Compare the findings of variables that the map leaves out with those without a value."""
    left = {
        obj for finding in check.findings if "leaves out" in finding.why for obj in finding.objects
    }
    for obj in left:
        live: Any = check.live.object(obj)
        for variable in live if isinstance(live, list) else [live]:
            assert id(variable) not in sources
    if check.raises is None:
        assert {name for name, _ in check.bound.items()} <= {*sources.values()}
