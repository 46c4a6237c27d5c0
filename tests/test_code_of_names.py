"""The code of a fix under hostile names, in every role: TensorFlow runs it, and judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz.answers.short_code.objects_in_code import expression_of
from ckpt_viz.answers.short_code.rehearsal import checkpoint_of
from ckpt_viz.answers.short_code.skeleton import Skeleton, can_be_made, making
from ckpt_viz.cli import main
from ckpt_viz.ground.expressions import is_taken
from tests.support.amounts import amount
from tests.support.programs import ckpt, keras_2, module, var
from tests.support.restore_code import CODE_NAMES, assert_restores_only

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

PLAIN = tuple(f"plain{number}" for number in range(len(CODE_NAMES)))


def layer(number: int, value: float) -> Any:
    return module(w=var(np.full((2, number + 1), value)), b=var(np.full(number + 1, value + 0.5)))


def tracking(holder: Any, parts: dict[str, Any]) -> Any:
    """Let TensorFlow track parts of any name, as `setattr` and `add_variable` do."""
    for name, part in parts.items():
        holder._track_trackable(part, name)
    vars(holder)["kept"] = list(parts.values())
    return holder


ROLES = {
    "root part": lambda parts: tracking(ckpt(), parts),
    "keyword beside a root": lambda parts: ckpt(
        module(own=var([1.0] * 30)), **{n: one for n, one in parts.items() if not is_taken(n)}
    ),
    "part of the root": lambda parts: ckpt(tracking(module(), parts)),
    "nested part": lambda parts: ckpt(model=module(inner=tracking(module(), parts))),
    "dictionary key": lambda parts: ckpt(model=module(parts=dict(parts))),
    "list index": lambda parts: ckpt(model=module(parts=list(parts.values()))),
}


def program(role: str, names: Sequence[str], value: float, *, of_variables: bool = False) -> Any:
    parts = {name: layer(n, value + n) for n, name in enumerate(names)}
    return ROLES[role]({name: part.w for name, part in parts.items()} if of_variables else parts)


def run_fix(live: Any, path: str, target: Any = None) -> Any:
    """Run the code of a fix; every value is restored that the fix names, and no other."""
    fix = cv.check(live if target is None else target, path).fix()
    graph, file = cv.graph(live), cv.graph(path)
    names = {child.local_name for node in graph.nodes for child in node.children}
    assert_restores_only(fix.code, {name for name in names if name.isidentifier()})
    expected = {name: file.read(key) for key, name in fix.pairs.items()}
    expected |= {name: value for name, value in values(graph) if name not in expected}
    exec(compile(fix.code, "fix", "exec"), {"ckpt": live, "path": path})
    for name, value in values(graph):
        if name != "(root).save_counter":
            np.testing.assert_array_equal(value, expected[name], name)
    return fix


def values(graph: cv.ObjectGraph) -> Iterator[tuple[str, Any]]:
    for node_id, node in enumerate(graph.nodes):
        if node.attributes:
            obj: Any = graph.object(node_id)
            yield graph.name(node_id), obj.numpy()


@pytest.mark.parametrize("hostile", ["file", "program", "program in a file"])
@pytest.mark.parametrize("of_variables", [False, True], ids=["layers", "variables"])
@pytest.mark.parametrize("role", ROLES)
def test_code_restores_parts_of_any_name(
    role: str, of_variables: bool, hostile: str, tmp_path: Path
) -> None:
    other = "dictionary key" if role == "list index" else role
    sides = [(role, CODE_NAMES), (other, PLAIN)]
    was, live = (
        program(*side, value, of_variables=of_variables)
        for side, value in zip(sides if hostile == "file" else sides[::-1], (5.0, 0.0), strict=True)
    )
    path = str(was.save(str(tmp_path / "saved")))
    target = str(live.save(str(tmp_path / "live"))) if hostile == "program in a file" else None
    fix = run_fix(live, path, target)
    assert fix.check.raises is None
    possible = [n for n in CODE_NAMES if role != "keyword beside a root" or not is_taken(n)]
    assert len(fix.pairs) >= len(possible) * (1 if of_variables else 2)


@pytest.mark.parametrize("is_renamed", [False, True])
def test_code_reads_a_path_of_any_name(is_renamed: bool, tmp_path: Path) -> None:
    directory = tmp_path / "{0}{x}{}'\" \x1b\n"
    directory.mkdir()
    path = str(ckpt(was=var([1.0, 2.0])).save(str(directory / "ckpt")))
    live = ckpt(**{"now" if is_renamed else "was": var([0.0, 0.0])})
    code = cv.check(live, path).fix().to_code("ckpt", path)
    assert_restores_only(code, ["now"])
    exec(code, {"ckpt": live})
    np.testing.assert_array_equal(live.now if is_renamed else live.was, [1.0, 2.0])


@pytest.mark.parametrize("name", ["root", "self", "restore", "read", "_kwargs", "ﬁ"])
def test_a_root_part_of_a_taken_name_is_restored_by_its_path(name: str, tmp_path: Path) -> None:
    was, live = program("root part", [name, "b"], 5.0), program("root part", ["a", "b"], 0.0)
    fix = run_fix(live, str(was.save(str(tmp_path / "saved"))))
    assert fix.check.consumed and "restored.restore(path)" in fix.code


def test_root_beside_another_taken_name_is_restored_by_keys(tmp_path: Path) -> None:
    names = ["root", "restore"]
    was, live = program("root part", names, 5.0), program("root part", PLAIN[:2], 0.0)
    fix = run_fix(live, str(was.save(str(tmp_path / "saved"))))
    assert len(fix.pairs) == 5 and "load_checkpoint" in fix.code


def test_the_parts_of_a_root_in_a_file_are_told_from_its_keywords(tmp_path: Path) -> None:
    def made(name: str, value: float) -> Any:
        parts = {"zeta": var([value] * 2), name: layer(3, value), "last": layer(5, value)}
        return ckpt(module(**parts), optimizer=layer(7, value), zed=layer(9, value))

    was, live = made("before", 5.0), made("now", 0.0)
    path, target = str(was.save(str(tmp_path / "was"))), str(live.save(str(tmp_path / "live")))
    fix = run_fix(live, path, target)
    assert len(fix.pairs) == 10 and "before=ckpt.root.now" in fix.code


def test_a_root_that_is_false_is_no_root(tmp_path: Path) -> None:
    """TensorFlow ignores it, so that code with it would restore nothing."""

    def inner(value: float) -> Any:
        import tensorflow as tf

        class Falsy(tf.Module):  # type: ignore[misc]
            def __len__(self) -> int:
                return 0

        net = Falsy()
        net.w, net.b = var([value] * 3), var([value] * 5)
        return net

    was = ckpt(w=var([5.0] * 3), b=var([5.0] * 5))
    live = ckpt(net=inner(0.0))
    fix = run_fix(live, str(was.save(str(tmp_path / "saved"))))
    assert fix.check.consumed and len(fix.pairs) == 3


def test_slots_of_any_name_have_expressions(tmp_path: Path) -> None:
    optimizer = keras_2().optimizers.legacy.SGD()
    variable = var([1.0] * 3)
    slots = {name: optimizer.add_slot(variable, name) for name in CODE_NAMES if name}
    live = ckpt(v=variable, optimizer=optimizer)
    for graph in (cv.graph(live), cv.graph(live.write(str(tmp_path / "ckpt")))):
        declared = [(n, node.slot) for n, node in enumerate(graph.nodes) if node.slot is not None]
        assert len(declared) == len(slots)
        for node_id, slot in declared:
            code = expression_of(graph, node_id, "ckpt")
            assert eval(code, {"ckpt": live}) is slots[slot.name]
            assert_restores_only(code, ["v", "optimizer"])


def test_a_local_name_of_thousands_of_digits_is_no_number(tmp_path: Path) -> None:
    name = "9" * 5000  # int() refuses more than 4,300
    was = ckpt(net=module(**{name: var([1.0, 2.0]), "old": var([3.0])}))
    live = ckpt(net=module(**{name: var([0.0, 0.0]), "new": var([0.0])}))
    cv.check(live, was.save(str(tmp_path / "ckpt"))).fix().apply()
    np.testing.assert_array_equal(live.net.new, [3.0])
    np.testing.assert_array_equal(getattr(live.net, name), [1.0, 2.0])


def test_a_saver_is_told_scopes_of_any_name(tmp_path: Path) -> None:
    import tensorflow as tf

    scope = "a.b/c-d"
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for name in "xy":
            tf.compat.v1.get_variable(f"{scope}/{name}", [2], use_resource=True)
        session.run(tf.compat.v1.global_variables_initializer())
        path = tf.compat.v1.train.Saver().save(session, str(tmp_path / "ckpt"))
    with tf.Graph().as_default():
        variables = [tf.compat.v1.get_variable(name, [2], use_resource=True) for name in "xy"]
        live = tf.compat.v1.train.Saver(variables)
        names: dict[str, Any] = {"path": path, "session": tf.compat.v1.Session()}
        exec(cv.check(live, path).fix().code, names)
        assert {*names["names"]} == {f"{scope}/x", f"{scope}/y"}


def test_the_fix_of_a_snapshot_writes_names(tmp_path: Path) -> None:
    was, live = program("root part", CODE_NAMES, 5.0), program("root part", PLAIN, 0.0)
    snapshot = cv.snapshot(was)
    fix = cv.check(live, snapshot).fix()
    assert_restores_only(fix.code, PLAIN)
    path = snapshot.write(str(tmp_path / "written"))
    exec(compile(fix.code, "fix", "exec"), {"ckpt": live, "path": path})
    assert [part.w.numpy()[0, 0] for part in vars(live)["kept"]] == [
        5.0 + number for number in range(len(PLAIN))
    ]


def test_the_command_prints_names_and_obeys_none(tmp_path: Path) -> None:
    was, live = program("nested part", PLAIN, 5.0), program("nested part", CODE_NAMES, 0.0)
    paths = [str(live.save(str(tmp_path / "live"))), str(was.save(str(tmp_path / "was")))]
    result = CliRunner().invoke(main, ["fix", *paths], catch_exceptions=False)
    assert_restores_only(result.output, {"model", "inner", "w", "b", *PLAIN})
    assert "(ckpt.model)['inner'])['layer_with_weights-0']" in result.output


_TRAIN = """
import tensorflow as tf

