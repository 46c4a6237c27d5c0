"""Pairs for the findings on parts that only one side has, or has so far.

optimizer_generation, optimizer_missing, not_built, deferred, save_counter, unresolved, unmatched,
unused_attribute, leftover.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.objects import replaced_block, saved_with, two_blocks
from tests.check_findings.table import DEFERRED, ERROR, FAIL, Maker, Pair, Rows
from tests.check_rows.objects import counted
from tests.support.programs import (
    called,
    ckpt,
    keras_2,
    keras_2_adam,
    keras_2_sequential,
    keras_3,
    keras_3_adam,
    keras_3_sequential,
    legacy_adam,
    made_within,
    module,
    net_with_build,
    net_without_build,
    rewritten,
    save_any,
    saved,
    saved_model,
    stepped,
    v1_adam,
    var,
    with_adam,
    written,
)

rows = Rows()
shows, silent = rows.shows, rows.silent


# --- optimizer_generation


# By the name that tests have: what makes an optimizer of the generation, and how findings call it.
GENERATIONS: dict[str, tuple[Callable[..., Any], str]] = {
    "tensorflow_1": (v1_adam, "TensorFlow 1"),
    "legacy": (legacy_adam, "legacy Keras"),
    "keras_2": (keras_2_adam, "Keras 2.11+"),
    "keras_3": (keras_3_adam, "Keras 3"),
}


def build_optimizer(target: Any) -> None:
    """Let the optimizer of a program make what it keeps for the model's one variable."""
    if hasattr(target.optimizer, "build"):
        target.optimizer.build([target.model.a])
    else:
        stepped(target.optimizer, [target.model.a])


def _generations(was: str, now: str, built: bool) -> Maker:
    (saver, _), (maker, _) = GENERATIONS[was], GENERATIONS[now]

    def pair(at: Path) -> Pair:
        path = saved_with(at, saver)

        def live() -> Any:
            model = module(a=var([3.0, 4.0]))
            return ckpt(model=model, optimizer=maker(model.a) if built else maker())

        return Pair(
            path, live, fixed=lambda: Pair(path, lambda: with_adam(saver)), after=build_optimizer
        )

    pair.__name__ = f"{was}_into_{'' if built else 'unbuilt_'}{now}"
    return pair


for _was, _now, _built in product(GENERATIONS, GENERATIONS, (True, False)):
    _is_refused = _now == "keras_2" and _was in ("tensorflow_1", "legacy")
    if _was == _now:
        silent(Kind.OPTIMIZER_GENERATION)(_generations(_was, _now, _built))
    else:
        shows(
            Kind.OPTIMIZER_GENERATION,
            ERROR if _is_refused else FAIL,
            "(root).optimizer",
            "(root).optimizer",
            f"saved optimizer ({GENERATIONS[_was][1]})",
            f"the program's ({GENERATIONS[_now][1]})",
            "The rest of the checkpoint fits",
        )(_generations(_was, _now, _built))


# --- optimizer_missing


@shows(
    Kind.OPTIMIZER_MISSING,
    FAIL,
    "(root).optimizer",
    None,
    "The program has no optimizer, so 4 ",
    "everything else, 2 values, is restored",
    "assert_existing_objects_matched()",
)
def program_has_no_optimizer(at: Path) -> Pair:
    return Pair(saved_with(at, keras_3_adam), lambda: ckpt(model=module(a=var([0.0, 0.0]))))


@shows(Kind.OPTIMIZER_MISSING, FAIL, "(root).optimizer", None, "7 saved values stay unused")
def program_has_no_optimizer_for_declared_slots(at: Path) -> Pair:
    return Pair(saved_with(at, legacy_adam), lambda: ckpt(model=module(a=var([0.0, 0.0]))))


@shows(
    Kind.OPTIMIZER_MISSING,
    FAIL,
    None,
    "(root).optimizer",
    "The checkpoint has no optimizer, so 4 ",
    "assert_nontrivial_match()",
)
def checkpoint_has_no_optimizer(at: Path) -> Pair:
    path = saved(at, model=module(a=var([1.0, 2.0])))
    return Pair(
        path,
        lambda: with_adam(v1_adam),
        fixed=lambda: Pair(path, lambda: with_adam(v1_adam)),
        passes="assert_nontrivial_match",
    )


@shows(Kind.OPTIMIZER_MISSING, FAIL, None, "(root).optimizer", "training starts with a fresh")
def checkpoint_has_no_keras_3_optimizer(at: Path) -> Pair:
    return Pair(saved(at, model=module(a=var([1.0, 2.0]))), lambda: with_adam(keras_3_adam))


@shows(
    Kind.OPTIMIZER_MISSING,
    ERROR,
    "(root).training.optimizer's state 'm' for (root).a",
    "(root).training.optimizer",
    "AttributeError",
    "experimental_skip_slot_variables=True",
)
def module_where_an_optimizer_was_saved(at: Path) -> Pair:
    variable = var([1.0, 2.0])
    path = saved(at, a=variable, training=module(optimizer=v1_adam(variable)))
    return Pair(path, lambda: ckpt(a=var([0.0, 0.0]), training=module(optimizer=module())))


@silent(Kind.OPTIMIZER_MISSING)
def part_of_an_optimizer_is_missing(at: Path) -> Pair:
    def with_sgd(momentum: float) -> Any:
        model = module(a=var([1.0, 2.0]))
        optimizer = keras_3().optimizers.SGD(momentum=momentum)
        optimizer.build([model.a])
        return ckpt(model=model, optimizer=optimizer)

    return Pair(save_any(at, with_sgd(0.9)), lambda: with_sgd(0.0))


