"""The story of a restore says what TensorFlow does, in its order, and where in its code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from traceback import FrameSummary, extract_tb
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.matching.story.folding import folds
from ckpt_viz.matching.story.words import SENTENCES, Sentence
from tests.check_rows.objects import holding_a_poisoned_list
from tests.support.name_based import write as saver_file
from tests.support.programs import ckpt, module, saved, var, written
from tests.support.stories import assert_stories

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]

_SENTENCES = pytest.mark.parametrize("sentence", SENTENCES.values(), ids=SENTENCES)


@_SENTENCES
def test_a_sentence_is_short(sentence: Sentence) -> None:
    for words in (sentence.text, sentence.reason):
        for part in re.split(r"[.:] ", words):
            assert len(part.split()) <= 25, part


@_SENTENCES
def test_a_sentence_names_the_line_of_the_installed_tensorflow(sentence: Sentence) -> None:
    place = sentence.place
    assert place.file is not None and place.line is not None and place.source is not None
    line = Path(place.file).read_text("utf-8").splitlines()[place.line - 1]
    assert line in place.source
    assert place.mark in line or place.mark == "", line
    assert place.function.rpartition(".")[2] in place.source.splitlines()[0]
    assert str(place) == f"{place.function} in {place.module}, line {place.line}"


def _texts(check: cv.RestoreCheck) -> list[str]:
    assert_stories(check, {})
    return [step.text for step in check.steps]


def test_a_restore_in_a_graph_does_not_claim_to_have_assigned(tmp_path: Path) -> None:
    import tensorflow as tf

    path = saved(tmp_path, a=var(), gone=var())
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variable = tf.compat.v1.get_variable("a", initializer=7.0)
        session.run(tf.compat.v1.global_variables_initializer())
        live = ckpt(a=variable)
        end = cv.check(live, path).steps.end
        assert end == "The restore returns: run_restore_ops() will assign 2 values, 1 value waits."
        status = live.restore(path)
        assert session.run(variable) == 7.0
        status.run_restore_ops(session)
        assert session.run(variable) != 7.0


def test_the_whole_story_of_a_small_restore(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(a=var(), b=var(), part=module(c=var())), gone=module())
    check = cv.check(ckpt(net=module(a=var(), part=module(c=var()))), path)
    assert _texts(check) == [
        "restore() binds the root of the checkpoint to the root of the program.",
        "The root is next in the queue. It has no value of its own.",
        "The root has no 'gone' in the program. Nothing waits, since nothing there has a value.",
        "The root has 'net' in the checkpoint and in the program: the two are bound.",
        "The program has no save_counter yet: the saved one waits.",
        "net is next in the queue. It has no value of its own.",
        "net has 'a' in the checkpoint and in the program: the two are bound.",
        "net has no 'b' in the program. The saved one waits, with 1 value.",
        "net has 'part' in the checkpoint and in the program: the two are bound.",
        "net.a is next in the queue. It will read 'net/a/.ATTRIBUTES/VARIABLE_VALUE'.",
        "net.part is next in the queue. It has no value of its own.",
        "net.part has 'c' in the checkpoint and in the program: the two are bound.",
        "net.part.c is next in the queue. It will read 'net/part/c/.ATTRIBUTES/VARIABLE_VALUE'.",
        "net.a gets its saved value.",
        "net.part.c gets its saved value.",
        "The restore makes a save_counter, since the program has none.",
        "The saved save_counter is bound to the new one.",
        "save_counter is next in the queue. It was made with the saved value.",
    ]
    assert check.steps.end == "The restore returns: 3 values assigned, 1 value waits."
    assert [step.number for step in check.steps if step.is_problem] == [8]


def test_a_step_has_the_edge_the_queue_and_what_waits(tmp_path: Path) -> None:
    path = written(tmp_path, net=module(a=var(), b=var()), z=var())
    check = cv.check(ckpt(net=module(a=var()), z=var()), path)
    assert check.saved is not None
    step = next(step for step in check.steps if step.action == "defer")
    assert (check.saved.name(step.holder or 0), step.local_name) == ("(root).net", "b")
    assert step.live is None and check.saved.name(step.saved or 0) == "(root).net.b"
    assert str(step.state) == (
        "queue: z and net.a\nwaiting: net.b\n4 nodes bound, 0 values assigned"
    )
    assert str(step).endswith(
        f"restores these values then.\n_queue_children_for_restoration in "
        f"tensorflow.python.checkpoint.restore, line {step.place.line}"
    )


def test_a_value_that_two_waiting_parts_lead_to_counts_once(tmp_path: Path) -> None:
    shared = var()
    path = saved(tmp_path, a=module(w=shared, x=var()), b=module(w=shared))
    check = cv.check(ckpt(other=var()), path)
    assert check.steps.end == "The restore returns: 1 value assigned, 2 values wait."
    assert len(check.unresolved) == 2
    waits = [step.text for step in check.steps if step.action == "defer"]
    ends = [text.rpartition("with ")[2] for text in waits if "with" in text]
    assert ends == ["2 values.", "1 value."]


def test_a_waiting_part_does_not_count_values_that_the_restore_binds_by_another_name(
    tmp_path: Path,
) -> None:
    kernel = var()
    path = saved(tmp_path, lists=module(v=kernel), net=module(kernel=kernel))
    texts = _texts(cv.check(ckpt(net=module(kernel=var())), path))
    start = "The root has no 'lists' in the program. The saved one waits, with "
    assert f"{start}values to which other names lead." in texts


@pytest.mark.parametrize(
    ("program", "ending"),
    [
        (lambda: ckpt(a=var([1.0])), "fails with ValueError"),
        (lambda: ckpt(a=var(1)), "fails with InvalidArgumentError"),
    ],
    ids=["shape", "dtype"],
)
def test_the_story_ends_where_the_restore_raises(
    program: Callable[[], Any], ending: str, tmp_path: Path
) -> None:
    path = written(tmp_path, a=var(), b=var())
    check = cv.check(program(), path)
    assert_stories(check, {})
    assert check.raises is not None
    last = check.steps[-1]
    assert last.is_problem and check.raises.type in last.text
    assert check.steps.end == f"The restore ends with {check.raises.type}; no value was assigned."
    (step,) = check.steps_of("assert_consumed")
    assert step.text.startswith("assert_consumed() cannot be called: the restore raises")


def test_an_assert_fails_because_of_a_node(tmp_path: Path) -> None:
    path = saved(tmp_path, a=var(), b=var(), c=var())
    check = cv.check(ckpt(a=var()), path)
    assert [step.text for step in check.steps_of("assert_consumed")] == [
        "a has a value in the program, and a saved node is bound to it.",
        "save_counter has a value in the program, and a saved node is bound to it.",
        "a has a value in the checkpoint, and an object of the program is bound to it.",
        "b has a value in the checkpoint, and no object is bound to it: assert_consumed() raises "
        "AssertionError.",
    ]
    check = cv.check(ckpt(a=var(), new=var()), path)
    story = check.steps_of("assert_existing_objects_matched")
    assert [step.text for step in story][1:] == [
        "new has a value in the program, and no saved node is bound to it.",
        "save_counter has a value in the program, and a saved node is bound to it.",
        "assert_existing_objects_matched() raises AssertionError: the program has values without "
        "a saved one.",
    ]
    with pytest.raises(cv.SourceError, match="found 'assert_all', expected one of assert_consumed"):
        check.steps_of("assert_all")


def test_a_restore_by_names_goes_from_object_to_object(tmp_path: Path) -> None:
    path = saver_file(tmp_path / "model", kernel=np.ones(1, "float32"), other=np.ones(1, "float32"))
    check = cv.check(ckpt(k=var([0.0], name="kernel"), new=var([0.0], name="new")), path)
    texts = _texts(check)
    assert "k reads 'kernel' from the file: TensorFlow assigns this value." in texts
    assert "The file has no tensor for new by the name 'new': the value stays as it is." in texts, (
        texts
    )
    assert check.steps_of("assert_consumed")[-1].text == (
        "new has not got all of its values: assert_consumed() raises AssertionError."
    )


_Call = tuple[cv.RestoreCheck, Callable[[], Any]]


def _restoring(live: Any, path: str) -> _Call:
    return cv.check(live, path), lambda: live.restore(path)


def _by_a_saver(live: Any, path: str, name: str) -> _Call:
    import tensorflow as tf

    saver = tf.compat.v1.train.Saver({name: live})
    return cv.check(saver, path), lambda: saver.restore(None, path)


def _by_a_warm_start(live: Any, path: str, name: str) -> _Call:
    import tensorflow as tf

    start = partial(tf.compat.v1.train.init_from_checkpoint, path, {name: live})
    return cv.check({name: live}, path), start


def _with_unused_names(live: Any, path: str, name: str) -> _Call:
    import tensorflow as tf

    settings = SimpleNamespace(
        ckpt_to_initialize_from=path,
        vars_to_warm_start=[live],
        var_name_to_vocab_info={},
        var_name_to_prev_var_name={name: "v"},
    )
    start = partial(tf.compat.v1.train.warm_start, path, [live], {}, {name: "v"})
    return cv.check(settings), start


def _refusing() -> Any:
    """Return an object that raises if TensorFlow asks for its values."""

    def gather() -> None:
        raise OSError("not mine")

    holder = module()
    holder._gather_saveables_for_checkpoint = gather
    return holder


def _frames_of(error: BaseException | None) -> Iterator[FrameSummary]:
    """Yield the frames of an exception, and of those during which it was raised."""
    while error is not None:
        yield from extract_tb(error.__traceback__)
        error = error.__context__


def test_a_story_by_names_ends_with_the_error_of_tensorflow(tmp_path: Path) -> None:
    path = saver_file(tmp_path / "model", v=np.ones(2, "float32"))
    for check, call in (
        _restoring(ckpt(x=var([0.0] * 3, name="v")), path),
        _restoring(ckpt(x=var([0, 0], name="v")), path),
        _restoring(ckpt(x=holding_a_poisoned_list([var()])), path),
        _restoring(ckpt(x=_refusing()), path),
        _restoring(ckpt(_refusing()), path),
        _by_a_saver(var([0.0] * 3), path, "v"),
        _by_a_saver(var([0, 0]), path, "v"),
        _by_a_saver(var([0.0, 0.0]), path, "gone"),
        _by_a_warm_start(var([0.0] * 3), path, "v"),
        _by_a_warm_start(var([0.0, 0.0]), path, "gone"),
        _by_a_warm_start("no variable", path, "v"),
        _with_unused_names(var([0.0, 0.0], name="v"), path, "gone"),
    ):
        with pytest.raises(Exception) as raised:
            call()
        error, last, place = raised.value, check.steps[-1], check.steps[-1].place
        assert_stories(check, {})
        assert f"{type(error).__name__} " in last.text.replace(".", " ")
        assert last.reason[:-1] in str(error)
        assert bool(last.local_name) == (f"'{last.local_name}'" in last.text)
        frames = [frame for frame in _frames_of(error) if frame.filename == place.file]
        assert place.function.rpartition(".")[2] in [frame.name for frame in frames]
        if check._run.outcome.caller != "warm":
            assert place.line in [frame.lineno for frame in frames]


def test_a_restore_without_steps_says_why(tmp_path: Path) -> None:
    assert cv.check(ckpt(a=var()), None).steps.end == "There are no steps: nothing is read."
    root = ckpt(a=var())
    status = root.restore(written(tmp_path, a=var()))
    assert "TensorFlow keeps no record of its order" in cv.check(status).steps.end
    missing = cv.check(root, str(tmp_path / "nothing")).steps
    assert len(missing) == 0 and "TensorFlow raises NotFoundError at once" in missing.end


def test_alike_runs_are_one_line(tmp_path: Path) -> None:
    def blocks(number: int) -> Any:
        return [module(w=var(), b=var()) for _ in range(number)]

    path = written(tmp_path, net=blocks(12))
    story = cv.check(ckpt(net=blocks(12)), path).steps
    text = str(story)
    assert len(text.splitlines()) < 20 < len(story)
    assert "the same 11 times more, 33 steps" in text
    assert text.splitlines()[-1] == "The restore returns: 24 values assigned, nothing waits."


def test_folds_cover_all_steps_and_repeat_what_they_say() -> None:
    from random import Random

    rng = Random(0)
    for _ in range(300):
        text = "".join(rng.choice("ab") * rng.randrange(4) for _ in range(rng.randrange(30)))
        at = 0
        for start, length, times in folds(text):
            assert start == at
            assert text[start : start + length * times] == text[start : start + length] * times
            at += length * times
        assert at == len(text)


def test_hostile_names_are_printed_safely(tmp_path: Path) -> None:
    name = "{saved}\x1b[31m\n<b>"
    path = written(tmp_path, **{name: var(), "{}": var()})
    story = cv.check(ckpt(**{"{}": var()}), path).steps
    text = str(story)
    assert "\x1b" not in text and "'{saved}\\x1b[31m\\n<b>'" in text
    assert "'{}' in the checkpoint" in text


def test_chains_and_cycles_end(tmp_path: Path) -> None:
    def chain() -> Any:
        root = holder = module()
        for _ in range(3000):
            holder.below = module(up=holder)
            holder = holder.below
        holder.w = var()
        return root

    check = cv.check(ckpt(net=chain()), written(tmp_path, net=chain()))
    assert len(check.steps) > 9000
    assert "the same" in str(check.steps)
    assert check.steps[-2].text.endswith("gets its saved value.")
