"""Programs whose parts look alike: names and lists decide which is which, or it stays open."""

from __future__ import annotations

import re
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from tests.support.live_objects import untracked_attributes
from tests.support.programs import COUNTER, ckpt, keras_2, keras_3, module, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

KERAS = pytest.mark.parametrize("keras", [keras_2, keras_3], ids=["tf_keras", "keras 3"])


def net(keras: Any, value: float = 0.0) -> Any:
    """Return a network with this value in all its weights."""
    layers = [keras.layers.Dense(4), keras.layers.Dense(2)]
    return filled(keras.Sequential([keras.layers.Input((4,)), *layers]), value)


def filled(model: Any, value: float) -> Any:
    for weight in model.weights:
        weight.assign(np.full(weight.shape, value))
    return model


def tower(value: float) -> Any:
    """Return a module with a list."""
    shapes = (3, 3), (3, 2)
    return module(layers=[var(np.full(shape, value, np.float32)) for shape in shapes])


def fix_of(live: Any, was: Any, at: Path) -> Any:
    return cv.check(live, was.save(str(at / "model"))).fix()


def values(weights: Any) -> set[float]:
    return {float(value) for weight in weights for value in np.ravel(weight)}


@KERAS
@pytest.mark.parametrize(
    ("saved", "name"),
    [
        ({"generator": 1.0, "discriminator": 2.0}, "gen"),
        ({"q_network": 1.0, "target_network": 2.0}, "q_net"),
        ({"model": 2.0, "ema_model": 1.0}, "ema"),
    ],
)
def test_names_tell_which_of_two_equal_models_is_left(
    keras: Any, saved: dict[str, float], name: str, tmp_path: Path
) -> None:
    was = ckpt(**{key: net(keras(), value) for key, value in saved.items()})
    live = ckpt(**{name: net(keras())})
    fix_of(live, was, tmp_path).apply()
    assert values(getattr(live, name).weights) == {1.0}


def test_names_tell_which_of_two_equal_modules_is_left(tmp_path: Path) -> None:
    live = ckpt(gen=tower(0.0))
    fix_of(live, ckpt(generator=tower(1.0), discriminator=tower(2.0)), tmp_path).apply()
    assert values(live.gen.layers) == {1.0}


@KERAS
@pytest.mark.parametrize(
    ("saved", "names"),
    [(("q_network", "target_network"), ("policy",)), (("tower",), ("user_tower", "item_tower"))],
)
def test_neither_of_two_equal_models_is_chosen_without_a_reason(
    keras: Any, saved: tuple[str, ...], names: tuple[str, ...], tmp_path: Path
) -> None:
    was = ckpt(**{name: net(keras(), 1.0) for name in saved})
    fix = fix_of(ckpt(**{name: net(keras()) for name in names}), was, tmp_path)
    assert [*fix.pairs] == [COUNTER]
    assert "# These are guesses, and left out; " in fix.code


def test_the_list_of_an_optimizer_tells_which_model_it_trains(tmp_path: Path) -> None:
    keras = keras_3()

    def trained(value: float) -> tuple[Any, Any]:
        model, optimizer = net(keras, value), keras.optimizers.Adam()
        optimizer.build(model.trainable_variables)
        return model, optimizer

    student, optimizer = trained(1.0)
    was = ckpt(student=student, teacher=net(keras, 2.0), optimizer=optimizer)
    for variable in optimizer.variables[2:]:
        variable.assign(np.full(variable.shape, 3.0))
    model, optimizer = trained(0.0)
    fix_of(ckpt(model=model, optimizer=optimizer), was, tmp_path).apply()
    assert values(model.weights) == {1.0}
    assert values(optimizer.variables[2:]) == {3.0}