@silent(Kind.OPTIMIZER_MISSING)
def something_else_called_optimizer_is_missing(at: Path) -> Pair:
    path = saved(at, model=module(a=var()), optimizer=module(v=var()))
    return Pair(path, lambda: ckpt(model=module(a=var())))


# --- not_built


@shows(Kind.NOT_BUILT, FAIL, "(root).model.first._kernel", "(root).model", "no build() of its own")
def keras_3_model_without_a_build_of_its_own(at: Path) -> Pair:
    path = saved(at, model=called(net_without_build()()))
    return Pair(
        path,
        lambda: ckpt(model=net_without_build()()),
        after=lambda target: called(target.model),
        fixed=lambda: Pair(path, lambda: ckpt(model=called(net_without_build()()))),
    )


@shows(
    Kind.NOT_BUILT,
    FAIL,
    "(root).model",
    "(root).model",
    "had no variables yet when the program saved it",
)
def model_saved_before_it_was_built(at: Path) -> Pair:
    def model() -> Any:
        return keras_2().Sequential([keras_2().layers.Dense(2), keras_2().layers.Dense(2)])

    return Pair(saved(at, model=model()), lambda: ckpt(model=called(model())))


@shows(Kind.NOT_BUILT, FAIL, "(root).model", "(root).model", "without its 4 values")
def subclassed_model_saved_before_it_was_built(at: Path) -> Pair:
    path = saved(at, model=net_without_build()())
    return Pair(path, lambda: ckpt(model=called(net_without_build()())))


def _saved_unbuilt(at: Path, maker: Callable[..., Any]) -> Pair:
    path = saved(at, model=module(a=var([1.0, 2.0])), optimizer=maker())
    return Pair(path, lambda: with_adam(maker))


@shows(
    Kind.NOT_BUILT,
    FAIL,
    "(root).optimizer",
    "(root).optimizer",
    "The saved optimizer has no slot variables",
)
def keras_3_optimizer_saved_before_its_first_step(at: Path) -> Pair:
    return _saved_unbuilt(at, keras_3_adam)


@shows(
    Kind.NOT_BUILT,
    FAIL,
    "(root).optimizer",
    "(root).optimizer",
    "The saved optimizer has no slot variables",
)
def keras_2_optimizer_saved_before_its_first_step(at: Path) -> Pair:
    return _saved_unbuilt(at, keras_2_adam)


@shows(Kind.NOT_BUILT, FAIL, "(root).optimizer", "(root).optimizer", "had no variables yet")
def legacy_optimizer_saved_before_its_first_step(at: Path) -> Pair:
    return _saved_unbuilt(at, legacy_adam)


@silent(Kind.NOT_BUILT)
def keras_3_model_with_a_build_of_its_own(at: Path) -> Pair:
    path = saved(at, model=called(net_with_build()()))
    return Pair(
        path,
        lambda: ckpt(model=net_with_build()()),
        after=lambda target: called(target.model),
    )


@silent(Kind.NOT_BUILT)
def keras_3_sequential_not_built_yet(at: Path) -> Pair:
    path = saved(at, model=keras_3_sequential(4, 2))
    return Pair(
        path,
        lambda: ckpt(model=unbuilt_sequential(keras_3(), 4, 2)),
        after=lambda target: called(target.model),
    )


@silent(Kind.NOT_BUILT)
def lookup_that_was_given_its_vocabulary(at: Path) -> Pair:
    return vocabulary_given_when_it_was_saved(at)


@silent(Kind.NOT_BUILT)
def both_sides_not_built_yet(at: Path) -> Pair:
    return Pair(saved(at, model=net_without_build()()), lambda: ckpt(model=net_without_build()()))


def _of_layers(keras: Any, *layers: Any, input_shape: Any = (3,)) -> Any:
    return keras.Sequential([keras.Input(input_shape), *layers])


# Layers without weights, and those with weights that take their place.
_CLASSES_CHANGED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "dropout_became_batch_normalization": (
        lambda k: k.layers.Dropout(0.5),
        lambda k: k.layers.BatchNormalization(),
    ),
    "relu_became_prelu": (lambda k: k.layers.ReLU(), lambda k: k.layers.PReLU()),
    "activation_became_layer_normalization": (
        lambda k: k.layers.Activation("linear"),
        lambda k: k.layers.LayerNormalization(),
    ),
}


def _class_changed(library: Callable[[], Any], name: str, *, is_subclass: bool) -> Maker:
    was, now = _CLASSES_CHANGED[name]

    def pair(at: Path) -> Pair:
        keras = library()

        def model(make: Callable[[Any], Any]) -> Any:
            if not is_subclass:
                return _of_layers(keras, keras.layers.Dense(4), make(keras), keras.layers.Dense(2))
            return called(_three(keras, keras.layers.Dense(4), make(keras), keras.layers.Dense(2)))

        return Pair(saved(at, model=model(was)), lambda: ckpt(model=model(now)))

    pair.__name__ = f"{library.__name__}_{name}{'_in_a_subclass' if is_subclass else ''}"
    return pair


