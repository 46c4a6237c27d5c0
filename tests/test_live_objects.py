"""The panel's list of a kernel's objects, and a kernel that does not change."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ckpt_viz.entrances.jupyter import live_objects
from ckpt_viz.entrances.jupyter.live_objects import MAX_OBJECTS, MIME_TYPE, listed
from tests.support.kernels import LISTING, Kernel, listing_expression, running_kernel

Listed = list[tuple[str, str, str]]


def objects(data: dict[str, Any]) -> Listed:
    return [(one["name"], one["kind"], one["type"]) for one in data["objects"]]


def here(**namespace: object) -> Listed:
    """Return what is listed of a namespace in this process."""
    return objects(listed(namespace).data)


@pytest.fixture(scope="module")
def tf_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with running_kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        kernel.run("import keras, tensorflow, tf_keras")
        yield kernel


@pytest.fixture
def kernel(tf_kernel: Kernel) -> Kernel:
    """A kernel with nothing in its namespace, in which TensorFlow is imported."""
    tf_kernel.run("%reset -f")
    tf_kernel.run("import tensorflow as tf")
    return tf_kernel


@pytest.fixture
def new_kernel(tmp_path: Path) -> Iterator[Kernel]:
    with running_kernel(tmp_path) as kernel:
        yield kernel


def test_the_text_can_be_sent() -> None:
    assert LISTING.isascii()
    assert len(LISTING) < 10_000
    compile(LISTING, "live_objects.py", "exec")


SESSIONS: dict[str, tuple[str, Listed]] = {
    "checkpoints": (
        """
        step = tf.Variable(1)
        v1 = tf.compat.v1.train.Checkpoint(step=step)
        ckpt = tf.train.Checkpoint(step=step)
        same = ckpt
        manager = tf.train.CheckpointManager(ckpt, "ckpts", max_to_keep=3)
        status = ckpt.restore(manager.latest_checkpoint)
        ckpt
        """,
        [
            ("v1", "checkpoint", "tf.compat.v1.train.Checkpoint"),
            ("ckpt", "checkpoint", "tf.train.Checkpoint"),
            ("same", "checkpoint", "tf.train.Checkpoint"),
            ("manager", "manager", "tf.train.CheckpointManager"),
        ],
    ),
    "saver": (
        """
        with tf.Graph().as_default():
            weights = tf.compat.v1.get_variable("weights", [2])
            saver = tf.compat.v1.train.Saver()
        optimizer = tf.compat.v1.train.AdamOptimizer()
        """,
        [
            ("saver", "saver", "tf.compat.v1.train.Saver"),
            ("optimizer", "optimizer", "tf.compat.v1.train.AdamOptimizer"),
        ],
    ),
    "keras 3": (
        """
        import keras
        from keras import layers, optimizers
        dense = layers.Dense(2)
        adam = optimizers.Adam()
        scaled = optimizers.LossScaleOptimizer(optimizers.SGD())
        class Net(keras.Model):
            pass
        net, model, variable = Net(), keras.Sequential([dense]), keras.Variable(1.0)
        inputs = keras.Input((2,))
        functional, symbol = keras.Model(inputs, dense(inputs)), dense(inputs)
        weights = model.weights
        """,
        [
            ("net", "model", "Net"),
            ("model", "model", "keras.models.Sequential"),
            ("functional", "model", "keras.models.Functional"),
            ("adam", "optimizer", "keras.optimizers.Adam"),
            ("scaled", "optimizer", "keras.optimizers.LossScaleOptimizer"),
            ("dense", "layer", "keras.layers.Dense"),
        ],
    ),
    "tf_keras": (
        """
        import tf_keras
        bn = tf_keras.layers.BatchNormalization()
        adam, old = tf_keras.optimizers.Adam(), tf_keras.optimizers.legacy.Adam()
        scaled = tf_keras.mixed_precision.LossScaleOptimizer(adam)
        model = tf_keras.Sequential([bn])
        model.build((1, 2))
        weights = model.weights
        """,
        [
            ("model", "model", "tf_keras.Sequential"),
            ("adam", "optimizer", "tf_keras.optimizers.Adam"),
            ("old", "optimizer", "tf_keras.optimizers.legacy.Adam"),
            ("scaled", "optimizer", "tf_keras.LossScaleOptimizerV3"),
            ("bn", "layer", "tf_keras.layers.BatchNormalization"),
        ],
    ),
    "others": (
        """
        class Net(tf.Module):
            pass
        random, data = tf.random.Generator.from_seed(1), tf.data.Dataset.range(3)
        iterator, example = iter(data), next(iter(data))
        net, plain = Net(), tf.Module()
        net.children = [tf.Module()]
        children = net.children
        @tf.function
        def step(x):
            return x
        concrete = step.get_concrete_function(1)
        partitioned = tf.compat.v1.fixed_size_partitioner(2)
        """,
        [
            ("net", "module", "Net"),
            ("plain", "module", "tf.Module"),
            ("random", "trackable", "tf.random.Generator"),
            ("iterator", "trackable", "tensorflow.OwnedIterator"),
            ("children", "trackable", "tensorflow.ListWrapper"),
        ],
    ),
    "shadowed": (
        """
        module = tf.Module()
        list = str = type = dict = globals = sorted = min = id = vars = exec = len = 1
        reversed = enumerate = min = any = zip = object = isinstance = print = None
        os = sys = time = islice = iskeyword = Callable = listed = ns = Reply = annotations = 2
        """,
        [("module", "module", "tf.Module")],
    ),
    "names": (
        """
        globals().update({"a b": tf.Module(), "class": tf.Module(), 3: tf.Module()})
        globals().update({"": tf.Module(), "None": tf.Module(), "x;y": tf.Module()})
        _hidden = __hidden = _1x = tf.Module()
        \N{GREEK SMALL LETTER THETA} = tf.Module()
        tf.Module()
        """,
        [("\N{GREEK SMALL LETTER THETA}", "module", "tf.Module")],
    ),
}


@pytest.mark.tf
@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_listed_and_unchanged(kernel: Kernel, name: str) -> None:
    code, expected = SESSIONS[name]
    kernel.run("\n".join(line[8:] for line in code.splitlines()))
    data = kernel.ask(listing_expression())
    assert objects(data) == expected
    assert data["left_off"] == data["unread"] == 0
    assert data["tensorflow"] is True
    assert data["python"] == sys.executable
    assert kernel.ask(listing_expression()) == data


HOSTILE = """
import sys, types, weakref