def test_the_list_of_an_optimizer_tells_the_layers_of_a_new_container(tmp_path: Path) -> None:
    keras = keras_3()

    def model(*, is_nested: bool) -> Any:
        class Model(keras.Model):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                layers = keras.layers.Dense(4), keras.layers.LayerNormalization()
                if is_nested:
                    self.stem = keras.Sequential([*layers, keras.layers.Dense(4)])
                else:
                    self.first, self.norm = layers
                    self.second = keras.layers.Dense(4)

            def call(self, x: Any) -> Any:
                return self.stem(x) if is_nested else self.second(self.norm(self.first(x)))

        found, optimizer = Model(), keras.optimizers.Adam()
        found(np.zeros((1, 4), np.float32))
        optimizer.build(found.trainable_variables)
        return ckpt(model=found, optimizer=optimizer)

    was, live = model(is_nested=False), model(is_nested=True)
    for number, weight in enumerate((*was.model.weights, *was.optimizer.variables), 1):
        weight.assign(np.full(weight.shape, number))
    fix_of(live, was, tmp_path).apply()
    weights = *live.model.weights, *live.optimizer.variables
    assert [values([weight]) for weight in weights] == [{n} for n in range(1, len(weights) + 1)]


@pytest.mark.parametrize("is_distinct", [True, False])
def test_values_have_other_names_in_all_items_of_a_list(is_distinct: bool, tmp_path: Path) -> None:
    def live(value: float, *names: str) -> Any:
        sizes = (3, 4, 5) if is_distinct else (3, 3, 3)
        return ckpt(
            layers=[
                module(
                    **{
                        name: var(np.full(shape, value * (place + 1), np.float32))
                        for name, shape in zip(names, ((size, size), (size,)), strict=True)
                    }
                )
                for place, size in enumerate(sizes)
            ]
        )

    now = live(0.0, "weight", "bias")
    fix = fix_of(now, live(1.0, "w", "b"), tmp_path).apply()
    assert [values([one.weight, one.bias]) for one in now.layers] == [{1.0}, {2.0}, {3.0}]
    assert [change.kind.value for change in fix.changes] == ["renamed", "renamed"]


def test_all_keys_of_a_dict_have_another_name(tmp_path: Path) -> None:
    def live(prefix: str, value: float) -> Any:
        shapes = enumerate("abc", 1)
        return ckpt(d={prefix + key: var([value] * size) for size, key in shapes})

    now = live("new_", 0.0)
    assert len(fix_of(now, live("old_", 1.0), tmp_path).apply().pairs) == 4
    assert values(now.d.values()) == {1.0}


def test_one_shape_by_chance_does_not_relate_two_models(tmp_path: Path) -> None:
    keras = keras_3()
    policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(2)])
    was = ckpt(agent=module(policy=policy, epsilon=var(0.0), steps=var(0)))
    layers = keras.layers.Conv2D(4, 3), keras.layers.Flatten(), keras.layers.Dense(2)
    live = ckpt(model=keras.Sequential([keras.Input((8, 8, 3)), *layers]))
    check = cv.check(live, was.save(str(tmp_path / "model")))
    assert [finding.kind.value for finding in check.findings] == ["unrelated"]
    assert [*check.fix().pairs] == [COUNTER]


def test_layers_that_moved_on_by_one_are_not_renamed_to_the_free_name(tmp_path: Path) -> None:
    keras = keras_3()

    def live(first: int) -> Any:
        layers = [keras.layers.Dense(4, name=f"fc{number}") for number in range(3)]
        for layer in layers:
            layer.build((None, 4))
        return ckpt(net=module(**{f"layer{first + i}": one for i, one in enumerate(layers)}))

    check = cv.check(live(1), live(0).save(str(tmp_path / "model")))
    told = [(one.saved, one.live) for one in check.findings if one.kind.value == "renamed"]
    expected = {(f"(root).net.layer{i}", f"(root).net.layer{i + 1}") for i in range(3)}
    assert set(told) == expected


@KERAS
def test_how_many_of_equal_items_were_added_is_told_and_not_which(
    keras: Any, tmp_path: Path
) -> None:
    def live(number: int) -> Any:
        return ckpt(blocks=[net(keras()) for _ in range(number)])

    fix = fix_of(live(4), live(3), tmp_path)
    assert [change.why for change in fix.changes] == [
        "One of 4 alike blocks is new, and nothing shows which."
    ]
    assert set(fix.pairs.values()) == restored_by_default(live(4), live(3), tmp_path)