def _three(keras: Any, *layers: Any) -> Any:
    base: Any = keras.Model

    class Three(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.third = layers

        def call(self, x: Any) -> Any:
            return self.third(self.second(self.first(x)))

    return Three()


for _library, _name, _is_subclass in product((keras_3, keras_2), _CLASSES_CHANGED, (False, True)):
    _row = _class_changed(_library, _name, is_subclass=_is_subclass)
    silent(Kind.NOT_BUILT)(_row)
    if _library is keras_3 or _is_subclass:  # else the index of layers with weights is shifted
        _end = " yet." if _is_subclass else "has no weights."
        shows(Kind.UNMATCHED, FAIL, None, None, "in its place has no weights", _end)(_row)


def _pooling_shifted(library: Callable[[], Any]) -> Maker:
    """Return a pair that saves a pooling layer in the place of a layer with weights."""

    def pair(at: Path) -> Pair:
        keras = library()
        layers = keras.layers

        def model(*between: Any) -> Any:
            head = (layers.Flatten(), layers.Dense(2))
            return _of_layers(keras, layers.Conv1D(4, 1), *between, *head, input_shape=(4, 3))

        path = saved(at, model=model(layers.MaxPooling1D(2)))
        return Pair(path, lambda: ckpt(model=model(layers.BatchNormalization(), layers.ReLU())))

    pair.__name__ = f"{library.__name__}_pooling_where_a_layer_has_weights"
    return pair


for _library in (keras_3, keras_2):
    silent(Kind.NOT_BUILT)(_pooling_shifted(_library))


@silent(Kind.NOT_BUILT)
def branch_of_a_model_that_was_never_called(at: Path) -> Pair:
    keras = keras_2()

    def model() -> Any:
        return _three(keras, *(keras.layers.Dense(3) for _ in range(3)))

    source = model()
    called(source.first)
    return Pair(saved(at, model=source), lambda: ckpt(model=called(model())))


@shows(
    Kind.NOT_BUILT,
    FAIL,
    "(root).model",
    "(root).model",
    "had no variables yet when the program saved it",
)
def keras_3_sequential_saved_before_it_was_built(at: Path) -> Pair:
    path = saved(at, model=unbuilt_sequential(keras_3(), 4))
    return Pair(path, lambda: ckpt(model=keras_3_sequential(4)))


@shows(
    Kind.NOT_BUILT, FAIL, "(root).b", "(root).b", "had no variables yet when the program saved it"
)
def layers_saved_before_they_were_built(at: Path) -> Pair:
    dense = keras_2().layers.Dense
    path = saved(at, a=dense(2), b=dense(2))
    return Pair(path, lambda: ckpt(a=called(dense(2)), b=called(dense(2))))


@shows(Kind.UNMATCHED, FAIL, "(root).a", "(root).a.kernel", "or was not built yet")
def single_layer_saved_without_values(at: Path) -> Pair:
    dense = keras_2().layers.Dense
    return Pair(saved(at, a=dense(2)), lambda: ckpt(a=called(dense(2))))


@shows(
    Kind.NOT_BUILT,
    FAIL,
    "(root).optimizer",
    "(root).optimizer",
    "The saved optimizer has no variables",
)
def gradient_descent_became_adam(at: Path) -> Pair:
    import tensorflow as tf

    def make(optimizer: Any) -> Any:
        model = module(a=var([1.0, 2.0]))
        return ckpt(model=model, optimizer=stepped(optimizer, [model.a]))

    path = save_any(at, make(tf.compat.v1.train.GradientDescentOptimizer(0.1)))
    return Pair(path, lambda: make(tf.compat.v1.train.AdamOptimizer()))


def unbuilt_sequential(keras: Any, *units: int) -> Any:
    return keras.Sequential([keras.layers.Dense(number) for number in units])


# --- deferred


@shows(Kind.DEFERRED, DEFERRED, "(root).model._functional", "(root).model", "4 saved values wait")
def keras_3_sequential_not_built(at: Path) -> Pair:
    return Pair(
        saved(at, model=keras_3_sequential(4, 2)),
        lambda: ckpt(model=unbuilt_sequential(keras_3(), 4, 2)),
        after=lambda target: called(target.model),
    )


@shows(
    Kind.DEFERRED, DEFERRED, None, "(root).model", "until model (Net) is built", "call the model"
)
def keras_3_subclass_with_build_not_built(at: Path) -> Pair:
    return Pair(
        saved(at, model=called(net_with_build()())),
        lambda: ckpt(model=net_with_build()()),
        after=lambda target: called(target.model),
    )


@shows(
    Kind.DEFERRED, DEFERRED, None, "(root).model", "4 saved values wait until model (Sequential)"
)
def keras_2_sequential_not_built(at: Path) -> Pair:
    return Pair(
        saved(at, model=keras_2_sequential(4, 2)),
        lambda: ckpt(model=unbuilt_sequential(keras_2(), 4, 2)),
        after=lambda target: called(target.model),
    )


def _optimizer_not_built(at: Path, maker: Callable[..., Any]) -> Pair:
    return Pair(
        saved_with(at, maker),
        lambda: ckpt(model=module(a=var([3.0, 4.0])), optimizer=maker()),
        after=build_optimizer,
    )


@shows(
    Kind.DEFERRED, DEFERRED, None, "(root).optimizer", "2 saved values wait until optimizer (Adam)"
)
def keras_3_optimizer_not_built(at: Path) -> Pair:
    return _optimizer_not_built(at, keras_3_adam)


@shows(
    Kind.DEFERRED, DEFERRED, None, "(root).optimizer", "2 saved values wait until optimizer (Adam)"
)
def keras_3_optimizer_not_built_beside_a_renamed_variable(at: Path) -> Pair:
    """Its list of trained variables is a new one then: what waits for an item of it stays away."""
    return Pair(
        saved_with(at, keras_3_adam),
        lambda: ckpt(model=module(renamed=var([3.0, 4.0])), optimizer=keras_3_adam()),
        after=lambda target: target.optimizer.build([target.model.renamed]),
    )


@shows(Kind.DEFERRED, DEFERRED, None, "(root).optimizer", "call its build() with the variables")
def keras_2_optimizer_not_built(at: Path) -> Pair:
    return _optimizer_not_built(at, keras_2_adam)


@shows(
    Kind.DEFERRED,
    DEFERRED,
    "(root).optimizer.iter",
    "(root).optimizer",
    "5 saved values wait",
    "before the assert: run one training step.",
)
def legacy_optimizer_before_its_first_step(at: Path) -> Pair:
    return _optimizer_not_built(at, legacy_adam)


@shows(
    Kind.DEFERRED, DEFERRED, None, "(root).optimizer", "until optimizer (AdamOptimizer) is built"
)
def optimizer_of_tensorflow_1_before_its_first_step(at: Path) -> Pair:
    return _optimizer_not_built(at, v1_adam)


@shows(
    Kind.DEFERRED, DEFERRED, None, "(root).model", "12 saved values wait until model (Sequential)"
)
def slot_variables_of_variables_not_made_yet(at: Path) -> Pair:
    def build(target: Any) -> None:
        stepped(target.optimizer, called(target.model).trainable_variables)

    model = called(keras_2_sequential(4, 2))
    path = saved(at, model=model, optimizer=legacy_adam(*model.trainable_variables))
    return Pair(
        path,
        lambda: ckpt(model=unbuilt_sequential(keras_2(), 4, 2), optimizer=legacy_adam()),
        after=build,
    )


@shows(
    Kind.DEFERRED, DEFERRED, None, "(root).optimizer", "4 saved values wait until optimizer (AdamOp"
)
def slot_variables_that_a_graph_does_not_make_yet(at: Path) -> Pair:
    import tensorflow as tf

    def live() -> Any:
        return ckpt(model=module(a=var([3.0, 4.0], use_resource=True)), optimizer=v1_adam())

    graph = tf.Graph()
    make = made_within(graph.as_default, live)

    def step(target: Any) -> None:
        with graph.as_default():
            build_optimizer(target)

    return Pair(saved_with(at, v1_adam), make, within=graph.as_default, after=step)


@shows(
    Kind.DEFERRED,
    DEFERRED,
    None,
    "(root).model",
    "5 saved values wait",
    "call the model once, then call finalize_state() of the adapted layers.",
)
def normalization_not_built(at: Path) -> Pair:
    import numpy as np

    def make() -> Any:
        layers = keras_3().layers
        return keras_3().Sequential([layers.Normalization(), layers.Dense(2)])

    source = make()
    source.layers[0].adapt(np.ones((2, 3)))
    return Pair(
        saved(at, model=called(source)),
        lambda: ckpt(model=make()),
        after=lambda target: called(target.model),
    )


@silent(Kind.DEFERRED)
def built_model_lacks_a_layer(at: Path) -> Pair:
    path = saved(at, model=keras_3_sequential(4, 2))
    return Pair(path, lambda: ckpt(model=keras_3_sequential(4)))


@silent(Kind.DEFERRED)
def module_lacks_a_variable(at: Path) -> Pair:
    return Pair(saved(at, m=module(a=var(), b=var())), lambda: ckpt(m=module(a=var())))


@silent(Kind.DEFERRED)
def optimizer_of_another_generation_is_not_built(at: Path) -> Pair:
    path = saved_with(at, keras_3_adam)
    return Pair(path, lambda: ckpt(model=module(a=var([1.0, 2.0])), optimizer=legacy_adam()))


# --- what is known before it is built


def _fitted(at: Path, was: Callable[[], Any], now: Callable[[], Any]) -> Pair:
    """Save a program after it was built, and restore another before it is."""
    source = was()
    _build(source)
    return Pair(save_any(at, source), now, after=_build)


def _build(target: Any) -> None:
    """Build what a program has: call the model, and make what its optimizer keeps."""
    model = target.model
    if hasattr(model, "layers"):
        called(model)
    optimizer = getattr(target, "optimizer", None)
    if optimizer is None:
        return
    variables = list(model.trainable_variables)
    if hasattr(optimizer, "_create_all_weights"):  # a legacy one: a step would change its values
        optimizer._create_all_weights(variables)
    else:
        optimizer.build(variables)


def _layers(keras: Any, *layers: str | int) -> Any:
    """Return a Sequential that is not built: dense layers by their units, others by name."""
    made = {
        "dropout": lambda: keras.layers.Dropout(0.5),
        "normalization": lambda: keras.layers.BatchNormalization(),
        "bias": lambda: keras.layers.Dense(2, use_bias=False),
        "double": lambda: keras.layers.Dense(2, dtype="float64"),
    }
    dense = keras.layers.Dense
    return keras.Sequential([made[n]() if isinstance(n, str) else dense(n) for n in layers])


def _named(keras: Any, **units: int) -> Any:
    """Return a model of the program's own, not built, with a dense layer for each name."""
    base: Any = keras.Model

    class Named(base):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for name, number in units.items():
                setattr(self, name, keras.layers.Dense(number))

        def build(self, shape: Any) -> None:
            for name, number in units.items():
                getattr(self, name).build(shape)
                shape = (*tuple(shape)[:-1], number)
            self.built = True

        def call(self, x: Any) -> Any:
            for name in units:
                x = getattr(self, name)(x)
            return x

    return Named()


# Models that are not built, by their difference from the saved ones, and words of the finding.
_MODELS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Severity, str]] = {
    "as_saved": (
        lambda k: _layers(k, 4, "normalization", "dropout", 2),
        lambda k: _layers(k, 4, "normalization", "dropout", 2),
        DEFERRED,
        "for the same inputs. Then assert_consumed() passes",
    ),
    "with_other_units": (
        lambda k: _layers(k, 4, 2),
        lambda k: _layers(k, 5, 2),
        FAIL,
        "was saved with the shape 3×4, and will have ?×5 (",
    ),
    "with_a_layer_less": (
        lambda k: _layers(k, 4, 2),
        lambda k: _layers(k, 4),
        FAIL,
        "has no place for",
    ),
    "with_a_layer_more": (
        lambda k: _layers(k, 4, 2),
        lambda k: _layers(k, 4, 2, 3),
        FAIL,
        "has no saved '",
    ),
    "with_a_layer_before": (
        lambda k: _layers(k, 4, 2),
        lambda k: _layers(k, "dropout", 4, 2),
        FAIL,
        "Dropout has no place for",
    ),
    "with_another_class": (
        lambda k: _layers(k, 4, "normalization"),
        lambda k: _layers(k, 4, 4),
        FAIL,
        "Dense has no place for",
    ),
    "with_a_bias": (
        lambda k: _layers(k, 4, "bias"),
        lambda k: _layers(k, 4, 2),
        FAIL,
        "the checkpoint lacks",
    ),
    "with_another_dtype": (
        lambda k: _layers(k, 4, 2),
        lambda k: _layers(k, 4, "double"),
        FAIL,
        "was saved as float32, and will be float64",
    ),
    "of_a_class_of_its_own": (
        lambda k: _named(k, a=4, b=2),
        lambda k: _named(k, a=4, b=2),
        DEFERRED,
        "Then assert_consumed() passes, if the program's own code makes the saved",
    ),
    "with_a_part_of_a_class_of_its_own": (
        lambda k: k.Sequential([_named(k, a=4), k.layers.Dense(2)]),
        lambda k: k.Sequential([_named(k, a=4), k.layers.Dense(2)]),
        DEFERRED,
        "Then assert_consumed() passes, if the program's own code makes the saved",
    ),
    "with_a_part_of_a_class_of_its_own_with_other_units": (
        lambda k: k.Sequential([_named(k, a=4), k.layers.Dense(2)]),
        lambda k: k.Sequential([_named(k, a=5), k.layers.Dense(2)]),
        FAIL,
        "was saved with the shape 3×4, and will have ?×5",
    ),
    "of_a_class_of_its_own_with_other_units": (
        lambda k: _named(k, a=4, b=2),
        lambda k: _named(k, a=4, b=3),
        FAIL,
        ": model.b.",
    ),
    "with_a_renamed_layer": (
        lambda k: _named(k, a=4, b=2),
        lambda k: _named(k, a=4, c=2),
        DEFERRED,
        "may not fit then: model has no saved 'c', only 'b'",
    ),
    "of_a_class_of_its_own_with_a_layer_less": (
        lambda k: _named(k, a=4, b=2),
        lambda k: _named(k, a=4),
        DEFERRED,
        "may not fit then: 'b' of model does not exist yet",
    ),
}