ran = []
def runs(name):
    def method(*args, **kwargs):
        ran.append(name)
        raise ValueError(name)
    return method

class Meta(type):
    locals().update({
        name: runs(name) for name in (
            "__instancecheck__", "__subclasscheck__", "__getattribute__", "__eq__", "__hash__",
            "__repr__", "__bool__", "__len__", "__iter__", "__dir__", "__subclasses__",
        )
    })
    __mro__ = property(runs("__mro__"))
    __module__ = property(runs("__module__"))
    __qualname__ = "Meta"
    def mro(cls):
        return type.mro(cls)

every = {
    name: runs(name) for name in (
        "__getattribute__", "__getattr__", "__eq__", "__hash__", "__repr__", "__str__",
        "__bool__", "__len__", "__iter__", "__format__", "__sizeof__", "__reduce_ex__", "__dir__",
        "_repr_mimebundle_", "_ipython_display_",
    )
}
every["__class__"] = property(runs("__class__"))
every["__dict__"] = property(runs("__dict__"))

other = type.__new__(Meta, "Other", (), every)
other = object.__new__(other)
hostile = type.__new__(Meta, "Hostile", (tf.Module,), every)
hostile = object.__new__(hostile)
class Liar:
    __class__ = tf.train.Checkpoint
Liar.__module__ = tf.train.Checkpoint.__module__
Liar.__qualname__ = "Checkpoint"
liar = Liar()
names = {"tf": tf}
exec("Nameless = type('Nameless', (tf.Module,), {})", names)  # of no module
Nameless = names["Nameless"]
Nameless.__qualname__ = "N\\ud800" * 100
nameless = Nameless()
class Odd(tf.Module):
    pass
Odd.__module__ = 3
odd = Odd()
class Key(str):
    __hash__ = str.__hash__
    __eq__ = isidentifier = startswith = runs("key")
globals()[Key("key")] = tf.Module()
class Number:
    __hash__ = runs("number's hash")
    __eq__ = runs("number's eq")
"""
MODULES = """
class Lazy(types.ModuleType):
    __getattribute__ = __getattr__ = runs("lazy")
    __dict__ = property(runs("__dict__"))
saved = {}
def put(name, module):
    saved[name] = sys.modules.get(name)
    sys.modules[name] = module
