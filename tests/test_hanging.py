"""Blocks that hang from the optimizer alone: said where it is so, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.render.text import advice
from ckpt_viz.graphs.slots.hanging import hanging_from_optimizers
from tests.support import live_objects
from tests.support.graphs import keras3_adam

pytestmark = pytest.mark.tf


@pytest.fixture(autouse=True)
def _keras_3() -> None:
    import keras

    if keras.__version__.startswith("2."):
        pytest.skip("the optimizers of Keras 2 do not track the variables that they train")


@pytest.mark.parametrize("blocks", [1, 3])
def test_blocks_that_no_checkpoint_holds_are_the_first_words(blocks: int, tmp_path: Path) -> None:
    import tensorflow as tf

    model = net(named_blocks(blocks), hold=list)
    trained(model, model.blocks)
    ckpt = tf.train.Checkpoint(model=model)
    path = ckpt.write(str(tmp_path / "c"))
    says = f"model.blocks: {4 * blocks} variables are in no checkpoint of this program."
    step = (
        "Make the list, and each list in it, a tuple, as in self.blocks = tuple(blocks), and save "
        "again."
    )
    graph, check = cv.graph(ckpt), cv.check(ckpt, path)
    assert str(graph).splitlines()[1] == str(check).splitlines()[1] == f"{says} {step}"
    row = next(line for line in str(graph).splitlines() if "in no checkpoint   " in line)
    assert row.split() == ["└─", "blocks", "in", "no", "checkpoint", f"{4 * blocks}", "variables"]
    assert f"blocks, in no checkpoint, {4 * blocks} variables</title>" in graph.to_svg()
    table = check.overlay.table
    assert table is not None and table.sentence.startswith(says) and table.notes[0] == step
    # TensorFlow agrees: the file lacks these variables, and has them after this step.
    stored = [name for name, _ in tf.train.list_variables(path)]
    model.blocks = tuple(map(tuple, model.blocks))
    again = tf.train.list_variables(tf.train.Checkpoint(model=model).write(str(tmp_path / "t")))
    assert len(again) - len(stored) == 4 * blocks
    assert "in no checkpoint" not in str(cv.graph(tf.train.Checkpoint(model=model)))


def test_blocks_of_a_program_without_its_optimizer_are_in_the_checkpoint(tmp_path: Path) -> None:
    import tensorflow as tf

    model, bare = (net(named_blocks(1), hold=list) for _ in range(2))
    optimizer, _ = trained(model, model.blocks)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).write(str(tmp_path / "c"))
    bare(tf.ones((1, 2)))
    text = str(cv.check(tf.train.Checkpoint(model=bare), path))
    assert "in no checkpoint" not in text
    assert text.count("The checkpoint has 4 trained values in the optimizer's list alone.") == 1
    (row,) = (line for line in text.splitlines() if "  not tracked  " in line)
    assert row.endswith(" 12 values")  # two layers with the states of an optimizer


def hanging(source: Any, tmp_path: Path) -> tuple[int, int]:
    """Return how many variables and blocks hang, which must be the same live and saved."""
    import tensorflow as tf

    is_checkpoint = isinstance(source, tf.train.Checkpoint)
    path = (source if is_checkpoint else tf.train.Checkpoint(source)).write(str(tmp_path / "c"))
    found = [hanging_from_optimizers(cv.graph(of).nodes) for of in (source, path)]
    assert found[0].names == found[1].names
    return len(found[0].variables), found[0].blocks


def named_blocks(count: int = 3) -> list[Any]:
    """Return blocks of two layers whose variables have their names."""
    import keras

    blocks = []
    for place in range(count):
        layers = [keras.layers.Dense(2, name=part) for part in ("a", "b")]
        with keras.name_scope(f"block{place}"):
            for layer in layers:
                layer.build((None, 2))
        blocks.append(layers)
    return blocks


def net(blocks: Sequence[Any], *, hold: Callable[[Any], Any]) -> Any:
    """Return a model that holds its blocks in what `hold` makes of them."""
    import keras

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = hold(blocks)
            self.embed = keras.layers.Dense(2, name="embed")

        def call(self, x: Any) -> Any:
            x = self.embed(x)
            for block in blocks:
                for layer in block:
                    x = layer(x)
            return x

    made: Any = Net
    return made()


def trained(model: Any, blocks: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return an optimizer that has trained the model with all its blocks, and their variables."""
    import keras
    import tensorflow as tf

    model(tf.ones([1, 2]))
    below = [v for block in blocks for layer in block for v in layer.trainable_variables]
    optimizer = keras.optimizers.Adam()
    variables = [*model.embed.trainable_variables, *below]
    optimizer.build(variables)
    optimizer.apply_gradients([(tf.ones(v.shape), v) for v in variables])
    return optimizer, below