def restored_by_default(live: Any, was: Any, at: Path) -> set[str]:
    """Return the names of the variables that a plain restore changes."""
    for part in was.blocks:
        filled(part, 1.0)
    live.restore(was.save(str(at / "default"))).expect_partial()
    graph = cv.graph(live)
    return {
        graph.name(node)
        for node in range(len(graph.nodes))
        if graph.nodes[node].attributes and values([graph.read(graph.name(node))]) == {1.0}
    }


def test_equal_layers_that_only_an_optimizer_holds_go_where_a_restore_puts_them(
    tmp_path: Path,
) -> None:
    keras = keras_3()

    def live(number: int) -> Any:
        layers = [keras.layers.Dense(4) for _ in range(number)]
        for layer in layers:
            layer.build((None, 4))
        variables = [variable for layer in layers for variable in layer.trainable_variables]
        optimizer = keras.optimizers.SGD(momentum=0.9)
        optimizer.build(variables)
        return ckpt(net=module(layers=deque(layers)), optimizer=optimizer)  # tracks no deque

    was, plain, now = live(3), live(2), live(2)
    for number, variable in enumerate(trained(was), 1):
        variable.assign(np.full(variable.shape, number))
    path = was.save(str(tmp_path / "ckpt"))
    plain.restore(path).expect_partial()
    cv.check(now, path).fix().apply()
    assert [values([one]) for one in trained(now)] == [values([one]) for one in trained(plain)]


def trained(live: Any) -> list[Any]:
    """Return the variables that an optimizer trains, and its state."""
    return [*live.optimizer._trainable_variables, *live.optimizer.variables]


def blocks(value: float, *shapes: tuple[int, ...]) -> Any:
    """Return a module with a list of modules, each with a variable of a shape and one alike."""
    made = (np.full(shape, value + place, np.float32) for place, shape in enumerate(shapes))
    return module(blocks=[module(w=var(one), b=var(one[0])) for one in made])


@pytest.mark.parametrize(("was", "now"), [(3, 4), (4, 3)])
def test_equal_items_before_one_that_moved_keep_the_values_that_a_restore_gives_to_them(
    was: int, now: int, tmp_path: Path
) -> None:
    block, head = (3, 3), (3, 2)
    live = ckpt(net=blocks(0.0, *[block] * now, head))
    check = cv.check(live, ckpt(net=blocks(1.0, *[block] * was, head)).save(str(tmp_path / "m")))
    assert check.raises is not None and "shape" in check.raises.message
    check.fix().apply()
    kept = [float(one.w[0, 0]) for one in live.net.blocks[: min(was, now)]]
    assert kept == [1.0 + place for place in range(min(was, now))]
    assert float(live.net.blocks[-1].w[0, 0]) == 1.0 + was  # the head


def test_equal_items_behind_one_of_another_shape_are_guesses(tmp_path: Path) -> None:
    """A restore puts values of other items there: the second of the file is the first now."""
    first, block, head = (4, 3), (3, 3), (3, 2)
    live = ckpt(net=blocks(0.0, block, block, head))
    path = ckpt(net=blocks(1.0, first, block, block, block, head)).save(str(tmp_path / "m"))
    fix = cv.check(live, path).fix()
    assert {key.split("/.")[0] for key in fix.pairs} == {
        "net/blocks/4/w",
        "net/blocks/4/b",
        "save_counter",
    }


def test_a_renamed_item_keeps_the_value_that_a_restore_gives_to_it(tmp_path: Path) -> None:
    keras = keras_3()

    def program(*layers: Any) -> Any:
        for layer in layers:
            layer.build((None, 4))
        return ckpt(net=[*layers])

    dense = keras.layers.Dense
    was = program(dense(4, name="first"), dense(4, name="second"))
    path = str(was.save(str(tmp_path / "ckpt")))
    live = program(keras.layers.Dropout(0.1), dense(4, name="other"))
    cv.check(live, path).fix().apply()
    np.testing.assert_array_equal(live.net[1].kernel, was.net[1].kernel)


