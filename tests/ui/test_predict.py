"""Predict first: questions before the steps of a restore, in a page and in a saved notebook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import ckpt_viz as cv
from ckpt_viz.matching.story.questions import Question
from tests.ui.cut import faults
from tests.ui.jupyter import JupyterLab, SharedKernel
from tests.ui.pages import html_pages
from tests.ui.played import program_and_path
from tests.ui.test_saved_notebooks import run_and_save

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
_NAMES = ("old", "net.l1", "net.l1.kernel", "step")
_ASKED = (*_NAMES, "assert_consumed", "assert_nontrivial_match")

pytestmark = [pytest.mark.tf, pytest.mark.usefixtures("front_end")]

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    return program_and_path(tmp_path_factory.mktemp("predict"))


@pytest.fixture(scope="module")
def exercise(sides: tuple[Any, str]) -> cv.Exercise:
    return cv.exercise(*sides, questions=_ASKED)


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens an explorer in a page without a kernel."""
    with html_pages(browser, tmp_path) as open_page:

        def open_explorer(explorer: cv.Explorer, width: int = 1500, **options: Any) -> Page:
            file = tmp_path / "saved.html"
            explorer.save_html(file)
            size = {"width": width, "height": 900}
            page = open_page(file.read_text("utf-8"), viewport=size, **options)
            if explorer.step is None:
                page.get_by_role("button", name="Step by step").click()
            expect(page.locator(".ckv-play-bar")).to_be_visible()
            return page

        yield open_explorer


def _open_question(page: Page, question: Question) -> Locator:
    """Go on to the next question, and return it."""
    page.keyboard.press("]")
    shown = page.locator(".ckv-predict-one")
    expect(shown.locator(".ckv-predict-question")).to_have_text(question.text)
    return shown


def _wrong(question: Question) -> str:
    return next(choice for choice in question.choices if choice != question.answer)


def _answer(page: Page, question: Question, choice: str) -> None:
    _open_question(page, question)
    page.keyboard.press(str(1 + question.choices.index(choice)))


def test_an_exercise_asks_grades_and_begins_again_by_the_keyboard_alone(
    exercise: cv.Exercise, opened: Open
) -> None:
    page = opened(exercise)
    questions = exercise.questions
    assert [question.about for question in questions] == [
        *("old", "step", "net.l1", "net.l1.kernel"),
        *("assert_consumed", "assert_nontrivial_match"),
    ]
    number = page.locator(".ckv-play-number")
    next_question = page.get_by_role("button", name="next question")
    expect(next_question).to_be_visible()
    keys = page.get_by_text("Choose with the keys")
    expect(keys).to_have_count(0)  # until there is a question
    for place, question in enumerate(questions):
        shown = _open_question(page, question)
        last = min(question.step - 1, len(exercise.comparison.steps))  # type: ignore[union-attr]
        expect(number).to_contain_text(f"step {last} of")
        choices = [
            re.sub(r"^\d", "", text).strip() for text in shown.locator("li").all_inner_texts()
        ]
        assert all(text.startswith(c) for text, c in zip(choices, question.choices, strict=True))
        expect(next_question).to_have_count(0)  # it is open
        expect(keys).to_have_text(f"Choose with the keys 1 to {len(choices)}.")
        page.keyboard.press("9")  # no choice
        expect(shown.locator(".ckv-predict-question")).to_have_text(question.text)
        choice = _wrong(question) if place % 2 else question.answer
        page.keyboard.press(str(1 + question.choices.index(choice)))
        heard = page.locator(".ckv-predict [aria-live]")
        expect(heard).to_contain_text("Not right" if place % 2 else "Right")
        if place + 1 < len(questions):
            expect(heard).to_contain_text(f"{place // 2 + 1} of {place + 1} right so far")
    summary = page.locator(".ckv-predict-results > li")
    expect(page.locator(".ckv-predict-score")).to_contain_text("3 of 6 right.")
    expect(keys).to_have_count(0)
    for place, question in enumerate(questions):
        expect(summary.nth(place)).to_contain_text(question.text)
        expect(summary.nth(place)).to_contain_text(" ".join(filter(None, question.why)))
        words = f"Right: {question.answer}" if place % 2 else f"and right: {question.answer}"
        expect(summary.nth(place)).to_contain_text(words)
    page.screenshot(path=_SCREENSHOTS / "predict-summary.png", full_page=True)
    summary.first.get_by_role("button", name=f"Step {questions[0].step}").click()
    expect(number).to_contain_text(f"step {questions[0].step} of")
    page.locator(".ckv-play").focus()
    page.keyboard.press("End")
    page.get_by_role("button", name="Again").press("Enter")
    expect(number).to_contain_text("step 1 of")
    page.locator(".ckv-play").focus()
    _open_question(page, questions[0])