def test_tables_name_the_variables_of_such_blocks_and_each_name_can_be_typed(
    tmp_path: Path,
) -> None:
    import tensorflow as tf

    blocks = named_blocks()
    model = net(blocks, hold=list)
    optimizer, below = trained(model, blocks)
    graph = cv.graph(tf.train.Checkpoint(model=model, optimizer=optimizer).write(f"{tmp_path}/c"))
    names = [
        f"optimizer.blocks.block{place}.{part}.{value}"
        for place in range(3)
        for part in ("a", "b")
        for value in ("kernel", "bias")
    ]
    table = graph.values(progress=False).to_text(None)
    for name, variable in zip(names, below, strict=True):
        assert re.search(rf"^{re.escape(name)}  ", table, re.MULTILINE)
        (row,) = [*graph.values(name, progress=False)]
        assert row.mean == pytest.approx(float(tf.reduce_mean(variable.value)), abs=1e-6)
        assert row.node_id == graph.node_id(name)


def test_checks_name_a_block_that_an_optimizer_alone_holds(tmp_path: Path) -> None:
    import tensorflow as tf

    def checkpoint(blocks: int) -> Any:
        model = net(named_blocks(blocks), hold=list)
        optimizer, _ = trained(model, model.blocks)
        return tf.train.Checkpoint(model=model, optimizer=optimizer)

    paths = {number: checkpoint(number).write(f"{tmp_path}/{number}") for number in (2, 3)}
    fewer, more = (cv.check(checkpoint(number), paths[other]) for number, other in ((2, 3), (3, 2)))
    assert str(fewer).splitlines()[1] == "You removed block2."
    assert str(more).splitlines()[1] == "You added block2 after block1."
    (row,) = (line for line in str(more).splitlines() if "not in the file" in line)
    assert row.split()[-3:] == ["blocks.block2", "12", "values"]
    assert "the program has no place for model.blocks.block2\n" in f"{fewer.fix()}\n"
    assert "the checkpoint has none for model.blocks.block2\n" in f"{more.fix()}\n"


def test_new_blocks_are_named_also_if_order_alone_tells_of_other_values(tmp_path: Path) -> None:
    import keras
    import tensorflow as tf

    class Block(keras.layers.Layer):  # type: ignore[misc]
        def __init__(self, name: str) -> None:
            super().__init__(name=name)
            self.norm = keras.layers.LayerNormalization()
            self.up, self.down = keras.layers.Dense(8), keras.layers.Dense(4)

        def call(self, inputs: Any) -> Any:
            return inputs + self.down(self.up(self.norm(inputs)))

    class Transformer(keras.Model):  # type: ignore[misc]
        def __init__(self, depth: int) -> None:
            super().__init__()
            self.blocks = [Block(name=f"block_{number}") for number in range(depth)]
            self.norm = keras.layers.LayerNormalization()

        def call(self, inputs: Any) -> Any:
            for block in self.blocks:
                inputs = block(inputs)
            return self.norm(inputs)

    def checkpoint(depth: int) -> Any:
        model = Transformer(depth)
        model(tf.ones((1, 4)))
        optimizer = keras.optimizers.Adam()
        optimizer.build(model.trainable_variables)
        return tf.train.Checkpoint(model=model, optimizer=optimizer)

    paths = {depth: checkpoint(depth).write(f"{tmp_path}/{depth}") for depth in (2, 4)}
    more, fewer = (cv.check(checkpoint(depth), paths[6 - depth]) for depth in (4, 2))
    assert str(more).splitlines()[1] == "You added block_2 and block_3."
    assert str(fewer).splitlines()[1] == "You removed block_2 and block_3."
    assert "blocks.block_2 … block_3 " in str(more)
    row = next(line for line in more.overlay.table.lines if "block_2" in line.live)
    assert row.live == "blocks.block_2 … block_3"


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "dict": lambda blocks: {f"b{place}": block for place, block in enumerate(blocks)},
    "closure": lambda blocks: lambda: blocks,
    "plain object": lambda blocks: type("Plain", (), {"held": blocks})(),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_blocks_that_tensorflow_does_not_follow_hang_from_the_optimizer(
    holder: str, tmp_path: Path
) -> None:
    import tensorflow as tf

    blocks = named_blocks()
    model = net(blocks, hold=HOLDERS[holder])
    optimizer, below = trained(model, blocks)
    both = tf.train.Checkpoint(model=model, optimizer=optimizer)
    assert hanging(both, tmp_path) == (12, 3)
    (said,) = advice(cv.graph(both))
    assert said.startswith(
        "3 blocks hang from the optimizer alone: without it they do not restore. Assign the blocks"
    )
    assert said in str(cv.graph(both))
    assert "3 blocks hang from the optimizer alone" in cv.graph(both).to_svg()
    # TensorFlow agrees: without the optimizer, a restore leaves these values alone.
    path = both.write(str(tmp_path / "both"))
    for variable in below:
        variable.assign(tf.zeros(variable.shape) + 9.0)
    tf.train.Checkpoint(model=model).read(path).expect_partial()
    assert all((variable.numpy() == 9.0).all() for variable in below)
    both.read(path)
    assert not any((variable.numpy() == 9.0).all() for variable in below)


