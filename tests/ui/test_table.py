"""The table of a check or a diff in a page: its rows, keys, ticks, details, and narrow pages."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import ckpt_viz as cv
from ckpt_viz import ObjectGraph
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.entrances.jupyter.shown import Shown, show_of
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.html import to_html
from ckpt_viz.graphs.render.signs import CELLS
from tests.support.fixed_check import every_kind, of_shapes
from tests.support.graphs import graph, keras3_adam, transformer
from tests.support.tables import floats, raw, shape, write_bundle
from tests.ui.cut import settle
from tests.ui.pages import ANSWERING, choose_view, html_pages, showing_first
from tests.ui.tables import expected, line, selected, shown

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
_WITH_KERNEL = "explorer.render({ model,"
# More than these would hide what a person looks for (issue: at most twelve).
_CONTROLS = """() => [...document.querySelectorAll(
    ".ckpt-viz :is(button, input, select, summary, [role=button])")]
  .filter(control => control.checkVisibility() && control.closest("[inert]") === null
    && control.closest("[role=row]") === null)
  .map(control => control.ariaLabel ?? (control.textContent || control.placeholder))"""
_MOST_CONTROLS = 12
_CUT = """words => words.filter(e => e.hasAttribute("data-short") || e.scrollWidth > e.clientWidth)
  .map(e => e.textContent)"""

pytestmark = pytest.mark.usefixtures("front_end")

Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens a graph or a comparison in a page of its own."""
    with html_pages(browser, tmp_path) as open_page:

        def open_graph(
            of: Overlay | ObjectGraph, answers: str | None = None, width: int = 1500, **how: Any
        ) -> Page:
            overlay = of if isinstance(of, Overlay) else None
            text = to_html(of.graph if isinstance(of, Overlay) else of, overlay)
            if answers is not None:
                model = f"answering(model, {{ error: 'no' }}, [], {answers})"
                text = text.replace(_WITH_KERNEL, f"{ANSWERING}explorer.render({{ model: {model},")
            viewport = {"width": width, "height": 800}
            options = {"viewport": viewport, "bypass_csp": True, **how}
            return open_page(showing_first("layers", text), **options)

        yield open_graph


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> RestoreCheck:
    """A block is gone, so that TensorFlow shifts those after it; and the head is larger."""
    path = _program("block0", "block1", "block2", "block3", classes=5).save(
        str(tmp_path_factory.mktemp("table") / "ckpt")
    )
    return cv.check(_program("block0", "block2", "block3", classes=7), path)


def _program(*blocks: str, classes: int) -> Any:
    import tensorflow as tf

    keras = pytest.importorskip("keras")
    inputs = outputs = keras.Input((8,))
    for name in ("stem", *blocks):
        outputs = keras.layers.Dense(8, name=name)(outputs)
    model = keras.Model(inputs, keras.layers.Dense(classes, name="head")(outputs))
    adam = keras.optimizers.Adam()
    adam.build(model.trainable_variables)
    return tf.train.Checkpoint(model=model, optimizer=adam)


# --- rows


@pytest.mark.tf
def test_the_graph_of_a_check_has_the_signs_and_words_of_the_table(
    opened: Open, check: RestoreCheck
) -> None:
    page = opened(check.overlay)
    page.get_by_role("treegrid").press("t")
    cells = check.overlay.table.cell_of
    outline = page.get_by_role("treegrid")
    for name in ("stem", "head", "block1"):
        (node,) = (n for n in cells if check.overlay.names.name(n) == name)
        row = outline.get_by_role("row", name=re.compile(f"^{name}"))
        sign = row.locator(".ckv-sign")
        expect(sign).to_have_text(CELLS[cells[node].sign].glyph)
        expect(row.locator(".ckv-state-word")).to_have_text(cells[node].words)
    box = page.locator(f".ckv-drawing [data-node='{node}']")
    expect(box.locator(".ckv-glyph")).to_have_text("↷")
    expect(box.locator(".ckv-beside")).to_have_text("into block2")
    page.screenshot(path=_SCREENSHOTS / "table-graph-of-check.png")


