"""What becomes of saved nodes: questions about a restore, and TensorFlow's own answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.asking import questions_of
from ckpt_viz.matching.story.asserts import ASSERTS
from ckpt_viz.matching.story.questions import Question, chosen_questions
from ckpt_viz.matching.story.restore import RestoreStory
from tests.check_rows.objects import applied
from tests.support.name_based import write as saver_file
from tests.support.oracle import outcome_of_restore
from tests.support.outcomes import assert_answers, outcomes_in_tensorflow
from tests.support.programs import ckpt, legacy_adam, module, saved, var, written

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("quiet_tensorflow")]


def _saved_program() -> Any:
    shared, kernel, optimizer = var([5.0]), var([1.0]), legacy_adam()
    applied(optimizer, kernel)
    net = module(l1=module(w=shared), kernel=kernel, bias=var([2.0]), note=module())
    other = module(deep=module(again=shared))
    return ckpt(net=net, other=other, late=optimizer, gone=module())


def _program(**children: Any) -> Any:
    net = module(dense1=module(w=var([0.0])), kernel=var([0.0]), bias=var([0.0]))
    return ckpt(net=net, other=module(deep=module(again=net.dense1.w)), **children)


def _questions(check: cv.RestoreCheck, most: int = 5) -> list[Question]:
    assert isinstance(check.steps, RestoreStory)
    return [*chosen_questions(check.steps, most)]


def test_questions_are_about_what_a_learner_can_get_wrong(tmp_path: Path) -> None:
    path = _saved_program().write(str(tmp_path / "ckpt"))
    check = cv.check(_program(), path)
    answers = {question.about: question.answer for question in _questions(check, 20)}
    assert answers == {
        "gone": "forgotten",
        "late": "waits",
        "net.kernel": "restored now",  # bound by its own name: "waits" is not always right
        "net.bias": "restored now",
        "net.l1": "waits",
        "net.note": "forgotten",
        "net.l1.w": "restored now",  # found by its second way
        "the state 'm' of net.kernel": "waits",
        "the state 'v' of net.kernel": "waits",
    }
    firsts = {question.about for question in _questions(check, 5)}
    assert {"late", "net.l1.w", "net.kernel", "the state 'm' of net.kernel"} < firsts
    assert [len(_questions(check, most)) for most in (1, 3, 5)] == [1, 3, 5]
    counted = cv.check(_program(), _saved_program().save(str(tmp_path / "counted")))
    assert "save_counter" not in {question.about for question in _questions(counted, 20)}


def test_mixed_up_answers_differ_from_what_tensorflow_does(tmp_path: Path) -> None:
    path = _saved_program().write(str(tmp_path / "ckpt"))
    questions = _questions(cv.check(_program(), path), 20)
    watch = outcome_of_restore(_program(), path, method="read").watch
    truth = outcomes_in_tensorflow(watch, has_raised=False)
    assert set(truth.values()) == {"restored now", "waits", "forgotten"}
    assert_answers(questions, truth)
    for place, question in enumerate(questions):
        for choice in question.choices:
            others = [*questions]
            others[place] = replace(question, answer=choice)
            if choice != question.answer:
                with pytest.raises(AssertionError):
                    assert_answers(others, truth)


def test_values_come_now_later_or_never_as_the_answers_say(tmp_path: Path) -> None:
    path = written(tmp_path, a=var([1.0]), late=var([2.0]), empty=module())
    live = ckpt(a=var([0.0]))
    answers = _by_name(cv.check(live, path), ["a", "late", "empty"])
    assert answers == {"a": "restored now", "late": "waits", "empty": "forgotten"}
    live.read(path)
    assert "empty" not in live._deferred_dependencies
    live.late = var([0.0])
    assert (live.a.numpy()[0], live.late.numpy()[0]) == (1.0, 2.0)


@pytest.mark.parametrize("value", [[0.0, 0.0], 7], ids=["shape", "dtype"])
def test_a_restore_that_raises_is_an_error_for_what_it_does_not_assign(
    value: Any, tmp_path: Path
) -> None:
    path = written(tmp_path, a=var([1.0]), b=var([2.0]), late=var([3.0]))
    live = ckpt(a=var([0.0]), b=var(value))
    check = cv.check(live, path)
    answers = _by_name(check, ["a", "b", "late"])
    fails = next(question for question in _questions(check) if question.about == "b")
    # Its object is known: nothing can wait any more.
    assert (fails.answer, fails.choices) == ("error", ("restored now", "forgotten", "error"))
    with pytest.raises(Exception, match=r"."):
        live.read(path)
    # TensorFlow tests all dtypes first, but each shape only when the value is next.
    got_value = live.a.numpy()[0] == 1.0
    expected = {"a": "restored now" if got_value else "error", "b": "error", "late": "waits"}
    assert answers == expected
    assert "late" in live._deferred_dependencies


def _by_name(check: cv.RestoreCheck, names: list[str]) -> dict[str, str]:
    return {question.about: question.answer for question in questions_of(check, names)}


def test_what_is_below_a_node_that_waits_waits_too(tmp_path: Path) -> None:
    path = _saved_program().write(str(tmp_path / "ckpt"))
    check = cv.check(ckpt(other=module()), path)
    names = ["net.bias", "net.l1", "late.v of net.kernel"]
    known = [name for name in names if check.saved and check.saved.first_named(name) is not None]
    questions = questions_of(check, ["net.bias", "net.l1", *known[2:]])
    assert {question.answer for question in questions} == {"waits"}
    (step,) = {question.step for question in questions if question.about.startswith("net")}
    assert check.steps[step - 1].local_name == "net"


def test_a_healthy_restore_asks_little(tmp_path: Path) -> None:
    path = written(tmp_path, net=module(**{f"v{i}": var() for i in range(9)}))
    live = ckpt(net=module(**{f"v{i}": var() for i in range(9)}))
    assert [question.answer for question in _questions(cv.check(live, path))] == ["restored now"]


@pytest.mark.parametrize("name", ASSERTS)
@pytest.mark.parametrize("added", [True, False])
def test_an_assert_passes_or_fails_as_that_of_tensorflow(
    name: str, added: bool, tmp_path: Path
) -> None:
    path = saved(tmp_path, a=var(), b=var())
    live = ckpt(a=var(), **({"new": var()} if added else {"b": var()}))
    (question,) = questions_of(cv.check(live, path), name)
    status = live.restore(path)
    raised = _raised(getattr(status, name))
    assert question.answer == ("passes" if raised is None else "fails")
    assert question.choices == ("passes", "fails")
    assert str(question) == f"Does {name}() pass? 1 passes, 2 fails"


def _raised(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except AssertionError as error:
        return error
    return None


def test_questions_take_all_names_of_a_node_and_no_others(tmp_path: Path) -> None:
    path = saved(tmp_path, net=module(l1=module(w=var())))
    check = cv.check(ckpt(net=module()), path)
    for name in ("net.l1.w", "(root).net.l1.w", "net/l1/w", "net/l1/w/.ATTRIBUTES/VARIABLE_VALUE"):
        (question,) = questions_of(check, [name])
        assert question.about == "net.l1.w"
    both = questions_of(check, ["assert_consumed", "net.l1", "(root).net.l1"])
    assert [question.about for question in both] == ["net.l1", "assert_consumed"]
    with pytest.raises(cv.NoSuchNodeError, match=r"found 'net\.l2'"):
        questions_of(check, ["net.l2"])
    with pytest.raises(cv.NoSuchNodeError, match="assert_all"):
        questions_of(check, "assert_all")


@pytest.mark.parametrize("asked", [[], 0, -1, True, 1.5, None, [3], ["net", None]])
def test_questions_that_are_none_are_refused(asked: Any, tmp_path: Path) -> None:
    check = cv.check(ckpt(net=module()), saved(tmp_path, net=module(w=var())))
    with pytest.raises(cv.SourceError, match="expected"):
        questions_of(check, asked)


def test_a_restore_without_saved_nodes_has_questions_about_asserts_alone(tmp_path: Path) -> None:
    import numpy as np

    path = saver_file(tmp_path / "model", kernel=np.ones(1, "float32"))
    check = cv.check(ckpt(k=var([0.0], name="kernel")), path)
    (question,) = questions_of(check, ["assert_consumed"])
    assert question.answer == "passes"
    for asked in (5, ["kernel"]):
        with pytest.raises(cv.SourceError, match="asserts"):
            questions_of(check, asked)
    with pytest.raises(cv.SourceError, match="nothing is read"):
        questions_of(cv.check(ckpt(a=var()), None), 5)


def test_a_question_is_printed_without_its_answer(tmp_path: Path) -> None:
    path = written(tmp_path, **{"\x1b[31m<b>": var()})
    (question,) = questions_of(cv.check(ckpt(), path), 5)
    for words in (str(question), repr(question)):
        assert "restored now" in words and "waits" in words
        assert "answer" not in words and "no '" not in words and "\x1b" not in words
    assert question.to_json()["answer"] == "waits"