def test_the_remedy_works(tmp_path: Path) -> None:
    import tensorflow as tf

    blocks = named_blocks()
    model = net(blocks, hold=lambda them: tuple(map(tuple, them)))
    optimizer, below = trained(model, blocks)
    both = tf.train.Checkpoint(model=model, optimizer=optimizer)
    assert hanging(both, tmp_path) == (0, 0)
    path = both.write(str(tmp_path / "both"))
    for variable in below:
        variable.assign(tf.zeros(variable.shape) + 9.0)
    tf.train.Checkpoint(model=model).read(path).expect_partial()
    assert not any((variable.numpy() == 9.0).all() for variable in below)


def test_variables_without_names_of_blocks_are_counted_themselves(tmp_path: Path) -> None:
    import keras
    import tensorflow as tf

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [keras.layers.Dense(2), keras.layers.Dense(2)]

        def call(self, x: Any) -> Any:
            return self.blocks[1](self.blocks[0](x))

    model = Net()
    model.compile("adam", "mse", run_eagerly=True)
    model.fit(tf.ones([2, 2]), tf.ones([2, 2]), verbose=0)
    variables, blocks = hanging(model, tmp_path)
    assert variables == 4
    noun = f"{blocks} blocks" if blocks else "4 variables"
    assert advice(cv.graph(model))[0].startswith(f"{noun} hang from the optimizer alone")