@pytest.mark.tf
def test_the_table_has_the_rows_and_the_words_of_print(check: RestoreCheck, opened: Open) -> None:
    page = opened(check.overlay)
    table = check.overlay.table
    assert shown(page) == expected(table)
    expect(page.locator(".ckv-sentence")).to_have_text(table.sentence)
    expect(page.locator(".ckv-check-verdict")).to_contain_text(table.verdict)
    heads = page.get_by_role("columnheader").locator("b")
    expect(heads).to_have_text([*table.heads])
    page.screenshot(path=_SCREENSHOTS / "table-check.png")
    # print leaves out what needs no attention, and counts the values of each row.
    choose_view(page.locator(".ckpt-viz"), "Only changes")
    printed = [re.split(r" {2,}", text.strip()) for text in str(check).splitlines()]
    first = next(place for place, cells in enumerate(printed) if cells[0] == "as saved") + 1
    rows = shown(page)
    assert 3 < len(rows) < len(expected(table))
    assert [cells[:4] for cells in printed[first : first + len(rows)]] == rows
    assert printed[first + len(rows)][0].startswith("… ")


@pytest.mark.tf
def test_keys_move_open_lead_to_changes_and_to_the_details(
    check: RestoreCheck, opened: Open
) -> None:
    page = opened(check.overlay)
    grid, keys = page.get_by_role("treegrid"), page.keyboard
    grid.focus()
    keys.press("ArrowDown")
    expect(selected(page)).to_contain_text("stem")
    keys.press("End")
    expect(selected(page)).to_contain_text("save_counter")
    keys.press("Home")
    expect(selected(page)).to_contain_text("stem")
    keys.press("]")
    expect(selected(page)).to_contain_text("block1")
    for key, name in (("]", "block2"), ("[", "block1"), ("[", "save_counter")):
        keys.press(key)
        if key == "]" or name != "save_counter":
            expect(selected(page)).to_contain_text(name)
    keys.press("Home")
    keys.press("]")
    keys.press("ArrowRight")
    expect(selected(page)).to_have_attribute("aria-expanded", "true")
    keys.press("ArrowRight")
    kernel = selected(page)
    expect(kernel).to_have_attribute("aria-level", "2")
    expect(kernel.locator(".ckv-cell-plain")).to_contain_text("into block2.kernel")
    active = grid.get_attribute("aria-activedescendant")
    expect(page.locator(f"#{active}")).to_have_attribute("aria-selected", "true")
    keys.press("ArrowLeft")
    keys.press("ArrowLeft")
    expect(selected(page)).to_have_attribute("aria-expanded", "false")
    keys.press("Enter")
    expect(page.locator(".ckv-details")).to_be_focused()
    # The twisty and a double click open, too.
    line(page, "head").locator("button").first.click()
    expect(line(page, "head")).to_have_attribute("aria-expanded", "true")
    line(page, "head").dblclick()
    expect(line(page, "head")).to_have_attribute("aria-expanded", "false")


@pytest.mark.tf
def test_the_table_and_the_graph_have_one_selection(check: RestoreCheck, opened: Open) -> None:
    page = opened(check.overlay)
    line(page, "head").click()
    page.get_by_role("treegrid").press("t")
    expect(page.locator(".ckv-outline")).to_be_visible()
    expect(page.locator(".ckv-row.ckv-selected")).to_contain_text("head")
    page.get_by_role("treegrid").press("]")
    page.get_by_role("treegrid").press("[")
    expect(page.locator(".ckv-row.ckv-selected")).to_contain_text("head")
    page.get_by_role("treegrid").press("t")
    expect(selected(page)).to_contain_text("head")