def _model_not_built(library: Callable[[], Any], name: str) -> Maker:
    was, now, *_ = _MODELS[name]

    def pair(at: Path) -> Pair:
        keras = library()
        return _fitted(at, lambda: ckpt(model=was(keras)), lambda: ckpt(model=now(keras)))

    pair.__name__ = f"{library.__name__}_model_{name}"
    return pair


for _library, (_name, (*_, _severity, _words)) in product((keras_3, keras_2), _MODELS.items()):
    _kind = Kind.DEFERRED if _severity is DEFERRED else Kind.NOT_BUILT
    shows(_kind, _severity, None, None, _words)(_model_not_built(_library, _name))
    if _severity is DEFERRED:
        silent(Kind.NOT_BUILT)(_model_not_built(_library, _name))


# Optimizers that are not built, by their difference from the saved ones. Each has functions that
# make the saved and the live one, the number of frozen layers, and words of the finding.
_Of = Callable[[Any], Any]
_OPTIMIZERS: dict[str, tuple[_Of, _Of, int, Severity, str]] = {
    "as_saved": (
        lambda o: o.Adam(amsgrad=True),
        lambda o: o.Adam(amsgrad=True),
        0,
        DEFERRED,
        "for the same variables. Then assert_consumed() passes",
    ),
    "without_slots": (
        lambda o: o.Adam(),
        lambda o: o.SGD(),
        0,
        FAIL,
        "Once built, optimizer (SGD) will not fit",
    ),
    "with_more_slots": (
        lambda o: o.Adam(),
        lambda o: o.Adam(amsgrad=True),
        0,
        FAIL,
        "the checkpoint has slots",
    ),
    "for_a_model_that_is_partly_frozen": (
        lambda o: o.Adam(),
        lambda o: o.Adam(),
        1,
        FAIL,
        "which is not trainable now",
    ),
}
_MODULES: dict[str, Callable[[], Any]] = {
    "keras_3": lambda: keras_3().optimizers,
    "keras_2": lambda: keras_2().optimizers,
    "legacy": lambda: keras_2().optimizers.legacy,
}


