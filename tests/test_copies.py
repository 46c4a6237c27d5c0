"""The code of an edited copy runs, makes what the explorer asks for, and TensorFlow restores it."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.entrances.jupyter import copies
from ckpt_viz.graphs.render import payload
from tests.support.programs import ckpt, saved, var

pytestmark = pytest.mark.tf


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """The names of a notebook that runs in an empty directory; at first none."""
    names: dict[str, Any] = {}
    monkeypatch.setattr(copies, "kernel_shell", lambda: SimpleNamespace(user_ns=names))
    monkeypatch.chdir(tmp_path)
    return names


@pytest.fixture
def trained(tmp_path: Path) -> str:
    """The prefix of a model that Adam has trained."""
    import tensorflow as tf

    net = _net()
    adam = tf.keras.optimizers.Adam(0.1)
    adam.build(net.trainable_variables)
    return str(tf.train.Checkpoint(net=net, opt=adam, step=tf.Variable(3)).write(tmp_path / "ckpt"))


def _net(value: float = 1.0) -> Any:
    import tensorflow as tf

    class Net(tf.keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.l1 = tf.keras.layers.Dense(3, kernel_initializer=tf.constant_initializer(value))
            self.head = tf.keras.layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.head(self.l1(x))

    net = Net()
    net(tf.zeros((1, 2)))
    return net


def _asked(explorer: cv.Explorer, kind: str, **meant: Any) -> str:
    answer, _ = explorer._answer({"ask": "copy", "kind": kind, **meant})
    return str(answer.get("text") or answer["error"])


def _on_one_line(code: str) -> str:
    """Return code without the breaks of long calls, and without comments."""
    return ast.unparse(ast.parse(code))


def _made(
    explorer: cv.Explorer, kind: str, names: dict[str, Any], **meant: Any
) -> tuple[cv.ObjectGraph, str]:
    """Return the copy that the code makes, which is the one that the explorer has made."""
    code = _asked(explorer, kind, **meant)
    variable, _, _ = code.removeprefix("import ckpt_viz as cv\n\n").partition(" = ")
    lines = code.splitlines()
    exec("\n".join(lines[:-1]), names)
    copy: cv.ObjectGraph = names[variable]
    assert not [*Path().glob(f"*{variable}*")], "the code itself writes nothing"
    asked = copies._asked(explorer._shown, {"kind": kind, **meant})
    of_the_explorer, of_the_code = (
        cv.diff(asked.source, made).overlay for made in (asked.edited, copy)
    )
    assert payload.encode(of_the_code.graph, of_the_code) == payload.encode(
        of_the_explorer.graph, of_the_explorer
    )
    prefix: str = eval(lines[-1].removeprefix("# "), names)
    return copy, prefix


def test_a_query_goes_into_the_code_and_tensorflow_restores_the_slim_file(
    notebook: dict[str, Any], trained: str
) -> None:
    import tensorflow as tf

    explorer = cv.show(trained)
    code = _asked(explorer, "without", query="role:slot|opt")
    assert code == (
        "import ckpt_viz as cv\n\n"
        f"slim = cv.graph({trained!r}).without('role:slot|opt')\n"
        f"cv.show({trained!r}, against=slim)\n"
        "# slim.write('ckpt-slim')\n"
    )
    slim, prefix = _made(explorer, "without", notebook, query="role:slot|opt")
    assert str(slim) == str(cv.graph(trained).without("role:slot|opt"))
    names = [name for name, _ in tf.train.list_variables(prefix)]
    assert names and not any("opt" in name for name in names)
    net = _net(0.0)
    status = tf.train.Checkpoint(net=net, step=tf.Variable(0)).read(prefix)
    status.assert_consumed()
    assert (net.l1.kernel.numpy() == 1).all()


def test_a_row_alone_is_restored_into_the_same_program(
    notebook: dict[str, Any], trained: str
) -> None:
    import tensorflow as tf

    explorer = cv.show(trained)
    _, prefix = _made(explorer, "only", notebook, nodes=[explorer.graph.node_id("net.l1")])
    assert "'net.l1'" in _asked(explorer, "only", nodes=[explorer.graph.node_id("net.l1")])
    net = _net(0.0)
    layer = tf.train.Checkpoint(l1=net.l1)
    tf.train.Checkpoint(net=layer).read(prefix).assert_consumed()
    assert (net.l1.kernel.numpy() == 1).all()
    assert {name.split("/")[1] for name, _ in tf.train.list_variables(prefix)[1:]} == {"l1"}


def test_several_rows_are_one_edit(notebook: dict[str, Any], trained: str) -> None:
    import tensorflow as tf

    explorer = cv.show(trained)
    nodes = [explorer.graph.node_id(name) for name in ("opt", "net.head", "net.head.kernel")]
    code = _asked(explorer, "without", nodes=nodes)
    assert f"slim = cv.graph({trained!r}).without('opt', 'net.head')\n" in _on_one_line(code)
    _, prefix = _made(explorer, "without", notebook, nodes=nodes)
    assert {name.split("/")[0] for name, _ in tf.train.list_variables(prefix)[1:]} == {
        "net",
        "step",
    }
    layer = tf.train.Checkpoint(l1=_net(0.0).l1)
    tf.train.Checkpoint(net=layer, step=tf.Variable(0)).read(prefix).assert_consumed()


def test_a_renamed_part_is_restored_under_its_new_name(
    notebook: dict[str, Any], trained: str
) -> None:
    import tensorflow as tf

    explorer = cv.show(trained)
    node = explorer.graph.node_id("net")
    _, prefix = _made(explorer, "renamed", notebook, nodes=[node], to="model")
    net = _net(0.0)
    tf.train.Checkpoint(model=net).read(prefix).expect_partial().assert_existing_objects_matched()
    assert (net.l1.kernel.numpy() == 1).all()


def test_all_matches_get_the_new_name_each_in_its_place(
    notebook: dict[str, Any], tmp_path: Path
) -> None:
    import tensorflow as tf

    parts = {name: tf.train.Checkpoint(w=var(1.0)) for name in ("a", "b")}
    explorer = cv.show(saved(tmp_path, **parts))
    _, prefix = _made(explorer, "renamed", notebook, query="name:w", to="kernel")
    names = [name for name, _ in tf.train.list_variables(prefix)]
    assert [f"{name}/kernel/.ATTRIBUTES/VARIABLE_VALUE" in names for name in "ab"] == [True, True]


@pytest.fixture
def named(tmp_path: Path) -> str:
    """The prefix of a name-based checkpoint."""
    import tensorflow as tf

    names = ("bert/layer_0/w", "bert/layer_1/w", "bert/layer_1/adam_m", "step")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variables = [tf.compat.v1.get_variable(name, initializer=1.0) for name in names]
        session.run(tf.compat.v1.global_variables_initializer())
        return str(tf.compat.v1.train.Saver(variables).save(session, str(tmp_path / "model.ckpt")))


@pytest.mark.parametrize(
    ("meant", "to", "expected"),
    [
        ({"name": "bert"}, "encoder", {"encoder/layer_0/w", "encoder/layer_1/w"}),
        ({"name": "bert/layer_0"}, "first", {"bert/first/w"}),
        ({"name": "bert/layer_0"}, "x/first", {"x/first/w"}),
        ({"name": "bert"}, "", {"layer_0/w", "layer_1/w", "layer_1/adam_m"}),
        ({"query": "name:w"}, "kernel", {"bert/layer_0/kernel", "bert/layer_1/kernel"}),
    ],
)
def test_names_and_scopes_of_a_name_based_file(
    meant: dict[str, str], to: str, expected: set[str], notebook: dict[str, Any], named: str
) -> None:
    import tensorflow as tf

    explorer = cv.show(named)
    question: dict[str, Any] = (
        meant if "query" in meant else {"nodes": [explorer.graph.node_id(meant["name"])]}
    )
    _, prefix = _made(explorer, "renamed", notebook, **question, to=to)
    names = {name for name, _ in tf.train.list_variables(prefix)}
    assert expected <= names and len(names) == 4


def test_a_scope_of_a_name_based_file_is_left_out(notebook: dict[str, Any], named: str) -> None:
    import tensorflow as tf

    explorer = cv.show(named)
    assert ".without('/adam_/')" in _asked(explorer, "without", query="/adam_/")
    _, prefix = _made(explorer, "without", notebook, nodes=[explorer.graph.node_id("bert/layer_1")])
    assert {name for name, _ in tf.train.list_variables(prefix)} == {"bert/layer_0/w", "step"}


def test_the_code_has_the_notebooks_own_names(notebook: dict[str, Any], trained: str) -> None:
    graph = cv.graph(trained)
    notebook.update(viz=cv, before=graph, slim=1)
    code = _asked(cv.show(graph), "without", query="role:opt")
    assert code == (
        "slim_2 = before.without('role:opt')\n"
        "viz.show(before, against=slim_2)\n"
        "# slim_2.write('ckpt-slim_2')\n"
    )


def test_a_snapshot_and_an_edited_graph_need_a_name(
    notebook: dict[str, Any], tmp_path: Path
) -> None:
    snapshot = cv.snapshot(ckpt(a=var(1.0), b=var(2.0)))
    explorer = cv.show(snapshot)
    node = explorer.graph.node_id("a")
    assert _asked(explorer, "without", nodes=[node]).startswith("No variable of the notebook holds")
    notebook["snap"] = snapshot
    assert "slim = snap.graph.without('a')\ncv.show(snap, against=slim)" in _asked(
        explorer, "without", nodes=[node]
    )
    _, prefix = _made(explorer, "without", notebook, nodes=[node])
    b = var(0.0)
    ckpt(b=b).read(prefix).assert_consumed()
    assert b.numpy() == 2
    edited = cv.graph(saved(tmp_path, a=var(), b=var())).without("a")
    assert _asked(cv.show(edited), "only", nodes=[1]).startswith(
        "No variable of the notebook holds"
    )
    notebook["edited"] = edited
    assert "part = edited.only('b')" in _asked(cv.show(edited), "only", query="b")


def test_a_check_copies_its_checkpoint_and_a_diff_each_side(
    notebook: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    path = saved(tmp_path, a=var(), b=var())
    other = saved(tmp_path / "other", a=var(), c=var())
    check = cv.show(ckpt(a=var(), c=var()), against=path)
    b, c = check.select("b"), check.select("c")
    assert f"cv.graph({path!r}).without('b')" in _asked(check, "without", nodes=[b])
    assert "has no such part" in _asked(check, "without", nodes=[c])
    assert f"cv.graph({path!r}).without('b')" in _asked(check, "without", query="is:saved")
    diff = cv.show(path, against=other)
    a = diff.select("a")
    for side, prefix in (("a", path), ("b", other)):
        code = _asked(diff, "only", nodes=[a], side=side)
        assert f"cv.graph({prefix!r}).only('a')" in code
    both = [a, diff.select("b")]
    assert "has no such part; choose the other side" in _asked(diff, "only", nodes=both, side="b")
    code = _asked(diff, "only", nodes=both, side="a")
    assert f"cv.graph({path!r}).only('a', 'b')\n" in _on_one_line(code)


HOSTILE = (
    *("a'b", 'a"""b', "role:slot", "-x", "/x/", "\n# slim.write('x')"),
    *("\u202eevil", "x')#", "."),
)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["without", "only", "renamed"])
def test_hostile_names_are_literals_of_printable_characters(
    name: str, kind: str, notebook: dict[str, Any], tmp_path: Path
) -> None:
    import tensorflow as tf

    root = tf.train.Checkpoint(kept=var())
    root._track_trackable(tf.train.Checkpoint(v=var()), name)
    path = root.write(str(tmp_path / "hostile"))
    explorer = cv.show(path)
    (node,) = [
        child.node_id for child in explorer.graph.nodes[0].children if child.local_name == name
    ]
    code = _asked(explorer, kind, nodes=[node], to="new")
    assert code.replace("\n", "").isprintable()
    calls = [part for part in ast.walk(ast.parse(code)) if isinstance(part, ast.Call)]
    assert len(calls) == 3  # graph, the edit, show
    copy, _ = _made(explorer, kind, notebook, nodes=[node], to="new")
    kept = {"without": {"kept"}, "only": {name}, "renamed": {"kept", "new"}}[kind]
    assert {child.local_name for child in copy.nodes[0].children} == kept


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ({"kind": "write", "nodes": [1]}, "found the edit 'write'"),
        ({"kind": ["without"], "nodes": [1]}, "found the edit"),
        ({"kind": "without", "nodes": [99]}, "found nodes [99]"),
        ({"kind": "without", "nodes": [True]}, "found nodes [True]"),
        ({"kind": "without", "nodes": 1}, "found nodes 1"),
        ({"kind": "without", "nodes": []}, "has no such part"),
        ({"kind": "without", "query": 3}, "found the query 3"),
        ({"kind": "without", "query": "nothing"}, "has no such part"),
        ({"kind": "without", "nodes": [0]}, "found the root"),
        ({"kind": "renamed", "nodes": [0], "to": "x"}, "found the root"),
        ({"kind": "renamed", "nodes": [1]}, "found the new name None"),
        ({"kind": "renamed", "nodes": [1], "to": "x" * 201}, "found the new name"),
        ({"kind": "renamed", "nodes": [1], "to": ""}, "found an empty name"),
        ({"kind": "renamed", "nodes": [1], "to": "b"}, "has a 'b' already"),
        ({"kind": "without"}, "found the question"),
    ],
)
def test_what_cannot_be_copied_has_a_reason(
    question: dict[str, Any], reason: str, notebook: dict[str, Any], tmp_path: Path
) -> None:
    explorer = cv.show(saved(tmp_path, a=var(), b=var()))
    answer, buffers = explorer._answer({"ask": "copy", **question})
    assert reason in answer["error"] and buffers == []


def test_live_objects_have_no_copy(notebook: dict[str, Any]) -> None:
    assert "cv.snapshot(live)" in _asked(cv.show(ckpt(a=var())), "without", nodes=[1])


def test_more_parts_than_code_can_name_need_a_query(
    notebook: dict[str, Any], tmp_path: Path
) -> None:
    parts = {f"part{number}": var() for number in range(150)}
    explorer = cv.show(saved(tmp_path, other=var(), **parts))
    assert "('part')" in _asked(explorer, "without", query="part")
    check = cv.show(ckpt(other=var()), against=explorer.graph.provenance.prefix)  # type: ignore[union-attr]
    reason = "found 150 parts, expected at most 100 by name; search with a field"
    assert reason in _asked(check, "without", query="is:saved")