def test_nothing_behind_an_open_question_is_shown(exercise: cv.Exercise, opened: Open) -> None:
    page = opened(exercise)
    first = exercise.questions[0]
    asked = _open_question(page, first)
    number = page.locator(".ckv-play-number")
    before = f"step {first.step - 1} of"
    for key in ("ArrowRight", "Shift+ArrowRight", "]", "End", " "):
        page.keyboard.press(key)
        expect(number).to_contain_text(before)
    page.get_by_role("slider", name="Steps").fill("40")
    expect(number).to_contain_text(before)
    assert page.get_by_role("slider", name="Steps").input_value() == str(first.step - 1)
    page.evaluate("location.hash = '#step=40'")
    expect(number).to_contain_text(before)
    assert page.locator(".ckv-play-dots > i").count() == first.step - 1
    assert page.locator(".ckv-dot-problem").count() == 0
    assert not any(part.is_visible() for part in page.locator(".ckv-check-head").all())
    titles = page.locator(".ckv-cell").evaluate_all("cells => cells.map(cell => cell.title)")
    assert not [title for title in titles if re.search("wait|moved|restored|not in", title)]
    row = page.locator(".ckv-asked")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("what becomes of it?")
    expect(row).to_be_in_viewport()
    assert not {"waits", "forgotten"} & {*row.inner_text().split()}
    asked.get_by_role("button", name="2 waits").click()
    expect(number).to_contain_text(f"step {first.step} of")
    expect(page.locator(".ckv-asked")).to_have_count(0)
    expect(page.locator(".ckv-dot-problem").first).to_be_visible()
    second = exercise.questions[1]
    assert page.locator(".ckv-play-dots > i:not(.ckv-dot-problem)").count() == second.step - 1


def test_watching_is_never_blocked_and_predicting_asks_before_it_shows(
    sides: tuple[Any, str], opened: Open
) -> None:
    check = cv.check(*sides)
    page = opened(cv.show(check))
    number = page.locator(".ckv-play-number")
    page.keyboard.press("End")
    expect(number).to_contain_text(f"step {len(check.steps)} of")
    expect(page.locator(".ckv-predict")).to_have_count(0)
    page.get_by_role("button", name="Predict first").click()
    expect(page.locator(".ckv-predict-question")).to_be_visible()
    stopped = number.inner_text()
    page.locator(".ckv-play").focus()
    page.keyboard.press("End")
    expect(number).to_have_text(stopped)
    page.keyboard.press("1")
    expect(number).not_to_have_text(stopped)
    page.get_by_role("button", name="Watch", exact=True).click()
    page.locator(".ckv-play").focus()
    page.keyboard.press("End")
    expect(number).to_contain_text(f"step {len(check.steps)} of")


def test_playing_stops_before_a_question_and_goes_on_after_it(
    exercise: cv.Exercise, opened: Open
) -> None:
    page = opened(exercise)
    page.get_by_role("combobox", name="Speed").select_option("4")
    page.locator(".ckv-play").focus()
    page.keyboard.press("Space")
    first, second = exercise.questions[:2]
    question = page.locator(".ckv-predict-question")
    expect(question).to_have_text(first.text)
    expect(page.get_by_role("button", name="Play (Space)")).to_be_visible()
    page.keyboard.press("2")
    page.keyboard.press("Space")
    expect(question).to_have_text(second.text)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1500, 1100, 700])