def _optimizer_for_a_model(generation: str, name: str, *, builds: bool) -> Maker:
    was, now, frozen, *_ = _OPTIMIZERS[name]

    def pair(at: Path) -> Pair:
        keras = keras_3() if generation == "keras_3" else keras_2()
        optimizers = _MODULES[generation]()

        def live() -> Any:
            model = _layers(keras, 4, 2)
            if builds:
                called(model)
            for layer in model.layers[:frozen]:
                layer.trainable = False
            return ckpt(model=model, optimizer=now(optimizers))

        return _fitted(
            at, lambda: ckpt(model=_layers(keras, 4, 2), optimizer=was(optimizers)), live
        )

    model = "a_model" if builds else "a_model_not_built"
    pair.__name__ = f"{generation}_optimizer_{name}_of_{model}"
    return pair


for _generation, (_name, (*_, _severity, _words)), _builds in product(
    _MODULES, _OPTIMIZERS.items(), (True, False)
):
    if _generation == "legacy" and "frozen" in _name:  # the restore itself makes what was saved
        _severity, _words = DEFERRED, "Then assert_consumed() passes"
    _kind = Kind.DEFERRED if _severity is DEFERRED else Kind.NOT_BUILT
    shows(_kind, _severity, None, "(root).optimizer", _words)(
        _optimizer_for_a_model(_generation, _name, builds=_builds)
    )


