"""The table of optimizers has every class of the libraries, with the slots that each makes."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.slots.optimizer_table import ROWS, Generation, OptimizerRow, row_of
from tests.support.programs import ckpt, var

# They delegate to other optimizers, or only their subclasses are optimizers.
_WITHOUT_SLOTS = {
    *("LossScaleOptimizer", "MultiOptimizer", "SyncReplicasOptimizer"),
    *("Optimizer", "OptimizerV2"),
}
_ARGUMENTS = {
    "learning_rate": 0.1,
    "momentum": 0.9,
    "amsgrad": True,
    "centered": True,
    "exclude_layers": ["bias"],
    "l1_regularization_strength": 0.0,
}
_OWN_MODULE = Path("ckpt_viz/graphs/slots/optimizer_table.py")


def _classes(generation: Generation) -> dict[str, Any]:
    import keras
    import tensorflow as tf
    import tf_keras

    module = {
        Generation.KERAS_3: keras.optimizers,
        Generation.KERAS_2: tf_keras.optimizers,
        Generation.LEGACY: tf_keras.optimizers.legacy,
        Generation.TENSORFLOW_1: tf.compat.v1.train,
    }[generation]
    base = module.Optimizer
    found = [one for one in vars(module).values() if inspect.isclass(one) and issubclass(one, base)]
    return {one.__name__: one for one in found if one.__name__ not in _WITHOUT_SLOTS}


def _made(kind: Any) -> Any:
    import tensorflow as tf

    taken = inspect.signature(kind).parameters
    arguments = {name: value for name, value in _ARGUMENTS.items() if name in taken}
    if "global_step" in taken:
        arguments["global_step"] = tf.Variable(0, dtype=tf.int64)
    return kind(**arguments)


@pytest.mark.tf
@pytest.mark.parametrize("generation", Generation)
def test_the_table_has_every_class_of_the_library_and_no_other(generation: Generation) -> None:
    rows = {row.name for row in ROWS if row.generation is generation}
    assert rows == _classes(generation).keys()


_CURRENT = [row for row in ROWS if row_of(row.generation, row.name) is row]  # versions differ


@pytest.mark.tf
@pytest.mark.parametrize("row", _CURRENT, ids=lambda row: f"{row.generation.value} {row.name}")
def test_an_optimizer_with_all_options_makes_the_slots_of_its_row(row: OptimizerRow) -> None:
    optimizer = _made(_classes(row.generation)[row.name])
    variables = [var([[1.0, 2.0], [3.0, 4.0]]), var([1.0, 2.0])]
    if row.generation is Generation.KERAS_3:
        import keras

        layer = keras.layers.Dense(2)
        layer.build((2, 2))
        variables = layer.trainable_variables
    if hasattr(optimizer, "build"):
        optimizer.build(variables)
    else:
        optimizer.apply_gradients([(variable * 0 + 1.0, variable) for variable in variables])
    graph = cv.graph(ckpt(optimizer=optimizer, variables=variables))
    node = next(place for place, one in enumerate(graph.nodes) if one.type_name == row.name)
    slots = [one.slot for one in graph.nodes if one.slot is not None and one.slot.optimizer == node]
    assert {slot.name for slot in slots} == {slot.name for slot in row.slots}
    children = {child.local_name: child.node_id for child in graph.nodes[node].children}
    lists = [name for name, held in children.items() if graph.nodes[held].children]
    ours = [slot.kept_in for slot in row.slots if slot.kept_in]
    if row.is_plain:
        assert [name for name in lists if not name.endswith("_variables")] == ours
    assert {*ours, *row.own} <= children.keys()


def test_no_other_module_knows_the_slots_of_a_class() -> None:
    kinds = {row.default_name for row in ROWS} - {"Momentum", "Adam"}
    lists = {slot.kept_in for row in ROWS for slot in row.slots if len(slot.kept_in) > 3}
    words = re.compile("|".join(f'"{re.escape(name)}"' for name in sorted(kinds | lists)))
    for path in Path("ckpt_viz").rglob("*.py"):
        if path != _OWN_MODULE:
            assert not words.findall(path.read_text(encoding="utf-8")), path