def test_a_layer_without_a_chosen_name_is_none_with_one(tmp_path: Path) -> None:
    keras = keras_3()

    def live(name: str, *between: Any) -> Any:
        layers = [keras.layers.BatchNormalization(name="norm")]
        layers += [keras.layers.Dense(4, name=name), *between, keras.layers.Dense(4)]
        for layer in layers:
            layer.build((None, 4))
        optimizer = keras.optimizers.Adam()
        optimizer.build([variable for layer in layers for variable in layer.trainable_variables])
        return ckpt(zoo=layers, optimizer=optimizer)

    was, now = live("fc"), live("renamed", keras.layers.Activation("relu"))
    filled(was.zoo[1], 1.0)
    filled(was.zoo[2], 2.0)
    fix_of(now, was, tmp_path).apply()
    assert [values(now.zoo[place].weights) for place in (1, 3)] == [{1.0}, {2.0}]


def test_python_state_is_restored_under_another_name(tmp_path: Path) -> None:
    import tensorflow as tf

    class State(tf.train.experimental.PythonState):  # type: ignore[misc]
        def __init__(self, value: str) -> None:
            self.value = value

        def serialize(self) -> str:
            return self.value

        def deserialize(self, value: str) -> None:
            self.value = value

    live = ckpt(place=State("new"), v=var(0.0))
    fix_of(live, ckpt(it=State("saved"), v=var(1.0)), tmp_path).apply()
    assert live.place.value in ("saved", b"saved")


@pytest.mark.parametrize("is_root", [True, False])
def test_a_part_that_has_grown_is_not_its_equal_copy(is_root: bool, tmp_path: Path) -> None:
    def part(value: float, **more: Any) -> Any:
        shapes = {"a": (6, 6), "b": (6, 6), "c": (4,)}
        return module(
            **{name: var(np.full(shape, value, np.float32)) for name, shape in shapes.items()},
            **more,
        )

    def live(value: float, **more: Any) -> Any:
        import tensorflow as tf

        own = part(value) if is_root else part(value, **({"key": var([0.0])} if more else {}))
        return tf.train.Checkpoint(own, **more) if is_root else ckpt(model=own, **more)

    teacher = part(0.0)
    now = live(0.0, teacher=teacher)
    fix = fix_of(now, live(1.0), tmp_path).apply()
    model = now.root if is_root else now.model
    assert values([model.a, model.b, model.c]) == {1.0}
    assert values([teacher.a, teacher.b, teacher.c]) == {0.0}
    assert {change.kind.value for change in fix.changes} == {"unmatched"}


@KERAS
@pytest.mark.parametrize(("now", "own"), [("RMSprop", {"momentum": 0.9}), ("Adamax", {})])
def test_state_of_another_class_of_optimizer_is_not_taken_for_that_of_another_version(
    keras: Any, now: str, own: dict[str, float], tmp_path: Path
) -> None:
    module_of = keras()

    def trained(optimizer: Any) -> Any:
        model = net(module_of)
        optimizer.build(model.trainable_variables)
        return ckpt(model=model, optimizer=optimizer)

    live = trained(getattr(module_of.optimizers, now)(**own))
    path = trained(module_of.optimizers.Adam()).save(str(tmp_path / "model"))
    check = cv.check(live, path)
    fix = check.fix()
    states = {cv.graph(live).name(i) for i, n in enumerate(cv.graph(live).nodes) if n.slot}
    assert states.isdisjoint(fix.pairs.values()) and states
    assert len(fix.pairs) == 7  # the model's, two counters and the rate
    assert ["Keras" in change.why for change in fix.changes] == [False]
    assert check.findings[0].kind is cv.Kind.OPTIMIZER_CHANGED