@shows(Kind.DEFERRED, DEFERRED, None, "(root).optimizer", "may not fit then", "check again")
def keras_3_optimizer_with_as_many_slots_of_other_names(at: Path) -> Pair:
    optimizers = keras_3().optimizers

    def program(optimizer: Any) -> Any:
        return ckpt(model=keras_3_sequential(4, 2), optimizer=optimizer)

    return _fitted(at, lambda: program(optimizers.Adam()), lambda: program(optimizers.Adamax()))


@shows(Kind.NOT_BUILT, FAIL, None, "(root).optimizer", "the checkpoint has no slots, the optimizer")
def keras_3_optimizer_that_makes_slots_which_were_not_saved(at: Path) -> Pair:
    optimizers = keras_3().optimizers

    def program(optimizer: Any) -> Any:
        return ckpt(model=_layers(keras_3(), 4, 2), optimizer=optimizer)

    return _fitted(at, lambda: program(optimizers.SGD()), lambda: program(optimizers.Adam()))


def _optimizer_with_more_below(at: Path, held: Callable[[Any], Any], method: str) -> Pair:
    optimizer = legacy_adam()
    path = saved(at, optimizer, kernel=held(optimizer))
    return Pair(
        path,
        (lambda: ckpt(legacy_adam())) if method == "restore" else legacy_adam,
        method,
        after=lambda target: stepped(getattr(target, "root", target), [var()]),
    )


@silent(Kind.NOT_BUILT)
def optimizer_without_a_module_that_leads_back_to_it(at: Path) -> Pair:
    return _optimizer_with_more_below(at, lambda root: module(root=root), "restore")


@silent(Kind.DEFERRED)
def optimizer_for_which_only_a_save_counter_waits(at: Path) -> Pair:
    return _optimizer_with_more_below(at, lambda root: module(root=root), "read")


@shows(Kind.NOT_BUILT, FAIL, "(root).kernel", "(root)", "has no place for kernel")
def optimizer_without_a_module_that_has_a_value(at: Path) -> Pair:
    return _optimizer_with_more_below(at, lambda _: module(v=var()), "restore")


@shows(Kind.DEFERRED, DEFERRED, None, "(root).model", "may not fit then: the checkpoint lacks")
def model_with_an_optimizer_that_waits_for_nothing(at: Path) -> Pair:
    import tensorflow as tf

    def program(optimizer: Any) -> Any:
        return ckpt(model=_layers(keras_2(), 4, 2), optimizer=optimizer)

    descent = tf.compat.v1.train.GradientDescentOptimizer
    source = program(descent(0.1))
    called(source.model)
    return Pair(
        save_any(at, source),
        lambda: program(v1_adam()),
        after=lambda target: stepped(target.optimizer, called(target.model).trainable_variables),
    )


@shows(
    Kind.DEFERRED,
    DEFERRED,
    None,
    "(root).optimizer",
    "only build() decides what Muon makes",
)
def keras_3_optimizer_that_is_in_no_table(at: Path) -> Pair:
    def program() -> Any:
        return ckpt(model=keras_3_sequential(4, 2), optimizer=keras_3().optimizers.Muon())

    return _fitted(at, program, program)


# --- save_counter


@shows(
    Kind.SAVE_COUNTER,
    FAIL,
    None,
    "(root).save_counter",
    "write() stored no save_counter",
    "Read the checkpoint with read()",
)
def written_and_restored(at: Path) -> Pair:
    path = written(at, v=var())
    read = Pair(path, lambda: ckpt(v=var()), "read")
    return Pair(path, lambda: ckpt(v=var()), fixed=lambda: read)


@shows(
    Kind.SAVE_COUNTER,
    FAIL,
    "(root).save_counter",
    None,
    "save() stored a save_counter",
    "with restore()",
)
def saved_and_read(at: Path) -> Pair:
    path = saved(at, v=var())
    restored = Pair(path, lambda: ckpt(v=var()))
    return Pair(path, lambda: ckpt(v=var()), "read", fixed=lambda: restored)


@silent(Kind.SAVE_COUNTER)
def written_and_read(at: Path) -> Pair:
    return Pair(written(at, v=var()), lambda: ckpt(v=var()), "read")


@silent(Kind.SAVE_COUNTER)
def counter_of_an_inner_checkpoint(at: Path) -> Pair:
    return Pair(saved(at, inner=ckpt(v=var())), lambda: ckpt(inner=counted(ckpt(v=var()))))


# --- unresolved


@shows(
    Kind.UNRESOLVED,
    FAIL,
    "(root).head",
    None,
    "The head is gone (2 values)",
    "check.fix()",
)
def part_of_the_model_is_gone(at: Path) -> Pair:
    path = saved(at, v=var(), head=module(a=var(), b=module(c=var())))
    return Pair(
        path,
        lambda: ckpt(v=var()),
        fixed=lambda: Pair(path, lambda: ckpt(v=var(), head=module(a=var(), b=module(c=var())))),
    )


