"""The same edit of a program has the same sentence, whatever kind of file is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def _functional(keras: Any, head: str, outputs: int) -> Any:
    entry = keras.Input((4,))
    body = keras.layers.Dense(4, name="body")(entry)
    return keras.Model(entry, keras.layers.Dense(outputs, name=head)(body))


def _subclassed(keras: Any, head: str, outputs: int) -> Any:
    class Net(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = keras.layers.Dense(4)
            setattr(self, head, keras.layers.Dense(outputs))

        def call(self, values: Any) -> Any:
            return getattr(self, head)(self.body(values))

    net = Net()
    net(np.zeros((2, 4), np.float32))
    return net


REPLACED, RESIZED = "You replaced the head with out.", "out is larger: 3 → 5."


@pytest.mark.filterwarnings("ignore")  # Keras calls its own `.h5` legacy
@pytest.mark.parametrize(
    "keras_name, build, file, sentence",
    [
        ("keras", _functional, "", REPLACED),
        ("keras", _functional, ".weights.h5", REPLACED),
        ("keras", _functional, ".keras", REPLACED),
        ("keras", _functional, ".h5", REPLACED),
        ("keras", _subclassed, "", REPLACED),
        ("keras", _subclassed, ".weights.h5", REPLACED),
        ("keras", _subclassed, ".h5", RESIZED),  # which has the names that Keras made
        ("tf_keras", _functional, "", REPLACED),
        ("tf_keras", _functional, ".weights.h5", RESIZED),  # which has no names
        ("tf_keras", _functional, ".h5", REPLACED),
        ("tf_keras", _subclassed, "", REPLACED),
        ("tf_keras", _subclassed, ".weights.h5", RESIZED),
        ("tf_keras", _subclassed, ".h5", RESIZED),
    ],
)
def test_another_head_is_one_deed_for_every_kind_of_file(
    keras_name: str, build: Any, file: str, sentence: str, tmp_path: Path
) -> None:
    import tensorflow as tf

    keras = pytest.importorskip(keras_name)
    before, after = build(keras, "head", 3), build(keras, "out", 5)
    path = str(tmp_path / f"net{file}")
    live = after
    if not file:
        path = tf.train.Checkpoint(before).save(path)
        live = tf.train.Checkpoint(after)
    elif keras_name == "keras" and file != ".weights.h5":
        before.save(path)
    else:
        before.save_weights(path)
    assert str(cv.check(live, path)).splitlines()[1] == sentence


def test_no_container_of_keras_is_named(tmp_path: Path) -> None:
    import tensorflow as tf

    keras = pytest.importorskip("keras")
    if keras.__version__.startswith("2."):
        pytest.skip("Keras 2 has no `_operations`")

    def base() -> Any:
        layers = [keras.Input((4,)), *(keras.layers.Dense(4, name=name) for name in ("b1", "b2"))]
        return keras.Sequential(layers, name="base")

    def full() -> Any:
        entry = keras.Input((4,))
        return keras.Model(entry, keras.layers.Dense(3, name="head")(base()(entry)))

    sentences = []
    for name, (old, new) in {"a": (full, base), "b": (base, full)}.items():
        path = tf.train.Checkpoint(model=old()).save(str(tmp_path / name))
        sentences.append(str(cv.check(tf.train.Checkpoint(model=new()), path)).splitlines()[1])
    assert sentences == [
        "You moved layers[1] to model and removed the head.",
        "You wrapped the model in Functional and added the head.",
    ]


@pytest.mark.parametrize("are_named_twice", [(True, False), (False, True)])
def test_a_second_name_for_a_part_moves_nothing(
    are_named_twice: tuple[bool, bool], tmp_path: Path
) -> None:
    """The optimizer of Keras 2 is below its model, too, and is restored from there."""
    import tensorflow as tf

    keras = pytest.importorskip("tf_keras")

    def program(name: str, *, is_named_twice: bool) -> tuple[Any, Any]:
        model = tf.Module()
        setattr(model, name, tf.Variable([1.0] if name == "a" else [0.0]))
        model.optimizer = keras.optimizers.Adam(0.5 if name == "a" else 0.1)
        model.optimizer.build([getattr(model, name)])
        more = {"opt": model.optimizer} if is_named_twice else {}
        return tf.train.Checkpoint(net=model, **more), model.optimizer

    old, new = (
        program(name, is_named_twice=twice)
        for name, twice in zip(("a", "b"), are_named_twice, strict=True)
    )
    path = old[0].save(str(tmp_path / "c"))
    assert str(cv.check(new[0], path)).splitlines()[1] == "a seems to be b now."
    new[0].restore(path)
    assert float(new[1].learning_rate.numpy()) == 0.5


@pytest.mark.parametrize("keras_name", ["keras", "tf_keras"])
@pytest.mark.parametrize(
    "setting, added, removed",
    [
        ("schedule", "has a learning-rate schedule now", "has no learning-rate schedule now"),
        ("use_ema", "averages the variables now", "no longer averages the variables"),
        ("amsgrad", "uses amsgrad now", "no longer uses amsgrad"),
    ],
)
def test_a_setting_of_an_optimizer_is_named_as_a_person_sets_it(
    keras_name: str, setting: str, added: str, removed: str, tmp_path: Path
) -> None:
    import tensorflow as tf

    keras = pytest.importorskip(keras_name)

    def program(*, is_set: bool) -> Any:
        given: dict[str, Any] = {setting: True} if is_set else {}
        if "schedule" in given:
            given = {"learning_rate": keras.optimizers.schedules.CosineDecay(0.1, 100)}
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, name="head")])
        model.compile(keras.optimizers.Adam(**given), "mse")
        model.optimizer.build(model.trainable_variables)
        return tf.train.Checkpoint(model=model, optimizer=model.optimizer)

    for is_set, sentence in ((True, added), (False, removed)):
        path = program(is_set=not is_set).save(str(tmp_path / f"c{is_set}"))
        check = cv.check(program(is_set=is_set), path)
        assert str(check).splitlines()[1].startswith(f"The optimizer {sentence}")


def test_an_adam_of_tensorflow_1_has_its_name(tmp_path: Path) -> None:
    import tensorflow as tf

    v1 = tf.compat.v1

    def saver(scope: str, *, trains: bool) -> Any:
        with v1.variable_scope(scope):
            variables = [v1.get_variable(name, (3, 4)) for name in ("w1", "w2")]
        if trains:
            v1.train.AdamOptimizer().minimize(sum(tf.reduce_sum(v**2) for v in variables))
        return v1.train.Saver()

    path = str(tmp_path / "m")
    with tf.Graph().as_default(), v1.Session() as session:
        trained = saver("net", trains=True)
        session.run(v1.global_variables_initializer())
        trained.save(session, path)
    with tf.Graph().as_default():
        sentence = str(cv.check(saver("net2", trains=False), path)).splitlines()[1]
    assert sentence == "You removed the Adam optimizer and renamed the scope net to net2."


def test_a_part_that_shares_its_object_now_is_not_removed(tmp_path: Path) -> None:
    import tensorflow as tf

    def program(*, is_tied: bool) -> Any:
        net = tf.Module()
        net.emb = tf.Module()
        net.emb.w = tf.Variable(tf.ones((4, 4)))
        net.out = net.emb if is_tied else tf.Module()
        if not is_tied:
            net.out.w = tf.Variable(tf.zeros((4, 4)))
        return tf.train.Checkpoint(net=net)

    path = program(is_tied=False).save(str(tmp_path / "c"))
    check = cv.check(program(is_tied=True), path)
    assert str(check).splitlines()[1] == "out is the same object as emb now."
    assert check.findings[0].why == "out is the same object as emb now (1 value)."