def test_questions_and_results_are_whole(
    exercise: cv.Exercise, opened: Open, width: int, scheme: str
) -> None:
    page = opened(exercise, width, color_scheme=scheme)
    questions = exercise.questions
    for place, question in enumerate(questions):
        _open_question(page, question)
        if place in (0, 5):
            page.screenshot(path=_SCREENSHOTS / f"predict-{place}-{width}-{scheme}.png")
        assert faults(page.locator(".ckv-play")) == []
        page.keyboard.press(str(1 + question.choices.index(_wrong(question))))
        if place == 0:
            expect(page.locator(".ckv-predict-wrong")).to_have_count(1)
            page.screenshot(path=_SCREENSHOTS / f"predict-wrong-{width}-{scheme}.png")
            assert faults(page.locator(".ckv-play")) == []
    expect(page.locator(".ckv-predict-score")).to_contain_text("0 of 6")
    page.screenshot(path=_SCREENSHOTS / f"predict-end-{width}-{scheme}.png")
    assert faults(page.locator(".ckv-play")) == []


def test_forced_colours_keep_the_marks(exercise: cv.Exercise, opened: Open) -> None:
    page = opened(exercise, forced_colors="active")
    _answer(page, exercise.questions[0], _wrong(exercise.questions[0]))
    expect(page.locator(".ckv-predict-right")).to_contain_text("right")
    expect(page.locator(".ckv-predict-wrong")).to_contain_text("yours")
    page.screenshot(path=_SCREENSHOTS / "predict-forced.png")


def test_hostile_names_are_text_in_questions(opened: Open, tmp_path: Path) -> None:
    import tensorflow as tf

    evil = "<img src=x onerror=alert(1)>\u202e" + "long" * 40
    path = tf.train.Checkpoint(**{evil: tf.Variable(1.0)}).write(str(tmp_path / "evil"))
    exercise = cv.exercise(tf.train.Checkpoint(), path)
    page = opened(exercise)
    page.keyboard.press("End")
    expect(page.locator(".ckv-predict-question")).to_contain_text("long?")
    page.keyboard.press("2")
    page.keyboard.press("End")
    expect(page.locator(".ckv-predict-score")).to_contain_text("1 of 1 right")
    assert page.locator(".ckv-play img").count() == 0
    assert "\u202e" not in page.locator(".ckv-predict").inner_text()
    assert faults(page.locator(".ckv-predict")) == []


LIVE = """
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tempfile
import tensorflow as tf
import ckpt_viz as cv

def program(**names):
    return tf.train.Checkpoint(**{name: tf.Variable(1.0) for name in names})

path = program(a=1, b=2, c=3).write(tempfile.mkdtemp() + "/ckpt")
live = program(a=1, c=3)
exercise = cv.exercise(live, path, questions=["b", "assert_consumed"])
exercise
"""


def _do_exercise(lab: JupyterLab, explorer: Locator) -> None:
    question = explorer.locator(".ckv-predict-question")
    explorer.locator(".ckv-play-sentence").wait_for()
    explorer.get_by_role("slider", name="Steps").press("End")
    expect(question).to_have_text("What becomes of b?")
    lab.page.keyboard.press("2")
    lab.page.keyboard.press("End")
    expect(question).to_have_text("Does assert_consumed() pass?")
    lab.page.keyboard.press("1")
    expect(explorer.locator(".ckv-predict-score")).to_contain_text("1 of 2 right")


def test_an_exercise_works_live_and_in_a_saved_notebook(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    run_and_save(lab, shared, "exercise.ipynb", LIVE, "cv.show(live, against=path)")
    explorer = lab.output(0).locator(".ckpt-viz")
    _do_exercise(lab, explorer)
    lab.screenshot("predict-live")
    lab.reopen_without_kernel("exercise.ipynb")
    _do_exercise(lab, lab.output(0).locator(".ckpt-viz"))
    # The other explorer of the same check has steps of its own, without these questions.
    other = lab.output(1).locator(".ckpt-viz")
    expect(other.locator(".ckv-play")).to_have_count(0)
    other.get_by_role("button", name="Step by step").click()
    expect(other.locator(".ckv-play-sentence")).to_contain_text("binds the root")
    expect(other.locator(".ckv-predict")).to_have_count(0)
