"""Paste what TensorFlow and Keras really raise: the page of error messages knows each text."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.answers.dry_runs.verdicts import Raised
from ckpt_viz.matching.engines.trace import Cause
from tests.check_rows import (
    binding,
    broken_files,
    by_name,
    containers,
    damaged,
    graph_mode,
    keras_models,
    paths,
    shapes,
    slots,
    values,
    verdicts,
)
from tests.check_rows.table import Row
from tests.support import frontend, keras_pairs
from tests.support.amounts import Tier, tier
from tests.support.builtin_configs import faulty_configs, sound_configs
from tests.support.load_recipes import RECIPES, write_file
from tests.support.oracle import outcome_of_restore, raised_by
from tests.support.plain_english import MOST_WORDS, faults_in, sentences_in, words_in

TABLE: Mapping[str, Any] = json.loads(
    (Path(__file__).parents[1] / "docs/errors.json").read_text("utf-8")
)
ERRORS: Sequence[Mapping[str, Any]] = TABLE["errors"]
Find = Callable[[Sequence[str]], list[list[str]]]


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """What finds the ids of the entries in each text, as the page does."""

    def find(texts: Sequence[str]) -> list[list[str]]:
        given = {"known": ERRORS, "texts": list(texts)}
        expression = "given.texts.map((text) => module.errorsIn(text, given.known))"
        directory = tmp_path / "find"
        directory.mkdir(exist_ok=True)
        ids: list[list[str]] = frontend.call("errors/match.ts", expression, given, directory)
        return ids

    return find


# --- what a restore raises

# The entries that explain a failure, by its cause.
BY_CAUSE = {
    Cause.SHAPE: {"shape", "table", "weights-shape"},
    Cause.DTYPE: {"dtype"},
    Cause.KEY_MISSING: {"key-missing", "by-name-missing"},
    Cause.UNREADABLE: {"damaged"},
    Cause.DAMAGED: {"damaged"},
    Cause.CHILDREN: {"poisoned", "slot-reused"},
    Cause.PREDICATE: {"saver-unknown"},
    Cause.SLOT_HOOK: {"optimizer-legacy"},
    Cause.CODE: {"saver-objects", "newer"},
    Cause.SCOPE: {"strategy"},
    Cause.TWO_NAMES: {"two-names"},
    None: {"no-file", "no-table", "path-type", "damaged"},  # the file cannot be read at all
}
TOPICS = (
    paths, binding, values, shapes, slots, verdicts, by_name, containers, broken_files, damaged,
    graph_mode, keras_models,
)  # fmt: skip
# What the objects of the rows raise by themselves, and a text that says nothing.
OF_PROGRAMS = (
    *("no children for you", "no list for you", "no tensors for you", "no saveables for you"),
    *("substring not found", "ZeroDivisionError: ", "NotImplementedError: "),
)


def _raised_by_restores(directory: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield what restores of all rows raise, really and as the check says, and the entries."""
    rows = [row for topic in TOPICS for row in topic.row.rows if row.raises is not None]
    assert len(rows) > 150
    for number, row in enumerate(rows):
        at = directory / str(number)
        at.mkdir()
        for cause, text in _raised(row, at):
            if not text.endswith(OF_PROGRAMS):
                yield text, BY_CAUSE[cause]


def _raised(row: Row, at: Path) -> Iterator[tuple[Cause | None, str]]:
    pair = row.pair(at)
    how = {"method": pair.method, "options": pair.options}
    with row.within():
        check = cv.check(pair.make(), pair.path, verify=pair.verify, **how)
        outcome = outcome_of_restore(pair.make(), pair.path, **how)
    trace = check._run.trace
    failure = trace.raised if trace is not None else None
    cause = failure.cause if failure is not None else None
    yield cause, f"{outcome.raises}: {outcome.messages['raises']}"
    if check.raises is not None:
        yield cause, _printed(check.raises)