@pytest.mark.tf
def test_details_say_where_values_go_and_why_and_what_each_assert_does(
    check: RestoreCheck, opened: Open
) -> None:
    page = opened(check.overlay)
    details = page.locator(".ckv-details")
    line(page, "head").click()
    expect(details.locator("h3").first).to_contain_text("head")
    expect(details).to_contain_text(re.compile("where it goes: 6 values", re.IGNORECASE))
    expect(details).to_contain_text("stays, other shape")
    problem = next(p for p in check.overlay.problems if "8×7" in p.why)
    expect(details).to_contain_text(problem.why)
    expect(details.locator(".ckv-message")).to_contain_text("Received incompatible tensor")

    asserts = page.locator(".ckv-asserts li")
    expect(asserts).to_have_count(0)
    page.get_by_role("button", name="The asserts").click()
    expect(asserts).to_have_count(len(check.overlay.verdicts))
    for verdict in check.overlay.verdicts:
        row = asserts.filter(has_text=verdict.name)
        expect(row).to_contain_text("passes" if verdict.passes else "fails")


def test_a_tick_takes_a_guess_into_rows_counts_ribbon_button_and_code(opened: Open) -> None:
    made = every_kind()
    page = opened(made.overlay)
    restore = page.get_by_role("button", name="Copy the code")
    restore.wait_for()
    guesses = page.get_by_role("checkbox")
    expect(guesses).to_have_count(2)  # in sight, though they are about parts of a run
    head = page.locator("[role=columnheader].ckv-cell-fixed")
    notes = page.locator(".ckv-strip-name")
    expect(head).to_contain_text("3 of 8")
    expect(notes.last).to_have_text("5 of 8 keep their own")
    page.get_by_role("button", name="Code", exact=True).click()
    code = page.locator(".ckv-code-text").first
    expect(code).to_have_text("check.fix().apply()")

    page.get_by_role("treegrid").press("y")
    expect(guesses.first).to_be_checked()
    expect(head).to_contain_text("4 of 8")
    expect(notes.last).to_have_text("4 of 8 keep their own")
    expect(code).to_have_text("check.fix(guesses=['blocks.0']).apply()")
    run = line(page, "blocks.0.w … blocks.1.w").locator(".ckv-cell-fixed")
    expect(run).to_contain_text("a guess")
    guesses.last.check()
    expect(run).to_contain_text("here, if you are right")
    expect(code).to_have_text("check.fix(guesses=['blocks.0', 'blocks.1']).apply()")
    page.screenshot(path=_SCREENSHOTS / "table-ticked.png")
    guesses.last.uncheck()
    page.get_by_role("treegrid").press("y")
    expect(guesses.first).not_to_be_checked()
    expect(head).to_contain_text("3 of 8")


def test_a_question_has_no_tick_where_nothing_can_take_it(opened: Open) -> None:
    made = every_kind()
    two_files = replace(made.overlay, graph=replace(made.overlay.graph, origin=Origin.SAVED))
    page = opened(two_files, made.as_javascript())
    questions = page.locator(".ckv-table-question")
    expect(questions).to_have_text([re.compile("Does blocks.[01] belong to blocks.[01]\\?$")] * 2)
    expect(page.get_by_role("checkbox")).to_have_count(0)
    expect(page.locator(".ckv-check-buttons .ckv-restore")).to_have_count(0)
    cells = shown(page)
    page.get_by_role("treegrid").press("y")
    assert shown(page) == cells
    page.screenshot(path=_SCREENSHOTS / "table-two-files.png")


def test_where_a_kernel_is_the_button_restores_and_the_code_is_the_notebook_s(
    opened: Open,
) -> None:
    made = every_kind()
    page = opened(made.overlay, made.as_javascript())
    expect(page.get_by_role("button", name="Restore 3 of 8 values")).to_be_visible()
    page.get_by_role("button", name="Code", exact=True).click()
    texts = page.locator(".ckv-code-text")
    expect(texts).to_have_count(2)
    short, whole = texts.all()
    answer = made.answers["fix"][0]["fix"]
    expect(short).to_have_text(answer["short"], use_inner_text=True)
    assert whole.inner_text().rstrip() == answer["code"].rstrip()


