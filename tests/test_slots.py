"""Every slot belongs to the variable that Python gives; the truth uses no names.

Each variable is saved with a unique number (`tests/support/optimizers.py`), so the file's values
show which node is which.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz import Attribute, Child, Node, Role, SlotRule
from ckpt_viz.graphs.slots.slots import find_slots
from tests.support import optimizers
from tests.support.optimizers import Marked, mark

OLD_VERSIONS = Path(__file__).parent / "data" / "old_versions"

KERAS_3_MODELS = (
    "functional", "sequential", "subclassed", "frozen", "frozen_functional", "shared", "nested",
    "nested_with_equal_names", "equal_names_everywhere", "kernels_of_all_ranks",
    "recurrent_with_names_like_suffixes", "float8",
)  # fmt: skip
KERAS_2_MODELS = ("functional", "subclassed", "nested", "named_like_slots")


def _assert_all_slots_are_found(marked: Marked, prefix: Path) -> cv.ObjectGraph:
    """Save a checkpoint, compare the slots in the file with the truth, and those alive too."""
    import tensorflow as tf

    path = marked.checkpoint.write(str(prefix))
    graph = cv.graph(path)
    reader = tf.train.load_checkpoint(path)
    numbers = {
        i: float(reader.get_tensor(node.attributes[0].checkpoint_key).flat[0])
        for i, node in enumerate(graph.nodes)
        if node.role in (Role.VARIABLE, Role.SLOT)
    }
    found = {
        numbers[i]: (node.slot.name, numbers[node.slot.variable])
        for i, node in enumerate(graph.nodes)
        if node.slot is not None
    }
    assert found == marked.slots
    assert [node.slot for node in cv.graph(marked.checkpoint).nodes] == [
        node.slot for node in graph.nodes
    ]
    owners = {node.slot.optimizer for node in graph.nodes if node.slot is not None}
    assert owners <= set(_optimizers(graph))
    return graph


def _rules(graph: cv.ObjectGraph) -> dict[str, set[SlotRule]]:
    """Return the rules by which the slots of each name were found."""
    rules: dict[str, set[SlotRule]] = {}
    for node in graph.nodes:
        if node.slot is not None:
            rules.setdefault(node.slot.name, set()).add(node.slot.rule)
    return rules


def _optimizers(graph: cv.ObjectGraph) -> list[int]:
    return [i for i, node in enumerate(graph.nodes) if node.role is Role.OPTIMIZER]


def _apply_once(optimizer: Any, variables: Iterable[Any]) -> None:
    import tensorflow as tf

    optimizer.apply_gradients([(tf.ones_like(v), v) for v in variables])


def _skip_without_keras_3() -> None:
    import keras

    if keras.__version__.startswith("2."):
        pytest.skip("TensorFlow 2.15 has Keras 2")


@pytest.mark.tf
@pytest.mark.parametrize("model_name", KERAS_3_MODELS)
def test_every_slot_of_every_keras_3_optimizer(model_name: str, tmp_path: Path) -> None:
    import tensorflow as tf

    _skip_without_keras_3()
    for kind in optimizers.KERAS_3:
        model, optimizer = optimizers.keras_3_models()[model_name](), kind.make()
        optimizer.build(model.trainable_variables)
        truth = optimizers.keras_3_slots(optimizer, kind.lists)
        marked = mark(tf.train.Checkpoint(model=model, optimizer=optimizer), truth)
        assert bool(truth) == (kind.name != "SGD")
        graph = _assert_all_slots_are_found(marked, tmp_path / kind.name)
        assert len(_optimizers(graph)) == 1


@pytest.mark.tf
def test_optimizer_saved_without_the_model_tracks_its_variables_itself(tmp_path: Path) -> None:
    import tensorflow as tf

    _skip_without_keras_3()
    for kind in optimizers.KERAS_3:
        for model_name in ("functional", "subclassed"):
            model, optimizer = optimizers.keras_3_models()[model_name](), kind.make()
            optimizer.build(model.trainable_variables)
            truth = optimizers.keras_3_slots(optimizer, kind.lists)
            marked = mark(tf.train.Checkpoint(optimizer=optimizer), truth)
            _assert_all_slots_are_found(marked, tmp_path / f"{kind.name} {model_name}")


@pytest.mark.tf
def test_loss_scale_wrapper_and_the_optimizer_in_it_are_optimizers(tmp_path: Path) -> None:
    import keras
    import tensorflow as tf

    _skip_without_keras_3()
    for kind in optimizers.KERAS_3:
        model = optimizers.keras_3_models()["subclassed"]()
        optimizer = keras.optimizers.LossScaleOptimizer(kind.make())
        optimizer.build(model.trainable_variables)
        truth = optimizers.keras_3_slots(optimizer, kind.lists)
        marked = mark(tf.train.Checkpoint(model=model, optimizer=optimizer), truth)
        graph = _assert_all_slots_are_found(marked, tmp_path / kind.name)
        assert [graph.path(i) for i in _optimizers(graph)] == [
            ("optimizer",),
            ("optimizer", "inner_optimizer"),
        ]
        assert {node.slot.optimizer for node in graph.nodes if node.slot} <= {_optimizers(graph)[1]}


@pytest.mark.tf
def test_two_optimizers_on_two_models_keep_their_slots_apart(tmp_path: Path) -> None:
    import tensorflow as tf

    _skip_without_keras_3()
    kinds = {kind.name: kind for kind in optimizers.KERAS_3}
    for name in ("Adam", "Muon with all", "Adafactor"):
        for model_name in ("nested_with_equal_names", "subclassed"):
            checkpoint, truth = tf.train.Checkpoint(), []
            for side in ("generator", "discriminator"):
                model = optimizers.keras_3_models()[model_name]()
                optimizer = kinds[name].make()
                optimizer.build(model.trainable_variables)
                setattr(checkpoint, f"{side}_optimizer", optimizer)
                setattr(checkpoint, side, model)
                truth += optimizers.keras_3_slots(optimizer, kinds[name].lists)
            graph = _assert_all_slots_are_found(mark(checkpoint, truth), tmp_path / name)
            assert len(_optimizers(graph)) == 2


@pytest.mark.tf
def test_compiled_and_trained_keras_3_model(tmp_path: Path) -> None:
    import tensorflow as tf

    _skip_without_keras_3()
    kinds = {kind.name: kind for kind in optimizers.KERAS_3}
    for name in ("Adam", "Adafactor with all"):
        model = optimizers.keras_3_models()["sequential"]()
        model.compile(kinds[name].make(), "mse", run_eagerly=True)
        model.fit(tf.zeros((4, 3)), tf.zeros((4, 3)), verbose=0)
        truth = optimizers.keras_3_slots(model.optimizer, kinds[name].lists)
        marked = mark(tf.train.Checkpoint(model), truth)
        _assert_all_slots_are_found(marked, tmp_path / name)


@pytest.mark.tf
def test_keras_3_optimizer_on_plain_variables(tmp_path: Path) -> None:
    import tensorflow as tf

    _skip_without_keras_3()
    for kind in optimizers.KERAS_3:
        if kind.name.startswith(("Adafactor", "Muon")):
            continue  # these ask for the path that only Keras' own variables have
        module, optimizer = tf.Module(), kind.make()
        module.w = [tf.Variable(tf.zeros((2, 2))) for _ in range(3)]
        module.b = tf.Variable(tf.zeros(2), name="b")
        optimizer.build([*module.w, module.b])
        truth = optimizers.keras_3_slots(optimizer, kind.lists)
        marked = mark(tf.train.Checkpoint(module=module, optimizer=optimizer), truth)
        _assert_all_slots_are_found(marked, tmp_path / kind.name)


@pytest.mark.tf
def test_custom_optimizer_as_keras_documents_it(tmp_path: Path) -> None:
    import keras
    import tensorflow as tf

    _skip_without_keras_3()

    class Custom(keras.optimizers.Optimizer):  # type: ignore[misc]
        def build(self, variables: Any) -> None:
            super().build(variables)
            self.my_traces: list[Any] = []
            for variable in variables:
                self.my_traces.append(self.add_variable_from_reference(variable, "my_trace"))
            self.total = self.add_variable((), name="total")
            self.by_group = [self.add_variable((), name=f"group_{i}") for i in range(2)]

        def get_config(self) -> Any:
            return super().get_config()

    model, optimizer = optimizers.keras_3_models()["functional"](), Custom(0.1)
    optimizer.build(model.trainable_variables)
    truth = optimizers.keras_3_slots(optimizer, {"my_traces": "my_trace"})
    marked = mark(tf.train.Checkpoint(model=model, optimizer=optimizer), truth)
    _assert_all_slots_are_found(marked, tmp_path / "ckpt")


@pytest.mark.tf
def test_keras_saves_nothing_of_the_optimizers_in_a_multi_optimizer(tmp_path: Path) -> None:
    import keras
    import tensorflow as tf

    _skip_without_keras_3()
    if not hasattr(keras.optimizers, "MultiOptimizer"):
        pytest.skip("this Keras has no MultiOptimizer")
    from keras.src.optimizers.multi_optimizer import OptimizerMap

    model = optimizers.keras_3_models()["sequential"]()
    inner = OptimizerMap(keras.optimizers.Adam(0.1), {})
    optimizer = keras.optimizers.MultiOptimizer(inner)
    optimizer.build(model.trainable_variables)
    marked = mark(tf.train.Checkpoint(model=model, optimizer=optimizer), [])
    graph = _assert_all_slots_are_found(marked, tmp_path / "ckpt")
    assert [graph.path(i) for i in _optimizers(graph)] == [("optimizer",)]


@pytest.mark.tf
@pytest.mark.parametrize("model_name", KERAS_2_MODELS)
def test_every_slot_of_every_new_keras_2_optimizer(model_name: str, tmp_path: Path) -> None:
    import tensorflow as tf

    for kind in optimizers.KERAS_2:
        model, optimizer = optimizers.keras_2_models()[model_name](), kind.make()
        # Built by itself or by its first step: only that puts its name before the slots'.
        if model_name == "functional":
            optimizer.build(model.trainable_variables)
        else:
            _apply_once(optimizer, model.trainable_variables)
        truth = optimizers.keras_2_slots(optimizer, kind.lists, model.trainable_variables)
        marked = mark(tf.train.Checkpoint(model=model, optimizer=optimizer), truth)
        graph = _assert_all_slots_are_found(marked, tmp_path / kind.name)
        assert set().union(*_rules(graph).values()) == {SlotRule.FULL_NAME}
        assert len(_optimizers(graph)) == 1


@pytest.mark.tf
def test_what_the_file_of_a_keras_2_optimizer_does_not_tell_stays_a_variable(
    tmp_path: Path,
) -> None:
    import tensorflow as tf
    import tf_keras

    model, optimizer = optimizers.keras_2_models()["functional"](), tf_keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    copy = tf_keras.models.clone_model(model)  # of the same full names and shapes
    both = tf.train.Checkpoint(model=model, target=copy, optimizer=optimizer)
    _assert_all_slots_are_found(mark(both, []), tmp_path / "copy")
    alone = tf.train.Checkpoint(optimizer=optimizer)
    _assert_all_slots_are_found(mark(alone, []), tmp_path / "alone")


@pytest.mark.tf
def test_every_slot_of_every_legacy_keras_2_optimizer(tmp_path: Path) -> None:
    import tensorflow as tf

    for name, optimizer in optimizers.keras_2_legacy().items():
        model = optimizers.keras_2_models()["subclassed"]()
        _apply_once(optimizer, model.trainable_variables)
        truth = optimizers.declared_slots(optimizer, model.trainable_variables)
        marked = mark(tf.train.Checkpoint(model=model, optimizer=optimizer), truth)
        graph = _assert_all_slots_are_found(marked, tmp_path / name)
        assert [graph.path(i) for i in _optimizers(graph)] == [("optimizer",)]


@pytest.mark.tf
def test_every_slot_of_every_tensorflow_1_optimizer(tmp_path: Path) -> None:
    import tensorflow as tf

    for name, optimizer in optimizers.tensorflow_1().items():
        module = tf.Module()
        module.a, module.b, module.c = (tf.Variable([1.0, 2.0]) for _ in range(3))
        pairs = [(tf.ones_like(v), v) for v in (module.a, module.b)]
        optimizer.apply_gradients(pairs, global_step=getattr(optimizer, "_global_step", None))
        truth = optimizers.declared_slots(optimizer, (module.a, module.b))
        marked = mark(tf.train.Checkpoint(module=module, optimizer=optimizer), truth)
        graph = _assert_all_slots_are_found(marked, tmp_path / name)
        # Without a slot, a counter or a rate, nothing in the file tells the optimizer.
        assert len(_optimizers(graph)) == (not name.endswith("GradientDescent"))
        live = cv.graph(marked.checkpoint)
        assert [live.path(i) for i in _optimizers(live)] == [("optimizer",)]


@pytest.mark.tf
def test_loss_scale_wrappers_of_keras_2_and_tensorflow_1(tmp_path: Path) -> None:
    import tensorflow as tf
    import tf_keras

    wrap, v1 = tf_keras.mixed_precision.LossScaleOptimizer, tf.compat.v1
    adam = {"_momentums": "m", "_velocities": "v"}

    def wrapped_by_tensorflow_1(optimizer: Any) -> Any:
        scale = v1.mixed_precision.DynamicLossScale()
        return v1.mixed_precision.MixedPrecisionLossScaleOptimizer(optimizer, scale)

    both = [("optimizer",), ("optimizer", "base_optimizer")]
    for number, (optimizer, expected) in enumerate(
        (
            (wrap(tf_keras.optimizers.Adam()), both[:1]),  # one node holds the state of both
            (wrap(tf_keras.optimizers.legacy.Adam()), both),
            (wrapped_by_tensorflow_1(v1.train.AdamOptimizer()), both),
            (wrapped_by_tensorflow_1(v1.train.GradientDescentOptimizer(0.1)), both),
        )
    ):
        model = optimizers.keras_2_models()["functional"]()
        variables = model.trainable_variables
        _apply_once(optimizer, variables)
        inner = getattr(optimizer, "inner_optimizer", optimizer)
        inner = getattr(inner, "_optimizer", inner)
        truth = (
            optimizers.keras_2_slots(inner, adam, variables)
            if number == 0
            else optimizers.declared_slots(inner, variables)
        )
        marked = mark(tf.train.Checkpoint(model=model, optimizer=optimizer), truth)
        graph = _assert_all_slots_are_found(marked, tmp_path / str(number))
        assert [graph.path(i) for i in _optimizers(graph)] == expected


# Old versions: read without TensorFlow ------------------------------------------------


@pytest.mark.parametrize("version", ["tf2.12", "tf2.15", "keras3.3", "keras3.9"])
def test_every_slot_that_an_old_version_wrote(version: str) -> None:
    truth = json.loads((OLD_VERSIONS / version / "truth.json").read_text())
    for name, slots in truth.items():
        graph = cv.graph(OLD_VERSIONS / version / name)
        keys = [
            node.attributes[0].checkpoint_key if node.attributes else "" for node in graph.nodes
        ]
        found = {
            keys[i]: [node.slot.name, keys[node.slot.variable]]
            for i, node in enumerate(graph.nodes)
            if node.slot is not None
        }
        assert found == slots, name
        wrapped = {"legacy_loss_scale": "base_optimizer", "loss_scale": "inner_optimizer"}
        is_shadow = version.startswith("tf") and name == "loss_scale"
        inside = None if is_shadow else wrapped.get(name)
        assert [graph.path(i) for i in _optimizers(graph)] == [
            ("optimizer",),
            *([("optimizer", inside)] if inside else []),
        ], name


def test_old_versions_need_every_rule() -> None:
    used = {
        rule
        for prefix in OLD_VERSIONS.glob("*/*.index")
        for rules in _rules(cv.graph(prefix.with_suffix(""))).values()
        for rule in rules
    }
    assert used == set(SlotRule) - {SlotRule.SCOPE}


# Undecided and hostile graphs, without TensorFlow --------------------------------------

Named = tuple[str, tuple[int, ...]]  # full name and shape of a variable


def _variable(full_name: str, shape: tuple[int, ...]) -> Node:
    return Node(attributes=(Attribute("VARIABLE_VALUE", full_name, "", "float32", shape),))


def _keras_3(
    trained: Sequence[Named], own: Sequence[Named], lists: Mapping[str, Sequence[int]]
) -> list[Node]:
    """Return a graph of a Keras 3 optimizer at node 0.

    Its iterations are node 1, then come the trained variables, then its own. `lists` have
    items by their place among its own.
    """
    first = 2 + len(trained)
    nodes = [Node(), _variable("adam/iteration", ())]
    nodes += [_variable(*named) for named in (*trained, *own)]
    children = [Child("_iterations", 1)]
    held = {
        "_variables": [1, *range(first, len(nodes))],
        "_trainable_variables": list(range(2, first)),
        **{name: [first + item for item in items] for name, items in lists.items()},
    }
    for name, items in held.items():
        children.append(Child(name, len(nodes)))
        nodes.append(Node(tuple(Child(str(i), item) for i, item in enumerate(items))))
    nodes[0] = nodes[0]._replace(children=tuple(children))
    return nodes


def _found(nodes: Sequence[Node]) -> dict[int, tuple[str, int, SlotRule]]:
    return {
        node_id: (slot.name, slot.variable, slot.rule)
        for node_id, slot in find_slots(nodes).items()
    }


def test_order_leaves_one_answer_where_every_variable_has_a_slot() -> None:
    kernels = [("m/kernel", (2, 2))] * 2
    own = [("adam/m_a_kernel_momentum", (2, 2)), ("adam/m_b_kernel_momentum", (2, 2))]
    assert _found(_keras_3(kernels, own, {"_momentums": []})) == {
        4: ("momentum", 2, SlotRule.ORDER),
        5: ("momentum", 3, SlotRule.ORDER),
    }


def test_slot_with_two_possible_variables_stays_a_variable() -> None:
    kernels = [("m/kernel", (2, 2))] * 2
    own = [("adam/m_a_kernel_momentum", (2, 2))]
    assert _found(_keras_3(kernels, own, {"_momentums": []})) == {}


def test_shape_and_last_name_decide_between_possible_variables() -> None:
    trained = [("m/kernel", (2,)), ("m/kernel", (3,)), ("m/bias", (2,)), ("m/bias", (3,))]
    own = [("adam/m_a_kernel_momentum", (3,)), ("adam/m_a_bias_momentum", (2,))]
    assert _found(_keras_3(trained, own, {"_momentums": []})) == {
        6: ("momentum", 3, SlotRule.ORDER),
        7: ("momentum", 4, SlotRule.ORDER),
    }
    assert _found(_keras_3(trained, own[1:], {"_momentums": []})) == {
        6: ("momentum", 4, SlotRule.ORDER),
    }


def test_keras_3_slot_of_a_plain_variable_has_the_number_of_its_output_in_its_name() -> None:
    trained = [("w", (2, 2)), ("b", (2, 2))]
    own = [("adam/b_0_momentum", (2, 2))]
    assert _found(_keras_3(trained, own, {"_momentums": []})) == {
        4: ("momentum", 3, SlotRule.ORDER),
    }


def test_full_name_that_only_one_variable_has_decides() -> None:
    trained = [("a/kernel", (2, 2)), ("b/kernel", (2, 2)), ("c/kernel", (2, 2))]
    own = [("adam/b_kernel_momentum", (2, 2))]
    assert _found(_keras_3(trained, own, {"_momentums": []})) == {
        5: ("momentum", 3, SlotRule.FULL_NAME),
    }


def test_names_that_contradict_the_order_are_not_believed() -> None:
    trained = [("a/kernel", (2, 2)), ("b/kernel", (2, 2))]
    own = [("adam/b_kernel_momentum", (2, 2)), ("adam/a_kernel_momentum", (2, 2))]
    assert _found(_keras_3(trained, own, {"_momentums": []})) == {}


def test_slot_of_another_shape_than_its_variable_is_not_believed() -> None:
    trained, own = [("a/kernel", (2, 2))], [("adam/a_kernel_momentum", (2, 3))]
    assert _found(_keras_3(trained, own, {"_momentums": []})) == {}


def test_slot_of_some_variables_goes_with_that_of_all_which_shares_its_name() -> None:
    kernels = [("m/kernel", (2, 2))] * 2
    own = [
        ("muon/m_a_kernel_momentum", (2, 2)),
        ("muon/m_b_kernel_momentum", (2, 2)),
        ("muon/m_b_kernel_velocity", (2, 2)),
    ]
    assert _found(_keras_3(kernels, own, {"momentums": [], "adam_velocities": []})) == {
        4: ("momentum", 2, SlotRule.ORDER),
        5: ("momentum", 3, SlotRule.ORDER),
        6: ("velocity", 3, SlotRule.ORDER),
    }


def test_factors_of_a_vector_without_a_moment_are_found_by_their_order() -> None:
    # Variables of float8 quantisation have no moment; their factors are still made.
    trained = [("d/scale", ()), ("d/bias", (3,))]
    own = [
        ("scale", ()), ("scale", ()),
        ("bias", ()), ("bias", ()), ("adafactor/d_bias_velocity", (3,)),
    ]  # fmt: skip
    assert _found(_keras_3(trained, own, {"_r": [], "_c": [], "_v": []})) == {
        4: ("r", 2, SlotRule.ORDER),
        5: ("c", 2, SlotRule.ORDER),
        6: ("r", 3, SlotRule.POSITION),
        7: ("c", 3, SlotRule.POSITION),
        8: ("velocity", 3, SlotRule.FULL_NAME),
    }


def test_list_of_an_unknown_name_holds_slots_only_where_shapes_agree() -> None:
    trained = [("a", (2,)), ("b", (3,))]
    own = [("opt/total", ()), ("opt/trace", (2,)), ("opt/trace", (3,))]
    lists = {"groups": [0], "traces": [1, 2]}
    assert _found(_keras_3(trained, own, lists)) == {
        5: ("trace", 2, SlotRule.LIST_INDEX),
        6: ("trace", 3, SlotRule.LIST_INDEX),
    }


def _keras_2(variables: Sequence[Named], own: Sequence[Named]) -> list[Node]:
    """Return a graph of a new Keras 2 optimizer at node 0, as `_keras_3` does."""
    nodes = _keras_3(variables, own, {})
    kept = tuple(c for c in nodes[0].children if c.local_name != "_trainable_variables")
    return [nodes[0]._replace(children=kept), *nodes[1:]]


def test_keras_2_slot_is_named_after_its_variable() -> None:
    variables = [("dense/kernel", (2, 2)), ("dense/bias", (2,))]
    own = [("Adam/m/dense/kernel", (2, 2)), ("v/dense/bias", (2,)), ("scope/Adam/v/x", (2,))]
    assert _found(_keras_2(variables, own)) == {
        4: ("m", 2, SlotRule.FULL_NAME),
        5: ("v", 3, SlotRule.FULL_NAME),
    }


def test_keras_2_counter_that_is_named_like_a_slot_stays_a_variable() -> None:
    assert _found(_keras_2([("step", ())], [("Custom/step", ())])) == {}


def test_keras_2_slot_that_could_be_read_in_two_ways_stays_a_variable() -> None:
    # A model called `m` with a layer called `v`, beside a layer of the same name outside it.
    variables = [("v/kernel", (2, 2)), ("kernel", (2, 2))]
    assert _found(_keras_2(variables, [("m/v/kernel", (2, 2))])) == {}


def test_keras_2_slot_of_a_model_and_its_copy_stays_a_variable() -> None:
    # A target network has the full names of its original; nothing says which one is trained.
    copies = [("dense/kernel", (2, 2))] * 2
    assert _found(_keras_2(copies, [("Adam/m/dense/kernel", (2, 2))])) == {}


def test_keras_2_slot_of_a_model_that_was_not_saved_stays_a_variable() -> None:
    assert _found(_keras_2([], [("Adam/m/dense/kernel", (2, 2))])) == {}


@pytest.mark.slow
def test_hostile_graphs_take_no_longer_than_they_are_long() -> None:
    count = 20_000
    kernels = [("m/kernel", (2,))] * count
    slots = [("adam/m_x_kernel_momentum", (2,))] * (count - 1)
    assert _found(_keras_3(kernels, slots, {"_momentums": []})) == {}
    words = "_" * count
    assert _found(_keras_3([(words, ())] * 2, [(words * 2, ())] * 20, {"_momentums": []})) == {}
    # As many optimizers as list items, all with the same lists.
    shared = _keras_3(kernels, [], {})
    assert _found([*shared, *[shared[0]] * count]) == {}
    suffixes = [(f"adam/v{count - i}_suffix{i}", (2,)) for i in range(count)]
    assert len(_found(_keras_3([(f"v{i}", (2,)) for i in range(count)], suffixes, {}))) == count - 1
    copies = _keras_2([("Variable", ())] * count, [("Adam/m/Variable", ())] * count)
    assert _found(copies) == {}


def test_a_weight_inside_a_frozen_layer_of_an_h5_file_has_no_slots(tmp_path: Path) -> None:
    config = [("block", False), ("head", True)]
    layers = [
        {"class_name": "Own", "config": {"name": name, "trainable": is_trained}}
        for name, is_trained in config
    ]
    weights = {
        "model_weights/block": "block/inner/kernel:0",
        "model_weights/head": "head/kernel:0",
        "optimizer_weights": "training/Own/Variable:0",
    }
    with h5py.File(tmp_path / "x.h5", "w") as file:
        model = {"class_name": "Sequential", "config": {"name": "net", "layers": layers}}
        file.attrs["model_config"] = json.dumps(model)
        file.create_group("model_weights").attrs["layer_names"] = [b"block", b"head"]
        for group, name in weights.items():
            file.require_group(group).attrs["weight_names"] = [name.encode()]
            file[f"{group}/{name}"] = np.zeros((2, 2), np.float32)
    graph = cv.graph(tmp_path / "x.h5")
    slots = [node.slot for node in graph.nodes if node.slot is not None]
    assert [graph.names.place(slot.variable) for slot in slots] == ["head.kernel"]
