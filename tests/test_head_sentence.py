"""The sentence at the head of a check says what a person did to the program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.check_findings.leftovers import compiled, keras_2_saved_model
from tests.programs.keras_making import make
from tests.programs.keras_programs import LIBRARIES, RANGES, Edited, draw_edited
from tests.programs.law import Law
from tests.support.amounts import amount
from tests.support.head_sentence import faults_in, passed_over, sentence_of
from tests.support.programs import ckpt, keras_2, keras_3, module, save_any, saved, tensors, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def transformer(
    blocks: Iterable[int] = range(3),
    *,
    words: int = 7,
    head: str = "lm_head",
    classes: int = 7,
    adapter: bool = False,
    dtype: str = "float32",
    optimizer: str = "adam",
) -> Any:
    """Return a checkpoint of a functional model with blocks whose layers share a prefix."""
    keras = keras_3()
    layers = keras.layers
    tokens = keras.Input((4,), dtype="int32", name="tokens")
    x = layers.Embedding(words, 2, name="wte", dtype=dtype)(tokens)
    for number in blocks:
        y = layers.LayerNormalization(name=f"block{number}_ln", dtype=dtype)(x)
        y = layers.Dense(3, name=f"block{number}_up", dtype=dtype)(y)
        y = layers.Dense(2, name=f"block{number}_down", dtype=dtype)(y)
        x = layers.Add(name=f"block{number}_add", dtype=dtype)([x, y])
    if adapter:
        x = layers.Dense(2, name="adapter", dtype=dtype)(x)
    x = layers.Dense(classes, name=head, dtype=dtype)(x)
    model = keras.Model(tokens, x)
    model.compile(optimizer, "mse")
    model.optimizer.build(model.trainable_variables)
    return ckpt(model=model, optimizer=model.optimizer)


@pytest.mark.parametrize(
    "how, sentence",
    [
        ({}, "Restores all 66 values."),
        ({"head": "head"}, "Restores all 66 values."),
        ({"blocks": (0, 2)}, "You removed block1."),
        ({"blocks": (0,)}, "You removed block1 and block2."),
        ({"blocks": (0, 8, 1, 2)}, "You added block8 after block0."),
        ({"adapter": True}, "You added adapter after block2."),
        ({"classes": 9}, "lm_head is larger: 7 → 9."),
        ({"classes": 9, "head": "head"}, "The head is larger: 7 → 9."),
        ({"classes": 5, "words": 5}, "wte and lm_head are smaller: 7 → 5."),
        ({"dtype": "float16"}, "The program is float16, the file float32."),
        ({"optimizer": "sgd"}, "You changed Adam to SGD: 42 slots stay in the file."),
        (
            {"blocks": (0, 2), "classes": 9, "head": "head"},
            "You removed block1, and the head is larger: 7 → 9.",
        ),
        (
            {"blocks": (0, 2), "classes": 9, "adapter": True, "optimizer": "sgd"},
            "You removed block1 and added adapter, lm_head is larger: 7 → 9, and 1 more change.",
        ),
    ],
    ids=str,
)
def test_an_everyday_edit(how: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    path = save_any(tmp_path, transformer())
    assert sentence_of(cv.check(transformer(**how), path)) == sentence


def _blocks(number: int, **more: Any) -> Any:
    return ckpt(net=module(blocks=[module(w=var([0.0, 1.0])) for _ in range(number)], **more))


@pytest.mark.parametrize(
    "saved, live, sentence",
    [
        (
            lambda: _blocks(12),
            lambda: _blocks(11),
            "One of 12 alike blocks is gone. Which one?",
        ),
        (
            lambda: _blocks(2),
            lambda: _blocks(4),
            "2 of 4 alike blocks are new. Which ones?",
        ),
        (
            lambda: ckpt(a=module(ema=var([1.0, 2.0])), stats=module(n=var(1.0))),
            lambda: ckpt(a=module(), stats=module(n=var(1.0), ema=var([1.0, 2.0]))),
            "ema seems to be in stats now.",
        ),
        (
            lambda: ckpt(a=var([1.0]), b=var([1.0])),
            lambda: ckpt(c=var([1.0]), d=var([1.0])),
            "Are a and b now c and d?",
        ),
        (
            lambda: ckpt(a=var([1.0]), b=var([1.0, 2.0])),
            lambda: ckpt(a=var([1.0]), c=var([1.0, 2.0])),
            "b seems to be c now.",
        ),
        (
            lambda: ckpt(model=module(w=var([1.0]), b=var([1.0, 2.0]))),
            lambda: ckpt(net=module(w=var([1.0]), b=var([1.0, 2.0]))),
            "model seems to be net now.",
        ),
        (
            lambda: ckpt(net=module(w=var(1.0), b=module()), head=var([1.0, 2.0])),
            lambda: ckpt(net=module(w=var(1.0), b=var([1.0])), head=module()),
            "The program has no place for the values of the head, and the file has no values of b.",
        ),
        (
            lambda: ckpt(old=module(w=var(1.0), b=var([1.0])), v=var([1.0, 2.0])),
            lambda: ckpt(new=module(u=var([[1.0]]), c=var([[1.0, 2.0]])), v=var([1.0, 2.0])),
            "You removed old and added new.",
        ),
    ],
)
def test_an_edit_of_modules(
    saved: Callable[[], Any], live: Callable[[], Any], sentence: str, tmp_path: Path
) -> None:
    assert sentence_of(cv.check(live(), save_any(tmp_path, saved()))) == sentence


def _items(*widths: int) -> list[Any]:
    return [module(w=var([1.0] * width)) for width in widths]


def _layers(*layers: int | tuple[int, str]) -> list[Any]:
    """Return layers of Keras with so many units each; Keras names those without a name."""
    made = []
    for layer in layers:
        units, name = layer if isinstance(layer, tuple) else (layer, None)
        made.append(keras_3().layers.Dense(units, use_bias=False, name=name))
        made[-1].build((None, 2))
    return made


def test_a_new_part_is_sure_if_a_name_or_the_unchanged_items_around_show_it(tmp_path: Path) -> None:
    def assert_says(was: dict[str, Any], now: dict[str, Any], sentence: str) -> None:
        path = save_any(tmp_path, ckpt(**was))
        assert re.fullmatch(sentence, sentence_of(cv.check(ckpt(**now), path)))

    def twice(front: list[Any], blocks: list[Any]) -> dict[str, Any]:
        return {"front": front, "net": module(blocks=blocks)}

    blocks = "blocks.0 and blocks.2 seem to be"
    assert_says({"a": _items(5, 5)}, {"a": _items(5, 5, 8)}, "You added a.2.")
    assert_says({"a": _items(2)}, {"a": _items(5, 2, 7)}, "a.0 and a.2 seem to be new.")
    assert_says({"a": _items(3, 1)}, {"a": _items(3, 1, 8, 1)}, "a.2 and a.3 seem to be new.")
    few, many = twice(_items(4), _items(2)), twice(_items(4, 6), _items(5, 2, 7))
    assert_says(few, many, f"{blocks} new, and you added front.1.")
    assert_says(many, few, f"{blocks} gone, and you removed front.1.")
    assert_says(
        {"a": _layers(2)}, {"a": _layers(5, 2, 7)}, r"dense\w* and dense\w* seem to be new."
    )
    named = _layers((5, "extra"), 3, 2)
    assert_says({"a": _layers(2, 3)}, {"a": named}, "You added extra.")
    was = dict(zip(("dense", "head", "x"), _items(1, 1, 5), strict=True))
    now = dict(zip(("head", "dense_1"), _items(1, 5), strict=True))
    sentence = "You removed dense, and x seems to be dense_1 now."
    assert_says({"net": module(**was)}, {"net": module(**now)}, sentence)


def _of_another_model(
    at: Path, numbers: tuple[int, int], *, fit: int = 0, resized: int = 0, alike: int = 0
) -> bool:
    """Check a file of names, and return whether the sentence says that its model is another one.

    Numbers with a place fit. Of the other values, some are resized, and some are alike: they differ
    in name and dtype alone.
    """
    saved, live = numbers
    names = {f"v{i}": 1.0 if i < fit else [1.0, 2.0] for i in range(saved)}
    other = [0.0, 0.0, 0.0]
    values = [*[0.0] * fit, *[other] * resized, *[[0, 0]] * alike, *[other] * live]
    variables = [
        var(value, name=f"{'v' if i < fit + resized else 'x'}{i}")
        for i, value in enumerate(values[:live])
    ]
    check = cv.check(ckpt(all=variables), tensors(at, **names))
    return sentence_of(check) == (
        f"This file is of another model: {fit or 'none'} of {saved} values fit."
    )


def test_a_file_is_of_another_model_if_less_than_a_tenth_of_ten_values_fits(tmp_path: Path) -> None:
    """In most of a small program, or of values of the same shapes, the model has changed."""
    assert _of_another_model(tmp_path, (10, 10))
    assert not _of_another_model(tmp_path, (9, 10))
    assert _of_another_model(tmp_path, (11, 11), fit=1)
    assert not _of_another_model(tmp_path, (10, 11), fit=1)
    assert _of_another_model(tmp_path, (11, 3), fit=1)
    assert not _of_another_model(tmp_path, (11, 2), fit=1)
    assert _of_another_model(tmp_path, (12, 10), resized=1)
    assert not _of_another_model(tmp_path, (12, 10), resized=2)
    assert _of_another_model(tmp_path, (12, 10), alike=4)
    assert not _of_another_model(tmp_path, (12, 10), alike=5)


def test_a_file_of_which_half_the_values_fit_is_of_no_other_model(tmp_path: Path) -> None:
    """Both sides count their steps and their saves."""
    for others, is_other in ((1, False), (2, False), (3, True)):
        values = {f"v{i}": var([1.0] * (i + 2)) for i in range(others)}
        path = saved(tmp_path / str(others), step=var(1), **values)
        check = cv.check(ckpt(step=var(0), x=var([[1.0]])), path)
        assert "unrelated" in [finding.kind.value for finding in check.findings]
        assert sentence_of(check).startswith("This file is of another model") == is_other


def _linear(*shape: int) -> Any:
    return module(w=var(np.ones(shape)), b=var(np.ones(shape[-1])))


def test_a_name_in_its_place_wins_over_equal_content_elsewhere(tmp_path: Path) -> None:
    """A new part has the old size of one that is wider now, and gets nothing of it."""

    def program(width: int, **more: Any) -> Any:
        attention = module(q=_linear(4, width), k=_linear(width, 4))
        return ckpt(net=module(enc=_linear(3, 4), attn=attention, **more))

    new = module(q=_linear(4, 6), k=_linear(6, 4))
    check = cv.check(program(8, cond=new), save_any(tmp_path, program(6)))
    sentence = "attn.q and attn.k.w are larger: 6 → 8, and you added cond."
    assert sentence_of(check) == sentence
    assert not any("cond" in name for name in check.fix(guesses=True).pairs.values())


def test_a_layer_of_a_removed_part_is_a_guess_elsewhere(tmp_path: Path) -> None:
    def block(width: int) -> Any:
        scale, shift = var([1.0] * 5), var([0.0] * 5)
        return module(fc=_linear(width, 5), gamma=scale, beta=shift)

    enc = _linear(3, 4)
    path = save_any(tmp_path, ckpt(net=module(enc=enc, post=[block(4), block(5)])))
    check = cv.check(ckpt(net=module(enc=_linear(3, 4), skip=_linear(4, 5))), path)
    assert sentence_of(check).startswith("post.0.fc seems to be skip now, and you removed")
    taken = [
        [name for name in check.fix(guesses=takes).pairs.values() if "skip" in name]
        for takes in (False, True)
    ]
    assert [len(names) for names in taken] == [0, 2]


def test_no_part_moves_to_the_name_that_it_has(tmp_path: Path) -> None:
    """Layers in attributes are in a nested model now, under the same names."""
    keras = keras_3()

    class Net(keras.Model):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = keras.layers.Dense(5), keras.layers.Dense(3)

        def call(self, x: Any) -> Any:
            return self.last(self.first(x))

    inner = keras.Sequential([keras.Input((4,)), keras.layers.Dense(5, name="first")], name="bb")
    inputs = keras.Input((4,))
    nested = keras.Model(inputs, keras.layers.Dense(3, name="last")(inner(inputs)))
    flat: Any = Net()
    flat(np.zeros((1, 4)))
    check = cv.check(ckpt(model=nested), save_any(tmp_path, ckpt(model=flat)))
    assert sentence_of(check) == "You moved first into bb."


@pytest.mark.parametrize(
    "how",
    [
        {"blocks": (0, 2)},
        {"classes": 9, "head": "head"},
        {"classes": 9, "adapter": True},
        {"words": 9, "adapter": True},
    ],
    ids=str,
)
def test_an_edit_has_one_sentence_in_every_kind_of_file(
    how: dict[str, Any], tmp_path: Path
) -> None:
    """Of two edits that are equally bad, the first in the program comes first."""
    old, new = transformer(), transformer(**how)
    path = save_any(tmp_path, old)
    sentence = sentence_of(cv.check(new, path)).replace(" after block2", "")
    for form in (".weights.h5", ".keras"):
        file = tmp_path / f"x{form}"
        (old.model.save if form == ".keras" else old.model.save_weights)(file)
        assert sentence_of(cv.check(new.model, file)) == sentence


def built(keras: Any, width: int, *layers: Any) -> Any:
    """Return a Sequential that has its variables, for inputs of a width."""
    model = keras.Sequential(layers)
    model.build((None, width))
    return model


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_root_at_another_level_is_told_beside_a_larger_layer(
    library: str, tmp_path: Path
) -> None:
    import tensorflow as tf

    keras = pytest.importorskip(library)

    was, now = (
        built(keras, 4, keras.layers.Dense(8), keras.layers.Dense(classes, name="last"))
        for classes in (3, 5)
    )
    for file, program, sentence in (
        (tf.train.Checkpoint(was), ckpt(model=now), "You put everything into the"),
        (ckpt(model=was), tf.train.Checkpoint(now), "You took everything out of the"),
    ):
        check = cv.check(program, save_any(tmp_path, file))
        assert sentence_of(check).startswith(f"{sentence} model, and ")
        assert sentence_of(check).endswith("last is larger: 3 → 5.")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_larger_head_is_told_beside_an_optimizer_that_is_not_built(
    library: str, tmp_path: Path
) -> None:
    keras = pytest.importorskip(library)

    def program(classes: int, *, is_built: bool) -> Any:
        layers = keras.layers.Dense(4), keras.layers.Dense(classes, name="head")
        model, optimizer = built(keras, 2, *layers), keras.optimizers.Adam()
        if is_built:
            optimizer.build(model.trainable_variables)
        return ckpt(model=model, optimizer=optimizer)

    path = save_any(tmp_path, program(3, is_built=True))
    sentence = sentence_of(cv.check(program(5, is_built=False), path))
    assert sentence.startswith(
        "The head is larger: 3 → 5, and the optimizer is not built yet: 8 of"
    )


@pytest.mark.parametrize("form", [".weights.h5", ".keras"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_two_changes_leave_space_for_an_optimizer_that_is_not_built(
    library: str, form: str, tmp_path: Path
) -> None:
    keras = pytest.importorskip(library)

    def program(*more: Any, is_built: bool) -> Any:
        layers = keras.layers.Dense(8, name="first"), *more, keras.layers.Dense(3, name="head")
        model = built(keras, 2, *layers)
        model.compile(keras.optimizers.Adam(), "mse")
        if is_built:
            model.optimizer.build(model.trainable_variables)
        return model

    path = str(tmp_path / f"model{form}")
    was = program(is_built=True)
    was.save(path) if form == ".keras" else was.save_weights(path)
    now = program(keras.layers.Dense(4, name="mid"), is_built=False)
    has_names = (library, form) != ("tf_keras", ".weights.h5")
    assert sentence_of(cv.check(now, path)) == (
        f"You added mid, head.kernel {'is' if has_names else 'seems to be'} smaller: 8 → 4, and "
        "the optimizer is not built yet."
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_slots_that_the_call_restores_under_another_meaning_do_not_stay(
    library: str, tmp_path: Path
) -> None:
    keras = pytest.importorskip(library)

    def program(optimizer: Any) -> Any:
        model = built(keras, 2, keras.layers.Dense(3))
        optimizer.build(model.trainable_variables)
        return ckpt(model=model, optimizer=optimizer)

    old, new = program(keras.optimizers.Adam()), program(keras.optimizers.Ftrl())
    path = save_any(tmp_path, old)
    check = cv.check(new, path)
    if check.raises is None:
        assert sentence_of(check).endswith(" to Ftrl: 4 slots get another meaning.")
        (line,) = (line for line in str(check).splitlines() if "here, other meaning" in line)
        assert "? here" in line and "− stays, other meaning" in line
        new.restore(path).assert_consumed()  # the call puts the slots of Adam into those of Ftrl
    else:
        assert sentence_of(check).endswith(" to Ftrl: 4 slots stay in the file.")


def test_slots_that_a_legacy_optimizer_gets_back_have_no_other_meaning(tmp_path: Path) -> None:
    keras = keras_2()

    def program(*frozen: str) -> Any:
        names = ("a", "b")
        layers = {name: keras.layers.Dense(2, trainable=name not in frozen) for name in names}
        optimizer = keras.optimizers.legacy.Adam()
        for layer in layers.values():
            layer(np.zeros((1, 2), "float32"))
            steps = [(np.zeros(v.shape, "float32"), v) for v in layer.trainable_variables]
            if steps:
                optimizer.apply_gradients(steps)
        return ckpt(net=module(**layers), optimizer=optimizer)

    live, path = program("b"), save_any(tmp_path, program())
    assert sentence_of(cv.check(live, path)) == "The optimizer no longer trains b."
    live.restore(path).assert_consumed()
    assert {"m", "v"} == {*live.optimizer.get_slot_names()}
    assert live.optimizer.get_slot(live.net.b.kernel, "m") is not None


def test_nobody_removed_what_a_saved_model_keeps_beside_the_variables(tmp_path: Path) -> None:
    path = keras_2_saved_model(tmp_path)
    assert "You removed" not in str(cv.check(ckpt(compiled()), path))
    compiled().load_weights(f"{path}/variables/variables").expect_partial()  # loads all the same


def test_a_layer_of_another_class_is_of_the_same_keras(tmp_path: Path) -> None:
    keras = keras_3()

    class Own(keras.layers.Layer):  # type: ignore[misc, name-defined]
        def build(self, shape: Any) -> None:
            self.kernel = self.add_weight(shape=(shape[-1], 8), name="kernel")
            self.bias = self.add_weight(shape=(8,), name="bias")

        def call(self, x: Any) -> Any:
            return x @ self.kernel + self.bias

    def program(layer: Any) -> Any:
        return ckpt(model=keras.Sequential([keras.Input((4,)), layer, keras.layers.Dense(2)]))

    path = save_any(tmp_path, program(keras.layers.Dense(8, name="own")))
    assert sentence_of(cv.check(program(Own(name="own")), path)) == "You renamed _kernel to kernel."


def test_a_file_of_keras_for_a_checkpoint_has_a_whole_sentence(tmp_path: Path) -> None:
    keras = keras_3()

    def model() -> Any:
        return built(keras, 3, keras.layers.Dense(4), keras.layers.Dense(2))

    model().save_weights(tmp_path / "x.weights.h5")
    check = cv.check(ckpt(a=model(), b=model()), tmp_path / "x.weights.h5")
    assert "Is  ?" not in str(check)
    assert "version of Keras" not in sentence_of(check)


@pytest.mark.parametrize("form", ["", ".weights.h5", ".keras", ".h5"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_layer_before_another_head_is_told_from_it(
    library: str, form: str, tmp_path: Path
) -> None:
    """A `.weights.h5` of Keras 2 has no names of layers: there the last one is the last one."""
    keras = pytest.importorskip(library)

    def model(**units: int) -> Any:
        layers = [keras.layers.Dense(number, name=name) for name, number in units.items()]
        return built(keras, 4, *layers)

    old, new = model(body=8, head=3), model(body=8, mid=8, out=5)
    path = str(tmp_path / f"saved{form}")
    is_whole = form == ".keras" or (form == ".h5" and library == "keras")
    if form:
        (old.save if is_whole else old.save_weights)(path)
    else:
        path = save_any(tmp_path, ckpt(model=old))
    check = cv.check(new if form else ckpt(model=new), path)
    if library == "tf_keras" and form == ".weights.h5":
        assert sentence_of(check) == "You added mid, and out seems to be larger: 3 → 5."
        (refused,) = (line for line in str(check).splitlines() if "dense_1" in line)
        assert "✗ 1 of 2: other shape" in refused
    else:
        assert sentence_of(check) == "You replaced the head with mid and out."


@pytest.mark.filterwarnings("ignore")  # Keras calls its own `.h5` legacy
@pytest.mark.parametrize("form", ["", ".weights.h5", ".keras", ".h5"])
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("cell", ["LSTM", "GRU"])
def test_a_bidirectional_layer_is_its_forward_layer_and_a_removed_one(
    cell: str, library: str, form: str, tmp_path: Path
) -> None:
    """Keras wraps the layer as `forward_layer`, and lists the two in another order in a file."""
    keras = pytest.importorskip(library)
    layers = keras.layers

    def model(*, is_wrapped: bool) -> Any:
        rnn = getattr(layers, cell)(6, name="rnn")
        x = keras.Input((7, 5))
        y = (layers.Bidirectional(rnn, name="bi") if is_wrapped else rnn)(x)
        return keras.Model(x, layers.Dense(3, name="out")(y))

    old, new = model(is_wrapped=True), model(is_wrapped=False)
    path = str(tmp_path / f"saved{form}")
    if form:
        (old.save_weights if form == ".weights.h5" else old.save)(path)
    else:
        path = save_any(tmp_path, ckpt(model=old))
    check = cv.check(new if form else ckpt(model=new), path)
    sentence = sentence_of(check)
    name = "backward_rnn" if form == ".h5" else "backward_layer"
    assert f"removed {name}" in sentence and "out.kernel is smaller: 12 → 6" in sentence
    assert [*passed_over(check)] == []
    check.fix(guesses=True).apply()
    forward = old.get_layer("bi").forward_layer.get_weights()
    both = zip(new.get_layer("rnn").get_weights(), forward, strict=True)
    assert all((now == was).all() for now, was in both)


def test_a_program_that_is_a_file_has_no_you(tmp_path: Path) -> None:
    old = save_any(tmp_path / "old", transformer())
    new = save_any(tmp_path / "new", transformer((0, 2), classes=9))
    check = cv.check(new, old)
    assert sentence_of(check) == "block1 is gone, and lm_head is larger: 7 → 9."


def test_a_model_that_is_not_built(tmp_path: Path) -> None:
    def model() -> Any:
        layers = keras_3().layers
        return keras_3().Sequential([layers.Dense(3), layers.Dense(2)])

    ready = model()
    ready.build((None, 4))
    path = save_any(tmp_path, ckpt(model=ready))
    sentence = "The model is not built yet: 4 of 5 values wait."
    assert sentence_of(cv.check(ckpt(model=model()), path)) == sentence


def test_a_layer_without_a_name_is_larger_and_not_replaced(tmp_path: Path) -> None:
    keras = keras_3()

    def checkpoint(latent: int) -> Any:
        keras.backend.clear_session()  # the layers have the same numbers in both programs
        encoder = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(latent)])
        encoder(np.ones((1, 4)))
        return ckpt(encoder=encoder)

    path = save_any(tmp_path, checkpoint(2))
    assert sentence_of(cv.check(checkpoint(3), path)) == "dense_1 is larger: 2 → 3."


@pytest.mark.parametrize("ending", ["", ".weights.h5", ".keras"])
def test_attention_of_other_heads_is_named_as_a_whole(ending: str, tmp_path: Path) -> None:
    keras = keras_3()
    layers = keras.layers

    def model(heads: int) -> Any:
        inputs = tensor = keras.Input((3, 8))
        for name in ("first", "second"):
            attention = layers.MultiHeadAttention(heads, 8 // heads, name=name)
            tensor = layers.Dense(8)(attention(tensor, tensor))
        return keras.Model(inputs, tensor)

    old, new = model(2), model(4)
    if ending:
        path = str(tmp_path / f"m{ending}")
        old.save(path) if ending == ".keras" else old.save_weights(path)
        check = cv.check(new, path)
    else:
        check = cv.check(ckpt(model=new), save_any(tmp_path, ckpt(model=old)))
    assert sentence_of(check) == "first and second are of another shape."
    shown = {name for line in check.overlay.table.lines for name in (line.saved, line.live)}
    assert {"query", "key", "value"} <= {name.rpartition(".")[2] for name in shown}
    assert not [name for name in shown if name.endswith("_dense")]


def test_a_saved_block_that_is_no_block_now_has_the_names_of_its_layers(tmp_path: Path) -> None:
    keras = keras_3()
    layers = keras.layers

    def checkpoint(depth: int) -> Any:
        inputs = tensor = keras.Input((8, 8, 1))
        below = []
        for level in range(depth):
            tensor = layers.Conv2D(1 + level, 1, name=f"down{level}_conv")(tensor)
            below.append(tensor)
            tensor = layers.MaxPooling2D()(tensor)
        for level in reversed(range(depth)):
            tensor = layers.Conv2DTranspose(1 + level, 2, 2, name=f"up{level}_t")(tensor)
            tensor = layers.Concatenate()([tensor, below[level]])
            tensor = layers.Conv2D(1 + level, 1, name=f"up{level}_conv")(tensor)
        return ckpt(model=keras.Model(inputs, tensor))

    check = cv.check(checkpoint(3), save_any(tmp_path, checkpoint(2)))
    (line,) = (line for line in str(check).splitlines() if line.startswith("  up0 "))
    assert re.split("   +", line)[-2] == "up0_t … up0_conv", str(check)
    shown = {line.live for line in check.overlay.table.lines}
    assert "up0_t … up0_conv" in shown and "model" not in shown


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_edited_program_has_its_changes_in_twenty_words(library: str, seed: int) -> None:
    pytest.importorskip(library)

    def judge(example: Edited, directory: Path) -> list[str]:
        was, now = make(example.was), make(example.now)
        path = was.checkpoint.save(str(directory / "ckpt"))
        assert [*faults_in(cv.check(now.checkpoint, path))] == []
        return []

    law = Law(
        f"The sentence of a check tells what changed in a model of {library}",
        lambda rng: draw_edited(rng, RANGES[library], library),
        judge,
    )
    law.hold(seed, amount(15, 100))


def test_a_question_follows_the_words_that_it_is_about(tmp_path: Path) -> None:
    keras = keras_3()

    def program(name: str, *widths: int) -> Any:
        keras.backend.clear_session()
        layers = map(keras.layers.Dense, widths)
        return ckpt(**{name: keras.Sequential([keras.Input((8,)), *layers])})

    path = program("model", 16, 16, 4).save(str(tmp_path / "ckpt"))
    check = cv.check(program("net", 16, 12, 16, 4), path)
    assert [*faults_in(check)] == []
    assert sentence_of(check).endswith("and one of 2 alike layers is new. Which one?")


@pytest.mark.parametrize("form", ["ckpt", ".weights.h5", ".keras"])
def test_a_layer_of_another_class_under_its_name_is_neither_removed_nor_added(
    form: str, tmp_path: Path
) -> None:
    keras = keras_3()

    def model(layer: Any) -> Any:
        return keras.Sequential([keras.Input((3, 4)), layer, keras.layers.Dense(2, name="head")])

    was = model(keras.layers.LSTM(4, return_sequences=True, name="mix"))
    live = model(keras.layers.BatchNormalization(name="mix"))
    path = str(tmp_path / f"model{form}")
    if form == "ckpt":
        path, live = ckpt(model=was).save(path), ckpt(model=live)
    else:
        (was.save if form == ".keras" else was.save_weights)(path)
    assert sentence_of(cv.check(live, path)) == "mix is another layer now."


@pytest.mark.parametrize("keras", [keras_2, keras_3], ids=["tf_keras", "keras 3"])
@pytest.mark.parametrize(
    "was, now",
    [
        ("Dense", "BatchNormalization"),
        ("BatchNormalization", "Dense"),
        ("Dense", "PReLU"),
        ("PReLU", "LayerNormalization"),
    ],
)
def test_no_value_of_keras_becomes_one_that_keras_calls_otherwise(
    keras: Any, was: str, now: str, tmp_path: Path
) -> None:
    def program(kind: str) -> tuple[Any, Any]:
        layers = keras().layers
        layer = layers.Dense(4) if kind == "Dense" else getattr(layers, kind)()
        layer.build((None, 4))
        optimizer = keras().optimizers.Adam()
        optimizer.build(layer.trainable_variables)
        return layer, ckpt(net=module(mix=layer, step=var(1)), optimizer=optimizer)

    layer, live = program(now)
    check = cv.check(live, program(was)[1].save(str(tmp_path / "ckpt")))
    assert sentence_of(check) == "mix is another layer now."
    own = layer.get_weights()
    check.fix(guesses=True).apply()
    assert all(map(np.array_equal, own, layer.get_weights()))


def test_the_values_of_a_class_of_ones_own_may_have_other_names(tmp_path: Path) -> None:
    path = ckpt(norm=module(scale=var(np.ones(3)))).save(str(tmp_path / "ckpt"))
    check = cv.check(ckpt(norm=module(gamma=var(np.ones(3)))), path)
    assert sentence_of(check) == "norm.scale seems to be norm.gamma now."


@pytest.mark.parametrize("are_listed", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("are_frozen", [(False, True), (True, False)])
def test_blocks_that_only_an_optimizer_holds_are_neither_gone_nor_new(
    are_listed: tuple[bool, bool], are_frozen: tuple[bool, bool], tmp_path: Path
) -> None:
    keras = keras_3()

    class Net(keras_3().Model):  # type: ignore[misc]
        def __init__(self, is_listed: bool, is_frozen: bool) -> None:
            super().__init__()
            self.stem = keras.layers.Dense(4, trainable=not is_frozen)
            blocks = [keras.layers.Dense(4) for _ in range(3)]
            if is_listed:  # TensorFlow tracks no list of layers of Keras 3
                self.blocks = blocks
            else:
                self.block0, self.block1, self.block2 = blocks

    def program(number: int, start: float) -> tuple[Any, Any]:
        model = Net(are_listed[number], are_frozen[number])
        model.stem.build((None, 4))
        layers = model.blocks if are_listed[number] else (model.block0, model.block1, model.block2)
        variables = list(model.stem.trainable_variables)
        for place, layer in enumerate(layers):
            layer.build((None, 4))
            layer.kernel.assign(np.full((4, 4), start + place))
            variables += layer.trainable_variables
        optimizer = keras.optimizers.Adam()
        optimizer.build(variables)
        return layers, ckpt(model=model, optimizer=optimizer)

    saved_layers, was = program(0, 1.0)
    path = save_any(tmp_path, was)
    layers, live = program(1, 7.0)
    check = cv.check(live, path)
    clause = "no longer trains" if are_frozen[1] else "also trains"
    assert f"he optimizer {clause} stem" in sentence_of(check)
    assert "added" not in sentence_of(check) and "removed" not in sentence_of(check)
    check.fix().apply()
    for layer, other in zip(layers, saved_layers, strict=True):
        assert float(layer.kernel[0, 0]) == float(other.kernel[0, 0])
