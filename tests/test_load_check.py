"""The check of `load_model` says what Keras itself does."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ckpt_viz as cv
import tests.hostile.keras_makers  # noqa: F401 (registers attacks)
from ckpt_viz.cli import main
from tests.hostile.makers import ATTACKS, NASTY
from tests.support.amounts import amount
from tests.support.load_programs import PROGRAMS
from tests.support.load_recipes import (
    RECIPES,
    LoadRecipe,
    customs,
    layer,
    write_archive,
    write_file,
)
from tests.support.matrices import pairwise

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]
LIBRARIES = ("keras", "tf_keras")
OLD_VERSIONS = Path(__file__).parent / "data/old_versions"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Exception | None]:
    def load(keras: Any, path: Any, **options: Any) -> Exception | None:
        if keras.__name__ == "tf_keras" and not str(path).endswith(".keras"):
            options.pop("safe_mode", None)  # unknown there
        try:
            keras.models.load_model(path, **options)
        except Exception as error:
            return error
        return None

    return load


def imported(library: str) -> Any:
    keras = pytest.importorskip(library)
    if library == "keras" and keras.__version__.startswith("2."):
        pytest.skip("needs Keras 3")
    return keras


def assert_same(check: cv.LoadCheck, error: Exception | None) -> None:
    """Compare a check with what Keras has raised: the class, and the text of the first cause."""
    if error is None:
        assert check.raises is None, check
        return
    assert check.raises is not None, f"{type(error).__name__}: {error}"
    assert check.raises.type == type(error).__name__, error
    assert _without_addresses(check.raises.message.strip()) in _without_addresses(str(error))
    assert check.raises.message.strip()


def _without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", text)


# --- against Keras


@pytest.mark.parametrize(
    ("library", "suffix", "name"), pairwise(product(LIBRARIES, (".keras", ".h5"), RECIPES))
)
def test_the_check_of_a_file_is_what_keras_does(
    library: str, suffix: str, name: str, load: Any, tmp_path: Path
) -> None:
    keras, recipe = imported(library), RECIPES[name]
    path, options = write_file(recipe, keras, suffix, tmp_path / "x"), recipe.options(keras)
    check = cv.check_load_model(path, **options, keras=keras)
    assert_same(check, load(keras, path, **options))
    own = {**customs(keras), "Closed": customs(keras)["Open"]}
    asked = re.findall(r"^    '(\S+)': \.\.\.,", check.code, re.MULTILINE)
    assert check.code or check.raises is None or name in WITHOUT_CODE or library == "tf_keras"
    if check.code and own.keys() >= set(asked):  # the file names nothing else
        assert_loads(check.code, path, own)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_check_knows_the_classes_of_programs(name: str, load: Any, tmp_path: Path) -> None:
    keras, path = imported("keras"), tmp_path / "x.keras"
    model, own = PROGRAMS[name](keras)
    model.save(path)
    for given in (None, own):
        check = cv.check_load_model(path, custom_objects=given)
        assert_same(check, load(keras, path, custom_objects=given))


@pytest.mark.parametrize("written_by", ["keras3.3", "keras3.9", "tf2.15"])
@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_check_knows_files_of_old_writers(
    library: str, name: str, written_by: str, load: Any, tmp_path: Path
) -> None:
    keras, path = imported(library), tmp_path / name
    with zipfile.ZipFile(OLD_VERSIONS / written_by / "keras_files.zip") as archive:
        path.write_bytes(archive.read(name))
    check = cv.check_load_model(path, keras=keras)
    assert_same(check, load(keras, path))
    if check.raises is None:
        return
    assert bool(check.code) is ((library, name) != ("tf_keras", "model.h5"))
    if check.code:
        assert_loads(check.code, path)


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
@pytest.mark.parametrize("saver, loader", [LIBRARIES, LIBRARIES[::-1]])
@pytest.mark.parametrize("base", ["dense", "functional", "recurrent"])
def test_the_check_knows_files_of_the_other_keras(
    saver: str, loader: str, base: str, suffix: str, load: Any, tmp_path: Path
) -> None:
    path = write_file(LoadRecipe(base), imported(saver), suffix, tmp_path / "x")
    check = cv.check_load_model(path, keras=imported(loader))
    assert_same(check, load(imported(loader), path))
    if check.raises is not None:
        assert f"{saver}.models.load_model(" in check.code or f"Try {saver}" in str(check)
    if check.code:
        assert_loads(check.code, path)


FILES = (
    *("missing", "missing.h5", "missing.keras", "text", "text.h5", "text.keras", "empty.h5"),
    *("directory", "directory.h5", "no_config.keras", "no_weights.keras", "x.weights.h5", "x.zip"),
    *("checkpoint", "saved_model"),
)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_check_knows_what_is_no_model(
    library: str, name: str, load: Any, tmp_path: Path
) -> None:
    keras, path = imported(library), str(tmp_path / name)
    _make_no_model(imported("keras"), path)
    if (library, name) == ("tf_keras", "saved_model"):
        with pytest.raises(cv.UnsupportedError, match="a SavedModel"):
            cv.check_load_model(path, keras=keras)
        return
    assert_same(cv.check_load_model(path, keras=keras), load(keras, path))


def _make_no_model(keras: Any, path: str) -> None:
    import tensorflow as tf

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    name = Path(path).name
    match name.partition(".")[0]:
        case "text":
            Path(path).write_text("no model" * 99)
        case "empty":
            Path(path).touch()
        case "directory":
            Path(path).mkdir()
        case "no_config":
            write_archive(Path(path), {"other": b""})
        case "no_weights":
            write_archive(Path(path), {"config.json": _archived(model, path)["config.json"]})
        case "x" if name.endswith(".zip"):
            write_archive(Path(path), _archived(model, path))
        case "x":
            model.save_weights(path)
        case "checkpoint":
            tf.train.Checkpoint(v=tf.Variable(1.0)).write(path)
        case "saved_model":
            tf.saved_model.save(tf.Module(), path)


def _archived(model: Any, path: str) -> dict[str, bytes]:
    whole = f"{path}-whole.keras"
    model.save(whole)
    with zipfile.ZipFile(whole) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


# --- findings


def _several(model: dict[str, Any], training: dict[str, Any]) -> None:
    layer(model, "body")["config"]["lost"] = 1
    layer(model, "head").update(class_name="Mine", module=None, registered_name="pkg>Mine")
    training["optimizer"]["config"]["lr"] = 0.1
    training["loss"] = {
        **{"class_name": "function", "config": "own_loss", "module": "mine"},
        "registered_name": "own_loss",
    }


def test_a_check_names_every_cause_and_not_the_first_alone(tmp_path: Path) -> None:
    keras = imported("keras")
    path = write_file(LoadRecipe("dense", _several), keras, ".keras", tmp_path / "x")
    check = cv.check_load_model(path)
    assert [finding.why.partition(", which")[0] for finding in check.findings] == [
        f"Dense of keras {keras.__version__} does not take `lost`",
        f"keras {keras.__version__} does not know Mine",
        f"Adam of keras {keras.__version__} does not take `lr`",
        f"keras {keras.__version__} does not know own_loss",
    ]
    places = [place for finding in check.findings for place in finding.places]
    assert places == ["body", "head", "compile_config.optimizer", "compile_config.loss"]
    assert "custom_objects={'pkg>Mine': Mine}" in check.findings[1].remedy
    assert check.findings[3].remedy.startswith("Load without the compilation: compile=False.")
    assert "'pkg>Mine': ...," in check.code and "own_loss" not in check.code
    with pytest.raises(TypeError, match="lost"):
        check.assert_loads()


def test_alike_faults_are_one_finding_with_every_place(tmp_path: Path) -> None:
    keras = imported("keras")

    def edit(model: dict[str, Any], training: dict[str, Any]) -> None:
        for name in ("body", "head"):
            layer(model, name)["config"]["kernel_initializer"]["config"]["bogus"] = 1

    path = write_file(LoadRecipe("dense", edit), keras, ".keras", tmp_path / "x")
    (finding,) = cv.check_load_model(path).findings
    assert finding.places == ("body.kernel_initializer", "head.kernel_initializer")


@pytest.mark.parametrize("form", [".keras", ".h5"])
def test_a_layer_of_the_program_may_have_several_outputs(form: str, tmp_path: Path) -> None:
    keras = imported("keras")

    class Halves(keras.layers.Layer):  # type: ignore[misc, name-defined]
        def call(self, inputs: Any) -> Any:
            return inputs[:, :2], inputs[:, 2:]

        def compute_output_shape(self, shape: Any) -> Any:
            return [(shape[0], 2), (shape[0], shape[1] - 2)]

    inputs = keras.Input((6,))
    parts = Halves()(inputs)
    path = tmp_path / f"m{form}"
    keras.Model(inputs, [keras.layers.Dense(1)(part) for part in parts]).save(path)
    (finding,) = cv.check_load_model(str(path)).findings
    assert "does not know Halves" in finding.why


def test_what_is_registered_or_in_a_scope_is_known(tmp_path: Path) -> None:
    keras = imported("keras")
    path = write_file(RECIPES["program's own"], keras, ".keras", tmp_path / "x")
    own = {**customs(keras), "Closed": customs(keras)["Open"]}
    with keras.saving.custom_object_scope(own):
        assert cv.check_load_model(path).raises is None
    assert cv.check_load_model(path).raises is not None
    registry = keras.saving.get_custom_objects()
    registry.update(own)
    try:
        assert cv.check_load_model(path).raises is None
    finally:
        for name in own:
            del registry[name]


def test_a_class_of_the_program_that_lacks_keywords_is_told_from_those_of_keras(
    tmp_path: Path,
) -> None:
    keras = imported("keras")
    recipe = RECIPES["program's own, all known"]
    path = write_file(recipe, keras, ".keras", tmp_path / "x")
    (finding,) = cv.check_load_model(path, **recipe.options(keras)).findings
    assert finding.why.startswith("Closed of your program does not take `trainable` and `dtype`")
    assert "Let Closed.__init__ take **kwargs" in finding.remedy


# --- code that loads


def assert_loads(code: str, path: Path, own: Mapping[str, Any] | None = None) -> None:
    """Assert that a program loads a model, with the user's code in place of `...`."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            node.values = [
                ast.Subscript(ast.Name("own", ast.Load()), key, ast.Load())
                for key in filter(None, node.keys)
            ]
    before = path.read_bytes()
    names: dict[str, Any] = {"own": own}
    exec(compile(ast.fix_missing_locations(tree), "program", "exec"), names)
    assert type(names["model"]).__name__ in ("Sequential", "Functional")
    assert path.read_bytes() == before