@shows(Kind.UNRESOLVED, FAIL, "(root).model.b", None, "b is gone (2 values)")
def slot_variables_of_a_variable_that_is_gone(at: Path) -> Pair:
    def make(*names: str) -> Any:
        model = module(**{name: var([1.0]) for name in names})
        optimizer = keras_2().optimizers.legacy.SGD(momentum=0.9)
        return ckpt(model=model, optimizer=stepped(optimizer, [getattr(model, n) for n in names]))

    return Pair(save_any(at, make("a", "b")), lambda: make("a"))


@shows(
    Kind.UNRESOLVED,
    FAIL,
    "(root).o",
    None,
    "The program has no place for the values of o (1 value)",
)
def variable_of_a_class_without_a_module_is_gone(at: Path) -> Pair:
    def make(**variables: Any) -> Any:
        made = module(**variables)
        made.__class__ = type("Nowhere", (type(made),), {"__module__": None})
        return made

    return Pair(saved(at, o=make(a=var())), lambda: ckpt(o=make()))


def exported(at: Path, keras: Any) -> str:
    """Return the prefix of a model that was exported, after it had learnt."""
    import numpy as np

    model = small_model(keras)
    model.compile("adam", "mse", run_eagerly=True)
    model.fit(np.ones((2, 3)), np.ones((2, 1)), verbose=0)
    model.export(str(at / "exported"))
    return str(at / "exported" / "variables" / "variables")


def small_model(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [keras.Input((3,)), layers.Dense(2), layers.BatchNormalization(), layers.Dense(1)]
    )


def _exported(at: Path, keras: Any) -> Pair:
    path = exported(at, keras)
    return Pair(
        path,
        lambda: ckpt(small_model(keras)),
        "read",
        fixed=lambda: _listed(path, keras),
        passes="assert_nontrivial_match",
    )


def _listed(path: str, keras: Any) -> Pair:
    return Pair(path, lambda: ckpt(variables=list(small_model(keras).variables)))


EXPORTED = "Keras' export() stored"


@shows(Kind.UNRESOLVED, FAIL, "(root).variables", None, EXPORTED, "check.fix().apply()")
def model_that_keras_3_exported(at: Path) -> Pair:
    return _exported(at, keras_3())


@shows(Kind.UNRESOLVED, FAIL, "(root).variables", None, EXPORTED, "check.fix().apply()")
def model_that_keras_2_exported(at: Path) -> Pair:
    return _exported(at, keras_2())


@shows(
    Kind.UNRESOLVED,
    FAIL,
    "(root).variables",
    None,
    EXPORTED,
    "check.fix(guesses=True).apply(), if the guesses are right.",
)
def two_models_of_which_one_was_exported(at: Path) -> Pair:
    path = exported(at, keras_3())
    return Pair(path, lambda: ckpt(a=small_model(keras_3()), b=small_model(keras_3())), "read")


@silent(Kind.UNMATCHED)
def model_and_optimizer_from_what_keras_3_exported(at: Path) -> Pair:
    path = exported(at, keras_3())

    def live() -> Any:
        model = small_model(keras_3())
        return ckpt(model=model, optimizer=keras_3_adam(*model.trainable_variables))

    return Pair(path, live, "read")


@silent(Kind.UNRESOLVED)
def list_that_keras_3_exported(at: Path) -> Pair:
    return _listed(exported(at, keras_3()), keras_3())


@silent(Kind.UNRESOLVED)
def saved_model_of_keras_2(at: Path) -> Pair:
    return Pair(keras_2_saved_model(at), lambda: ckpt(compiled()))


@silent(Kind.UNRESOLVED)
def object_without_values_is_gone(at: Path) -> Pair:
    return Pair(saved(at, v=var(), head=module(b=module())), lambda: ckpt(v=var()))


@silent(Kind.UNRESOLVED)
def values_below_a_poisoned_container(at: Path) -> Pair:
    return Pair(saved(at, model=two_blocks()), lambda: ckpt(model=replaced_block()))


# --- unmatched


@shows(
    Kind.UNMATCHED,
    FAIL,
    None,
    "(root).head",
    "The head is new (2 values)",
)
def part_of_the_model_is_new(at: Path) -> Pair:
    path = saved(at, v=var())
    return Pair(
        path,
        lambda: ckpt(v=var(), head=module(a=var(), b=var())),
        fixed=lambda: Pair(path, lambda: ckpt(v=var(), head=module(a=var(), b=var()))),
        passes="assert_nontrivial_match",
    )


def lookup(**options: Any) -> Any:
    return ckpt(layer=keras_3().layers.StringLookup(**options))


@shows(
    Kind.UNMATCHED,
    FAIL,
    None,
    "(root).layer.token_counts",
    ": layer got a ready vocabulary",
    "Give the layer its vocabulary when you make it",
)
def vocabulary_given_when_it_was_saved(at: Path) -> Pair:
    path = save_any(at, lookup(vocabulary=["a", "b"]))
    return Pair(path, lookup, fixed=lambda: Pair(path, lambda: lookup(vocabulary=["a", "b"])))


@silent(Kind.UNMATCHED)
def new_part_has_no_value(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var(), head=module(a=[])))


# --- unused_attribute


@shows(
    Kind.UNUSED_ATTRIBUTE, FAIL, "(root).x", "(root).x", "the saved VARIABLE_VALUE", "saved class"
)
def module_where_a_variable_was_saved(at: Path) -> Pair:
    path = saved(at, x=var([1.0]))
    return Pair(
        path,
        lambda: ckpt(x=module()),
        fixed=lambda: Pair(path, lambda: ckpt(x=var([0.0]))),
    )


