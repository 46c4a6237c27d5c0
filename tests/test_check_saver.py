"""Checks of a `tf.compat.v1.train.Saver`: which variables its restore would touch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.overlay.remedy import OtherPath, PathResult
from tests.support.damage import flipped
from tests.support.oracle import raised_by
from tests.support.programs import keras_3

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

Shapes = dict[str, Sequence[int]]


def _variables(shapes: Shapes, dtype: str = "float32") -> list[Any]:
    import tensorflow as tf

    return [
        tf.compat.v1.get_variable(name, shape, dtype, tf.compat.v1.zeros_initializer())
        for name, shape in shapes.items()
    ]


def _references(shapes: Shapes) -> list[Any]:
    import tensorflow as tf

    return [
        tf.compat.v1.get_variable(name, shape, use_resource=False) for name, shape in shapes.items()
    ]


def _saved(path: Path, shapes: Shapes, **options: Any) -> str:
    """Save ones in a graph; `options` are those of the Saver."""
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for name, shape in shapes.items():
            tf.compat.v1.get_variable(name, shape, initializer=tf.compat.v1.ones_initializer())
        session.run(tf.compat.v1.global_variables_initializer())
        return str(tf.compat.v1.train.Saver(**options).save(session, str(path / "model")))


def _saved_objects(path: Path, shape: Sequence[int] = (2,)) -> str:
    """Save sevens by objects: the variable `a` as the attribute `x`."""
    import tensorflow as tf

    held = tf.train.Checkpoint(x=tf.Variable(tf.fill(shape, 7.0), name="a"))
    return str(held.write(str(path / "objects")))


def _partitioned(shape: Sequence[int], *, parts: int = 2, use_resource: bool = True) -> Any:
    import tensorflow as tf

    v1 = tf.compat.v1
    partitioner = v1.fixed_size_partitioner(parts)
    with v1.variable_scope("", use_resource=use_resource, partitioner=partitioner):
        return v1.get_variable("a", shape, initializer=v1.zeros_initializer())


def _saver_of_parts(
    shape: Sequence[int], parts: int, *, use_resource: bool, reshape: bool = False
) -> Any:
    kept = _partitioned(shape, parts=parts, use_resource=use_resource)
    return _saver([kept], reshape=reshape)


def _compare(
    make: Callable[[], Any], prefix: Any, words: Sequence[str] = (), *, verify: bool = False
) -> Any:
    """Check a Saver in a graph, compare with what its restore raises, and return the check.

    Both are to say these words.
    """
    import tensorflow as tf

    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        saver = make()
        version = graph.version
        check = cv.check(saver, prefix, verify=verify)
        assert graph.version == version
        _agree(check, raised_by(lambda: saver.restore(session, prefix)), words)
    return check


def _compare_eagerly(
    saver: Any, prefix: Any, words: Sequence[str] = (), *, verify: bool = False
) -> Any:
    """Do the same where values are assigned at once."""
    check = cv.check(saver, prefix, verify=verify)
    _agree(check, raised_by(lambda: saver.restore(None, prefix)), words)
    return check


def _agree(check: Any, error: Exception | None, words: Sequence[str]) -> None:
    told = [finding for finding in check.findings if finding.severity == "error"]
    assert bool(told) == (error is not None)
    assert (check.raises.type if check.raises else None) == (
        type(error).__name__ if error else None
    )
    for word in words:
        assert word in str(error)
        assert word in check.raises.message


def _only_finding(check: Any) -> tuple[str, str]:
    (finding,) = check.findings
    return finding.kind.value, finding.severity.value


def _saver(*args: Any, **kwargs: Any) -> Any:
    import tensorflow as tf

    return tf.compat.v1.train.Saver(*args, **kwargs)


def test_saver_of_the_same_variables_restores_all(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2], "b": [3]})

    def same() -> Any:
        _variables({"a": [2], "b": [3]})
        return _saver()

    check = _compare(same, prefix)
    assert check.consumed
    assert check.bound == {"a": "(root).a", "b": "(root).b"}


def test_all_missing_names_are_listed(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2]})

    def more() -> Any:
        _variables({"a": [2], "c": [1], "d": [1]})
        return _saver()

    check = _compare(more, prefix)
    assert check.raises.type == "NotFoundError"
    assert check.unmatched == ("(root).c", "(root).d")
    assert "c, d" in check.raises.message


def test_partial_saver_leaves_the_rest_of_the_file(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2], "b": [3]})
    check = _compare(lambda: _saver(_variables({"a": [2], "z": [1]})[:1]), prefix)
    assert check.consumed
    (leftover,) = check.findings
    assert (leftover.kind, leftover.saved) == ("leftover", "b")


def test_findings_name_all_saved_values_that_no_variable_takes(tmp_path: Path) -> None:
    """Of many names, a sentence has the first five; the finding has them all."""
    left = [f"left/v{number}" for number in range(7)]
    guessed = ["x/kernel", "y/kernel"]
    alike: Shapes = {name: [2, 3] for name in guessed}
    shapes: Shapes = {**{name: [1] for name in left}, **alike, "old/head": [4]}
    prefix = _saved(tmp_path, shapes)
    now: Shapes = {"p/kernel": [2, 3], "q/kernel": [2, 3], "new/head": [5]}
    check = _compare(lambda: _saver(_variables(now)), prefix)
    graph = check.table.saved
    told = {graph.nodes[node].attributes[0].full_name for f in check.findings for node in f.nodes}
    assert told == {*shapes}


@pytest.mark.parametrize("by_dict", [False, True])
@pytest.mark.parametrize(
    ("saved", "now", "why", "did"),
    [
        ("", "model_001/", "All names are in the scope model_001", "put all names into"),
        ("tower/", "", "All names are outside of the scope tower", "took all names out of"),
        ("old/", "new/", "The scope old is new now", "renamed the scope old to new"),
        ("net/", "t/net2/", "The scope net is t/net2 now", "renamed the scope net to t/net2"),
        ("t/net/", "enc/", "The scope t/net is enc now", "renamed the scope t/net to enc"),
        ("t/net/", "t/net2/", "The scope t/net is t/net2 now", "the scope t/net to t/net2"),
    ],
)
def test_another_scope_is_one_finding_whose_code_restores_all(
    saved: str, now: str, why: str, did: str, by_dict: bool, tmp_path: Path
) -> None:
    shapes: Shapes = {"a/kernel": [2, 3], "a/bias": [3], "b/kernel": [2, 4], "b/bias": [4]}
    prefix = _saved(tmp_path, {f"{saved}{name}": shape for name, shape in shapes.items()})

    def moved() -> Any:
        names = [f"{now}{name}" for name in shapes]
        if not by_dict:
            _variables(dict(zip(names, shapes.values(), strict=True)))
            return _saver()
        variables = _variables({f"x{i}": shape for i, shape in enumerate(shapes.values())})
        return _saver(dict(zip(names, variables, strict=True)))

    check = _restored_by_the_code(moved, prefix)
    (finding,) = check.findings
    assert finding.why == f"{why} (4 variables)."
    assert finding.change.kind == "scope_changed" and len(finding.explains) == 4
    assert str(check).splitlines()[1].startswith("You ") and did in str(check)


def test_the_code_for_another_scope_leaves_other_names_alone(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a/kernel": [2, 3], "a/bias": [3], "step": [1]})
    now: Shapes = {"net/a/kernel": [2, 3], "net/a/bias": [3], "step": [1]}

    def moved() -> Any:
        _variables(now)
        return _saver()

    assert len(_restored_by_the_code(moved, prefix).findings) == 1


@pytest.mark.parametrize("beside", ["net/step", "lost", "step"])
def test_a_changed_scope_has_code_that_restores_the_rest(beside: str, tmp_path: Path) -> None:
    """The file has no `lost`, and a Saver of a MetaGraph lists no variables."""
    import tensorflow as tf

    shapes: Shapes = {"a/kernel": [2, 3], "a/bias": [3]}
    prefix = _saved(tmp_path, {**shapes, "net/step": [1], "step": [1]})

    def moved() -> Any:
        _variables({f"net/{name}": shape for name, shape in shapes.items()})
        _variables({beside: [7] if beside == "lost" else [1]})
        saver = _saver()
        if beside != "step":
            return saver
        meta = saver.export_meta_graph()
        return tf.compat.v1.train.import_meta_graph(meta, clear_devices=True)

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        fix = cv.check(moved(), prefix).fix()
        session.run(tf.compat.v1.global_variables_initializer())
        exec(fix.code, {"session": session, "path": prefix})
        values = {v.op.name: session.run(v) for v in tf.compat.v1.global_variables()}
    assert {name for name, value in values.items() if value.all()} == {*values} - {"lost"}


def _restored_by_the_code(make: Callable[[], Any], prefix: str) -> Any:
    """Execute the code of the fix that the only finding names, and return the check."""
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        live = make()
        check = cv.check(live, prefix)
        (finding,) = check.findings
        assert "check.fix().code" in str(finding.remedy)
        exec(check.fix().code, {"path": prefix, "session": session})
        assert all(value.all() for value in session.run(tf.compat.v1.global_variables()))
    return check


def test_renaming_saver_reads_by_its_own_names(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2]})
    check = _compare(lambda: _saver({"a": _variables({"other": [2]})[0]}), prefix)
    assert check.consumed
    assert list(check.bound) == ["a"]


def test_shape_and_dtype(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2]})
    check = _compare(lambda: _saver(_variables({"a": [3]})), prefix)
    assert check.consumed  # a resource variable of a graph takes any shape
    assert (check.findings[0].kind, check.findings[0].severity) == ("shape", "warning")
    check = _compare(lambda: _saver(_references({"a": [3]})), prefix)
    assert (check.findings[0].kind, check.findings[0].severity) == ("shape", "error")
    check = _compare(lambda: _saver(_variables({"a": [2]}, "int32")), prefix)
    assert check.findings[0].kind == "dtype"


def _one() -> Any:
    return _saver(_variables({"a": [2]}))


def test_path_that_is_none_and_one_that_leads_nowhere(tmp_path: Path) -> None:
    for path in (None, str(tmp_path / "nothing"), ""):
        check = _compare(_one, path)
        assert check.raises.type == "ValueError"
        assert _only_finding(check) == ("wrong_path", "error")


@pytest.mark.parametrize("end", ["", ".index", ".data-00000-of-00001", ".meta", "-7", "/"])
def test_path_is_taken_as_it_is(tmp_path: Path, end: str) -> None:
    prefix = _saved(tmp_path, {"a": [2]})
    check = _compare(_one, prefix + end)
    if end:
        assert _only_finding(check) == ("wrong_path", "error")
        assert prefix in str(check.findings[0].remedy)
    else:
        assert check.findings == ()


def test_directory_is_no_prefix(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2]})
    check = _compare(_one, str(tmp_path))
    assert _only_finding(check) == ("wrong_path", "error")
    assert check.findings[0].remedy == OtherPath(prefix, PathResult.PASSES)


def test_path_object_is_no_string(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2]})
    for path in (Path(prefix), 7):
        check = _compare(_one, path, ["Expected binary or unicode string, got"])
        assert check.raises.type == "TypeError"
        assert _only_finding(check) == ("wrong_path", "error")
    assert _compare(_one, prefix.encode()).consumed
    check = _compare(_one, f"{prefix}.index".encode())
    assert check.findings[0].remedy == OtherPath(prefix, PathResult.PASSES)


def test_data_file_is_gone_or_cut(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2]})
    data = Path(prefix + ".data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:3])
    assert _compare(_one, prefix).raises.type == "OutOfRangeError"
    data.unlink()
    check = _compare(_one, prefix)
    assert check.raises.type == "NotFoundError"
    assert _only_finding(check) == ("damaged", "error")


def test_damaged_bytes_are_found_if_they_are_tested(tmp_path: Path) -> None:
    prefix = flipped(_saved(tmp_path, {"a": [2], "b": [3], "c": [2]}), "b", 1)

    def of_shape(*shape: int) -> Any:
        return _saver(_variables({"b": shape}))

    for shape in (3, 4):  # the damage counts before the shape
        check = _compare(partial(of_shape, shape), prefix, verify=True)
        assert check.raises.type == "DataLossError"
        assert check.findings[0].kind.value == "damaged"
    check = _compare(lambda: _saver(_variables({"a": [2], "c": [2]})), prefix, verify=True)
    assert check.consumed
    assert check.notes == ("The restore reads 2 values (16 bytes): all match their checksums.",)
    wrong = _compare(lambda: _saver(_variables({"b": [3]}, "int32")), prefix, verify=True)
    assert wrong.raises.type == "InvalidArgumentError"


def test_damaged_part_is_found_if_it_is_tested(tmp_path: Path) -> None:
    import tensorflow as tf

    of_parts = partial(_saver_of_parts, [4, 2], 2, use_resource=True)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        saver = of_parts()
        session.run(tf.compat.v1.global_variables_initializer())
        prefix = saver.save(session, str(tmp_path / "model"))
    assert _compare(of_parts, prefix, verify=True).consumed
    flipped(prefix, "a", 0, part=1)
    assert _compare(of_parts, prefix, verify=True).raises.type == "DataLossError"


def test_eager_saver_finds_damaged_bytes(tmp_path: Path) -> None:
    prefix = flipped(_saved(tmp_path, {"a": [2], "b": [3]}), "b", 1)
    variables = _variables({"a": [2], "b": [3]})
    check = _compare_eagerly(_saver(variables), prefix, verify=True)
    assert check.raises.type == "DataLossError"
    assert _compare_eagerly(_saver(variables[:1]), prefix, verify=True).consumed


def test_damaged_bytes_of_version_1_are_a_mismatch(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [200_000], "b": [200_000]}, write_version=1)
    content = bytearray(Path(prefix).read_bytes())
    content[-100_000] ^= 1
    Path(prefix).write_bytes(bytes(content))
    check = _compare(lambda: _saver(_variables({"b": [200_000]})), prefix, verify=True)
    assert check.raises.type == "InvalidArgumentError"
    assert "a mismatch between the current graph" in check.raises.message
    assert _compare(lambda: _saver(_variables({"a": [200_000]})), prefix, verify=True).consumed


def test_damaged_bytes_of_an_object_based_checkpoint(tmp_path: Path) -> None:
    prefix = flipped(_saved_objects(tmp_path), _KEY, 1)
    check = _compare(lambda: _saver(_variables({"a": [2]})), prefix, verify=True)
    assert check.raises.type == "DataLossError"
    assert _only_finding(check) == ("damaged", "error")


# --- shapes


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("version", [1, 2])
def test_partitioned_variable_of_another_full_shape(
    tmp_path: Path, version: int, use_resource: bool
) -> None:
    prefix = _saved(tmp_path, {"a": [4, 2]}, write_version=version)
    kind = {"use_resource": use_resource}
    for shape, parts in ([6, 2], 2), ([6, 2], 1), ([4], 2), ([2, 4], 2):
        texts = ["[" + ",".join(map(str, one)) + "]" for one in (shape, [4, 2])]
        for reshape in (False, True):
            other = partial(_saver_of_parts, shape, parts, reshape=reshape, **kind)
            check = _compare(other, prefix, texts)
            assert check.raises.type == "InvalidArgumentError"
            assert _only_finding(check) == ("shape", "error")
    for parts in (1, 3):
        assert _compare(partial(_saver_of_parts, [4, 2], parts, **kind), prefix).findings == ()


def test_partitioned_variable_as_a_value_of_its_own_takes_any_shape(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [4, 2]})
    check = _compare(lambda: _saver({"a": next(iter(_partitioned([6, 2], parts=1)))}), prefix)
    assert _only_finding(check) == ("shape", "warning")


@pytest.mark.parametrize("make", [_variables, _references])
def test_saver_that_reshapes(tmp_path: Path, make: Callable[[Shapes], list[Any]]) -> None:
    prefix = _saved(tmp_path, {"a": [4, 2]})
    check = _compare(lambda: _saver(make({"a": [2, 4]}), reshape=True), prefix)
    assert check.consumed
    assert check.findings == ()
    check = _compare(
        lambda: _saver(make({"a": [2, 5]}), reshape=True),
        prefix,
        ["tensor with 8 values, but the requested shape has 10"],
    )
    assert check.raises.type == "InvalidArgumentError"
    assert _only_finding(check) == ("shape", "error")


@pytest.mark.parametrize("make", [_variables, _references])
@pytest.mark.parametrize("collections", [None, []], ids=["all collections", "no collections"])
def test_imported_saver_goes_by_its_operations(
    tmp_path: Path, make: Callable[[Shapes], list[Any]], collections: list[str] | None
) -> None:
    import tensorflow as tf

    v1, prefix = tf.compat.v1, _saved(tmp_path, {"a": [4, 2]})

    def imported(shape: Sequence[int], reshape: bool) -> Any:
        with tf.Graph().as_default():
            saver = _saver(make({"a": shape}), reshape=reshape)
            exported = v1.train.export_meta_graph(
                saver_def=saver.as_saver_def(), collection_list=collections
            )
        return v1.train.import_meta_graph(exported)

    assert _compare(partial(imported, [4, 2], reshape=False), prefix).findings == ()
    assert _compare(partial(imported, [2, 4], reshape=True), prefix).findings == ()
    assert not _compare(partial(imported, [5], reshape=True), prefix).consumed
    check = _compare(partial(imported, [5], reshape=False), prefix)
    assert _only_finding(check) == ("shape", "warning" if make is _variables else "error")


def test_eager_saver_that_reshapes(tmp_path: Path) -> None:
    import tensorflow as tf

    prefix = _saved(tmp_path, {"a": [4, 2]})
    variable = tf.Variable(tf.zeros([2, 4]), name="a")
    assert _compare_eagerly(_saver([variable], reshape=True), prefix).findings == ()
    assert variable.numpy().tolist() == [[1.0] * 4] * 2
    five = tf.Variable(tf.zeros([5]), name="a")
    check = _compare_eagerly(_saver([five], reshape=True), prefix, ["8 values", "has 5"])
    assert check.raises.type == "InvalidArgumentError"
    open_end = tf.Variable(tf.zeros([3]), shape=[None], name="a")
    assert _compare_eagerly(_saver([open_end], reshape=True), prefix, ["has 3"]).raises


def test_eager_variable_of_a_shape_that_is_partly_known(tmp_path: Path) -> None:
    import tensorflow as tf

    prefix = _saved(tmp_path, {"a": [4, 2]})
    refusal = ["Received incompatible tensor with shape (4, 2)", "shape (None, 3) and name a."]
    for width, words in (2, []), (3, refusal):
        variable = tf.Variable(tf.zeros([1, width]), shape=[None, width], name="a")
        assert _compare_eagerly(_saver([variable]), prefix, words).consumed == (not words)


def test_v1_file_is_read_name_by_name(tmp_path: Path) -> None:
    def make() -> Any:
        return _saver([*_variables({"a": [2]}, "int32"), *_variables({"b": [1]})])

    (tmp_path / "old").mkdir()
    prefix = _saved(tmp_path / "old", {"a": [2]}, write_version=1)
    assert _compare(make, prefix).raises.type == "InvalidArgumentError"
    assert _compare(make, _saved(tmp_path, {"a": [2]})).raises.type == "NotFoundError"


# --- Savers that cannot restore


def test_saver_that_is_not_built(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2]})

    def deferred() -> Any:
        _variables({"a": [2]})
        return _saver(defer_build=True)

    def built() -> Any:
        saver = deferred()
        saver.build()
        return saver

    check = _compare(deferred, prefix, ["'NoneType' object has no attribute 'restore_op_name'"])
    assert check.raises.type == "AttributeError"
    assert _only_finding(check) == ("not_built", "error")
    for path in (None, prefix + "-7"):
        assert _compare(deferred, path).raises.type == "ValueError"
    assert _compare(built, prefix).consumed


def test_saver_without_variables(tmp_path: Path) -> None:
    prefix = _saved(tmp_path, {"a": [2]})
    for path in (None, prefix, prefix + "-7"):  # whatever it is given
        check = _compare(lambda: _saver(allow_empty=True), path)
        assert check.consumed
        assert check.findings == ()
    check = _compare_eagerly(_saver([]), prefix, ["No variables to save"])
    assert _only_finding(check) == ("not_built", "error")
    empty = _saver([], allow_empty=True)
    assert _compare_eagerly(empty, None).raises.type == "ValueError"
    assert _compare_eagerly(empty, prefix + ".data-00000-of-00001").consumed
    assert _compare_eagerly(empty, None).consumed  # it knows by now


@pytest.mark.parametrize(
    ("make", "raised"),
    [
        (lambda: _saver(_variables({"a": [2]})), "ValueError"),
        (lambda: _saver(_references({"a": [2]})), "ValueError"),
        (lambda: _saver({"a": _variables({"b": [2]})[0]}), "TypeError"),
        (lambda: _saver([_partitioned([2])]), "TypeError"),
        (lambda: _saver([_partitioned([2], use_resource=False)]), "RuntimeError"),
    ],
    ids=["list", "references", "dict", "parts", "parts of a reference"],
)
def test_saver_of_a_graph_outside_of_it(
    tmp_path: Path, make: Callable[[], Any], raised: str
) -> None:
    import tensorflow as tf

    prefix = _saved(tmp_path, {"a": [2]})
    with tf.Graph().as_default():
        saver = make()
    check = _compare_eagerly(saver, prefix)
    assert check.raises.type == raised
    assert _only_finding(check) == ("not_built", "error")


def test_eager_saver_in_a_graph(tmp_path: Path) -> None:
    import tensorflow as tf

    prefix = _saved(tmp_path, {"a": [2]})
    eager = _saver([tf.Variable([1.0, 2.0], name="a")])
    assert _compare(lambda: eager, prefix).raises.type == "AttributeError"


# --- object-based checkpoints


def test_object_based_checkpoint_is_read_by_full_names(tmp_path: Path) -> None:
    prefix = _saved_objects(tmp_path)
    check = _compare(lambda: _saver(_variables({"a": [2]})), prefix)
    assert check.consumed
    check = _compare(lambda: _saver(_variables({"a": [2], "b": [1]})), prefix)
    assert check.raises.type == "NotFoundError"


_KEY = "x/.ATTRIBUTES/VARIABLE_VALUE"


@pytest.mark.parametrize("make", [_variables, _references])
def test_object_based_checkpoint_is_read_by_its_keys(
    tmp_path: Path, make: Callable[[Shapes], list[Any]]
) -> None:
    prefix = _saved_objects(tmp_path)
    check = _compare(lambda: _saver({_KEY: make({"other": [2]})[0]}), prefix)
    assert check.consumed
    assert list(check.bound) == [_KEY]
    assert _compare(
        lambda: _saver({_KEY: make({"other": [2, 1]})[0]}, reshape=True), prefix
    ).consumed
    _compare(lambda: _saver({_KEY: make({"other": [3]})[0]}), prefix)
    wrong = _compare(lambda: _saver({_KEY: _variables({"other": [2]}, "int32")[0]}), prefix, [_KEY])
    assert wrong.raises.type == "InvalidArgumentError"

    def mixed() -> Any:
        one, other = make({"a": [2], "b": [2]})
        return _saver({_KEY: one, "a": other})

    assert _compare(mixed, prefix, [_KEY]).raises.type == "NotFoundError"


def test_second_saver_does_not_reshape(tmp_path: Path) -> None:
    import tensorflow as tf

    prefix = _saved_objects(tmp_path, (4, 2))
    check = _compare(lambda: _saver(_references({"a": [2, 4]}), reshape=True), prefix)
    assert check.raises.type == "InvalidArgumentError"
    check = _compare(lambda: _saver(_variables({"a": [2, 4]}), reshape=True), prefix)
    assert ("shape", "warning") in [(one.kind, one.severity) for one in check.findings]
    eager = _saver([tf.Variable(tf.zeros([2, 4]), name="a")], reshape=True)
    assert _compare_eagerly(eager, prefix).raises.type == "ValueError"


def test_second_saver_cannot_be_built_in_a_finalized_graph(tmp_path: Path) -> None:
    import tensorflow as tf

    def finalized(shapes: Shapes) -> Any:
        saver = _saver(_variables(shapes))
        tf.compat.v1.get_default_graph().finalize()
        return saver

    by_objects, by_name = _saved_objects(tmp_path), _saved(tmp_path, {"a": [2]})
    check = _compare(
        lambda: finalized({"a": [2]}), by_objects, ["Graph is finalized and cannot be modified"]
    )
    assert check.raises.type == "RuntimeError"
    missing = _compare(lambda: finalized({"a": [2], "b": [2]}), by_objects)
    assert missing.raises.type == "NotFoundError"
    assert _compare(lambda: finalized({"a": [2]}), by_name).consumed


def test_second_saver_restores_the_last_part_alone(tmp_path: Path) -> None:
    import tensorflow as tf

    prefix = _saved_objects(tmp_path, (4,))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        parts = list(_partitioned([4]))
        saver = _saver(parts)
        session.run(tf.compat.v1.global_variables_initializer())
        check = cv.check(saver, prefix)
        saver.restore(session, prefix)
        assert [one.tolist() for one in session.run(parts)] == [[0.0, 0.0], [7.0, 7.0]]
    assert _only_finding(check) == ("value_lost", "warning")
    wrong = _compare(lambda: _saver([_partitioned([6])]), prefix, ["[4]", "[6]", _KEY])
    assert _only_finding(wrong) == ("shape", "error")


# --- eager Savers


def test_eager_saver(tmp_path: Path) -> None:
    import tensorflow as tf

    prefix = _saved(tmp_path, {"a": [2]})
    variable = tf.Variable([1.0, 2.0], name="a")
    saver = tf.compat.v1.train.Saver([variable])
    assert cv.check(saver, prefix).consumed
    saver.restore(None, prefix)
    assert variable.numpy().tolist() == [1.0, 1.0]
    longer = tf.compat.v1.train.Saver([tf.Variable([1.0, 2.0, 3.0], name="a")])
    with pytest.raises(ValueError):
        longer.restore(None, prefix)
    raised = cv.check(longer, prefix).raises
    assert raised is not None
    assert raised.type == "ValueError"


@pytest.mark.parametrize("larger", "abc")
@pytest.mark.parametrize("reshape", [False, True])
def test_eager_saver_sets_what_comes_before_its_error(
    tmp_path: Path, larger: str, *, reshape: bool
) -> None:
    import tensorflow as tf

    prefix = _saved(tmp_path, {"a": [2], "b": [2], "c": [2]})  # ones
    variables = {name: tf.Variable([0.0] * (3 if name == larger else 2)) for name in "cba"}
    check = _compare_eagerly(_saver(variables, reshape=reshape), prefix)
    are_set = {name for name, variable in variables.items() if variable.numpy().any()}
    assert are_set == {name for name in variables if name < larger}
    *before, last = check.steps
    assert [step.local_name for step in before] == sorted(are_set)
    assert (last.local_name, last.is_problem) == (larger, True)
    said = {"a": "", "b": ", after 1 value", "c": ", after 2 values"}[larger]
    assert f"restore() raises {check.raises.type}{said}. " in str(check)


def test_eager_saver_of_keras_3(tmp_path: Path) -> None:
    keras = keras_3()

    def variables(value: str) -> list[Any]:
        return [keras.Variable(value, (2,), name=name) for name in "ab"]

    def restored(make: Callable[[list[Any]], Any]) -> tuple[Any, list[float]]:
        prefix = _saver(make(variables("ones"))).save(
            None, str(tmp_path / "keras"), write_meta_graph=False
        )
        into = variables("zeros")
        check = _compare_eagerly(_saver(make(into)), prefix)
        return check, [float(one[0]) for one in into]

    check, values = restored(lambda given: dict(zip("cd", given, strict=True)))
    assert (check.findings, values) == ((), [1.0, 1.0])
    check, values = restored(list)
    assert (_only_finding(check), values) == (("value_lost", "warning"), [0.0, 1.0])


def test_what_only_code_of_the_object_names_is_not_judged(tmp_path: Path) -> None:
    import tensorflow as tf

    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    saver = _saver({"table": table})
    prefix = saver.save(None, str(tmp_path / "table"), write_meta_graph=False)
    assert _only_finding(_compare_eagerly(saver, prefix)) == ("unknowable", "info")


def test_a_check_in_a_later_cell_tells_what_to_do_in_the_session(tmp_path: Path) -> None:
    import tensorflow as tf

    path = _saved(tmp_path, {"a": (2,), "b": (3,)})
    with tf.Graph().as_default() as built, tf.compat.v1.Session() as session:
        variables = _variables({"c": (2,), "b": (3,)})
        session.run(tf.compat.v1.global_variables_initializer())
        saver = tf.compat.v1.train.Saver()
    check = cv.check(saver, path)  # no graph is the default here
    assert "write `with session.graph.as_default():` around the restore" in str(check)
    assert "check.fix().apply(session) restores 1 of 2 values" in str(check)
    with built.as_default(), tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        fix = cv.check(saver, path).fix(guesses=True).apply(session)
        assert all((value == 1.0).all() for value in session.run(variables))
        assert len(fix.pairs) == 2