WITHOUT_CODE = {
    *("an argument of the base class", "no units", "no inner layer", "class that is a function"),
    *("class that is no class", "class that Keras lacks", "hostile class", "unknown activation"),
    *("configuration that is none", "program's own, all known"),
}


def test_no_code_claims_to_load_what_another_keras_has_saved(tmp_path: Path) -> None:
    """Its arguments mean something that this Keras would lose."""
    path = write_file(LoadRecipe("functional"), imported("keras"), ".h5", tmp_path / "x")
    check = cv.check_load_model(path, keras=imported("tf_keras"))
    assert check.raises is not None and "without" not in check.code


def test_a_checkpoint_of_tensorflow_leads_to_the_fix(tmp_path: Path) -> None:
    _make_no_model(imported("keras"), str(tmp_path / "checkpoint"))
    check = cv.check_load_model(tmp_path / "checkpoint")
    assert check.raises is not None and check.raises.message.startswith("File format not supported")
    assert "ckpt_viz.check(model, path).fix().apply()" in str(check)


@pytest.mark.parametrize("suffix, new", [(".h5", ".keras"), (".keras", ".h5"), (".keras", "")])
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_model_under_a_misleading_name_needs_its_suffix(
    library: str, suffix: str, new: str, load: Any, tmp_path: Path
) -> None:
    keras = imported(library)
    path = write_file(LoadRecipe(), keras, suffix, tmp_path / "x")
    path = path.rename(tmp_path / f"renamed{new}")
    check = cv.check_load_model(path, keras=keras)
    assert_same(check, load(keras, path))
    if check.raises is not None:
        assert f"a path that ends in {suffix}" in check.findings[0].remedy