def _printed(raised: Raised) -> str:
    return f"{raised.type}: {raised.message}"


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_the_page_explains_what_a_restore_raises(find: Find, tmp_path: Path) -> None:
    expected = list(_raised_by_restores(tmp_path))
    found = find([text for text, _ in expected])
    wrong = [
        (text[:200], ids)
        for (text, right), ids in zip(expected, found, strict=True)
        if not ids or ids[0] not in right
    ]
    assert wrong == []


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
def test_the_page_explains_what_an_assert_raises(find: Find, tmp_path: Path) -> None:
    expected = {
        "consumed": {"not-consumed", "slots-left", "unused-attributes", "not-matched"},
        "existing_objects_matched": {"not-matched"},
        "nontrivial_match": {"nothing-matched"},
    }
    texts = []
    for number, row in enumerate(verdicts.row.rows + binding.row.rows):
        at = tmp_path / str(number)
        at.mkdir()
        if row.raises is None and row.fails:
            pair = row.pair(at)
            with row.within():
                outcome = outcome_of_restore(
                    pair.make(), pair.path, method=pair.method, options=pair.options
                )
            texts += [(name, text) for name, text in outcome.messages.items() if name in expected]
    assert {name for name, _ in texts} == set(expected)
    general = {"by-name-missing", "no-checkpoint", "slot-reused", "poisoned"}
    for (name, text), ids in zip(texts, find([text for _, text in texts]), strict=True):
        if not text.endswith(OF_PROGRAMS) and text:
            assert ids and ids[0] in expected[name] | general, text


# --- what Keras raises


@pytest.mark.tf
@pytest.mark.filterwarnings("ignore")
def test_the_page_explains_what_load_weights_raises(find: Find, tmp_path: Path) -> None:
    keras, texts = _keras_3(), []
    step = 1 if tier() is Tier.EXHAUSTIVE else 6
    for number, (library, name) in enumerate(keras_pairs.pairs()[::step]):
        if library == "keras" and "own code" not in name:
            pair, path = keras_pairs.pair(name), tmp_path / f"{number}.weights.h5"
            pair.saved(keras).save_weights(path)
            texts += _text_of(partial(pair.live(keras).load_weights, path))
    assert len(texts) > 5
    assert _not_of("weights-", texts, find) == []


@pytest.mark.tf
@pytest.mark.filterwarnings("ignore")
def test_the_page_explains_what_load_model_raises(find: Find, tmp_path: Path) -> None:
    keras, texts = _keras_3(), []
    for number, recipe in enumerate(RECIPES.values()):
        path = write_file(recipe, keras, ".keras", tmp_path / str(number))
        texts += _text_of(partial(keras.models.load_model, path, **recipe.options(keras)))
    assert len(texts) > 20
    assert _not_of("load-", texts, find) == []


@pytest.mark.tf
@pytest.mark.parametrize("library", ["keras", "tf_keras"])
def test_the_page_explains_what_the_check_of_load_model_says(find: Find, library: str) -> None:
    keras = pytest.importorskip(library)
    texts = [
        f"{type(error).__name__}: {error}"
        for kind in ("optimizers", "regularizers", "schedules")
        for _, words in sound_configs(keras, kind)
        for _, config in faulty_configs(words)
        if (error := raised_by(partial(keras.saving.deserialize_keras_object, config)))
    ]
    assert len(texts) > 50
    assert _not_of("load-", texts, find) == []


@pytest.mark.tf
@pytest.mark.filterwarnings("ignore")
def test_the_page_explains_files_that_keras_cannot_open(find: Find, tmp_path: Path) -> None:
    keras = _keras_3()
    paths = [tmp_path / name for name in ("cut.keras", "empty.keras", "cut.h5", "none.h5")]
    sound = tmp_path / "sound.keras"
    _dense(keras, 3).save(sound)
    paths[0].write_bytes(sound.read_bytes()[:3000])
    paths[1].touch()
    paths[2].write_bytes(b"\x89HDF\r\n\x1a\n")
    texts = [text for path in paths for text in _text_of(partial(keras.models.load_model, path))]
    assert find(texts) == [["load-file"]] * len(paths)


@pytest.mark.tf
@pytest.mark.filterwarnings("ignore")
def test_the_page_explains_calls_that_do_not_fit(find: Find, tmp_path: Path) -> None:
    import tensorflow as tf

    keras = _keras_3()
    model, saved = _dense(keras, 3), tmp_path / "model"
    model.export(saved, verbose=False)
    weights = model.get_weights()
    texts = [
        *_text_of(partial(model.load_weights, tmp_path / "a.weights.h5", by_name=True)),
        *_text_of(partial(_dense(keras, 4).set_weights, weights)),
        *_text_of(partial(model.set_weights, weights[:1])),
        *_text_of(partial(keras.layers.TFSMLayer, saved, call_endpoint="serving")),
        *_text_of(tf.compat.v1.train.Saver),
        *_text_of(partial(tf.compat.v1.train.import_meta_graph, "a.meta")),
        *_text_of(partial(tf.train.Checkpoint, step={1, 2})),
    ]
    assert find(texts) == [
        ["weights-format"],
        ["weights-shape"],
        ["weights-count"],
        ["load-format"],
        ["saver-eager"],
        ["saver-eager"],
        ["not-trackable"],
    ]