class Trainer:
    pass

def make():
    net = tf.Module()
    net.now = tf.Variable([0.0, 0.0])
    made.append(tf.train.Checkpoint(net=net))
    return made[-1]

made = []
Trainer.ckpt = make()
"""


@pytest.mark.parametrize("name", ["Trainer.ckpt", "make"])
def test_the_command_prints_code_for_the_objects_of_a_program(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_TRAIN)
    path = str(ckpt(net=module(was=var([1.0, 2.0]))).save(str(tmp_path / "was")))
    arguments = ["fix", "--run", f"{tmp_path}/train.py:{name}", path]
    code = CliRunner().invoke(main, arguments, catch_exceptions=False).output
    names: dict[str, Any] = {}
    exec(compile(f"{_TRAIN}\n{code}", "train", "exec"), names)
    np.testing.assert_array_equal(names["made"][-1].net.now, [1.0, 2.0])


def test_every_name_of_a_checkpoint_itself_is_taken() -> None:
    assert [name for name in dir(ckpt()) if not is_taken(name)] == []


_TREES = st.recursive(
    st.integers(0, 4),
    lambda inner: st.dictionaries(
        st.sampled_from([*CODE_NAMES, "root", "a", "b"]), inner, max_size=4
    ),
)


@settings(max_examples=amount(60, 1000))
@given(st.dictionaries(st.sampled_from([*CODE_NAMES, "root", "a"]), _TREES, max_size=4))
def test_the_dry_run_builds_what_the_code_builds(parts: dict[str, Any]) -> None:
    import tensorflow as tf

    live = ckpt(parts=[var(float(number)) for number in range(5)])
    graph = cv.graph(live)
    ids = [graph.node_id(f"(root).parts.{number}") for number in range(5)]

    def skeleton(inner: dict[str, Any]) -> Skeleton:
        return Skeleton(
            None,
            {
                name: ids[part] if isinstance(part, int) else skeleton(part)
                for name, part in inner.items()
            },
        )

    if not can_be_made(skeleton(parts)):
        with pytest.raises(ValueError, match="taken"):
            checkpoint_of(graph, skeleton(parts))
        return
    names = {"tf": tf, "ckpt": live}
    exec("\n".join(making(skeleton(parts), graph, "ckpt", "restored")), names)
    for made in (names["restored"], checkpoint_of(graph, skeleton(parts))):
        root = made._saver._graph_view.root
        assert _tree(made._saver._graph_view.children(root), root, live.parts) == parts


def _tree(children: dict[str, Any], root: Any, leaves: Any) -> dict[str, Any]:
    import tensorflow as tf

    view = tf.train.TrackableView
    return {
        name: next((n for n, leaf in enumerate(leaves) if leaf is part), None)
        if isinstance(part, tf.Variable)
        else _tree(view.children(part), root, leaves)
        for name, part in children.items()
        if part is not root
    }