# --- nothing of a file or a program runs


def test_no_module_that_a_file_names_is_imported(tmp_path: Path, monkeypatch: Any) -> None:
    keras = imported("tf_keras")
    (tmp_path / "evil_of_file.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def edit(model: dict[str, Any], training: dict[str, Any]) -> None:
        config = {"class_name": "X", "module": "evil_of_file", "config": {}}
        layer(model, "head")["config"]["activation"] = {**config, "registered_name": None}
        model["module"] = "evil_of_file"

    path = write_file(LoadRecipe("dense", edit), keras, ".keras", tmp_path / "x")
    check = cv.check_load_model(path, keras=keras)
    assert "evil_of_file" not in sys.modules
    assert "would import `evil_of_file`" in str(check)


def test_no_class_or_function_of_the_program_runs(tmp_path: Path) -> None:
    keras = imported("keras")
    ran: list[str] = []
    base: Any = keras.layers.Layer

    class Meta(type(base)):  # type: ignore[misc]
        def __getattr__(cls, name: str) -> Any:
            ran.append(name)
            raise AttributeError(name)

    class Loud(base, metaclass=Meta):  # type: ignore[misc]
        def __init__(self, **rest: Any) -> None:
            ran.append("__init__")
            super().__init__(**rest)

        @classmethod
        def from_config(cls, config: Any) -> Any:
            ran.append("from_config")
            return cls(**config)

    def own_loss(*_: Any) -> None:
        ran.append("own_loss")

    path = write_file(RECIPES["program's own"], keras, ".keras", tmp_path / "x")
    own = {"Plain": Loud, "Closed": Loud, "own_loss": own_loss}
    check = cv.check_load_model(path, custom_objects=own)
    assert check.raises is None and ran == []
    (note,) = [note for note in check.notes if "did not run" in note]
    assert note.count("Loud.from_config`, your code. It took each configuration as right.") == 1


def test_keras_and_the_program_are_as_before(tmp_path: Path) -> None:
    keras = imported("keras")
    layers = dict(vars(importlib.import_module("keras.src.layers")))
    path = write_file(RECIPES["two faults"], keras, ".h5", tmp_path / "x")
    own = {"Mine": customs(keras)["Plain"]}
    cv.check_load_model(path, custom_objects=own)
    assert dict(vars(importlib.import_module("keras.src.layers"))) == layers
    assert own == {"Mine": customs(keras)["Plain"]}


# --- hostile files


def _part(words: dict[str, Any]) -> Callable[[Any, Any], None]:
    return lambda model, training: layer(model, "head").update({"registered_name": None, **words})


@pytest.mark.parametrize("name", ["open", "builtin", "import", "keyword", "system", "download"])
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_file_decides_nothing_that_runs(
    library: str, suffix: str, name: str, tmp_path: Path
) -> None:
    keras, victim = imported(library), tmp_path / "victim.txt"
    victim.write_text("of the user")
    writes = {"config": {"file": str(victim), "mode": "w"}}
    every: dict[str, dict[str, Any]] = {
        "open": {"class_name": "open", "module": None, "registered_name": "open", **writes},
        "builtin": {"class_name": "open", "module": "builtins", **writes},
        "import": {"class_name": "__import__", "module": None, "config": {"name": "antigravity"}},
        "keyword": {"class_name": "class", "module": None, "registered_name": "class"},
        "system": {
            **{"class_name": "system", "module": "os"},
            "config": {"command": f"rm {victim}"},
        },
        "download": {
            **{"class_name": "get_file", "module": "keras.utils"},
            "config": {"fname": str(victim), "origin": "http://localhost/x"},
        },
    }
    path = write_file(LoadRecipe("dense", _part(every[name])), keras, suffix, tmp_path / "x")
    check = cv.check_load_model(path, keras=keras)
    assert check.raises is not None and "antigravity" not in sys.modules
    assert victim.read_text() == "of the user"
    for node in ast.walk(ast.parse(check.code)):  # what the file names is text in the code
        assert not isinstance(node, ast.Name) or node.id not in ("open", "system", "get_file")
    assert name == "system" or "..." not in check.code


ATTEMPTS = """
import ctypes, os, socket, subprocess, sys
import ckpt_viz.answers.load_check.child as child

child._shut()
attempts = {
    "read": lambda: open(sys.argv[1]),
    "read by the system": lambda: os.open(sys.argv[1], os.O_RDONLY),
    "write": lambda: open(sys.argv[1], "w"),
    "remove": lambda: os.remove(sys.argv[1]),
    "rename": lambda: os.rename(sys.argv[1], sys.argv[1] + "2"),
    "name of a host": lambda: socket.getaddrinfo(b"localhost", 9),
    "list": lambda: os.listdir("/"),
    "socket": lambda: socket.socket(),
    "shell": lambda: os.system("true"),
    "program": lambda: subprocess.run(["true"]),
    "fork": os.fork,
    "kill": lambda: os.kill(os.getppid(), 0),
    "library": lambda: ctypes.CDLL("libm.so.6"),
    "import": lambda: __import__("this"),
    "memory": lambda: bytearray(child._MEMORY + (1 << 30)),
}
for name, attempt in attempts.items():
    try:
        attempt()
    except (OSError, ImportError, MemoryError) as error:
        print(name, type(error).__name__)
    else:
        print(name, "is allowed")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the limits are those of POSIX")
def test_the_child_opens_writes_and_starts_nothing(tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("of the user")
    run = subprocess.run(
        [sys.executable, "-c", ATTEMPTS, str(victim)], capture_output=True, text=True, check=True
    )
    assert run.stdout.count("Error") == 15 and "allowed" not in run.stdout, run.stdout
    assert victim.read_text() == "of the user"


OF_OUR_CODE = {
    *("build", "classmethod", "cls", "config", "custom_objects", "from_config", "keras", "mock"),
    *("model", "more", "name", "names", "taken", "value", "without"),
}


def test_no_name_in_a_file_becomes_code(tmp_path: Path) -> None:
    keras, programs = imported("keras"), 0
    for number, text in enumerate(
        ("Own", "mine.own", "a'): open('x", *NASTY[: amount(5, len(NASTY))])
    ):

        def edit(model: dict[str, Any], training: dict[str, Any], text: str = text) -> None:
            layer(model, "body")["config"][text] = 1
            words = {"class_name": text, "module": None, "registered_name": f"pkg>{text}"}
            layer(model, "head").update(words)

        path = write_file(LoadRecipe("dense", edit), keras, ".h5", tmp_path / f"x{number}")
        code = cv.check_load_model(path).code
        nodes = [*ast.walk(ast.parse(code))]
        assert {node.id for node in nodes if isinstance(node, ast.Name)} <= OF_OUR_CODE, text
        programs += bool(code)
    assert programs > 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
def test_after_an_interrupt_the_next_check_is_that_of_its_file(tmp_path: Path) -> None:
    keras = imported("keras")
    sound = write_file(RECIPES["sound"], keras, ".keras", tmp_path / "x")
    faulty = write_file(RECIPES["an argument"], keras, ".keras", tmp_path / "y")
    assert cv.check_load_model(sound).raises is None

    def ring(*_: object) -> None:
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, ring)
    try:
        with suppress(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.03)
            cv.check_load_model(faulty)
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert cv.check_load_model(sound).raises is None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_model_that_reads_a_file_is_not_built(library: str, tmp_path: Path) -> None:
    keras, secret = imported(library), tmp_path / "secret.txt"
    secret.write_text("a\nb\n")
    config = {"name": "head", "vocabulary": str(secret)}
    words = {"class_name": "StringLookup", "module": "keras.layers", "config": config}
    path = write_file(LoadRecipe("dense", _part(words)), keras, ".h5", tmp_path / "x")
    with pytest.raises(cv.UnsupportedError, match="stopped where the model opens a file"):
        cv.check_load_model(path, safe_mode=False, keras=keras)


@pytest.mark.parametrize("number", [600, pytest.param(1500, marks=pytest.mark.more)])
@pytest.mark.parametrize("library", LIBRARIES)
def test_many_arguments_are_one_cause(library: str, number: int, tmp_path: Path) -> None:
    keras, names = imported(library), [f"bogus{each}" for each in range(number)]

    def edit(model: dict[str, Any], training: dict[str, Any]) -> None:
        layer(model, "head")["config"].update(dict.fromkeys(names, 1))

    path = write_file(LoadRecipe("dense", edit), keras, ".keras", tmp_path / "x")
    check = cv.check_load_model(path, keras=keras)
    assert len(check.findings) == 1 and all(f"'{name}'" in check.code for name in names)
    assert_loads(check.code, path)


@pytest.fixture(scope="module")
def sound_members(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    keras = imported("keras")
    path = write_file(LoadRecipe(), keras, ".keras", tmp_path_factory.mktemp("sound") / "x")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _deep(number: int) -> bytes:
    return b'{"class_name":"Sequential","config":' * number + b"{}" + b"}" * number


def _wide() -> bytes:
    words = {"class_name": "Dense", "module": "keras.layers", "config": {"bogus": 1}}
    layers = [{**words, "registered_name": None} for _ in range(10_000)]
    config = {"name": "x", "layers": layers}
    model = {"class_name": "Sequential", "module": "keras", "config": config}
    return json.dumps({**model, "registered_name": None}).encode()


HOSTILE: dict[str, bytes] = {
    "deep": _deep(100_000),
    "deep enough": _deep(300),
    "lists": b"[" * 100_000 + b"]" * 100_000,
    "deep arguments": b'{"class_name":"Sequential","module":"keras","registered_name":null,'
    b'"config":{"name":' + b"[" * 400 + b"]" * 400 + b"}}",
    "wide": _wide(),
    "huge": b'{"a":[' + b"0," * 3_000_000 + b"0]}",
    "no JSON": b"\xff\xfe",
    "a text": b'"model"',
    "numbers": b'{"class_name":1e999,"config":NaN,"module":-1,"registered_name":[]}',
    "names": json.dumps(
        {"class_name": "\x1b[31m<script>", "config": {"\0": "\ud800"}, "module": "a\n.b" * 999}
    ).encode(),
    "itself": b'{"class_name":"Model","module":"keras","registered_name":null,"config":'
    b'{"name":"x","layers":[{"name":"y","class_name":"load_model","module":"keras.models",'
    b'"registered_name":null,"config":{},"inbound_nodes":[]}],"input_layers":[],'
    b'"output_layers":[]}}',
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_hostile_configuration_gets_an_answer(
    library: str, name: str, sound_members: Mapping[str, bytes], tmp_path: Path
) -> None:
    path = tmp_path / "x.keras"
    write_archive(path, {**sound_members, "config.json": HOSTILE[name]})
    modules = set(sys.modules)
    assert_answered(path, imported(library))
    new = {name for name in set(sys.modules) - modules if name.partition(".")[0] not in LIBRARIES}
    assert new == set()


def _of_keras() -> Iterator[str]:
    for name in ATTACKS:
        if name.startswith("keras_") and "config" in name:
            yield name


@pytest.mark.parametrize("name", [*_of_keras()])
def test_an_attack_on_files_of_keras_gets_an_answer(name: str, tmp_path: Path) -> None:
    assert_answered(ATTACKS[name].make(tmp_path), imported("keras"))


def assert_answered(path: str | os.PathLike[str], keras: Any) -> None:
    """Check that there is a check whose texts move no cursor, or an error of ours."""
    try:
        check = cv.check_load_model(path, keras=keras)
    except cv.CkptVizError as error:
        assert len(str(error)) < 1_000
        return
    text = str(check)
    assert "\x1b" not in text and "\0" not in text and len(text) < 50_000
    html = check._repr_html_()
    assert "<script" not in html and "<img" not in html
    repr(check), json.dumps(check.to_json()), html.encode()


def test_errors_of_arguments_say_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(cv.SourceError, match="expected the path of a file"):
        cv.check_load_model(3)  # type: ignore[arg-type]
    with pytest.raises(cv.SourceError, match="expected the module keras or tf_keras"):
        cv.check_load_model("x.keras", keras=os)


# --- on the command line


def test_the_command_exits_with_1_if_load_model_would_raise(tmp_path: Path) -> None:
    keras = imported("keras")
    path = write_file(RECIPES["model and optimizer"], keras, ".keras", tmp_path / "x")
    result = CliRunner().invoke(main, ["check-model", str(path)])
    assert result.exit_code == 1 and "does not take `bogus`" in result.output
    result = CliRunner().invoke(main, ["check-model", str(path), "--json", "--no-compile"])
    assert [len(f["places"]) for f in json.loads(result.output)["findings"]] == [1]
    sound = write_file(RECIPES["sound"], keras, ".keras", tmp_path / "y")
    result = CliRunner().invoke(main, ["check-model", str(sound)])
    assert result.exit_code == 0 and "nothing stops load_model" in result.output
    assert CliRunner().invoke(main, ["check-model", str(tmp_path)]).exit_code == 1