def _dense(keras: Any, units: int) -> Any:
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(units)])


def _not_of(prefix: str, texts: Sequence[str], find: Find) -> list[tuple[str, list[str]]]:
    """Return the texts for which the page has no entry of this group in the first place."""
    return [
        (text[:200], ids)
        for text, ids in zip(texts, find(texts), strict=True)
        if not ids or not ids[0].startswith(prefix)
    ]


def _text_of(call: Callable[[], object]) -> list[str]:
    """Return the end of a call's traceback, as Python prints it; nothing if the call returns."""
    error = raised_by(call)
    return [] if error is None else [f"{type(error).__name__}: {error}"]


def _keras_3() -> Any:
    keras = pytest.importorskip("keras")
    if keras.__version__.startswith("2."):
        pytest.skip("needs Keras 3")
    return keras


# --- what Savers and warm starts raise


@pytest.mark.tf
def test_the_page_explains_what_savers_and_warm_starts_raise(find: Find, tmp_path: Path) -> None:
    import tensorflow as tf

    v1 = tf.compat.v1
    path = str(tmp_path / "model.ckpt")
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("w", initializer=[1.0, 2.0])
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, path)
    first, texts = v1.train.init_from_checkpoint, []
    for name, initial in {"other": [1.0, 2.0], "w": [1.0, 2.0, 3.0]}.items():
        with tf.Graph().as_default(), v1.Session() as session:
            variable = v1.get_variable(name, initializer=initial, use_resource=False)
            texts += _text_of(partial(v1.train.Saver().restore, session, path))
            texts += _text_of(partial(first, path, {"w": variable}))
            texts += _text_of(partial(first, path, {"x": variable}))
    assert find(texts) == [
        ["saver-missing", "key-missing"],
        ["map-missing"],
        ["shape", "saver-mismatch"],
        ["map-shape"],
        ["map-missing"],
    ]


# --- what other versions raise, and files that they have written

RAISES = Path(__file__).parent / "data/raises"


def test_the_page_explains_what_other_versions_raise(find: Find) -> None:
    """`raises.py` has raised these texts in environments of their own."""
    raised = json.loads((RAISES / "raises.json").read_text("utf-8"))
    found = find([one["text"] for one in raised])
    wrong = [
        (one["text"], ids)
        for one, ids in zip(raised, found, strict=True)
        if ids[:1] != [one["entry"]]
    ]
    assert wrong == []


@pytest.mark.tf
@pytest.mark.filterwarnings("ignore")
def test_the_page_explains_files_of_tensorflow_2_4_in_keras_3(find: Find) -> None:
    """A Lambda of Python 3.8, and nested models, one as in Teachable Machine's files."""
    keras = _keras_3()
    if sys.version_info < (3, 11) or tuple(map(int, keras.__version__.split(".")[:2])) < (3, 15):
        pytest.skip("other versions raise other texts")
    names = {"lambda": "load-marshal", "nested": "load-inputs", "nested_in_nested": "load-inputs"}
    for name, entry in names.items():
        load = partial(keras.models.load_model, RAISES / f"{name}.h5", safe_mode=False)
        (ids,) = find(_text_of(load))
        assert ids[0] == entry, name


@pytest.mark.tf
@pytest.mark.filterwarnings("ignore")
def test_the_page_explains_damaged_archives(find: Find, tmp_path: Path) -> None:
    keras = _keras_3()
    model, sound = _dense(keras, 3), tmp_path / "sound.keras"
    model.save(sound)
    data = sound.read_bytes()
    kernel = data.index(b"\x89HDF") + 3000
    damaged = {
        "checksum": data[:kernel] + bytes([data[kernel] ^ 255]) + data[kernel + 1 :],
        "shifted": data[:100] + data[140:],
        "cut": data[:3000],
    }
    texts = []
    for name, content in damaged.items():
        path = tmp_path / f"{name}.keras"
        path.write_bytes(content)
        call = model.load_weights if name == "cut" else keras.models.load_model
        texts += _text_of(partial(call, path))
    assert [text.partition(":")[0] for text in texts] == ["BadZipFile"] * 3
    assert find(texts) == [["load-file"]] * 3


