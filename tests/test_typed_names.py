"""Each name that ckpt-viz prints of a node can be typed, and means this node everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from ckpt_viz.files.values.places import in_layer_names
from ckpt_viz.graphs.layers.rows import Layers
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.nodes.printed_names import readable_name
from ckpt_viz.graphs.object_graph.lookup import first_meant
from ckpt_viz.live.sources.pictured import ObjectGraph

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

Make = Callable[[bool], Any]
"""Makes a program: as it was saved, or changed since."""


def _checkpoint(model: Any, optimizer: Any = None) -> Any:
    import tensorflow as tf

    more = {} if optimizer is None else {"optimizer": optimizer}
    return tf.train.Checkpoint(model=model, **more)


def _functional(keras: Any) -> Make:
    def make(is_changed: bool) -> Any:
        names = ["c1", "block_3_conv", "block_3_BN", "block_4_conv", "block_4_BN", "kernel", "head"]
        names[1:1] = ["new_head"] if is_changed else []
        inputs = tensor = keras.Input((4,), name="inputs")
        for name in names:
            layer = keras.layers.BatchNormalization if "BN" in name else keras.layers.Dense
            tensor = (layer(name=name) if "BN" in name else layer(4, name=name))(tensor)
        model = keras.Model(inputs, tensor, name="functional")
        optimizer = keras.optimizers.Adam()
        optimizer.build(model.trainable_variables)
        return _checkpoint(model, optimizer)

    return make


def _sequential(keras: Any) -> Make:
    def make(is_changed: bool) -> Any:
        names = ["first", "dense", "dense_1", "last.layer"]
        names = [name for name in names if not (is_changed and name == "dense")]
        layers = [keras.layers.Dense(3, name=name) for name in names]
        return _checkpoint(keras.Sequential([keras.Input((3,)), *layers]))

    return make


def _subclassed(keras: Any) -> Make:
    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self, *, is_changed: bool) -> None:
            super().__init__()
            self.head = keras.layers.Dense(2, name="tail")
            self.tail = keras.layers.Dense(3, name="head")
            self.stages = [keras.layers.Dense(3, name=f"stage{i}") for i in range(2)]
            self.by_name = {"a/b": keras.layers.Dense(3), "a.b": keras.layers.Dense(3)}
            if is_changed:
                self.renamed = self.stages.pop()

        def call(self, inputs: Any) -> Any:
            more = [self.renamed] if hasattr(self, "renamed") else []
            for layer in (*self.stages, *more, *self.by_name.values(), self.tail, self.head):
                inputs = layer(inputs)
            return inputs

    def make(is_changed: bool) -> Any:
        import numpy as np

        net = Net(is_changed=is_changed)
        net(np.zeros((1, 3), "float32"))
        return _checkpoint(net)

    return make


def _nested(keras: Any) -> Make:
    def make(is_changed: bool) -> Any:
        def part(name: str, *layers: str) -> Any:
            dense = [keras.layers.Dense(3, name=layer) for layer in layers]
            return keras.Sequential([keras.Input((3,)), *dense], name=name)

        inner = "encoder" if not is_changed else "backbone"
        inputs = keras.Input((3,))
        parts = [part(inner, "dense", "norm"), part("decoder", "dense", "norm", "out")]
        tensor = inputs
        for layer in parts:
            tensor = layer(tensor)
        return _checkpoint(keras.Model(inputs, tensor))

    return make


def _modules(is_changed: bool) -> Any:
    import tensorflow as tf

    class Attention(tf.Module):  # type: ignore[misc]
        def __init__(self, name: str) -> None:
            super().__init__(name)
            self.w = tf.Variable(tf.ones((2, 2)), name="weights")
            self._hidden = tf.Variable(tf.zeros(3), name="hidden")

    root = tf.Module()
    root.blocks = [Attention(f"attention_{i}") for i in range(3)]
    root.w = Attention("w")
    if is_changed:
        root.blocks.insert(0, Attention("first"))
    return _checkpoint(root)


def _containers(is_changed: bool) -> Any:
    import tensorflow as tf

    def value() -> Any:
        return tf.Variable(tf.ones(3))

    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    parts = {"a.b": value(), "a/b": value(), "a": {"b": value()}, "with blank": value()}
    items = [value(), {"x": value()}, (value(), value())]
    changed = items[1:] if is_changed else items
    return tf.train.Checkpoint(parts=parts, items=changed, table=table, a=value())


MAKERS: dict[str, Callable[[Any], Make]] = {
    "functional": _functional,
    "sequential": _sequential,
    "subclassed": _subclassed,
    "nested": _nested,
}


def _keras(name: str) -> Any:
    return pytest.importorskip(name)


@pytest.fixture(
    params=[
        *(f"{keras} {maker}" for keras in ("keras", "tf_keras") for maker in MAKERS),
        *("modules", "containers"),
    ]
)
def make(request: pytest.FixtureRequest) -> Make:
    keras, _, maker = request.param.partition(" ")
    if not maker:
        return {"modules": _modules, "containers": _containers}[keras]
    return MAKERS[maker](_keras(keras))


def _assert_typed(names: Iterable[tuple[str, int | None]], graph: ObjectGraph) -> None:
    """Assert that each name means its node in all functions, or that these tell several nodes."""
    explorer, table = cv.show(graph), graph.values(progress=False)
    names = [*names]
    assert names
    for name, node in names:
        meant = [*first_meant(graph.meanings(name))]
        assert meant, f"{name!r} means nothing"
        # A path from the root wins over the last name of another one.
        paths = {graph.names.place(i) for i in meant} | {".".join(graph.path(i)) for i in meant}
        assert node is None or node in meant or name in paths, (name, node, meant)
        assert set(meant) <= set(graph.find(name)), name
        assert explorer.find(name) == graph.find(name)
        if len(meant) > 1:
            for function in (graph.node_id, explorer.select, graph.read):
                with pytest.raises(cv.CkptVizError, match=f"{len(meant)} nodes have it: "):
                    function(name)
            continue
        assert graph.node_id(name) == explorer.select(name) == meant[0]
        if len(attributes := graph.nodes[meant[0]].attributes) == 1:
            key = attributes[0].checkpoint_key
            _assert_read(graph, name, key)
            assert graph.tensor_keys(key) != (key,) or table[name].key == key, name


def _assert_read(graph: ObjectGraph, name: str, key: str) -> None:
    if graph.tensor_keys(key) != (key,):
        return
    try:
        value = graph.read(key)
    except cv.UnsupportedError:  # a live table
        return
    assert graph.read(name).tobytes() == value.tobytes(), name


def _of_graph(graph: ObjectGraph) -> Iterator[tuple[str, int | None]]:
    """Yield the names that show a single graph, and their nodes where the text tells these."""
    for row in graph.values(progress=False):
        yield row.place, row.node_id
        yield row.key, row.node_id
    for line in graph.to_text("objects", 10_000).partition("(root) ")[2].splitlines()[1:]:
        label = re.fullmatch(r"[│ ]*[├└]─ (.*?)(?: →)? #(\d+) (.*)", line)
        assert label is not None, line
        own, node_id, rest = label[1], int(label[2]), label[3]
        if " → #" in line:
            yield rest, node_id
        else:
            yield own.partition(" at ")[0], node_id
    yield from _of_outline(graph.layers, len(graph.nodes))
    for node_id, node in enumerate(graph.nodes):
        if node_id == ROOT or node_id in graph.first_edges:
            yield graph.name(node_id), node_id
            yield graph.names.place(node_id), node_id
            yield graph.names.place_or_state(node_id), node_id
            above = [node_id, *graph.tree.above(node_id)]
            if not any("." in graph.names.name(i) for i in above):
                yield graph.names.place(node_id).replace(".", "/"), None
            yield "/".join(graph.path(node_id)) or "(root)", None
        for attribute in node.attributes:
            if attribute.full_name:
                yield attribute.full_name, None
                yield f"{attribute.full_name}:0", None


def _of_outline(layers: Layers, size: int) -> Iterator[tuple[str, int | None]]:
    """Yield what the outline calls its rows: a layer of a block after the name of its block."""
    for row in layers.preorder():
        if ROOT < row < size:
            title, above = layers.title(row), layers.parents[row]
            yield title, row
            names = [title]
            while (group := layers.group(above)) is not None:
                if not group.is_alike:
                    names.append(group.first)
                above = layers.parents[above]
            yield " \u203a ".join(reversed(names)), row


def test_each_name_in_the_views_of_a_graph_can_be_typed(make: Make, tmp_path: Path) -> None:
    saved = cv.graph(make(False).write(str(tmp_path / "ckpt")))
    _assert_typed(_of_graph(saved), saved)
    _assert_typed(_of_graph(live := cv.graph(make(False))), live)


def _names_in_rows(text: str) -> Iterator[str]:
    """Yield the names in the rows of a check or a difference."""
    for line in text.splitlines():
        _, *cells = re.split(r"\s{2,}", line.strip())
        if not re.match(r"  [^\s\w]", line) or not cells:
            continue
        for cell in cells[:1]:
            yield from cell.split(" → ")
        for cell in cells[1:]:
            if name := re.fullmatch(r"(?:at|saved as|in the program|in [ab]) (.*)", cell):
                yield name[1]


def _names_in_comments(code: str) -> Iterator[str]:
    """Yield the names in the comments of a fix, and the keys behind them."""
    for line in code.splitlines():
        name = re.fullmatch(r"#   ((?!reader = |value|and \d+ more).*)", line)
        if name is not None and "assign(" not in line:
            called, _, key = name[1].partition(": ")
            called, _, places = called.partition(" may belong to ")
            yield called
            yield from filter(None, (key, *filter(None, places.split(" or "))))


def _assert_selected(names: Iterable[str], explorer: cv.Explorer) -> int:
    """Assert that each name selects a node of a comparison, or is that of several."""
    number = 0
    for number, name in enumerate(names, 1):  # noqa: B007
        try:
            node = explorer.select(name)
            # The search has the keys of the program alone; the file's keep those of its nodes.
            assert node in explorer.find(name) or "/.ATTRIBUTES/" in name, name
        except cv.NoSuchNodeError as error:
            assert " nodes have it: " in str(error), error
    return number


def test_each_name_in_a_comparison_can_be_typed(make: Make, tmp_path: Path) -> None:
    path = make(False).save(str(tmp_path / "ckpt"))
    live = make(True)
    check, diff = cv.check(live, path), cv.diff(path, cv.graph(live))
    checked, differing = cv.show(live, against=path), cv.show(path, against=cv.graph(live))
    _assert_selected(_names_in_rows(check.details.to_text(None)), checked)  # perhaps none
    assert _assert_selected(_names_in_rows(diff.details.to_text(None)), differing)
    for fix in (check.fix(), check.fix(guesses=True)):
        # TensorFlow does not track some: they are in neither graph.
        untracked = {
            check.live.names.child_place(node_id, attribute.name)
            for node_id, node in enumerate(check.live.nodes)
            for attribute in node.not_saved
        }
        _assert_selected({*_names_in_comments(fix.code)} - untracked, checked)
    saved = check.saved
    assert saved is not None
    for guess in check.overlay.guesses:
        tensorflows = saved.name(saved.node_id(guess))
        for name in (guess, guess.replace(".", "/"), tensorflows):
            assert check.fix(guesses=name).pairs == check.fix(guesses=guess).pairs


def test_each_name_in_the_terminal_can_be_typed(make: Make, tmp_path: Path) -> None:
    paths = [make(False).write(str(tmp_path / f"ckpt-{step}")) for step in range(2)]
    saved, explorer = cv.graph(paths[0]), cv.show(paths[0])
    rows = [row for row in cv.history(paths, progress=False).rows if " [" not in row.place]
    assert rows
    _assert_typed(((row.place, row.node_id) for row in rows), saved)
    for row in rows[:2]:
        table = CliRunner().invoke(main, ["values", paths[0], "--where", row.place])
        assert re.search(rf"^{re.escape(row.place)} ", table.output, re.MULTILINE), table.output
    text = CliRunner().invoke(main, ["check", "--details", paths[0], paths[1]]).output
    _assert_selected(_names_in_rows(text), explorer)


def test_each_name_in_a_name_based_checkpoint_can_be_typed(tmp_path: Path) -> None:
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for name in ("net/dense/kernel", "net/dense/bias", "net/dense.1/kernel", "kernel"):
            tf.compat.v1.get_variable(name, initializer=[1.0])
        session.run(tf.compat.v1.global_variables_initializer())
        path = tf.compat.v1.train.Saver().save(session, str(tmp_path / "model"))
    saved = cv.graph(path)
    _assert_typed(_of_graph(saved), saved)


def test_a_name_that_is_cut_where_it_is_printed_can_be_typed(tmp_path: Path) -> None:
    import tensorflow as tf

    root = holder = tf.Module()
    for step in range(60):
        holder.below = tf.Module()
        holder = holder.below
        holder.w = tf.Variable(float(step))
    root.a_layer_with_a_name_of_some_length = tf.Module()
    root.a_layer_with_a_name_of_some_length.a_kernel_with_a_long_name_too = tf.Variable(1.0)
    root.long = tf.Module()
    setattr(root.long, "n" * 200, tf.Variable(2.0))
    paths = []
    for step in range(2):
        paths.append(
            tf.train.Checkpoint(net=root, step=tf.Variable(step)).write(f"{tmp_path}/{step}")
        )
        root.long.trainable_variables[0].assign_add(1.0)
        holder.w.assign_add(1.0)
    saved, after = map(cv.graph, paths)
    table = saved.values(progress=False).to_text(None)
    printed = [line.split("  ")[0].strip() for line in table.splitlines()]
    cut = [name for name in printed if name.startswith("…")]
    assert len(cut) > 50
    differences = str(cv.diff(saved, after).values)
    cut += re.findall(r"^ *(…\S+)", differences, re.MULTILINE)
    cut += [readable_name(saved, node_id) for node_id in range(len(saved.nodes))]
    _assert_typed([(name, None) for name in cut], saved)


@pytest.mark.parametrize("kind", ["two optimizers", "a wrapper, stored twice"])
def test_states_of_one_name_are_told_apart_by_their_optimizers(kind: str, tmp_path: Path) -> None:
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="head")])
    if kind == "two optimizers":
        optimizers = {name: keras.optimizers.Adam() for name in ("first", "second")}
        for optimizer in optimizers.values():
            optimizer.build(model.trainable_variables)
        path = tf.train.Checkpoint(model=model, **optimizers).save(str(tmp_path / "ckpt"))
    else:
        model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(momentum=0.9)))
        model.optimizer.build(model.trainable_variables)
        path = str(tmp_path / "a.weights.h5")
        model.save_weights(path)
    graph = cv.graph(path)
    table = graph.values(progress=False)
    rows = in_layer_names(graph, table)
    assert len({row.place for row in rows}) == len(rows) > 6
    slots = [row for row in rows if graph.nodes[row.node_id].slot is not None]
    assert slots
    history = cv.history([path, path], progress=False)
    for row in slots:
        assert "[" in row.place
        assert first_meant(graph.meanings(row.place)) == [row.node_id]
        assert history[row.place].key == table[row.place].key == row.key
