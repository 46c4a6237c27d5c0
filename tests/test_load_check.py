"""The check of `load_model` says what Keras itself does."""

from __future__ import annotations

import importlib
import json
import operator
import os
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ckpt_viz as cv
import tests.hostile.keras_makers  # noqa: F401 (registers attacks)
from ckpt_viz.cli import main
from ckpt_viz.load_check.loading import LoadOptions, faults_of
from ckpt_viz.load_check.stored_model import StoredModel
from tests.hostile.makers import ATTACKS
from tests.support.amounts import some
from tests.support.builtin_configs import KINDS, faulty_configs, sound_configs
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
    assert check.raises.message.strip() in str(error)
    assert check.raises.message.strip()


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


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_check_knows_the_classes_of_programs(name: str, load: Any, tmp_path: Path) -> None:
    keras, path = imported("keras"), tmp_path / "x.keras"
    model, own = PROGRAMS[name](keras)
    model.save(path)
    for given in (None, own):
        check = cv.check_load_model(path, custom_objects=given)
        assert_same(check, load(keras, path, custom_objects=given))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_check_knows_every_class_of_keras(library: str, kind: str) -> None:
    keras = imported(library)
    classes = dict(sound_configs(keras, kind))
    assert len(classes) > 3
    for number, (name, words) in enumerate(classes.items()):
        sound, *faulty = faulty_configs(words)
        for what, config in [sound, *some(faulty, number)]:
            error = _built(keras, library, deepcopy(config))
            faults = faults_of(StoredModel(config), library, LoadOptions({})).faults
            said = f"{name}, {what}: Keras {error!r}, the check {faults[:1]}"
            assert (error is None) is (not faults), said
            if error is not None:
                assert faults[0].type == type(error).__name__, said
                assert faults[0].text and faults[0].text in str(error), said


def _built(keras: Any, library: str, config: dict[str, Any]) -> Exception | None:
    """Return what Keras raises when it makes an object, as it does for a `.keras` file."""
    saving: Any = importlib.import_module(f"{library}.src.saving.saving_lib")
    before = dict(vars(saving._SAVING_V3_ENABLED)) if library == "tf_keras" else {}
    if library == "tf_keras":
        saving._SAVING_V3_ENABLED.value = True
    try:
        keras.saving.deserialize_keras_object(config)
    except Exception as error:
        return error
    finally:
        if library == "tf_keras":
            vars(saving._SAVING_V3_ENABLED).clear()
            vars(saving._SAVING_V3_ENABLED).update(before)
    return None


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
        assert f"{saver}.models.load_model(path) may load it" in str(check)


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
    places = [place.partition(".")[2] for f in check.findings for place in f.places]
    optimizer = "compile_config.optimizer"
    assert places == ["body", "head", optimizer, "compile_config.loss"]
    assert "custom_objects={'pkg>Mine': Mine}" in check.findings[1].remedy
    assert check.names == ("Mine", "own_loss")
    with pytest.raises(TypeError, match="lost"):
        check.assert_loads()


def test_alike_faults_are_one_finding_with_every_place(tmp_path: Path) -> None:
    keras = imported("keras")

    def edit(model: dict[str, Any], training: dict[str, Any]) -> None:
        for name in ("body", "head"):
            layer(model, name)["config"]["kernel_initializer"]["config"]["bogus"] = 1

    path = write_file(LoadRecipe("dense", edit), keras, ".keras", tmp_path / "x")
    (finding,) = cv.check_load_model(path).findings
    assert [place.partition(".")[2] for place in finding.places] == [
        "body.kernel_initializer",
        "head.kernel_initializer",
    ]


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

WITH_CODE = (
    *("an argument", "groups of DepthwiseConv2D", "time_major of LSTM", "two faults"),
    *("model and optimizer", "lr of the optimizer", "code", "unknown loss", "unknown metric"),
    *("initializer with an argument", "argument of an inner layer", "program's own"),
    *("fault in a nested model", "batch_input_shape", "loss of a program"),
)


@pytest.mark.parametrize("name", WITH_CODE)
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_code_of_a_check_loads_the_model(
    library: str, suffix: str, name: str, tmp_path: Path
) -> None:
    keras = imported(library)
    path = write_file(RECIPES[name], keras, suffix, tmp_path / "x")
    before = path.read_bytes()
    check = cv.check_load_model(path, keras=keras)
    if check.raises is None:
        return
    own = customs(keras)
    names = {name: own[name] for name in check.names if name in own}
    if len(names) < len(check.names):
        return  # what the file names is not in this program
    assert check.code
    names["Closed"] = own["Open"]
    exec(check.code, names)
    assert isinstance(names["model"], keras.Model)
    assert path.read_bytes() == before


def test_no_code_claims_to_load_what_another_keras_has_saved(tmp_path: Path) -> None:
    """Its arguments mean something that this Keras would lose."""
    path = write_file(LoadRecipe("functional"), imported("keras"), ".h5", tmp_path / "x")
    check = cv.check_load_model(path, keras=imported("tf_keras"))
    assert check.raises is not None and check.code == ""


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
    assert check.raises is not None and "units" in check.raises.message
    assert ran == []


_TABLE: dict[str, int] = {}


def test_a_table_that_code_out_of_sight_fills_lacks_no_key(tmp_path: Path) -> None:
    keras = imported("keras")

    class Own(keras.layers.Layer):  # type: ignore[misc, name-defined]
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            operator.setitem(_TABLE, "units", 3)
            self.units = _TABLE["units"]

    keras.Sequential([keras.Input((2,)), Own()]).save(tmp_path / "x.keras")
    _TABLE.clear()
    assert cv.check_load_model(tmp_path / "x.keras", custom_objects={"Own": Own}).raises is None


def test_keras_and_the_program_are_as_before(tmp_path: Path) -> None:
    keras = imported("keras")
    layers = dict(vars(importlib.import_module("keras.src.layers")))
    path = write_file(RECIPES["two faults"], keras, ".h5", tmp_path / "x")
    own = {"Mine": customs(keras)["Plain"]}
    cv.check_load_model(path, custom_objects=own)
    assert dict(vars(importlib.import_module("keras.src.layers"))) == layers
    assert own == {"Mine": customs(keras)["Plain"]}


# --- hostile files


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