@pytest.mark.tf
@pytest.mark.filterwarnings("ignore")
def test_the_page_explains_what_a_file_lacks_or_cannot_hold(find: Find, tmp_path: Path) -> None:
    import h5py
    import tensorflow as tf

    keras = _keras_3()

    class Twice(keras.layers.Layer):  # type: ignore[misc, name-defined]
        def build(self, shape: object) -> None:
            for _ in range(2):
                self.add_weight(name="w", shape=(2,))

        def call(self, inputs: Any) -> Any:
            return inputs

    model, twice = _dense(keras, 3), keras.Sequential([keras.Input((2,)), Twice()])
    model.save(tmp_path / "model.h5")
    with h5py.File(tmp_path / "bare.h5", "w") as bare, h5py.File(tmp_path / "model.h5") as whole:
        bare.attrs["model_config"] = whole.attrs["model_config"]
    keras.saving.save_model(model, tmp_path / "directory", zipped=False)
    (tmp_path / "directory" / "model.weights.h5").unlink()
    load = keras.models.load_model
    texts = [
        *_text_of(partial(load, tmp_path / "bare.h5")),
        *_text_of(partial(load, tmp_path / "directory")),
        *_text_of(partial(twice.save, tmp_path / "twice.h5")),
    ]
    assert find(texts) == [["load-not-whole"], ["load-not-whole"], ["save-names"]]
    twice.save_weights(tmp_path / "twice.weights.h5")  # as the page says
    module = tf.Module()
    module.v, module.optimizer = tf.Variable([1.0]), tf.compat.v1.train.AdamOptimizer(0.1)
    module.optimizer.minimize(lambda: module.v * module.v, var_list=[module.v])
    tf.saved_model.save(module, tmp_path / "saved")
    texts = _text_of(partial(tf.saved_model.load, str(tmp_path / "saved")))
    assert find(texts) == [["load-slots"]]
    del module.optimizer  # as the page says
    tf.saved_model.save(module, tmp_path / "without")
    tf.saved_model.load(str(tmp_path / "without"))


@pytest.mark.tf
@pytest.mark.filterwarnings("ignore")
def test_a_model_with_a_loss_of_a_program_loads_without_it(find: Find, tmp_path: Path) -> None:
    keras = _keras_3()

    def own_loss(truth: Any, guess: Any) -> Any:
        return truth - guess

    model, path = _dense(keras, 3), tmp_path / "model.h5"
    model.compile("adam", own_loss)
    model.save(path)
    (ids,) = find(_text_of(partial(keras.models.load_model, path)))
    assert ids[0] == "load-loss"
    keras.models.load_model(path, compile=False)


@pytest.mark.tf
@pytest.mark.filterwarnings("ignore")
def test_a_file_without_a_layer_that_it_lists_is_found(find: Find, tmp_path: Path) -> None:
    import h5py

    keras = pytest.importorskip("tf_keras")
    model, path = _dense(keras, 3), tmp_path / "model.h5"
    model.save_weights(path)
    with h5py.File(path, "r+") as file:
        del file[model.layers[-1].name]
    with h5py.File(tmp_path / "any.h5", "w") as other:
        texts = _text_of(partial(other.attrs.__getitem__, "layer_names"))
    assert find([*_text_of(partial(model.load_weights, path)), *texts]) == [["weights-listed"]] * 2


# --- what it does not know


def test_the_page_does_not_explain_other_errors(find: Find) -> None:
    texts = [
        "ZeroDivisionError: division by zero",
        "AttributeError: 'Net' object has no attribute 'dense'",
        "ValueError: Shapes (None, 1) and (None, 10) are incompatible",
        "RuntimeError: CUDA out of memory",
        "KeyError: 'loss'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'",
        'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n',
    ]
    assert find(texts) == [[]] * len(texts)


# --- the table


def test_each_entry_is_whole() -> None:
    ids = [entry["id"] for entry in ERRORS]
    assert len(set(ids)) == len(ids)
    docs = Path(__file__).parents[1] / "docs"
    for entry in ERRORS:
        assert entry["texts"] and entry["more"], entry["id"]
        assert entry["group"] in TABLE["groups"]
        assert all((docs / link.partition("#")[0]).is_file() for link in entry["more"])
        ast.parse("\n".join([*TABLE["checks"][entry["check"]], *entry.get("code", ())]))


@pytest.mark.parametrize("entry", ERRORS, ids=lambda entry: entry["id"])
def test_each_entry_is_in_plain_english(entry: Mapping[str, Any]) -> None:
    for text in (entry["title"], entry["cause"], entry["fix"]):
        assert [s for s in sentences_in(text) if words_in(s) > MOST_WORDS] == []
        assert list(faults_in(text)) == []