def test_without_a_kernel_the_button_copies_the_code(opened: Open) -> None:
    page = opened(every_kind().overlay, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Copy the code").click()
    expect(page.locator(".ckv-restore")).to_have_text("copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "check.fix(guesses=['blocks.0']).apply()"
    expect(page.get_by_role("button", name="What if…")).to_have_count(0)


def test_forced_colours_keep_the_words_of_the_filled_button(opened: Open) -> None:
    page = opened(every_kind().overlay)
    page.emulate_media(forced_colors="active")
    # The browser keeps a system colour and replaces all others: words may get their ground's.
    colours = "button => [getComputedStyle(button).color, getComputedStyle(button).backgroundColor]"
    words, ground = page.locator(".ckv-restore").evaluate(colours)
    assert words != ground


@pytest.mark.tf
def test_a_narrow_page_has_tabs_and_the_same_words(check: RestoreCheck, opened: Open) -> None:
    page = opened(check.overlay, width=700)
    table = check.overlay.table
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_text(["Table", "Details"])
    assert shown(page) == expected(table)
    page.screenshot(path=_SCREENSHOTS / "table-700.png")
    line(page, "block1").click()
    tabs.last.click()
    expect(page.locator(".ckv-table")).to_be_hidden()
    expect(page.locator(".ckv-details")).to_contain_text("block1")
    tabs.last.press("ArrowLeft")
    expect(selected(page)).to_contain_text("block1")
    page.get_by_role("button", name="Code", exact=True).click()
    expect(page.locator(".ckv-code-text")).to_be_visible()


def _with_number(of: ObjectGraph, shape: tuple[int, ...]) -> ObjectGraph:
    return of_shapes(of, {3: shape})


def test_a_diff_is_a_table_of_a_and_b(opened: Open) -> None:
    a = graph({0: {"net": 1, "old": 4}, 1: {"x": 2, "y": 3}}, (2, 3, 4))
    b = graph({0: {"net": 1, "new": 4}, 1: {"x": 2, "y": 3}}, (2, 3, 4))
    diff = cv.diff(_with_number(a, (2,)), _with_number(b, (3,)))
    page = opened(diff.overlay)
    table = diff.overlay.table
    assert shown(page) == expected(table)
    expect(page.get_by_role("columnheader").locator("b")).to_have_text(["a", "change", "b"])
    for button in ("Code", "Step by step", "What if…"):
        expect(page.get_by_role("button", name=button)).to_have_count(0)
    page.get_by_role("treegrid").press("]")
    expect(selected(page)).to_contain_text("shape differs")
    page.screenshot(path=_SCREENSHOTS / "table-diff.png")

    same = opened(cv.diff(keras3_adam(), keras3_adam()).overlay)
    expect(same.locator(".ckv-sign.ckv-loud")).to_have_count(0)


def _layers(directory: Path, **values: list[float]) -> str:
    """Return a name-based checkpoint of layers with a kernel each, and a counter."""
    kernels = {f"{name}/kernel": floats(*of) for name, of in values.items()}
    step = raw(9, shape(), bytes([len(directory.name), *bytes(7)]))
    return write_bundle(directory, {**kernels, "step": step})


def _measured(shown: Shown) -> str:
    """Return the answers of a kernel that has read the values of a diff."""
    shown.measures()
    encoded = base64.b64encode(shown.encoded).decode()
    unpacked = f"Uint8Array.from(atob('{encoded}'), letter => letter.charCodeAt(0))"
    return f"{{ measures: [{{}}, [new DataView({unpacked}.buffer)]] }}"


def test_a_diff_says_at_once_what_changed_most_and_sorts_by_it(
    opened: Open, tmp_path: Path
) -> None:
    nan = float("nan")
    before = _layers(tmp_path / "a", up=[3, 4], mid=[1, 0], head=[3, 4])
    after = _layers(tmp_path / "bb", up=[3, 5], mid=[1, nan], head=[6, 8])
    shown_diff = show_of(cv.diff(before, after))
    overlay = shown_diff.overlay
    assert overlay is not None
    page = opened(overlay, _measured(shown_diff))
    sentence = page.locator(".ckv-sentence")
    expect(sentence).to_have_text("mid.kernel has 1 NaN in b. head changed most: by 100 %.")
    expect(line(page, "head").locator(".ckv-cell-plain")).to_have_text("100 %")
    expect(page.get_by_role("button", name="By how much?")).to_have_count(0)

    names = page.locator(".ckv-cell-saved .ckv-table-name")
    expect(names).to_have_text(["head", "mid", "step", "up"])
    head = page.get_by_role("columnheader", name="change")
    expect(head).to_have_attribute("aria-sort", "none")
    page.get_by_role("treegrid").press("Tab")
    expect(head.get_by_role("button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(names).to_have_text(["mid", "head", "up", "step"])
    page.screenshot(path=_SCREENSHOTS / "table-diff-sorted.png")
    head.get_by_role("button").click()
    expect(names).to_have_text(["head", "mid", "step", "up"])

    page.get_by_role("treegrid").press("x")
    expect(page.get_by_role("button", name="Show the NaN")).to_be_focused()
    page.keyboard.press("Enter")
    expect(selected(page)).to_contain_text("kernel")
    expect(selected(page)).to_contain_text("NaN")


def test_a_bar_hides_no_other_difference(opened: Open, tmp_path: Path) -> None:
    """A layer that moved has the sign for it, and one of another shape has no bar."""
    values = {"inner/up/kernel": floats(3, 4), "head/kernel": floats(1, 2), "head/bias": floats(1)}
    renamed = {"outer/up/kernel": floats(3, 5)}
    reshaped = {"head/kernel": floats(1, 2, 3), "head/bias": floats(2)}
    paths = (
        write_bundle(tmp_path / "a", values),
        write_bundle(tmp_path / "b", renamed | reshaped),
    )
    shown_diff = show_of(cv.diff(*paths))
    overlay = shown_diff.overlay
    assert overlay is not None
    page = opened(overlay, _measured(shown_diff))
    moved = page.locator(".ckv-cell-plain", has_text="20 %")
    expect(moved.get_by_title("moved")).to_be_visible()
    expect(moved.locator(".ckv-change-bar")).to_be_visible()
    expect(line(page, "head").locator(".ckv-cell-plain")).to_contain_text("shape differs")


def test_a_diff_without_a_nan_has_no_button_and_a_large_one_asks(
    opened: Open, tmp_path: Path
) -> None:
    paths = _layers(tmp_path / "a", up=[3, 4]), _layers(tmp_path / "bb", up=[3, 5])
    shown_diff = show_of(cv.diff(*paths))
    overlay = shown_diff.overlay
    assert overlay is not None
    page = opened(overlay, _measured(shown_diff))
    expect(page.locator(".ckv-sentence")).to_have_text("up changed: by 20 %.")
    expect(page.locator(".ckv-check-buttons button")).to_have_count(0)

    # A kernel that cannot read says why, and the button stays.
    failing = opened(overlay, "{}")
    expect(failing.get_by_role("alert")).to_have_text("no")
    expect(failing.get_by_role("button", name="By how much? Reads 32 B")).to_be_visible()

    small = graph({0: {"net": 1}}, (1,))
    sized = small.nodes[1].attributes[0]._replace(nbytes=300_000_000)
    net = small.nodes[1]._replace(attributes=(sized,))
    large = replace(small, nodes=(small.nodes[0], net))
    asking = opened(cv.diff(large, large).overlay, "{}")
    button = asking.get_by_role("button", name="By how much? Reads 300 MB")
    expect(button).to_be_visible()
    expect(asking.get_by_role("alert")).to_have_count(0)
    button.click()
    expect(asking.get_by_role("alert")).to_have_text("no")


@pytest.mark.tf
def test_a_search_marks_lines_steps_through_them_and_may_leave_them_alone(
    check: RestoreCheck, opened: Open
) -> None:
    page = opened(check.overlay)
    page.get_by_role("treegrid").press("/")
    page.keyboard.type("block2")
    marked = page.locator("mark.ckv-table-name")
    expect(marked).to_have_text(["block2"] * 2)
    page.keyboard.press("Enter")
    expect(selected(page)).to_contain_text("block2")
    page.get_by_role("button", name="filter", exact=True).first.click()
    expect(line(page, "stem")).to_have_count(0)
    expect(line(page, "block2")).to_have_count(1)


def test_only_lines_in_sight_exist(opened: Open) -> None:
    names = {f"layer {chr(97 + i % 26)}{i}": 1 + i for i in range(20_000)}
    was = graph({0: names}, tuple(range(1, 20_001)))
    page = opened(cv.diff(of_shapes(was, {15_000: (9,)}), was).overlay)
    page.get_by_role("treegrid").press("]")
    expect(selected(page)).to_be_in_viewport()
    expect(selected(page)).to_contain_text("layer x14999")
    assert page.locator(".ckv-table-line").count() < 100
    page.get_by_role("treegrid").press("End")
    expect(selected(page)).to_be_in_viewport()


@pytest.mark.tf
@pytest.mark.parametrize("width", [700, 760, 900, 1100, 1500])
def test_the_words_of_cells_are_whole_at_each_width(
    check: RestoreCheck, opened: Open, width: int
) -> None:
    page = opened(check.overlay, width=width)
    expect(line(page, "head")).to_contain_text("stays, other shape")
    settle(page.locator(".ckpt-viz"))
    # The columns are as wide as the words in sight need: those of opened lines, too.
    for _ in range(2):
        words = page.locator(".ckv-cells > .ckv-cell > span:last-child:visible")
        assert words.count() > 8
        assert words.evaluate_all(_CUT) == []
        page.get_by_role("treegrid").press("]")
        page.keyboard.press("ArrowRight")
        settle(page.locator(".ckpt-viz"))


@pytest.mark.tf
def test_a_tick_copies_a_part_of_a_value_of_another_shape(
    check: RestoreCheck, opened: Open
) -> None:
    page = opened(check.overlay)
    fixed = line(page, "head").locator(".ckv-cell-fixed")
    expect(fixed).to_have_text("≠ stays, other shape")
    question = page.get_by_role("row").filter(has=page.get_by_role("checkbox"))
    expect(question).to_contain_text("Do the first 5 of 7 in model.head mean the same?")
    expect(question).to_contain_text("A tick copies this part of 6 values.")
    page.get_by_role("treegrid").press("y")
    expect(fixed).to_have_text("≈ here, in part")
    expect(page.locator(".ckv-strip-name").last).to_have_text("0 of 33 keep their own")
    page.screenshot(path=_SCREENSHOTS / "table-in-part.png")


@pytest.mark.tf
@pytest.mark.parametrize("width", [420, 700, 833])
def test_a_question_is_whole_at_each_width(check: RestoreCheck, opened: Open, width: int) -> None:
    page = opened(check.overlay, width=width)
    asked = page.locator(".ckv-table-question .ckv-asked")
    expect(asked).to_contain_text("Do the first 5 of 7 in model.head mean the same?")
    settle(page.locator(".ckpt-viz"))
    assert asked.evaluate_all(_CUT) == []
    line_of = page.locator(".ckv-table-question").bounding_box()
    text, after = asked.bounding_box(), page.locator(".ckv-table-question + *").bounding_box()
    assert line_of and text and after
    assert text["height"] <= line_of["height"] <= after["y"] - line_of["y"]


@pytest.mark.tf
def test_a_table_has_the_whole_width_above_its_details_where_these_take_too_much(
    check: RestoreCheck, opened: Open
) -> None:
    page = opened(check.overlay, width=1100)
    table, details = page.locator(".ckv-table"), page.locator(".ckv-details")
    line(page, "block1").click()
    expect(details).to_contain_text("block1")
    above, below = table.bounding_box(), details.bounding_box()
    assert above and below
    assert above["width"] > 1090 and below["y"] >= above["y"] + above["height"]
    assert below["height"] >= 150
    page.set_viewport_size({"width": 1300, "height": 800})
    settle(page.locator(".ckpt-viz"))
    above, below = table.bounding_box(), details.bounding_box()
    assert above and below
    assert below["x"] >= above["x"] + above["width"]


@pytest.mark.tf
def test_in_a_cell_a_table_is_as_tall_as_its_lines(check: RestoreCheck, opened: Open) -> None:
    page = opened(check.overlay, width=1300)
    page.evaluate("document.querySelector('#explorer').id = 'output'")  # no page of its own
    root, body = page.locator(".ckpt-viz"), page.locator(".ckv-table-body")
    settle(root)
    space = "({ clientHeight }) => clientHeight - body.firstElementChild.clientHeight"
    assert body.evaluate(f"body => ({space})(body)") == 0
    page.set_viewport_size({"width": 1300, "height": 300})  # lower than the table
    settle(root)
    assert root.evaluate("({ clientHeight }) => clientHeight") <= 460
    edge = page.get_by_role("separator", name="Height of the explorer")
    edge.focus()
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    assert root.evaluate("({ clientHeight }) => clientHeight") > 460


@pytest.mark.tf
def test_a_narrow_page_has_two_lines_for_news_and_one_for_all_else(
    check: RestoreCheck, opened: Open
) -> None:
    page = opened(check.overlay, width=700)
    quiet, news = line(page, "stem"), line(page, "block1")
    expect(news).to_have_class(re.compile("ckv-two"))
    heights = [each.evaluate("line => line.offsetHeight") for each in (quiet, news)]
    assert heights == [28, 50]
    # A quiet line has one cell beside its name, and news has each cell below it.
    name, plain, fixed = (
        cell.bounding_box()
        for cell in (
            news.locator(".ckv-cell-saved"),
            news.locator(".ckv-cell-plain"),
            news.locator(".ckv-cell-fixed"),
        )
    )
    assert name and plain and fixed
    assert plain["y"] == fixed["y"] >= name["y"] + name["height"]
    assert fixed["x"] >= plain["x"] + plain["width"]
    labels = "cell => getComputedStyle(cell, '::before').content"
    assert news.locator(".ckv-cell-plain").evaluate(labels) == '"plain:"'
    expect(quiet.locator(".ckv-cell-plain")).to_be_visible()
    for hidden in (quiet.locator(".ckv-cell-fixed"), quiet.locator(".ckv-cell-live")):
        expect(hidden).to_be_hidden()
    # No line covers the next one.
    tops = page.locator(".ckv-table-line").evaluate_all(
        "lines => lines.map(line => [line.offsetTop, line.offsetTop + line.offsetHeight])"
    )
    assert all(end == begin for (_, end), (begin, _) in pairwise(tops))

    page.set_viewport_size({"width": 1100, "height": 800})
    expect(news.locator(".ckv-cell-live")).to_be_visible()
    assert news.evaluate("line => line.offsetHeight") == 28


def test_lines_of_two_heights_exist_only_in_sight(opened: Open) -> None:
    names = {f"layer {chr(97 + i % 26)}{i}": 1 + i for i in range(20_000)}
    was = graph({0: names}, tuple(range(1, 20_001)))
    reshaped = of_shapes(was, dict.fromkeys(range(1, 20001, 2), (9,)))
    page = opened(cv.diff(reshaped, was).overlay, width=700)
    grid = page.get_by_role("treegrid")
    grid.press("ArrowDown")
    for key, name in (("End", "layer f19999"), ("Home", "layer a0"), ("PageDown", "layer m12")):
        grid.press(key)
        expect(selected(page)).to_contain_text(name)
        expect(selected(page)).to_be_in_viewport(ratio=1)
        assert page.locator(".ckv-table-line").count() < 100


# --- controls


def test_at_most_twelve_controls_are_visible_before_a_selection(opened: Open) -> None:
    made = every_kind()
    pages = {
        "graph": opened(transformer(12), "{}"),
        "check": opened(made.overlay, made.as_javascript()),
        "file": opened(made.overlay),
        "diff": opened(cv.diff(transformer(3), transformer(4)).overlay, "{}"),
    }
    for name, page in pages.items():
        page.locator(".ckv-details").wait_for()
        controls = page.evaluate(_CONTROLS)
        page.screenshot(path=_SCREENSHOTS / f"controls-{name}.png")
        assert len(controls) <= _MOST_CONTROLS, (name, controls)