def test_a_part_that_moved_up_is_not_that_of_a_removed_copy(tmp_path: Path) -> None:
    def block(value: float) -> Any:
        return module(x=var(np.full((8, 3), value, np.float32)), y=var(np.full((8, 3), value)))

    def model(value: float, *, is_flat: bool) -> Any:
        trunk = module(shrink=var(np.full(4, value, np.float32)))
        made = module(trunk=trunk, squash=var(np.full((7, 3), value, np.float32)))
        (made if is_flat else trunk).left = block(value)
        return made

    was = ckpt(model=model(1.0, is_flat=False), teacher=model(2.0, is_flat=False))
    live = ckpt(model=model(0.0, is_flat=True))
    fix_of(live, was, tmp_path).apply()
    assert values([live.model.left.x, live.model.left.y, live.model.trunk.shrink]) == {1.0}


def test_a_guess_in_one_model_is_none_in_its_unchanged_copy(tmp_path: Path) -> None:
    def model(value: float, *, has_names: bool) -> Any:
        shapes = (5, 7), (5, 7), (6,)
        parts = [var(np.full(shape, value, np.float32)) for shape in shapes]
        names = ("one", "two", "three")
        neck = module(**dict(zip(names, parts, strict=True))) if has_names else parts
        return module(key=var(np.full((4, 6), value, np.float32)), neck=neck)

    was = ckpt(model=model(1.0, has_names=False), teacher=model(2.0, has_names=False))
    live = ckpt(model=model(0.0, has_names=True), teacher=model(0.0, has_names=False))
    fix_of(live, was, tmp_path).apply()
    assert values([*live.teacher.neck, live.teacher.key]) == {2.0}
    assert values([live.model.neck.one, live.model.neck.two]) == {0.0}  # the order alone tells


def test_states_of_variables_with_one_full_name_stay_open_if_the_variables_changed_their_order(
    tmp_path: Path,
) -> None:
    keras = keras_2()

    def program(order: str, value: float) -> tuple[Any, list[Any]]:
        """Return a checkpoint, and the scales of layers a and b with their states."""
        model = keras.Model()
        for name in order:
            layer = keras.layers.BatchNormalization()
            layer.build((None, 3))  # outside of a scope: both scales are called gamma
            setattr(model, name, layer)
        trained = [model.a.gamma, model.b.gamma]
        optimizer = keras.optimizers.SGD(momentum=0.9)
        optimizer.build(model.trainable_variables)
        refs = [variable.ref() for variable in model.trainable_variables]
        own = [optimizer.momentums[refs.index(variable.ref())] for variable in trained]
        for number, variable in enumerate([*trained, *own]):
            variable.assign(np.full(3, value and value + number))
        return ckpt(model, optimizer=optimizer), [*trained, *own]

    for order, states in ("ab", [3.0, 4.0]), ("ba", [0.0, 0.0]):
        live, weights = program(order, 0.0)
        fix_of(live, program("ab", 1.0)[0], tmp_path / order).apply()
        assert [float(np.ravel(one)[0]) for one in weights] == [1.0, 2.0, *states]


def test_a_name_that_is_there_wins_over_shapes_that_fit_another_part(tmp_path: Path) -> None:
    def part(inputs: int, value: float) -> Any:
        shapes = {"kernel": (inputs, 4), "bias": (4,)}
        return module(**{name: var(np.full(shape, value)) for name, shape in shapes.items()})

    was = ckpt(model=module(left=part(3, 1.0), right=part(2, 2.0), other=part(3, 3.0)))
    live = module(left=part(2, 0.0), right=part(3, 0.0), new=part(3, 0.0), other=part(3, 0.0))
    fix_of(ckpt(model=live), was, tmp_path).apply()
    assert values([live.left.bias]) == {1.0} and values([live.right.bias]) == {2.0}
    assert values([live.left.kernel, live.right.kernel, live.new.kernel, live.new.bias]) == {0.0}
    assert values([live.other.kernel, live.other.bias]) == {3.0}


