"""Problems that people have reported, rebuilt: the first finding names the cause.

Numbers are those of the threads on GitHub; each pair is as small as possible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import Fix, HowFixed
from ckpt_viz.matching.changes.kind import Kind
from tests.support.programs import (
    called,
    ckpt,
    differently,
    keras_2,
    keras_2_adam,
    keras_2_sequential,
    keras_3,
    keras_3_adam,
    keras_3_sequential,
    legacy_adam,
    made_within,
    module,
    rewritten,
    save_any,
    save_by_name,
    saved,
    stepped,
    v1_adam,
    var,
    with_adam,
)

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


@dataclass(frozen=True)
class Thread:
    """A thread: what was restored into what, and what the first finding must say."""

    name: str
    pair: Callable[[Path], tuple[Any, Callable[[], Any]]]
    kind: Kind
    severity: Severity
    words: tuple[str, ...]


THREADS: list[Thread] = []
Maker = Callable[[Path], tuple[Any, Callable[[], Any]]]


def thread(kind: Kind, severity: Severity, *words: str) -> Callable[[Maker], Maker]:
    def add(pair: Maker) -> Maker:
        THREADS.append(Thread(pair.__name__, pair, kind, severity, words))
        return pair

    return add


@pytest.mark.parametrize("thread", THREADS, ids=lambda thread: thread.name)
def test_the_first_finding_is_the_cause(thread: Thread, tmp_path: Path) -> None:
    path, make = thread.pair(tmp_path)
    first = cv.check(make(), path).findings[0]
    assert (first.kind, first.severity) == (thread.kind, thread.severity), first.why
    text = f"{first.saved} {first.live} {first.why}"
    assert [word for word in thread.words if word not in text] == [], text


# --- not built yet


@cache
def translator() -> Any:
    """Return a class of encoders that make their variables when they are called."""
    keras = keras_2()
    base: Any = keras.Model

    class Encoder(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = keras.layers.Dense(4)
            self.layers_of_it = [keras.layers.Dense(4), keras.layers.Dense(4)]

        def call(self, x: Any) -> Any:
            x = self.embedding(x)
            for layer in self.layers_of_it:
                x = layer(x)
            return x

    return Encoder


@thread(Kind.DEFERRED, Severity.DEFERRED, "saved values wait until optimizer (Adam)")
def tensorflow_33150_translation_is_gibberish_after_restoring(at: Path) -> Any:
    def make(trained: bool) -> Any:
        encoder, decoder = translator()(), translator()()
        variables = []
        if trained:
            variables = [*called(encoder).variables, *called(decoder).variables]
        return ckpt(encoder=encoder, decoder=decoder, optimizer=legacy_adam(*variables))

    return save_any(at, make(True)), lambda: make(False)


@thread(
    Kind.DEFERRED, Severity.DEFERRED, "(root).optimizer", "wait until optimizer (Adam) is built"
)
def tensorflow_52346_optimizer_differs_after_restoring(at: Path) -> Any:
    model = called(keras_2_sequential(4))
    path = saved(at, model=model, optimizer=legacy_adam(*model.variables))
    return path, lambda: ckpt(model=called(keras_2_sequential(4)), optimizer=legacy_adam())


@thread(Kind.DEFERRED, Severity.DEFERRED, "4 saved values wait until model (Sequential) is built")
def tensorflow_27937_fresh_sequential_is_not_restored(at: Path) -> Any:
    keras = keras_3()
    path = saved(at, model=keras_3_sequential(4, 2))
    return path, lambda: ckpt(model=keras.Sequential([keras.layers.Dense(n) for n in (4, 2)]))


@thread(Kind.DEFERRED, Severity.DEFERRED, "(root).optimizer")
def keras_19389_backup_loses_the_state_of_the_optimizer(at: Path) -> Any:
    model = keras_3_sequential(4)
    path = saved(at, model=model, optimizer=keras_3_adam(*model.trainable_variables))
    return path, lambda: ckpt(model=keras_3_sequential(4), optimizer=keras_3_adam())


@thread(Kind.NOT_BUILT, Severity.FAIL, "had no variables yet when the program saved it")
def models_8953_checkpoint_of_864_bytes(at: Path) -> Any:
    return saved(at, model=translator()()), lambda: ckpt(model=called(translator()()))


# --- left over, and mostly harmless


@thread(Kind.OPTIMIZER_MISSING, Severity.FAIL, "(root).optimizer", "everything else")
def tensorflow_30942_noise_of_a_program_that_only_predicts(at: Path) -> Any:
    model = called(keras_2_sequential(4))
    path = saved(at, model=model, optimizer=v1_adam(*model.variables))

    def as_old_keras_did(graph: Any, values: dict[str, Any]) -> None:
        (layer,) = {
            c.node_id
            for node in graph.nodes
            for c in node.children
            if c.local_name == "layer_with_weights-0"
        }
        key = "model/layer_with_weights-0/.ATTRIBUTES/OBJECT_CONFIG_JSON"
        graph.nodes[layer].attributes.add(name="OBJECT_CONFIG_JSON", checkpoint_key=key)
        values[key] = b"{}"

    return rewritten(at, path, as_old_keras_did), lambda: ckpt(model=keras_2_sequential(4))


@thread(Kind.OPTIMIZER_MISSING, Severity.FAIL, "(root).optimizer", "25 saved values")
def tensorflow_42852_hundreds_of_warnings_of_load_weights(at: Path) -> Any:
    keras = keras_2()
    model = called(keras_2_sequential(4, 4, 4, 4, 4))
    model.compile(keras.optimizers.legacy.Adam(), "mse")
    stepped(model.optimizer, model.variables)
    model.save_weights(str(at / "weights"), save_format="tf")
    return str(at / "weights"), lambda: keras_2_sequential(4, 4, 4, 4, 4)


@thread(Kind.UNRESOLVED, Severity.FAIL, "are gone (2 values)")
def tensorflow_43554_fine_tuning_without_the_box_predictor(at: Path) -> Any:
    def detector(**parts: Any) -> Any:
        return module(_feature_extractor=module(conv=var([1.0, 2.0]), bn=var([3.0])), **parts)

    model = detector(_box_predictor=module(head=var([1.0] * 3), bias=var([1.0] * 4)))
    path = saved(at, model=model, optimizer=v1_adam(model._feature_extractor.conv))
    return path, lambda: ckpt(model=detector())


@thread(Kind.SAVE_COUNTER, Severity.FAIL, "write() stored no save_counter")
def keras_weights_of_save_weights_restored_by_a_checkpoint(at: Path) -> Any:
    model = called(keras_2_sequential(4))
    model.save_weights(str(at / "weights"), save_format="tf")
    return str(at / "weights"), lambda: ckpt(keras_2_sequential(4))


# --- roots on other levels, other parts


@thread(Kind.UNWRAPPED, Severity.FAIL, "(root).model._feature_extractor", "(root).feature_ext")
def models_8996_zoo_model_restored_for_classification(at: Path) -> Any:
    def extractor() -> Any:
        return module(conv=var([[1.0, 2.0]]), bn=module(gamma=var([1.0]), beta=var([2.0])))

    model = module(_feature_extractor=extractor(), _box_predictor=module(head=var([1.0] * 3)))
    return saved(at, model=model), lambda: ckpt(feature_extractor=extractor())


@thread(Kind.ROOT_SHIFTED, Severity.FAIL, "(root).model", "outside of the model")
def models_9336_converted_checkpoint_has_one_level_more(at: Path) -> Any:
    def bert() -> Any:
        layers = [module(kernel=var([[1.0]]), bias=var([1.0])) for _ in range(3)]
        return module(embeddings=var([[1.0, 2.0]]), encoder=module(layer=layers))

    return saved(at, model=bert()), lambda: ckpt(bert())


@thread(Kind.ROOT_SHIFTED, Severity.FAIL, "outside of the model now", "(12 values)")
def tensorflow_39843_nothing_except_the_root_matched(at: Path) -> Any:
    units = (4, 5, 6, 7, 8, 9)
    return saved(at, model=keras_2_sequential(*units)), lambda: keras_2_sequential(*units)


@thread(Kind.RENAMED, Severity.FAIL, "(root).model.attention_head", "(root).model.head")
def models_8399_objects_not_bound_at_prediction(at: Path) -> Any:
    def model(name: str) -> Any:
        body = module(a=var([1.0]), b=var([1.0, 2.0]))
        return ckpt(model=module(body=body, **{name: module(w=var([1.0] * 3))}))

    return save_any(at, model("attention_head")), lambda: model("head")


@thread(Kind.RENAMED, Severity.FAIL, "encoder/layer_0/layer_norm/beta", "of the same shape")
def models_7412_names_of_tensorflow_1(at: Path) -> Any:
    path = save_by_name(
        at / "bert.ckpt",
        {"encoder/layer_0/layer_norm/beta": [1.0], "encoder/layer_0/layer_norm/gamma": [2.0]},
    )

    def live() -> Any:
        return module(
            gamma=var([0.0], name="encoder/layer_0/layer_norm/gamma"),
            beta=var([0.0], name="encoder/layer_0/norm/beta"),
        )

    return path, live


@thread(Kind.ROOT_SHIFTED, Severity.FAIL, "inside the model now", "(14 values)")
def weights_of_a_trained_model_below_a_keyword(at: Path) -> Any:
    def trained() -> Any:
        model = called(keras_2_sequential(4, 2))
        model.compile("adam", "mse")
        stepped(model.optimizer, model.variables)
        return model

    trained().save_weights(str(at / "weights"), save_format="tf")
    return str(at / "weights"), lambda: ckpt(model=trained())


def trained_under(policy: str) -> Any:
    keras = keras_3()
    keras.mixed_precision.set_global_policy(policy)
    try:
        layers = [keras.layers.Dense(4), keras.layers.BatchNormalization(), keras.layers.Dense(2)]
        model = keras.Sequential([keras.Input((3,)), *layers])
        model.compile("adam", "mse")  # under mixed_float16 that scales the loss
        model.optimizer.build(model.trainable_variables)
    finally:
        keras.mixed_precision.set_global_policy("float32")
    return ckpt(model=model, optimizer=model.optimizer)


@thread(Kind.WRAPPED, Severity.ERROR, "(root).optimizer", "The optimizer is wrapped")
def policy_has_become_mixed_float16(at: Path) -> Any:
    path = save_any(at, differently(trained_under("float32")))
    return path, lambda: trained_under("mixed_float16")


@thread(Kind.UNWRAPPED, Severity.ERROR, "The optimizer is unwrapped now")
def policy_is_mixed_float16_no_more(at: Path) -> Any:
    path = save_any(at, differently(trained_under("mixed_float16")))
    return path, lambda: trained_under("float32")


@thread(Kind.UNWRAPPED, Severity.FAIL, "The optimizer is unwrapped now")
def policy_has_become_bfloat16(at: Path) -> Any:
    return save_any(at, trained_under("mixed_float16")), lambda: trained_under("bfloat16")


@pytest.mark.parametrize("pair", [policy_has_become_mixed_float16, policy_is_mixed_float16_no_more])
def test_call_for_a_wrapped_optimizer_restores_all_of_the_model(
    pair: Maker, tmp_path: Path
) -> None:
    import tensorflow as tf

    path, make = pair(tmp_path)
    live = make()
    check = cv.check(live, path)
    assert isinstance(check.findings[0].remedy, Fix)
    check.fix().apply()
    stored = tf.train.load_checkpoint(path)
    for node in cv.graph(live.model).nodes:
        for attribute in node.attributes:
            if not attribute.checkpoint_key.startswith("optimizer/"):
                value = cv.graph(live.model).read(attribute.checkpoint_key)
                assert (
                    value.tolist()
                    == stored.get_tensor(f"model/{attribute.checkpoint_key}").tolist()
                )


# --- indices that shift


@thread(Kind.INSERTED, Severity.ERROR, "(root).model", "layer_normalization", "new")
def retinaface_44_incompatible_tensor_of_layer_with_weights(at: Path) -> Any:
    layers = keras_2().layers

    def live() -> Any:
        parts = [layers.Dense(4), layers.LayerNormalization(), layers.Dense(5), layers.Dense(2)]
        return ckpt(model=keras_2().Sequential([keras_2().Input((3,)), *parts]))

    return saved(at, model=keras_2_sequential(4, 5, 2)), live


@thread(
    Kind.OPTIMIZER_CHANGED, Severity.ERROR, "(root).optimizer", "has a learning-rate schedule now"
)
def keras_19492_learning_rate_has_become_a_schedule(at: Path) -> Any:
    def loop(rate: Any) -> Any:
        model = keras_3_sequential(4)
        optimizer = keras_3_adam(*model.trainable_variables, learning_rate=rate)
        return ckpt(model=model, optimizer=optimizer)

    schedule = keras_3().optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
    return save_any(at, loop(0.1)), lambda: loop(schedule)


@thread(Kind.SHAPE, Severity.ERROR, "is smaller: 10 → 3")
def tensorflow_33969_head_with_another_number_of_classes(at: Path) -> Any:
    def loop(classes: int) -> Any:
        model = called(keras_2_sequential(4, classes))
        return ckpt(model=model, optimizer=keras_2_adam(*model.trainable_variables))

    return save_any(at, loop(10)), lambda: loop(3)


# --- optimizers


@thread(Kind.OPTIMIZER_GENERATION, Severity.ERROR, "(legacy Keras)", "(Keras 2.11+)")
def segmenteverygrain_5_legacy_optimizer_into_a_new_one(at: Path) -> Any:
    def loop(optimizer: Callable[..., Any]) -> Any:
        model = called(keras_2_sequential(4, 2))
        return ckpt(model=model, optimizer=optimizer(*model.trainable_variables))

    return save_any(at, loop(legacy_adam)), lambda: loop(keras_2_adam)


@thread(Kind.OPTIMIZER_GENERATION, Severity.FAIL, "(TensorFlow 1)", "(legacy Keras)")
def tensorflow_26349_optimizer_of_tensorflow_1(at: Path) -> Any:
    return save_any(at, with_adam(v1_adam)), lambda: with_adam(legacy_adam)


@thread(Kind.OVERWRITTEN, Severity.INFO, "learning_rate from 1e-05 to the saved 0.001")
def tensorflow_33842_learning_rate_restored_though_recompiled(at: Path) -> Any:
    def model(rate: float) -> Any:
        made = called(keras_2_sequential(4))
        made.compile(keras_2().optimizers.legacy.Adam(rate), "mse")
        stepped(made.optimizer, made.variables)
        return made

    model(0.001).save_weights(str(at / "weights"), save_format="tf")
    return str(at / "weights"), lambda: model(1e-5)


@thread(Kind.STRATEGY_SCOPE, Severity.ERROR, "different from the scope used for the original")
def deepreg_469_restored_outside_of_the_strategy_scope(at: Path) -> Any:
    import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    model = called(keras_2_sequential(4))
    path = saved(at, model=model, optimizer=legacy_adam(*model.variables))
    distributed = made_within(strategy.scope, lambda: keras_2_sequential(4))
    return path, lambda: ckpt(model=distributed(), optimizer=legacy_adam())


@thread(Kind.SLOT_REUSED, Severity.FAIL, "(root).model.momentum", "tracked a second time")
def tensorflow_19442_slot_variable_is_a_dependency(at: Path) -> Any:
    def live() -> Any:
        target = with_adam(v1_adam)
        target.model.momentum = target.optimizer.get_slot(target.model.a, "m")
        return target

    return save_any(at, with_adam(v1_adam)), live


# --- not tracked, and poisoned


@thread(
    Kind.NOT_TRACKED,
    Severity.WARNING,
    "(root).model",
    "model.blocks: 4 variables are in no checkpoint",
    "the TrackedList",
)
def keras_18398_layers_in_a_list_are_not_saved(at: Path) -> Any:
    keras = keras_3()
    base: Any = keras.Model

    class Net(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [keras.layers.Dense(3), keras.layers.Dense(3)]
            self.out = keras.layers.Dense(1)

        def call(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return self.out(x)

    return saved(at, model=called(Net())), lambda: ckpt(model=called(Net()))


@thread(Kind.NOT_TRACKED, Severity.WARNING, "(root).optimizer", "does not track")
def addons_1911_wrapper_loses_the_state_of_the_inner_optimizer(at: Path) -> Any:
    base: Any = keras_2().optimizers.Optimizer

    class Wrapper(base):  # type: ignore[misc]
        def __init__(self, inner: Any) -> None:
            super().__init__(name="wrapper")
            self.__dict__["inner"] = inner  # as no tracked attribute

    def loop() -> Any:
        variable = var([1.0])
        return ckpt(v=variable, optimizer=Wrapper(keras_2_adam(variable)))

    return save_any(at, loop()), loop


@thread(Kind.POISONED_CONTAINER, Severity.ERROR, "(root).model.transforms", "element was replaced")
def tensorflow_36916_unable_to_save_a_list_wrapper(at: Path) -> Any:
    def model() -> Any:
        return module(transforms=[module(v=var()), module(v=var())])

    def live() -> Any:
        made = model()
        made.transforms.reverse()
        return ckpt(model=made)

    return saved(at, model=model()), live


@thread(Kind.UNMATCHED, Severity.FAIL, "table is new (1 value)")
def tensorflow_deep_learning_523_a_table_was_not_bound(at: Path) -> Any:
    import tensorflow as tf

    def live() -> Any:
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        return ckpt(text=module(v=var(), table=table))

    return saved(at, text=module(v=var())), live


# --- paths and files


@thread(Kind.WRONG_PATH, Severity.ERROR, "is not a checkpoint's prefix")
def models_8892_path_is_a_directory(at: Path) -> Any:
    saved(at, v=var())
    return str(at), lambda: ckpt(v=var())


@thread(Kind.DAMAGED, Severity.ERROR, "can be read")
def tensorflow_39033_file_is_too_short(at: Path) -> Any:
    path = saved(at, v=var([1.0] * 1000))
    data = Path(path + ".data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:100])
    return path, lambda: ckpt(v=var([0.0] * 1000))


def test_fake_checkpoints_select_a_part_and_coverage_shows_it(tmp_path: Path) -> None:
    def detector() -> Any:
        head = module(classes=var([1.0] * 3), boxes=var([1.0] * 4))
        return module(extractor=module(conv=var([1.0] * 5)), predictor=head)

    path = saved(tmp_path, model=detector())
    live = detector()
    fake = ckpt(model=ckpt(predictor=ckpt(boxes=live.predictor.boxes), extractor=live.extractor))
    check = cv.check(fake, path)
    (part,) = [part for part in check.coverage if part.name == "model"]
    assert str(part) == "model 2 of 2"
    assert (part.saved.parameters, part.restored.parameters) == (12, 9)
    assert [found.kind for found in check.findings] == [Kind.UNRESOLVED]


def test_what_raises_goes_before_what_passes_in_silence(tmp_path: Path) -> None:
    def make(width: int) -> Any:
        hidden = {var([2.0]).ref()}
        return ckpt(model=module(head=var([1.0] * width), hidden=hidden), extra=module())

    path = save_any(tmp_path, make(3))
    kinds = [found.kind for found in cv.check(make(4), path).findings]
    assert kinds == [Kind.SHAPE, Kind.NOT_TRACKED]


def test_what_passes_in_silence_goes_before_what_is_mostly_meant_so(tmp_path: Path) -> None:
    def make(**children: Any) -> Any:
        return ckpt(model=module(a=var([1.0, 2.0]), hidden={var([2.0]).ref()}), **children)

    source = make()
    source.optimizer = v1_adam(source.model.a)
    path = save_any(tmp_path, source)
    kinds = [found.kind for found in cv.check(make(), path).findings]
    assert kinds == [Kind.NOT_TRACKED, Kind.OPTIMIZER_MISSING]


# --- remedies that restore all that can be


def test_the_code_of_a_wrapped_part_restores_what_is_beside_it_too(tmp_path: Path) -> None:
    def heads(value: float) -> Any:
        shapes = {"box": (3, 2), "score": (3, 4), "bias": (5,)}
        return module(**{name: var(np.full(shape, value)) for name, shape in shapes.items()})

    path = saved(tmp_path, model=module(extractor=var(np.ones((7, 3))), predictor=heads(1.0)))
    wrapped = module(extractor=var(np.zeros((7, 3))), predictor=module(predictor=heads(0.0)))
    live = ckpt(model=wrapped)
    exec(cv.check(live, path).fix().code, {"ckpt": live, "path": path})
    assert wrapped.extractor.numpy().all() and wrapped.predictor.predictor.box.numpy().all()


def test_state_of_a_legacy_optimizer_needs_the_fix_and_no_other_optimizer(tmp_path: Path) -> None:
    keras = keras_2()

    def model() -> Any:
        return keras.Sequential([keras.layers.Dense(2, input_shape=(3,))])

    was, legacy = model(), keras.optimizers.legacy.Adam()
    legacy.apply_gradients((var * 0.0 + 1.0, var) for var in was.trainable_variables)
    live, optimizer = model(), keras.optimizers.Adam()
    optimizer.build(live.trainable_variables)
    path = saved(tmp_path, model=was, optimizer=legacy)
    found = cv.check(ckpt(model=live, optimizer=optimizer), path).findings[0]
    assert found.kind is Kind.OPTIMIZER_GENERATION
    assert found.remedy == Fix(HowFixed.AS_STATE, 4)


def test_a_missing_optimizer_is_a_cause_of_its_own_beside_another_head(tmp_path: Path) -> None:
    def program(head: int, *, has_optimizer: bool) -> Any:
        layers = [module(kernel=var([[1.0] * 2])), module(kernel=var([[1.0] * head]))]
        net = module(first=layers[0], head=layers[1])
        if not has_optimizer:
            return ckpt(net=net)
        import keras

        adam = keras.optimizers.Adam()
        adam.build([layer.kernel for layer in layers])
        return ckpt(net=net, optimizer=adam)

    path = program(3, has_optimizer=True).save(str(tmp_path / "ckpt"))
    check = cv.check(program(5, has_optimizer=False), path)
    (finding,) = (f for f in check.findings if f.kind is Kind.OPTIMIZER_MISSING)
    assert finding.explains == ()