def block_of_two() -> Any:
    """Return a block as people write one, of two layers without names."""
    import keras

    class Block(keras.layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.norm = keras.layers.LayerNormalization()
            self.up = keras.layers.Dense(2)

        def call(self, x: Any) -> Any:
            return x + self.up(self.norm(x))

    made: Any = Block
    return made()


def in_a_list(optimizer: str, *, is_called_first: bool) -> Any:
    """Return a trained model that holds three blocks in a list."""
    import keras
    import tensorflow as tf

    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embed = keras.layers.Dense(2)
            self.blocks = [block_of_two() for _ in range(3)]

        def call(self, x: Any) -> Any:
            x = self.embed(x)
            for block in self.blocks:
                x = block(x)
            return x

    model: Any = Net()
    if is_called_first:
        model(tf.ones([2, 2]))
    model.compile(optimizer, "mse")
    model.fit(tf.ones([2, 2]), tf.ones([2, 2]), verbose=0)
    return tf.train.Checkpoint(model=model, optimizer=model.optimizer)


@pytest.mark.parametrize("is_called_first", [False, True])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_blocks_are_a_part_beside_the_layers_of_their_model(
    optimizer: str, is_called_first: bool, tmp_path: Path
) -> None:
    """A first call by `fit` leaves short names of variables: slots have the whole ones."""
    checkpoint = in_a_list(optimizer, is_called_first=is_called_first)
    model = checkpoint.model
    for source in (checkpoint, checkpoint.write(str(tmp_path / "ckpt"))):
        shown = cv.graph(source)
        (row,), view = shown.layers.hanging, shown.layers
        assert view.hanging[row] == 12
        assert view.title(row) == "blocks"
        assert view.title(view.parents[row]).startswith("model")
        (alike,) = view.children[row]
        group = view.group(alike)
        assert group is not None and group.is_alike and group.size == 3
        (line,) = [line for line in str(shown).splitlines() if "─ blocks " in line]
        parameters = sum(v.numpy().size for v in model.blocks[0].trainable_variables) * 3
        words = ["held by the optimizer alone", "12 variables", f"{parameters} parameters"]
        assert re.split(r"\s{2,}", line)[-3:] == words
        assert sum(shown.parameters_by_training.values()) in (0, model.count_params())
        assert f"{model.count_params()} parameters" in str(shown)


def functional() -> Any:
    import keras

    inputs = x = keras.Input((8, 8, 3))
    for place in range(3):
        y = keras.layers.Conv2D(3, 1, padding="same", name=f"block_{place}_expand")(x)
        y = keras.layers.BatchNormalization(name=f"block_{place}_norm")(y)
        x = keras.layers.Add(name=f"block_{place}_add")([x, y])
    model = keras.Model(inputs, keras.layers.Dense(2, name="predictions")(x))
    model.compile("adam", "mse", run_eagerly=True)
    model.optimizer.build(model.trainable_variables)
    return model


def sequential() -> Any:
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.1), "mse", run_eagerly=True)
    model.fit(tf.ones([2, 3]), tf.ones([2, 2]), verbose=0)
    return model


def module_with_optimizer() -> Any:
    import keras
    import tensorflow as tf

    root = tf.Module()
    root.w, root.parts = tf.Variable([1.0]), [tf.Variable([2.0])]
    root.optimizer = keras.optimizers.Adam()
    root.optimizer.build([root.w, *root.parts])
    return root


def two_optimizers() -> Any:
    import tensorflow as tf

    generator, discriminator = sequential(), sequential()
    return tf.train.Checkpoint(
        generator=generator,
        discriminator=discriminator,
        first=generator.optimizer,
        second=discriminator.optimizer,
    )


def optimizers_alone() -> Any:
    import tensorflow as tf

    model = sequential()
    step = tf.Variable(1, trainable=False)
    return tf.train.Checkpoint(optimizers=[model.optimizer, sequential().optimizer], step=step)


def loss_scaled() -> Any:
    import keras
    import tensorflow as tf

    layer = keras.layers.Dense(2)
    layer.build((None, 3))
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam())
    optimizer.build(layer.trainable_variables)
    return tf.train.Checkpoint(layer=layer, optimizer=optimizer)


def loss_scaled_alone() -> Any:
    import tensorflow as tf

    return tf.train.Checkpoint(optimizer=loss_scaled().optimizer)


HEALTHY: list[Callable[[], Any]] = [
    functional,
    sequential,
    module_with_optimizer,
    two_optimizers,
    optimizers_alone,
    loss_scaled,
    loss_scaled_alone,
    live_objects.guide_loop,
    live_objects.keras3_functional_with_sgd_momentum,
    live_objects.keras3_optimizer_alone,
    live_objects.keras3_optimizers,
    live_objects.keras2_with_legacy_adam,
    live_objects.keras2_subclassed_with_optimizer,
    live_objects.loss_scaled_optimizers,
]


@pytest.mark.parametrize("make", HEALTHY, ids=lambda make: make.__name__)
def test_nothing_is_said_of_other_graphs(make: Callable[[], Any], tmp_path: Path) -> None:
    assert hanging(make(), tmp_path) == (0, 0)


def test_hanging_variables_without_blocks_have_one_row_each() -> None:
    nodes = [*keras3_adam().nodes]
    nodes[2] = nodes[2]._replace(children=())  # the layer that holds the trained variables
    layers = Graph(tuple(nodes), "net", Origin.SAVED).layers
    rows = [child for below in layers.children for child in below]
    assert layers.hanging == {4: 2} and sorted({*rows}) == sorted(rows)
