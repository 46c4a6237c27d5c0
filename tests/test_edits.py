"""An edited graph is the one that TensorFlow would save of a program that was edited likewise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.edits.named_edit import NamedEdit
from tests.support.graphs import graph as damaged
from tests.support.programs import ckpt, module, object_graph_in, var, written

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

Edit = Callable[[cv.ObjectGraph], cv.ObjectGraph]


def _structure(graph: Any) -> list[Any]:
    """Return what a checkpoint has of each node: edges, keys and slots."""
    return [
        (node.children, [a.checkpoint_key for a in node.attributes], node.slot_variables, node.role)
        for node in graph.nodes
    ]


def _assert_same(edited: cv.ObjectGraph, program: Any, tmp_path: Path) -> None:
    """Assert that a graph is the one of a program, and restores as the program does."""
    expected = cv.graph(written(tmp_path / "expected", program))
    assert _structure(edited) == _structure(expected)
    assert [edited.name(i) for i in range(len(edited.nodes))] == [
        expected.name(i) for i in range(len(expected.nodes))
    ]
    assert [node.slot for node in edited.nodes] == [node.slot for node in expected.nodes]
    if all(edited.tensor_keys(a.checkpoint_key) for node in edited.nodes for a in node.attributes):
        _assert_written(edited, program, tmp_path)


def _assert_written(edited: cv.ObjectGraph, program: Any, tmp_path: Path) -> None:
    """Assert that the file of a graph is the one that TensorFlow writes, except for the values."""
    path = edited.write(tmp_path / "edited")
    assert object_graph_in(path) == object_graph_in(str(tmp_path / "expected" / "written"))
    status = program.read(path)
    status.assert_consumed()
    now = cv.graph(program)
    for obj, node in enumerate(edited.nodes):
        for attribute in node.attributes:
            value = now.read(now.nodes[obj].attributes[0].checkpoint_key)
            np.testing.assert_array_equal(value, edited.read(attribute.checkpoint_key))


def _model(keras: Any, *, layer: str = "l1", has_optimizer: bool = True, extra: bool = True) -> Any:
    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            setattr(self, layer, keras.layers.Dense(3))
            if extra:
                self.l2 = keras.layers.Dense(2)

        def call(self, inputs: Any) -> Any:
            inner = getattr(self, layer)(inputs)
            return self.l2(inner) if extra else inner

    net = Net()
    net(np.zeros((1, 2), "float32"))
    optimizer = keras.optimizers.Adam()
    optimizer.build(net.trainable_variables)
    return ckpt(net=net, step=var(3), **({"optimizer": optimizer} if has_optimizer else {}))


@pytest.fixture(params=["keras", "tf_keras"])
def keras(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param)


MODEL_EDITS: dict[str, tuple[Edit, dict[str, Any]]] = {
    "a layer is renamed": (lambda graph: graph.renamed({"net.l1": "hidden"}), {"layer": "hidden"}),
    "by its whole path": (lambda graph: graph.renamed({"net.l1": "net.z"}), {"layer": "z"}),
    "without the optimizer": (lambda graph: graph.without("optimizer"), {"has_optimizer": False}),
    "without a layer": (lambda graph: graph.without("net.l2"), {"extra": False}),
    "a part alone": (lambda graph: graph.only("net", "step"), {"has_optimizer": False}),
    "twice": (
        lambda graph: graph.without("optimizer", "net.l2").renamed({"net.l1": "x"}),
        {"has_optimizer": False, "extra": False, "layer": "x"},
    ),
}


@pytest.mark.parametrize(("edit", "program"), MODEL_EDITS.values(), ids=MODEL_EDITS)
def test_an_edited_model(edit: Edit, program: dict[str, Any], keras: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "saved", _model(keras))
    graph = cv.graph(path)
    before = _structure(graph)
    edited = edit(graph)
    other = _model(keras, **program)
    _assert_same(edited, other, tmp_path)
    assert _structure(graph) == before == _structure(cv.graph(path))
    kernel = next(node for node in edited.nodes if node.attributes and node.attributes[0].shape)
    key = kernel.attributes[0].checkpoint_key
    assert edited.read(key).shape == kernel.attributes[0].shape
    assert edited.values(progress=False).to_text(None)
    dry, real = cv.check(edited, path, method="read"), cv.check(other, path, method="read")
    assert (dry.consumed, dry.existing_objects_matched) == (
        real.consumed,
        real.existing_objects_matched,
    )
    assert dry.unresolved == real.unresolved and dry.unmatched == real.unmatched
    assert [step.action for step in dry.steps] == [step.action for step in real.steps]


def _blocks(*values: float) -> Any:
    return ckpt(net=module(blocks=[module(w=var([value])) for value in values]), head=var(9.0))


@pytest.mark.parametrize(
    ("edit", "values"),
    [
        (lambda graph: graph.without("net.blocks.1"), (1.0, 3.0)),
        (lambda graph: graph.exchanged("net.blocks.0", "net.blocks.2"), (3.0, 2.0, 1.0)),
        (lambda graph: graph.moved("net.blocks.2", "net.blocks", "0"), (3.0, 1.0, 2.0)),
        (lambda graph: graph.moved("net.blocks.0", "net.blocks", "2"), (2.0, 3.0, 1.0)),
    ],
    ids=["removed", "exchanged", "moved up", "moved down"],
)
def test_items_of_a_list_move_on(edit: Edit, values: tuple[float, ...], tmp_path: Path) -> None:
    edited = edit(cv.graph(written(tmp_path / "saved", _blocks(1.0, 2.0, 3.0))))
    _assert_same(edited, _blocks(*values), tmp_path)
    for place, value in enumerate(values):
        assert edited.read(f"net.blocks.{place}.w").tolist() == [value]


def test_an_inserted_part_has_the_structure_of_another_and_no_values(tmp_path: Path) -> None:
    path = written(tmp_path / "saved", _blocks(1.0, 2.0))
    edited = cv.graph(path).inserted("net.blocks", "1", like="net.blocks.0")
    _assert_same(edited, _blocks(1.0, 0.0, 2.0), tmp_path)
    assert edited.read("net.blocks.2.w").tolist() == [2.0]
    with pytest.raises(cv.NoSuchTensorError, match="after the edits"):
        edited.read("net.blocks.1.w")
    check = cv.check(edited, path)
    assert "(root).net.blocks.2.w" in check.unmatched
    assert any(step.action == "bind" and step.local_name == "1" for step in check.steps)


def test_a_part_moves_to_another_holder(tmp_path: Path) -> None:
    path = written(tmp_path / "saved", ckpt(a=module(x=var(1.0), y=var(2.0)), b=module(z=var(3.0))))
    edited = cv.graph(path).moved("a.x", "b", "w")
    _assert_same(edited, ckpt(a=module(y=var()), b=module(z=var(), w=var())), tmp_path)
    assert float(edited.read("b.w")) == 1.0


def _program() -> Any:
    blocks = [module(w=var([float(i)])) for i in range(3)]
    return ckpt(
        net=module(blocks=blocks, a=module(x=var(1.0)), b=module(y=var(2.0))), head=var(9.0)
    )


@pytest.mark.parametrize(
    "edit",
    [
        NamedEdit("rename", "net.a", "c"),
        NamedEdit("rename", "head", "tail"),
        NamedEdit("rename", "net.a.x", "layer-1"),
        NamedEdit("remove", "net.a"),
        NamedEdit("remove", "net.blocks.1"),
        NamedEdit("move", "net.a.x", "z", "net.b"),
        NamedEdit("move", "net.blocks.2", "0", "net.blocks"),
        NamedEdit("move", "net.a", "1", "net.blocks"),
        NamedEdit("insert", "net.blocks.0", "1", "net.blocks"),
        NamedEdit("insert", "net.a", "other", "net"),
        NamedEdit("exchange", "net.a", other="net.b"),
        NamedEdit("exchange", "net.blocks.0", other="net.blocks.2"),
        NamedEdit("exchange", "net.blocks.0", other="net.a"),
    ],
    ids=lambda edit: f"{edit.kind} {edit.part} {edit.to or edit.other}",
)
def test_the_code_of_an_edit_does_the_same_to_a_program(edit: NamedEdit) -> None:
    """Names and keys agree; a new attribute comes behind the others, so ids may differ."""
    import tensorflow as tf

    program = _program()
    graph = cv.graph(program)
    edited = edit.applied(graph)
    exec(edit.code(graph), {"ckpt": program, "tf": tf})

    def keys(graph: Any) -> list[str]:
        return sorted(a.checkpoint_key for node in graph.nodes for a in node.attributes)

    assert keys(edited) == keys(cv.graph(program))
    assert sorted(map(edited.name, range(len(edited.nodes)))) == sorted(
        map(cv.graph(program).name, range(len(edited.nodes)))
    )


def test_an_unknown_edit_names_the_known_ones() -> None:
    with pytest.raises(cv.EditError, match="found the edit 'paint', expected one of rename"):
        NamedEdit("paint", "net").applied(cv.graph(_program()))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda graph: graph.renamed({"net": "head"}), "the root has a 'head' already"),
        (lambda graph: graph.renamed({"net": ""}), "found an empty name"),
        (lambda graph: graph.renamed({"net": "a/b"}), "a path with a slash; expected 'b'"),
        (
            lambda graph: graph.renamed({"net/blocks": "net/parts"}),
            "expected 'parts' or 'net.parts'",
        ),
        (lambda graph: graph.renamed({"net": "x", "head": "x"}), "the root has a 'x' already"),
        (lambda graph: graph.renamed({"net.blocks": "other.blocks"}), "which is in another place"),
        (lambda graph: graph.renamed({"net.blocks.0": "x"}), "items have places"),
        (lambda graph: graph.renamed({"(root)": "x"}), "the root, expected a part"),
        (lambda graph: graph.without("nothing_here"), "found no node for 'nothing_here'"),
        (lambda graph: graph.without("(root)"), "found the root"),
        (lambda graph: graph.moved("net", "net.blocks", "0"), "a part cannot hold itself"),
        (lambda graph: graph.moved("head", "net.blocks", "7"), "expected 0 to 2"),
        (lambda graph: graph.exchanged("net", "net.blocks"), "not two separate parts"),
    ],
)
def test_an_edit_that_does_not_fit_says_why(edit: Edit, message: str, tmp_path: Path) -> None:
    graph = cv.graph(written(tmp_path / "saved", _blocks(1.0, 2.0)))
    with pytest.raises(cv.EditError, match=message.replace("(", r"\(").replace(")", r"\)")):
        edit(graph)


def test_two_parts_exchange_their_names(tmp_path: Path) -> None:
    path = written(tmp_path / "saved", ckpt(net=module(a=var(1.0), b=var(2.0)), c=var(3.0)))
    edited = cv.graph(path).renamed({"net.a": "net.b", "net.b": "a"})
    assert [float(edited.read(name)) for name in ("net.a", "net.b")] == [2.0, 1.0]
    rotated = edited.renamed({"net": "c", "c": "net", "c.a": "x"})
    assert [float(rotated.read(name)) for name in ("net", "c.x", "c.b")] == [3.0, 2.0, 1.0]


def test_a_shared_part_stays_where_others_hold_it(tmp_path: Path) -> None:
    shared = var(1.0)
    path = written(tmp_path / "saved", ckpt(a=module(w=shared), b=module(w=shared)))
    edited = cv.graph(path).renamed({"a": "c"})
    assert [child.local_name for child in edited.nodes[0].children][:2] == ["c", "b"]
    assert edited.node_id("b.w") == edited.node_id("c.w")
    assert float(edited.read("b.w")) == 1.0


def test_what_another_part_holds_stays_without_the_first_one(tmp_path: Path) -> None:
    shared = module(v=var(1.0))
    parts = {"a": module(w=shared, x=var(2.0)), "b": module(w=shared)}
    edited = cv.graph(written(tmp_path / "saved", ckpt(**parts))).without("a")
    _assert_same(edited, ckpt(b=module(w=module(v=var()))), tmp_path)
    assert float(edited.read("b.w.v")) == 1.0


def test_the_code_that_removes_a_layer_names_the_optimizer_that_holds_its_variables() -> None:
    graph = cv.graph(_model(pytest.importorskip("keras")))
    assert NamedEdit("remove", "net.l1").code(graph) == (
        "del ckpt.net.l1\n# Build ckpt.optimizer again: it holds variables of this part."
    )
    assert NamedEdit("remove", "optimizer").code(graph) == "del ckpt.optimizer"


def test_no_code_removes_an_object_that_no_path_leads_to() -> None:
    graph = damaged({0: {"0": 1}, 2: {"0": 3}}, variables=(1, 3))
    assert NamedEdit("remove", 1).code(graph).startswith("items = [*ckpt]\nitems.pop(0)")
    for unreachable in (2, 3):
        with pytest.raises(cv.EditError, match=f"no path from the root to node {unreachable},"):
            NamedEdit("remove", unreachable).code(graph)


def test_the_only_item_of_a_list_has_a_place_there_and_no_name(tmp_path: Path) -> None:
    graph = cv.graph(written(tmp_path / "saved", _blocks(1.0)))
    assert _structure(graph.moved("net.blocks.0", "net.blocks")) == _structure(graph)
    with pytest.raises(cv.EditError, match="found 'new' as a place in a list, expected 0 to 0"):
        graph.moved("net.blocks.0", "net.blocks", "new")


def test_many_edits_in_a_row_keep_the_values_near(tmp_path: Path) -> None:
    graph = cv.graph(written(tmp_path / "saved", _blocks(1.0)))
    for number in range(10_000):
        graph = graph.renamed({f"w{number - 1}" if number else "head": f"w{number}"})
    assert float(graph.read("w9999")) == 9.0