@KERAS
def test_optimizers_follow_models_that_exchange_their_names(keras: Any, tmp_path: Path) -> None:
    module_of = keras()

    def program(steps: tuple[int, int], *, is_exchanged: bool) -> Any:
        sizes = {"generator": (3, 5), "discriminator": (5, 1)}
        made = {}
        for (name, (size, width)), number in zip(sizes.items(), steps, strict=True):
            layers = [module_of.layers.Input((size,)), module_of.layers.Dense(width)]
            model, optimizer = module_of.Sequential(layers), module_of.optimizers.Adam()
            optimizer.build(model.trainable_variables)
            optimizer.iterations.assign(number)
            made[name] = model, optimizer
        one, other = made.values()
        first, second = (other, one) if is_exchanged else (one, other)
        names = {"generator": first[0], "discriminator": second[0]}
        return ckpt(**names, generator_optimizer=first[1], discriminator_optimizer=second[1])

    live = program((0, 0), is_exchanged=True)
    fix_of(live, program((11, 22), is_exchanged=False), tmp_path).apply()
    optimizers = live.generator_optimizer, live.discriminator_optimizer
    assert [int(one.iterations) for one in optimizers] == [22, 11]


@KERAS
def test_another_head_and_a_frozen_base_are_two_findings(keras: Any, tmp_path: Path) -> None:
    module_of = keras()

    def program(classes: int, *, is_frozen: bool) -> Any:
        base = module_of.Sequential([module_of.layers.Dense(4)], name="base")
        base.trainable = not is_frozen
        head = module_of.layers.Dense(classes, name="head")
        model = module_of.Sequential([module_of.layers.Input((3,)), base, head])
        optimizer = module_of.optimizers.Adam()
        optimizer.build(model.trainable_variables)
        return ckpt(model=model, optimizer=optimizer)

    path = program(10, is_frozen=False).save(str(tmp_path / "model"))
    found = cv.check(program(5, is_frozen=True), path).findings
    told = "".join(finding.why for finding in found if finding.kind is cv.Kind.SHAPE)
    assert "The head is smaller: 10 → 5" in told
    assert {one.kind for one in found} & {cv.Kind.OPTIMIZER_CHANGED, cv.Kind.MISPLACED}
    assert len(found) == 2


def test_a_fix_without_a_part_lets_save_count_on(tmp_path: Path) -> None:
    was = ckpt(parts=[module(w=var([float(n)])) for n in range(3)])
    live = ckpt(parts={name: module(w=var([9.0])) for name in "abc"})
    fix = fix_of(live, was, tmp_path)
    assert [*fix.pairs] == [COUNTER]
    assert fix.apply() is fix
    assert int(live.save_counter) == 1
    assert [float(part.w[0]) for part in live.parts.values()] == [9.0] * 3


# --- guesses


def _lists(names: tuple[str, str], sizes: tuple[int, int], directory: Path) -> tuple[Any, Any]:
    """Return a program whose list of equal items has other items now, and its check."""
    was = ckpt(net=module(**{names[0]: [module(w=var([n + 1.0])) for n in range(sizes[0])]}))
    live = ckpt(net=module(**{names[1]: [module(w=var([-1.0])) for _ in range(sizes[1])]}))
    return live, cv.check(live, was.save(str(directory / "ckpt")))