@silent(Kind.UNUSED_ATTRIBUTE)
def module_where_a_module_was_saved(at: Path) -> Pair:
    return Pair(saved(at, x=module(v=var())), lambda: ckpt(x=module(v=var())))


# --- leftover


@shows(Kind.LEFTOVER, FAIL, None, "(root).save_counter", "A SavedModel has no save_counter")
def counter_of_a_saved_model(at: Path) -> Pair:
    path = saved_model(at, v=var(1.0))
    return Pair(
        path,
        lambda: ckpt(module(v=var(2.0))),
        fixed=lambda: Pair(path, lambda: ckpt(module(v=var(2.0)))),
        passes="assert_nontrivial_match",
    )


@shows(Kind.LEFTOVER, FAIL, "(root).layer", "(root).layer", "layer's configuration", "Ignore this")
def configuration_of_an_old_layer(at: Path) -> Pair:
    # As Keras saved it in TensorFlow 1.13 to 2.0.
    key = "layer/.ATTRIBUTES/OBJECT_CONFIG_JSON"

    def add(graph: Any, values: dict[str, Any]) -> None:
        layer = next(c.node_id for c in graph.nodes[0].children if c.local_name == "layer")
        graph.nodes[layer].attributes.add(name="OBJECT_CONFIG_JSON", checkpoint_key=key)
        values[key] = b"{}"

    path = rewritten(at, saved(at, layer=module(kernel=var([1.0]))), add)
    return Pair(path, lambda: ckpt(layer=module(kernel=var([2.0]))))


def as_tensorflow_2_0(graph: Any, values: dict[str, Any]) -> None:
    """Add the configuration of each layer, as Keras saved it up to TensorFlow 2.0."""
    layers = {
        child.node_id: child.local_name
        for node in graph.nodes
        for child in node.children
        if child.local_name == "model" or child.local_name.startswith("layer")
    }
    for node, name in layers.items():
        key = f"{name}/.ATTRIBUTES/OBJECT_CONFIG_JSON"
        graph.nodes[node].attributes.add(name="OBJECT_CONFIG_JSON", checkpoint_key=key)
        values[key] = f'{{"name": "{name}"}}'.encode()


def with_dropout(keras: Any, *, is_shared: bool = False) -> Any:
    """Return a model with two layers without weights, or with one of them at two places."""
    inputs = keras.Input((4,))
    first = keras.layers.Dropout(0.1)
    second = first if is_shared else keras.layers.Dropout(0.2)
    hidden = second(keras.layers.Dense(3)(first(keras.layers.Dense(3)(inputs))))
    return keras.Model(inputs, keras.layers.Dense(2)(hidden))


def _of_tensorflow_2_0(at: Path) -> str:
    return rewritten(at, saved(at, model=with_dropout(keras_2())), as_tensorflow_2_0)


@shows(Kind.LEFTOVER, FAIL, None, None, "stored 7 layers' configurations here", "Ignore this")
def configurations_of_tensorflow_2_0(at: Path) -> Pair:
    return Pair(_of_tensorflow_2_0(at), lambda: ckpt(model=with_dropout(keras_2())))


@silent(Kind.VALUE_LOST)
def two_configurations_for_one_layer_without_weights(at: Path) -> Pair:
    path = _of_tensorflow_2_0(at)
    return Pair(path, lambda: ckpt(model=with_dropout(keras_2(), is_shared=True)))


@shows(Kind.MIGRATED, FAIL, None, None, "Another major version of Keras wrote the file (6 values)")
def configurations_in_keras_3(at: Path) -> Pair:
    return Pair(_of_tensorflow_2_0(at), lambda: ckpt(model=with_dropout(keras_3())))


def compiled() -> Any:
    """Return a Keras 2 model with an optimizer and metrics."""
    model = called(keras_2_sequential(4, 2))
    model.compile("adam", "mse")
    stepped(model.optimizer, model.trainable_variables)
    return model


def keras_2_saved_model(at: Path) -> str:
    compiled().save(str(at / "model"), save_format="tf")
    return str(at / "model")


@shows(Kind.LEFTOVER, FAIL, "(root).keras_api", None, "A SavedModel or Keras keeps 2 values")
def metrics_of_a_keras_2_saved_model(at: Path) -> Pair:
    return Pair(keras_2_saved_model(at), lambda: ckpt(compiled()))


@shows(Kind.LEFTOVER, FAIL, None, "(root).keras_api", "A loaded SavedModel keeps 2 values")
def metrics_of_a_loaded_saved_model(at: Path) -> Pair:
    import tensorflow as tf

    directory = keras_2_saved_model(at)
    compiled().save_weights(str(at / "weights"), save_format="tf")
    return Pair(str(at / "weights"), lambda: ckpt(tf.saved_model.load(directory)), "read")


@shows(Kind.LEFTOVER, FAIL, "(root).layer.token_counts", None, "1 value", "Ignore this")
def counts_of_a_lookup_that_is_given_its_vocabulary(at: Path) -> Pair:
    source = lookup()
    source.layer.adapt(["a", "b"])
    return Pair(save_any(at, source), lambda: lookup(vocabulary=["a", "b"]))


@silent(Kind.LEFTOVER)
def other_attribute_of_a_layer(at: Path) -> Pair:
    return Pair(saved(at, layer=var()), lambda: ckpt(layer=module()))


@silent(Kind.LEFTOVER)
def saved_model_read_by_its_variables(at: Path) -> Pair:
    path = saved_model(at, v=var(1.0)) + "/variables/variables"
    return Pair(path, lambda: ckpt(module(v=var(2.0))), "read")
