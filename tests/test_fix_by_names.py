"""Files of TensorFlow 1, which have names and no objects, in programs of objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ckpt_viz as cv
from ckpt_viz.cli import main
from tests.support.programs import ckpt, keras_3, module, save_by_name, var

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def trained_by_session(at: Path, build: Callable[[], Any], **saver: Any) -> str:
    """Return what a Saver writes of a graph with an Adam; every element is another number."""
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        v1.train.AdamOptimizer(0.1).minimize(build(), global_step=step)
        first = 1
        for variable in v1.global_variables():
            count = int(np.prod(variable.shape))
            value = np.arange(first, first + count).reshape(variable.shape)
            variable.load(value.astype(variable.dtype.as_numpy_dtype), session)
            first += count
        return str(v1.train.Saver(**saver).save(session, str(at / "model.ckpt")))


def dense(inputs: Any, units: int, scope: str) -> Any:
    import tensorflow as tf

    with tf.compat.v1.variable_scope(scope):
        kernel = tf.compat.v1.get_variable("kernel", (inputs.shape[1], units))
        bias = tf.compat.v1.get_variable("bias", (units,))
    return inputs @ kernel + bias


def network() -> Any:
    """Return the loss of layers that only their names tell apart."""
    import tensorflow as tf

    with tf.compat.v1.variable_scope("net"):
        hidden = dense(dense(tf.ones((1, 6)), 6, "encoder"), 6, "decoder")
    return tf.reduce_sum(dense(hidden, 6, "head"))


NAMES = {
    f"{scope}/{name}": f"{scope.rpartition('/')[2]}.{name}"
    for scope in ("net/encoder", "net/decoder", "head")
    for name in ("kernel", "bias")
}


def restored(live: Any, path: str, expected: Mapping[str, Any]) -> Any:
    """Restore by the code of a fix and by `apply`; `expected` has the variables by their names."""
    import tensorflow as tf

    fix = cv.check(live, path).fix()
    reader = tf.train.load_checkpoint(path)
    for restore in (lambda: exec(fix.code, {"ckpt": live, "path": path}), fix.apply):
        for variable in expected.values():
            variable.assign(np.full(variable.shape, -1, np.float32))
        restore()
        for name, variable in expected.items():
            np.testing.assert_array_equal(variable, reader.get_tensor(name), name)
    assert set(expected) == set(fix.pairs)
    return fix


def layers_of(*names: str, units: int = 6) -> Any:
    """Return a Keras 3 model of layers that look alike; a layer without a name gets one."""
    keras = keras_3()
    layers = [keras.layers.Dense(units, **({"name": name} if name else {})) for name in names]
    return keras.Sequential([keras.Input((units,)), *layers])


def values(*scopes: str, size: int = 6) -> dict[str, Any]:
    """Return kernels and biases under these scopes, each of other numbers."""
    found: dict[str, Any] = {}
    for number, scope in enumerate(scopes):
        found[f"{scope}/kernel"] = np.full((size, size), number, np.float32)
        found[f"{scope}/bias"] = np.full(size, number, np.float32)
    return found


def test_scopes_become_keras_layers_of_their_names_with_the_optimizer(tmp_path: Path) -> None:
    path = trained_by_session(tmp_path, network)
    model = layers_of("head", "decoder", "encoder")  # the order tells nothing
    optimizer = keras_3().optimizers.Adam()
    optimizer.build(model.trainable_variables)
    variables, expected = model.trainable_variables, {}
    for name, place in NAMES.items():
        layer, _, own = place.partition(".")
        variable = getattr(model.get_layer(layer), own)
        index = next(i for i, one in enumerate(variables) if one is variable)
        expected[name] = variable
        expected[f"{name}/Adam"] = optimizer._momentums[index]
        expected[f"{name}/Adam_1"] = optimizer._velocities[index]
    fix = restored(ckpt(model=model, optimizer=optimizer), path, expected)
    assert set(fix.unused) == {"beta1_power", "beta2_power", "global_step"}
    kept = {name.rpartition(".")[2].lstrip("_") for name in fix.missing}
    assert kept == {"iterations", "learning_rate"}


@pytest.mark.parametrize("is_v1", [False, True])
def test_scopes_become_paths_of_modules(is_v1: bool, tmp_path: Path) -> None:
    import tensorflow as tf

    version = tf.compat.v1.train.SaverDef.V1 if is_v1 else tf.compat.v1.train.SaverDef.V2
    path = trained_by_session(tmp_path, network, write_version=version)
    parts = {name: layer() for name in ("head", "decoder", "encoder")}
    live = ckpt(
        model=module(
            head=parts["head"], net=module(decoder=parts["decoder"], encoder=parts["encoder"])
        )
    )
    expected = {name: _attribute(parts, place) for name, place in NAMES.items()}
    fix = restored(live, path, expected)
    assert not fix.missing
    if not is_v1:
        live.restore(fix.write(tmp_path / "fixed")).assert_existing_objects_matched()
        for name, variable in expected.items():
            np.testing.assert_array_equal(variable, cv.graph(path).read(name))


def _attribute(parts: Mapping[str, Any], place: str) -> Any:
    part, _, own = place.partition(".")
    return getattr(parts[part], own)


def test_names_of_variables_count_wherever_they_are(tmp_path: Path) -> None:
    path = save_by_name(tmp_path / "model.ckpt", values("a/fc", "b/fc"))
    live = ckpt(one=module(w=var(np.zeros((6, 6), np.float32), name="b/fc/kernel")))
    assert dict(restored(live, path, {"b/fc/kernel": live.one.w}).pairs) == {
        "b/fc/kernel": "(root).one.w"
    }


def test_numbers_of_keras_count_if_both_sides_have_the_same_ones(tmp_path: Path) -> None:
    keras_3().utils.clear_session()
    path = save_by_name(tmp_path / "model.ckpt", values("dense", "dense_1", "dense_2"))
    model = layers_of("", "", "")
    expected = {
        f"{layer.name}/{own}": getattr(layer, own)
        for layer in model.layers
        for own in ("kernel", "bias")
    }
    restored(model, path, expected)


@pytest.mark.parametrize("count", [2, 4])
def test_numbers_of_keras_are_guesses_if_layers_are_new_or_gone(count: int, tmp_path: Path) -> None:
    keras_3().utils.clear_session()
    path = save_by_name(tmp_path / "model.ckpt", values("dense", "dense_1", "dense_2"))
    fix = restored(layers_of(*[""] * count), path, {})
    assert "# These are guesses, and left out; " in fix.code
    assert "#   dense_1.kernel may belong to " in fix.code


def test_numbers_are_an_order_if_a_later_model_has_others(tmp_path: Path) -> None:
    keras_3().utils.clear_session()
    layers_of(*[""] * 8)  # takes the names `dense` to `dense_7`
    path = save_by_name(tmp_path / "model.ckpt", values("dense", "dense_1", "dense_2"))
    model = layers_of("", "", "")
    assert [layer.name for layer in model.layers] == ["dense_8", "dense_9", "dense_10"]
    expected = {
        f"{scope}/{own}": getattr(layer, own)
        for scope, layer in zip(("dense", "dense_1", "dense_2"), model.layers, strict=True)
        for own in ("kernel", "bias")
    }
    restored(model, path, expected)


def test_a_prefix_may_be_a_directory_with_a_slash(tmp_path: Path) -> None:
    names = values("first", "second")
    path = save_by_name(tmp_path / "model.ckpt", names)
    for file in tmp_path.iterdir():
        file.rename(file.with_name(file.name.removeprefix("model.ckpt")))
    model = layers_of("first", "second")
    fix = cv.check(model, f"{tmp_path}/").fix()
    exec(fix.code, {"ckpt": model, "path": f"{tmp_path}/"})
    for layer in model.layers:
        np.testing.assert_array_equal(layer.kernel, names[f"{layer.name}/kernel"])
    assert path not in fix.code


def test_shapes_tell_layers_apart_whose_numbers_differ(tmp_path: Path) -> None:
    keras = keras_3()
    keras.utils.clear_session()
    layers_of("")
    widths = {"dense": (5, 3), "dense_1": (3, 4)}
    tensors = {
        key: value
        for scope, (before, after) in widths.items()
        for key, value in (
            (f"{scope}/kernel", np.random.rand(before, after).astype(np.float32)),
            (f"{scope}/bias", np.random.rand(after).astype(np.float32)),
        )
    }
    path = save_by_name(tmp_path / "model.ckpt", tensors)
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3), keras.layers.Dense(4)])
    restored(model, path, dict(zip(tensors, model.weights, strict=True)))


def test_equal_names_in_two_models_and_other_shapes_are_left_out(tmp_path: Path) -> None:
    path = save_by_name(
        tmp_path / "model.ckpt",
        {**values("fc"), "wide/kernel": np.ones((2, 3), np.float32)},
    )

    def layer(*shape: int) -> Any:
        return module(kernel=var(np.zeros(shape, np.float32)))

    live = ckpt(a=module(fc=layer(6, 6)), b=module(fc=layer(6, 6)), wide=layer(3, 2))
    fix = restored(live, path, {})
    assert set(fix.unused) == {"fc/kernel", "fc/bias", "wide/kernel"}
    assert set(fix.missing) == {
        "(root).a.fc.kernel",
        "(root).b.fc.kernel",
        "(root).wide.kernel",
    }


def test_slots_of_another_optimizer_are_left_out(tmp_path: Path) -> None:
    path = trained_by_session(tmp_path, network)
    model = layers_of("head", "decoder", "encoder")
    optimizer = keras_3().optimizers.Adagrad()
    optimizer.build(model.trainable_variables)
    fix = cv.check(ckpt(model=model, optimizer=optimizer), path).fix()
    assert set(fix.pairs) == set(NAMES)


def test_partitioned_variables_are_assigned_as_a_whole(tmp_path: Path) -> None:
    import tensorflow as tf

    v1 = tf.compat.v1

    def partitioned() -> Any:
        split = v1.fixed_size_partitioner(2)
        with v1.variable_scope("encoder", partitioner=split):
            kernel = v1.get_variable("kernel", (6, 6), use_resource=True)
        return tf.reduce_sum(tf.convert_to_tensor(kernel))

    path = trained_by_session(tmp_path, partitioned)
    model = layers_of("encoder")
    restored(model, path, {"encoder/kernel": model.get_layer("encoder").kernel})


def test_names_in_a_file_are_only_names(tmp_path: Path) -> None:
    hostile = "'); raise SystemExit('ran') #\n"
    path = save_by_name(tmp_path / "model.ckpt", values(hostile))
    live = ckpt(**{hostile: module(kernel=var(np.zeros((6, 6), np.float32)))})
    assert len(cv.check(live, path).fix().pairs) == 1
    restored(live, path, {f"{hostile}/kernel": getattr(live, hostile).kernel})


def test_the_command_line_names_the_prefix(tmp_path: Path) -> None:
    path = save_by_name(tmp_path / "model.ckpt", values("net/fc"))
    layer = module(kernel=var(np.zeros((6, 6), np.float32)))
    program = str(ckpt(net=module(fc=layer)).write(str(tmp_path / "program")))
    result = CliRunner().invoke(main, ["fix", program, f"{path}.index"])
    assert result.exit_code == 0
    assert f"reader = tf.train.load_checkpoint({path!r})\n" in result.output
    assert "    (ckpt.net.fc.kernel, 'net/fc/kernel'),\n" in result.output


def test_names_without_a_scope_are_full_names_or_attributes(tmp_path: Path) -> None:
    saved = dict.fromkeys(["a", "b", "global_step", "Variable", "Variable_1"])
    path = save_by_name(
        tmp_path / "model.ckpt", {name: np.float32(i) for i, name in enumerate(saved, 1)}
    )
    live = ckpt(
        net=module(b=var(0.0, name="other"), first=var(0.0, name="a")),
        step=var(0.0, name="global_step"),
        values=[var(0.0, name="Variable"), var(0.0, name="Variable_1")],
    )
    names = dict(zip(saved, (live.net.first, live.net.b, live.step, *live.values), strict=True))
    restored(live, path, names)


def test_numbered_variables_of_other_numbers_go_where_a_restore_puts_them(tmp_path: Path) -> None:
    path = save_by_name(tmp_path / "model.ckpt", {"Variable": [1.0], "Variable_1": [2.0]})
    live = ckpt(values=[var([0.0], name="Variable_1"), var([0.0], name="Variable_2")])
    fix = restored(live, path, {"Variable_1": live.values[0]})
    assert set(fix.missing) == {"(root).values.1"} and fix.unused == ("Variable",)


def test_the_fix_of_a_clean_restore_by_names_is_that_restore(tmp_path: Path) -> None:
    names = {"weights": (3, 2), "b/weights": (2,), "b/weights/Momentum": (2,), "global_step": ()}
    tensors = {name: np.full(shape, 7.0) for name, shape in names.items()}
    path = save_by_name(tmp_path / "model.ckpt", tensors)
    live = ckpt(**{f"v{i}": var(np.zeros(tensors[n].shape), name=n) for i, n in enumerate(names)})
    fix = restored(live, path, {n: getattr(live, f"v{i}") for i, n in enumerate(names)})
    assert fix.code == "status = ckpt.restore(path)\nstatus.assert_consumed()\n"
    assert not fix.missing and not fix.unused


def test_what_a_restore_by_names_does_is_part_of_a_fix(tmp_path: Path) -> None:
    """A variable called `weights` takes its value by its full name, beside a renamed layer."""
    tensors = {"b/weights": np.full((2,), 7.0, np.float32), **values("fc")}
    path = save_by_name(tmp_path / "model.ckpt", tensors)
    fc = layer()
    live = ckpt(scale=var(np.zeros(2, np.float32), name="b/weights"), net=module(fc=fc))
    expected = {"b/weights": live.scale, "fc/kernel": fc.kernel, "fc/bias": fc.bias}
    assert "reader = " in restored(live, path, expected).code


def layer() -> Any:
    """Return a module of a kernel and a bias."""
    return module(kernel=var(np.zeros((6, 6), np.float32)), bias=var(np.zeros(6, np.float32)))


@pytest.mark.parametrize("scope", ["", "net/tower/"])
def test_numbered_scopes_become_the_items_of_a_list(scope: str, tmp_path: Path) -> None:
    """The alphabet has `layer_10` before `layer_2`."""
    path = save_by_name(
        tmp_path / "model.ckpt",
        {**values(*(f"{scope}layer_{i}" for i in range(12))), "global_step": np.float32(7)},
    )
    blocks = [layer() for _ in range(12)]
    live = ckpt(model=module(blocks=blocks), step=var(0.0, name="global_step"))
    expected = {f"{scope}layer_{i}/kernel": block.kernel for i, block in enumerate(blocks)}
    expected |= {f"{scope}layer_{i}/bias": block.bias for i, block in enumerate(blocks)}
    restored(live, path, expected | {"global_step": live.step})


def test_numbers_of_scopes_in_the_program_are_names(tmp_path: Path) -> None:
    path = save_by_name(tmp_path / "model.ckpt", values("net/block_1", "net/block_2"))
    live = ckpt(model=module(block_2=layer(), block_3=layer()))
    model = live.model
    expected = {"net/block_2/kernel": model.block_2.kernel, "net/block_2/bias": model.block_2.bias}
    fix = restored(live, path, expected)
    assert set(fix.unused) == {"net/block_1/kernel", "net/block_1/bias"}


def test_scopes_that_only_their_order_pairs_are_guesses(tmp_path: Path) -> None:
    scopes = [f"{net}/fc{i}" for net in ("actor", "critic") for i in (1, 2)]
    path = save_by_name(tmp_path / "model.ckpt", values(*scopes))
    nets = {name: module(layers=[layer(), layer()]) for name in ("pi", "vf")}
    fix = restored(ckpt(**nets), path, {})
    assert "#   actor.fc1.kernel may belong to pi.layers.0.kernel or " in fix.code


def test_all_variables_of_one_full_name_take_its_value(tmp_path: Path) -> None:
    tensors = {"w": np.full(2, 7.0, np.float32), **values("fc")}
    path = save_by_name(tmp_path / "model.ckpt", tensors)
    twins = [var(np.zeros(2, np.float32), name="w") for _ in range(2)]
    live = ckpt(w=twins[0], other=module(w=twins[1]), net=module(fc=layer()))
    fix = cv.check(live, path).fix().apply()
    assert not fix.missing and not fix.unused
    for variable in twins:
        np.testing.assert_array_equal(variable, tensors["w"])


def test_a_number_of_5000_digits_is_only_a_name(tmp_path: Path) -> None:
    scope = f"dense_{'1' * 5000}"
    path = save_by_name(tmp_path / "model.ckpt", values(scope))
    dense = layer()
    restored(
        ckpt(dense=dense), path, {f"{scope}/kernel": dense.kernel, f"{scope}/bias": dense.bias}
    )


def bert(layers: int, heads: int, hidden: int) -> dict[str, Any]:
    """Return values of BERT under the names of its own checkpoints, of TensorFlow 1."""
    rng = np.random.default_rng(2)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings/word_embeddings": (11, hidden),
        "embeddings/position_embeddings": (7, hidden),
        "embeddings/token_type_embeddings": (2, hidden),
        "pooler/dense/kernel": (hidden, hidden),
        "pooler/dense/bias": (hidden,),
    }
    norms = ["embeddings/LayerNorm"]
    for layer in range(layers):
        at = f"encoder/layer_{layer}"
        of_size = (f"attention/self/{one}" for one in ("query", "key", "value"))
        for name in (*of_size, "attention/output/dense"):
            shapes |= {f"{at}/{name}/kernel": (hidden, hidden), f"{at}/{name}/bias": (hidden,)}
        for name, sizes in ("intermediate", (hidden, 9)), ("output", (9, hidden)):
            shapes |= {f"{at}/{name}/dense/kernel": sizes, f"{at}/{name}/dense/bias": sizes[1:]}
        norms += [f"{at}/attention/output/LayerNorm", f"{at}/output/LayerNorm"]
    shapes |= {f"{norm}/{own}": (hidden,) for norm in norms for own in ("gamma", "beta")}
    return {f"bert/{name}": rng.normal(size=shape) for name, shape in shapes.items()}


def encoder(keras: Any, layers: int, heads: int, hidden: int) -> Any:
    """Return a program with the parts and names of the Model Garden's encoder."""
    import tensorflow as tf

    of_layers = keras.layers

    class Block(of_layers.Layer):  # type: ignore[misc, name-defined]
        def __init__(self, number: int) -> None:
            super().__init__(name=f"transformer/layer_{number}")
            self.attention = of_layers.MultiHeadAttention(
                heads, hidden // heads, name="self_attention"
            )
            self.attention_norm = of_layers.LayerNormalization(name="self_attention_layer_norm")
            self.intermediate = of_layers.Dense(9, name="intermediate")
            self.out = of_layers.Dense(hidden, name="output")
            self.out_norm = of_layers.LayerNormalization(name="output_layer_norm")

        def call(self, x: Any) -> Any:
            x = self.attention_norm(x + self.attention(x, x))
            return self.out_norm(x + self.out(self.intermediate(x)))

    class Encoder(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(name="encoder")
            self.words = of_layers.Embedding(11, hidden, name="word_embeddings")
            self.positions = of_layers.Embedding(7, hidden, name="position_embedding")
            self.types = of_layers.Embedding(2, hidden, name="type_embeddings")
            self.norm = of_layers.LayerNormalization(name="embeddings/layer_norm")
            self.blocks = [Block(number) for number in range(layers)]
            self.pooler = of_layers.Dense(hidden, name="pooler_transform")

        def call(self, ids: Any) -> Any:
            x = self.words(ids) + self.positions(ids * 0) + self.types(ids * 0)
            x = self.norm(x)
            for block in self.blocks:
                x = block(x)
            return self.pooler(x)

    made = Encoder()
    made(tf.zeros((1, 4), tf.int32))
    return made


def test_bert_goes_into_the_encoder_of_the_model_garden(tmp_path: Path) -> None:
    """Its converter reshapes the weights of attention; NumPy does the same with BERT's own."""
    from tests.support.programs import keras_2

    was = bert(2, 4, 8)
    of_file = {name: var(value.astype("f4")) for name, value in was.items()}
    path = save_by_name(tmp_path / "bert_model.ckpt", of_file)
    live = encoder(keras_2(), 2, 4, 8)
    fix = cv.check(ckpt(encoder=live), path).fix()
    assert len(fix.pairs) == len(was) and not fix.missing and not fix.unused
    expected = {
        "query": was["bert/encoder/layer_1/attention/self/query/kernel"].reshape(8, 4, 2),
        "attention_output": was["bert/encoder/layer_1/attention/output/dense/kernel"].reshape(
            4, 2, 8
        ),
    }

    def check() -> None:
        own = {v.name.split("self_attention/")[-1]: v for v in live.blocks[1].attention.variables}
        for name, value in expected.items():
            assert own[f"{name}/kernel:0"].numpy() == pytest.approx(value.astype("f4"))
        pooler = was["bert/pooler/dense/kernel"].astype("f4")
        assert live.pooler.kernel.numpy() == pytest.approx(pooler)

    fix.apply()
    check()
    for weight in live.weights:
        weight.assign(np.zeros(weight.shape))
    exec(fix.code, {"ckpt": ckpt(encoder=live), "path": path})
    check()
    for weight in live.weights:
        weight.assign(np.zeros(weight.shape))
    ckpt(encoder=live).restore(fix.write(tmp_path / "fixed")).assert_consumed()
    check()


def test_no_comment_denies_a_value_whose_name_tells_nothing(tmp_path: Path) -> None:
    keras = keras_3()
    layers = [keras.layers.Dense(6) for _ in range(4)]
    live = ckpt(model=keras.Sequential([keras.Input((6,)), *layers]), other=var(np.zeros(3)))
    code = cv.check(live, trained_by_session(tmp_path, network)).fix().code
    none, untold, *_ = re.split("^# (?! )", code, flags=re.MULTILINE)[2:]
    assert none == "These keep their values; the checkpoint has none for them:\n#   other\n"
    assert untold.startswith(
        "These keep their values; names do not show which saved values are theirs"
    )
    assert untold.count("#   model.") == 2  # three layers were saved


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_all_variables_of_one_name_take_its_value(number: int, tmp_path: Path) -> None:
    path = save_by_name(tmp_path / "model", {"w": [3.0], "other": [1.0]})
    program = ckpt(net=module(**{f"v{n}": var([0.0], name="w") for n in range(number)}))
    fix = cv.check(program, path).fix()
    assert len(fix.missing) == 0
    fix.apply()
    assert [float(v[0]) for v in program.net.variables] == [3.0] * number