@pytest.mark.parametrize("sizes", [(3, 2), (2, 3)])
def test_no_comment_denies_a_guess(sizes: tuple[int, int], tmp_path: Path) -> None:
    fix = _lists(("blocks", "layers"), sizes, tmp_path)[1].fix()
    comments = re.split("^# (?! )", fix.code, flags=re.MULTILINE)
    (guesses,) = (one for one in comments if one.startswith("These are guesses"))
    others = "".join(one for one in comments if one != guesses)
    assert set(fix.guesses.values()) == {f"(root).net.layers.{n}.w" for n in range(2)}
    places = [name.removeprefix("(root).") for name in fix.guesses.values()]
    assert not any(name in others for name in (*fix.guesses, *places))
    assert set(fix.guesses) <= set(fix.unused) and set(fix.guesses.values()) <= set(fix.missing)
    for key in fix.unused:
        assert fix.code.count(key) == 1


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        (True, [1.0, 2.0]),
        ("net.blocks.1", [-1.0, 2.0]),
        (["(root).net.blocks.0"], [1.0, -1.0]),
        (["net/blocks/0", "net.blocks.1.w"], [1.0, 2.0]),
        (("net",), [1.0, 2.0]),
        (False, [-1.0, -1.0]),
        ([], [-1.0, -1.0]),
    ],
)
def test_a_fix_takes_the_guesses_that_a_person_accepts(
    accepted: Any, expected: list[float], tmp_path: Path
) -> None:
    live, check = _lists(("blocks", "layers"), (3, 2), tmp_path)
    fix = check.fix(guesses=accepted)
    path = fix.write(tmp_path / "fixed")
    for restore in (
        fix.apply,
        lambda: exec(fix.code, {"ckpt": live, "path": fix.prefix}),
        lambda: live.restore(path).expect_partial(),
    ):
        for item in live.net.layers:
            item.w.assign([-1.0])
        restore()
        assert [float(item.w[0]) for item in live.net.layers] == expected
    assert len(fix.guesses) + len({*fix.pairs} - {COUNTER}) == 2


@pytest.mark.parametrize(
    ("accepted", "error", "words"),
    [
        ("net.blocks.2", cv.NoSuchNodeError, r"guesses: .*blocks\.0 and .*blocks\.1$"),
        (["net.blocks", "other"], cv.NoSuchNodeError, "'other' names no guess"),
        (3, cv.SourceError, "the names of saved parts, found int"),
        ([3], cv.SourceError, "found int among them"),
    ],
)
def test_a_name_without_a_guess_is_an_error(
    accepted: Any, error: type[Exception], words: str, tmp_path: Path
) -> None:
    _, check = _lists(("blocks", "layers"), (3, 2), tmp_path)
    with pytest.raises(error, match=words):
        check.fix(guesses=accepted)


def _in_list(name: str, count: int, keras: Any, optimizer: Any) -> Any:
    """Return a program of a list of equal layers, whose optimizer has its slots."""
    layers = [keras.layers.Dense(4) for _ in range(count)]
    for one in layers:
        one.build((None, 4))
    variables = [variable for one in layers for variable in one.trainable_variables]
    if hasattr(optimizer, "build"):
        optimizer.build(variables)
    else:
        optimizer.apply_gradients([(0 * variable + 1, variable) for variable in variables])
    return ckpt(**{name: layers}, optimizer=optimizer)


def test_slots_go_with_accepted_variables(tmp_path: Path) -> None:
    keras = keras_2()
    was, live = (
        _in_list(name, count, keras, keras.optimizers.legacy.Adam())
        for name, count in (("blocks", 3), ("layers", 2))
    )
    fix = cv.check(live, was.save(str(tmp_path / "ckpt"))).fix(guesses="blocks/1")
    slots = [f".OPTIMIZER_SLOT/optimizer/{name}/" for name in "mv"]
    assert {key.split(".ATT", 1)[0] for key in fix.pairs if key.startswith("blocks")} == {
        f"blocks/1/{name}/{slot}" for name in ("kernel", "bias") for slot in ("", *slots)
    }


def test_states_that_mean_something_else_are_never_accepted(tmp_path: Path) -> None:
    keras = keras_3()
    was = _in_list("blocks", 3, keras, keras.optimizers.Adam())
    live = _in_list("layers", 2, keras, keras.optimizers.Muon())
    fix = cv.check(live, was.save(str(tmp_path / "ckpt"))).fix(guesses=True)
    assert {key.split("/.", 1)[0] for key in fix.pairs} == {
        *(f"blocks/{n}/{name}" for n in range(2) for name in ("_kernel", "bias")),
        *("optimizer/_iterations", "optimizer/_learning_rate", "save_counter"),
    }