put("ckpt_viz_lazy", Lazy("lazy"))
put("keras.src.models.model", Lazy("keras.src.models.model"))
put("keras.src.layers.layer", other)
put("tf_keras.src.engine.training", None)
put("tensorflow.python.training.saver", types.ModuleType.__new__(types.ModuleType))
put("tensorflow.python.training.optimizer", types.ModuleType("half"))
sys.modules["tensorflow.python.training.optimizer"].Optimizer = other
sys.path[:0] = [other, "", "\\0", "/no/such/site-packages"]
before = set(sys.modules)
"""


@pytest.mark.tf
def test_hostile_objects_and_modules_are_survived(new_kernel: Kernel) -> None:
    new_kernel.run("import tensorflow as tf, keras")
    new_kernel.run(HOSTILE)
    expected = [
        ("hostile", "module", "Hostile"),
        ("nameless", "module", ("N?" * 100)[:100]),
        ("odd", "module", "Odd"),
    ]
    data = new_kernel.ask(listing_expression())
    assert objects(data) == expected
    new_kernel.run(MODULES)
    data = new_kernel.ask(listing_expression())
    assert objects(data) == expected
    assert new_kernel.value("ran") == []
    assert new_kernel.value("before == set(sys.modules)") is True


@pytest.mark.tf
def test_nothing_is_kept_alive(kernel: Kernel) -> None:
    kernel.run("import gc, weakref; gc.disable(); net = tf.Module(); net = weakref.ref(net), net")
    kernel.run("alive, net = net")
    assert objects(kernel.ask(listing_expression())) == [("net", "module", "tf.Module")]
    kernel.run("del net")
    assert kernel.value("alive() is None") is True
    kernel.run("gc.enable()")


@pytest.mark.tf
def test_of_many_objects_the_first_are_listed_by_kind(kernel: Kernel) -> None:
    kernel.run(
        "globals().update({f'm{i}': tf.Module() for i in range(250)})\nlast = tf.train.Checkpoint()"
    )
    data = kernel.ask(listing_expression())
    names = [name for name, _, _ in objects(data)]
    assert names == ["last", *(f"m{i}" for i in range(MAX_OBJECTS - 1))]
    assert data["left_off"] == 51


@pytest.mark.tf
def test_keras_need_not_be_there(new_kernel: Kernel) -> None:
    new_kernel.run("import sys; sys.modules['keras'] = sys.modules['tf_keras'] = None")
    new_kernel.run("import tensorflow as tf; module = tf.Module()")
    assert objects(new_kernel.ask(listing_expression())) == [("module", "module", "tf.Module")]


def test_without_tensorflow_nothing_is_listed_or_imported(new_kernel: Kernel) -> None:
    new_kernel.run("class Checkpoint: pass\nckpt, number = Checkpoint(), 3\nckpt")
    data = new_kernel.ask(listing_expression())
    assert data == {
        "objects": [],
        "left_off": 0,
        "unread": 0,
        "tensorflow": False,
        "ckpt_viz": data["ckpt_viz"],
        "python": sys.executable,
    }
    assert (
        new_kernel.value(
            "{'tensorflow', 'keras', 'ckpt_viz', 'numpy'} & set(__import__('sys').modules)"
        )
        == set()
    )


def test_keras_without_tensorflow_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        """A model of Keras with a different backend."""

    module = ModuleType("keras.src.models.model")
    monkeypatch.setattr(module, "Model", Model, raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert here(model=Model()) == []


@pytest.mark.tf
def test_a_namespace_of_this_process() -> None:
    import tensorflow as tf

    assert here(x=tf.train.Checkpoint(), y=tf.Variable(1), z=3, _a=tf.Module()) == [
        ("x", "checkpoint", "tf.train.Checkpoint")
    ]


@pytest.mark.tf
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Net\x1b[2J\nB", r"Net\x1b[2J\nB"),
        ("Net\u202etxe", r"Net\u202etxe"),
        ("Net\u2066\u200f\x07\x9b", r"Net\u2066\u200f\x07\x9b"),
        ("Netz für ж", "Netz für ж"),
    ],
)
def test_what_a_type_is_called_moves_no_cursor(name: str, shown: str) -> None:
    import tensorflow as tf

    made = type(name, (tf.Module,), {"__module__": "__main__"})
    assert here(net=made()) == [("net", "module", shown)]


@pytest.mark.tf
def test_keras_of_tensorflow_is_listed_whichever_it_is() -> None:
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    found = here(a=tf.keras.layers.Dense(1), b=tf.keras.optimizers.Adam(), c=model)
    kinds = [(name, kind) for name, kind, _ in found]
    assert kinds == [("c", "model"), ("b", "optimizer"), ("a", "layer")]
    assert [words for _, _, words in found][1:] == ["keras.optimizers.Adam", "keras.layers.Dense"]


@pytest.mark.tf
def test_looking_stops_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorflow as tf

    module = tf.Module()
    namespace: dict[str, object] = {"old": module, **dict.fromkeys(map("n{}".format, range(9999)))}
    namespace["new"] = module
    monkeypatch.setattr(live_objects, "_MAX_SECONDS", -1.0)
    data: dict[str, Any] = listed(namespace).data
    assert [name for name, _, _ in objects(data)] == ["new"]
    assert data["unread"] == 10_000


def test_version_is_that_of_the_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version() -> object:
        return listed({}).data["ckpt_viz"]

    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setitem(sys.modules, "ckpt_viz", ModuleType("ckpt_viz"))
    assert version() == ""
    monkeypatch.delitem(sys.modules, "ckpt_viz")
    assert version() is None
    installed = tmp_path / "site-packages"
    (installed / "ckpt_viz-1.2.3.dist-info").mkdir(parents=True)
    sys.path.append(str(installed))
    assert version() == "1.2.3"
    (tmp_path / "ckpt_viz").mkdir()
    (tmp_path / "ckpt_viz" / "__init__.py").touch()
    assert version() == "1.2.3"
    (tmp_path / "ckpt_viz-4.dist-info").mkdir()
    assert version() == "4"


def test_a_reply_is_a_mime_bundle() -> None:
    reply = listed({})
    assert reply._repr_mimebundle_(include=None, exclude=None)[MIME_TYPE] is reply.data