def test_no_comment_denies_what_a_plain_restore_fills(tmp_path: Path) -> None:
    keras = keras_3()
    was = _in_list("layers", 2, keras, keras.optimizers.SGD(momentum=0.9))
    live = _in_list("layers", 2, keras, keras.optimizers.Lion())
    fix = cv.check(live, was.save(str(tmp_path / "ckpt"))).fix()
    title = "# These keep their values; in this optimizer's class, the saved states may mean"
    assert title in fix.code and "the checkpoint has none" not in fix.code
    assert len(fix.missing) == 4 and "has no place for" not in fix.code


def test_a_fix_keeps_the_counter_that_a_restore_restores(tmp_path: Path) -> None:
    keras = keras_3()
    was = _in_list("blocks", 3, keras, keras.optimizers.Adam())
    was.optimizer.iterations.assign(7)
    live = _in_list("layers", 2, keras, keras.optimizers.Adam())
    fix_of(live, was, tmp_path).apply()
    assert int(live.optimizer.iterations) == 7


def test_a_fix_says_what_it_does(tmp_path: Path) -> None:
    _, check = _lists(("blocks", "layers"), (3, 2), tmp_path)
    fix = check.fix()
    assert f"{fix}".splitlines() == [
        f"{fix.prefix} into Checkpoint",
        "  restores 1 value with a plain restore()",
        "  save_counter is restored, so save() counts on from this checkpoint",
        "  1 value left in the checkpoint; the program has no place for net.blocks.2.w",
        "  2 values left out as guesses, because only order or shape suggests their places: "
        "net.blocks.0 and net.blocks.1",
        "check.fix(guesses=True) adds these guesses; with names of saved parts, it adds only "
        "theirs.",
        "fix.apply() restores now, all values or none; fix.code is the same as a program, for your "
        "path.",
    ]
    assert repr(fix).endswith("into Checkpoint: 1 value restored, 2 guesses left out>")
    taken = f"{check.fix(guesses='net.blocks.0')}".splitlines()
    assert taken[1].endswith(" by their saved names, 1 of them accepted guesses")
    assert taken[-1].startswith("fix.apply() restores now")


def test_a_fix_says_what_speaks_for_the_place_of_a_guess(tmp_path: Path) -> None:
    was = ckpt(net=module(w=var([[1.0]]), b=var([2.0]), table=var([3.0, 4.0, 5.0])))
    live = ckpt(module=module(kernel=var([[0.0]]), bias=var([0.0])))
    text = f"{cv.check(live, was.write(str(tmp_path / 'ckpt'))).fix()}"
    why = "because only order or shape suggests their places: net"
    assert f"2 values left out as guesses, {why}" in text


@KERAS
def test_a_fix_takes_a_guess_under_the_name_that_it_prints(keras: Any, tmp_path: Path) -> None:
    def chain(*names: str) -> Any:
        layers = [keras().layers.Dense(4, name=name) for name in names]
        return keras().Sequential([keras().layers.Input((4,)), *layers])

    was, live = ckpt(model=chain("p", "q")), ckpt(net=chain("x", "between", "y"))
    check = cv.check(live, was.save(str(tmp_path / "ckpt")))
    assert f"{check.fix()}".splitlines()[-3].endswith("their places: model.p and model.q")
    assert len(check.fix(guesses="model.q").pairs) == 3


def test_a_fix_counts_untracked_attributes_as_attributes(tmp_path: Path) -> None:
    live = untracked_attributes()
    text = f"{cv.check(live, ckpt(tracked=live.tracked).write(str(tmp_path / 'ckpt'))).fix()}"
    assert "  4 attributes left out; TensorFlow does not track " in text
    assert "values kept" not in text


def test_the_text_of_a_fix_has_no_control_characters_of_a_file(tmp_path: Path) -> None:
    was = ckpt(**{"a\x1b[31m": var([1.0]), "b": var([2.0])})
    text = f"{cv.check(ckpt(b=var([0.0])), was.save(str(tmp_path / 'ckpt'))).fix()}"
    assert "restores 2 values with a plain restore()" in text
    assert "has no place for a" in text and "\x1b" not in text
