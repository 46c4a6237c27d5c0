"""The explorer is accessible: screen readers, keys, contrast, themes, zoomed pages."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import ckpt_viz as cv
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.html import to_html
from ckpt_viz.graphs.search.measures import Measures, no_measures
from tests.support import frontend
from tests.support.fixed_check import every_kind
from tests.support.graphs import keras3_adam, transformer, without_optimizer
from tests.support.payload_fixtures import overlays
from tests.ui.pages import ANSWERING, choose_view, html_pages

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
_STATIC = frontend.LABEXTENSION.parent / "ckpt_viz" / "static"

pytestmark = pytest.mark.usefixtures("front_end")


@pytest.fixture(scope="module")
def axe() -> str:
    return (frontend.LABEXTENSION / "node_modules/axe-core/axe.min.js").read_text("utf-8")


Open = Callable[..., Page]
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """A function that opens the explorer of a graph in a page of its own."""
    with html_pages(browser, tmp_path) as open_page:

        def open_graph(
            graph: Graph,
            overlay: Overlay | None = None,
            measures: Measures | None = None,
            *,
            answers: str = "{}",
            has_graphviz: bool = False,  # which takes time to be parsed
            **options: Any,
        ) -> Page:
            state = {} if measures is None else {"measure": "change" if overlay else "norm"}
            html = to_html(graph, overlay, measures, state=state)
            # The file's policy would forbid the worker that the textbook view needs.
            html = _with_kernel(html, answers, has_graphviz=has_graphviz)
            return open_page(html, **{"bypass_csp": True, **options})

        yield open_graph


def _with_kernel(html: str, answers: str, *, has_graphviz: bool) -> str:
    """Return the page with a kernel that has these answers, and no others but Graphviz."""
    script = base64.b64encode((_STATIC / "graphviz.js").read_bytes()).decode("ascii")
    decode = f'Uint8Array.from(atob("{script}"), (character) => character.charCodeAt(0))'
    views = f"new DataView({decode}.buffer)" if has_graphviz else ""
    model = f"answering(model, {{}}, [{views}], {answers})"
    mount = "explorer.render({ model,"
    assert html.count(mount) == 1
    return html.replace(mount, f"{ANSWERING}explorer.render({{ model: {model},")


# --- screen readers


def _single(opened: Open, **options: Any) -> Page:
    page = opened(keras3_adam(), **options)
    page.get_by_role("row", name="layer").first.click()
    return page


def _failing_check(opened: Open, **options: Any) -> Page:
    overlay = overlays()["check"]
    page = opened(overlay.graph, overlay, **options)
    page.keyboard.press("Tab")
    page.get_by_role("treegrid").press("]")
    return page


def _failing_object_graph(opened: Open, **options: Any) -> Page:
    overlay = overlays()["check"]
    page = opened(overlay.graph, overlay, **options)
    choose_view(page.locator(".ckpt-viz"), "Object graph")
    page.get_by_role("treegrid").press("]")
    return page


def _questions(opened: Open, **options: Any) -> Page:
    """A table with guesses, one of them ticked, and its code."""
    check = every_kind()
    page = opened(check.overlay.graph, check.overlay, answers=check.as_javascript(), **options)
    page.get_by_role("treegrid").press("y")
    page.get_by_role("button", name="Code", exact=True).click()
    page.locator(".ckv-code-text").last.wait_for()
    return page


def _asserts(opened: Open, **options: Any) -> Page:
    overlay = overlays()["check"]
    page = opened(overlay.graph, overlay, **options)
    page.get_by_role("button", name="The asserts").click()
    page.locator(".ckv-asserts").wait_for()
    return page


def _narrow_table(opened: Open, **options: Any) -> Page:
    page = _questions(opened, **options)
    page.set_viewport_size({"width": 700, "height": 800})
    return page


def _layers(opened: Open, **options: Any) -> Page:
    page = opened(transformer(12), **options)
    choose_view(page.locator(".ckpt-viz"), "Graph")
    page.locator(".ckv-segment").first.wait_for()
    page.locator(".ckv-largest").wait_for()
    return page


def _hidden_objects(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    choose_view(page.locator(".ckpt-viz"), "Graph")
    page.locator(".ckv-folded").wait_for()
    return page


def _diff(opened: Open, **options: Any) -> Page:
    shorter, longer = transformer(2), transformer(3)
    kernel = shorter.nodes[4]
    other = kernel._replace(attributes=(kernel.attributes[0]._replace(shape=(4, 7)),))
    wider = replace(shorter, nodes=(*shorter.nodes[:4], other, *shorter.nodes[5:]))
    overlay = cv.diff(wider, longer).overlay
    page = opened(overlay.graph, overlay, **options)
    page.get_by_role("treegrid").press("]")
    return page


def _measured_diff(opened: Open, **options: Any) -> Page:
    """A narrow table that says by how much values changed, sorted by it."""
    overlay = cv.diff(transformer(2), transformer(3)).overlay
    page = opened(overlay.graph, overlay, _measures(len(overlay.graph.nodes)), **options)
    page.set_viewport_size({"width": 700, "height": 800})
    page.get_by_role("columnheader").get_by_role("button").click()
    page.locator(".ckv-cell-change").first.wait_for()
    return page


def _narrow(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.set_viewport_size({"width": 600, "height": 700})
    return page


def _narrow_details(opened: Open, **options: Any) -> Page:
    page = _narrow(opened, **options)
    page.get_by_role("tab", name="Details").click()
    return page


def _mistake(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.get_by_role("combobox", name="Search").fill("size>")
    page.locator(".ckv-mistake").wait_for()
    return page


def _matches(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.get_by_role("combobox", name="Search").fill("a")
    page.locator("mark").first.wait_for()
    return page


def _focused(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.get_by_role("treegrid").press("f")
    page.get_by_role("navigation").wait_for()
    return page


def _measures(size: int) -> Measures:
    """Return measures of every level, some of them with NaN."""
    columns = no_measures(size)
    steps = np.arange(size)
    for name in ("count", "before"):
        columns[name][:] = 100
    columns["norm"][:] = columns["moved"][:] = 3.0 ** (steps % 9)
    columns["nan"][:] = np.where(steps % 4, 0, 5)
    columns["zeros"][:] = columns["inf"][:] = 0
    columns["unreadable"][3] = 1
    return Measures(columns, unread=2)


def _measured(opened: Open, **options: Any) -> Page:
    graph = transformer(4)
    page = opened(graph, None, _measures(len(graph.nodes)), **options)
    page.locator(".ckv-node.ckv-filled").first.wait_for()
    return page


def _menu(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.locator(".ckv-menu > summary:visible").click()
    return page


def _help(opened: Open, **options: Any) -> Page:
    page = _single(opened, **options)
    page.get_by_role("treegrid").press("?")
    page.get_by_role("dialog").wait_for()
    return page


def _textbook(opened: Open, **options: Any) -> Page:
    page = _single(opened, has_graphviz=True, **options)
    choose_view(page.locator(".ckpt-viz"), "TensorFlow's guide")
    page.locator(".ckv-textbook .ckv-node").first.wait_for()
    return page


def _play(opened: Open, **options: Any) -> Page:
    """An exercise at its first question."""
    exercise = cv.exercise(
        without_optimizer(), keras3_adam(), questions=["optimizer", "layer._kernel"]
    )
    overlay = exercise.comparison.overlay  # type: ignore[union-attr]
    answer, buffers = exercise._answer({"ask": "steps", "at": 0})
    texts = [base64.b64encode(buffer).decode() for buffer in buffers]
    decode = "Uint8Array.from(atob(text), (character) => character.charCodeAt(0))"
    views = f"{json.dumps(texts)}.map((text) => new DataView({decode}.buffer))"
    answers = f"{{ steps: [{json.dumps(answer)}, {views}] }}"
    page = opened(overlay.graph, overlay, answers=answers, **options)
    page.get_by_role("button", name="Step by step").click()
    page.locator(".ckv-play-parts").wait_for()  # the keys of Play come with its steps
    page.locator(".ckv-play").press("End")
    page.locator(".ckv-predict-one").wait_for()
    return page


def _predicted(opened: Open, **options: Any) -> Page:
    """A wrong answer, the right one, and the reason."""
    page = _play(opened, **options)
    page.keyboard.press("4")
    page.locator(".ckv-predict-wrong").wait_for()
    return page


def _results(opened: Open, **options: Any) -> Page:
    """The end of an exercise."""
    page = _predicted(opened, **options)
    for key in ("End", "1", "End"):
        page.keyboard.press(key)
    page.locator(".ckv-predict-results").wait_for()
    return page


SCENES = {
    scene.__name__.strip("_"): scene
    for scene in (
        *(_single, _failing_check, _failing_object_graph, _asserts, _questions, _diff),
        *(_layers, _hidden_objects, _narrow, _narrow_details, _narrow_table),
        *(_mistake, _measured, _measured_diff),
        *(_matches, _focused, _menu, _help, _textbook),
        *(_play, _predicted, _results),
    )
}


def in_scheme(page: Page, scheme: Literal["light", "dark"], root: str = ".ckpt-viz") -> None:
    """Let the system be light or dark, and wait until the explorer follows."""
    page.emulate_media(color_scheme=scheme)
    page.locator(f"{root}[data-ckv-scheme={scheme}]").first.wait_for()


def violations(page: Page, axe: str, root: str = ".ckpt-viz") -> list[str]:
    """Return what axe-core finds; all else that it tells stays in the page, which is faster."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    found = page.evaluate(
        "async root => (await axe.run(document.querySelector(root))).violations", root
    )
    return [
        f"{rule['impact']} {rule['id']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("scene", SCENES)
def test_axe_finds_nothing(opened: Open, axe: str, scene: str) -> None:
    page = SCENES[scene](opened)
    for scheme in SCHEMES:
        in_scheme(page, scheme)
        page.screenshot(path=_SCREENSHOTS / f"access-{scene}-{scheme}.png")
        assert violations(page, axe) == [], scheme


def test_every_node_has_a_name_that_is_read_out(opened: Open) -> None:
    page = opened(keras3_adam())
    said = page.get_by_role("status")
    grid = page.get_by_role("treegrid")
    grid.focus()
    heard = []
    for _ in range(4):
        page.keyboard.press("ArrowDown")
        heard.append(said.inner_text())
    assert heard[0].startswith("root")
    assert "child" in heard[0]
    assert len(set(heard)) == 4
    active = grid.get_attribute("aria-activedescendant")
    expect(page.locator(f"#{active}")).to_have_attribute("aria-selected", "true")


# --- keys


def test_help_tells_the_keys_and_gives_the_focus_back(opened: Open) -> None:
    page = opened(keras3_adam())
    grid, panel = page.get_by_role("treegrid"), page.get_by_role("dialog", name="Keys (?)")
    grid.press("?")
    expect(panel).to_contain_text("next, previous match")
    box, root = panel.bounding_box(), page.locator(".ckpt-viz").bounding_box()
    assert box is not None and root is not None
    assert box["x"] >= root["x"] and box["x"] + box["width"] <= root["x"] + root["width"]
    for key in ("Escape", "?"):
        page.keyboard.press(key)
        expect(panel).to_be_hidden()
        expect(grid).to_be_focused()
        page.keyboard.press("?")
        expect(panel).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    button = page.get_by_role("button", name="Keys (?)")
    button.click()
    expect(panel).to_be_visible()
    button.click()
    expect(panel).to_be_hidden()
    page.get_by_role("combobox", name="Search").fill("why?")
    page.get_by_role("combobox", name="Search").press("?")
    expect(panel).to_be_hidden()


def test_letters_work_on_buttons_too_and_space_presses_them(opened: Open) -> None:
    page = opened(keras3_adam())
    page.get_by_role("row", name="layer").first.click()
    rows = page.get_by_role("row")
    before = rows.count()
    menu = page.locator(".ckv-toolbar > .ckv-menu")
    menu.locator("summary").press("Space")
    expect(menu).to_have_attribute("open", "")
    page.get_by_role("button", name="Full screen").press("f")
    assert rows.count() < before


def test_the_way_to_hidden_objects_is_after_the_rows(opened: Open) -> None:
    page = _hidden_objects(opened)
    page.get_by_role("treegrid").focus()
    button = page.get_by_role("button", name="Show all")
    for _ in range(page.get_by_role("columnheader").count() + 1):
        page.keyboard.press("Tab")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(button).to_have_count(0)
    expect(page.get_by_role("row", name="_trainable_variables").first).to_be_visible()


@pytest.mark.parametrize("width", [1280, 600])
def test_enter_goes_to_the_details(opened: Open, width: int) -> None:
    page = opened(keras3_adam(), viewport={"width": width, "height": 700})
    page.get_by_role("application").press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".ckv-details")).to_be_focused()


FOCUS = """() => {
    const { activeElement: element } = document;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const { top, left, right, bottom } = element.getBoundingClientRect();
    return {
        name: [element.localName, element.getAttribute("class"), element.ariaLabel,
            element.textContent.slice(0, 30)].join(" "),
        isOutlined: outlineStyle !== "none" && parseFloat(outlineWidth) >= 1,
        isInSight: top >= 0 && left >= 0 && right <= innerWidth + 1 && bottom <= innerHeight + 1
            && right > left && bottom > top,
    };
}"""


SCENES_WITH_FOCUS = {
    "failing_check": ("ckv-handle", "ckv-copy", "ckv-table", "The asserts", "Step by step"),
    "failing_object_graph": ("ckv-handle", "ckv-copy", "ckv-outline", "ckv-drawing"),
    "questions": ("ckv-table", "input", "ckv-restore", "ckv-code-text"),
    "narrow_details": ("button", "ckv-copy"),
    "menu": ("summary", "ckv-handle"),
    "help": ("ckv-help-button", "Close"),
}


@pytest.mark.parametrize("scene", SCENES_WITH_FOCUS)
def test_focus_is_seen_wherever_it_goes(opened: Open, scene: str) -> None:
    page = SCENES[scene](opened)
    page.get_by_role("combobox", name="Search").focus()
    seen: dict[str, Any] = {}
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUS)
        if not found["name"].startswith("body"):
            seen[found["name"]] = found
    assert len(seen) > 8
    assert [one for one in seen.values() if not (one["isOutlined"] and one["isInSight"])] == []
    parts = SCENES_WITH_FOCUS[scene]
    assert [part for part in parts if part not in " ".join(seen)] == []


# --- looks


COLOURS = """names => {
    const root = document.querySelector(".ckpt-viz");
    const probe = root.appendChild(document.createElement("i"));
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const colours = names.map(name => {
        probe.style.color = `var(--ckv-${name})`;
        canvas.fillStyle = getComputedStyle(probe).color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    });
    probe.remove();
    return colours;
}"""
TEXT = ("fore", "faint", "alarm", "mark")
GRAPHIC = ("object", "variable", "optimizer", "slot", "edge", "accent")


def _contrast(one: list[int], other: list[int]) -> float:
    """Return the contrast of two colours, as WCAG 2 counts."""

    def luminance(colour: list[int]) -> float:
        parts = [part / 255 for part in colour]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(map(float.__mul__, (0.2126, 0.7152, 0.0722), linear))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def weak_contrasts(page: Page) -> dict[str, float]:
    """Return what is harder to see than WCAG 2 AA allows."""
    names = ["back", "back-raised", *TEXT, *GRAPHIC, "on-mark"]
    colours = dict(zip(names, page.evaluate(COLOURS, names), strict=True))
    pairs = {
        **{(name, "back"): 4.5 for name in TEXT},
        **{(name, "back-raised"): 4.5 for name in ("fore", "faint")},
        **{(name, "back"): 3.0 for name in GRAPHIC},
        ("on-mark", "mark"): 4.5,
    }
    found = {pair: _contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    return {
        f"{name} on {back}": round(contrast, 2)
        for (name, back), contrast in found.items()
        if contrast < pairs[name, back]
    }


def test_contrasts(opened: Open) -> None:
    page = opened(keras3_adam())
    for scheme in SCHEMES:
        in_scheme(page, scheme)
        assert weak_contrasts(page) == {}, scheme


@pytest.mark.parametrize("system_is", SCHEMES)
def test_it_is_as_dark_as_its_page(opened: Open, system_is: str) -> None:
    page = opened(keras3_adam(), color_scheme=system_is)
    for page_is in SCHEMES:
        page.evaluate("scheme => { document.documentElement.style.colorScheme = scheme }", page_is)
        page.locator(f".ckpt-viz[data-ckv-scheme={page_is}]").wait_for()
        (back,) = page.evaluate(COLOURS, ["back"])
        assert (sum(back) > 600) == (page_is == "light")


# From VS Code's own themes, as its notebooks hand them to what they show.
VS_CODE = {
    "vscode-light": {
        "editor-background": "#ffffff",
        "editor-foreground": "#3b3b3b",
        "sideBar-background": "#f8f8f8",
        "panel-border": "#e5e5e5",
        "focusBorder": "#005fb8",
    },
    "vscode-dark": {
        "editor-background": "#1f1f1f",
        "editor-foreground": "#cccccc",
        "sideBar-background": "#181818",
        "panel-border": "#2b2b2b",
        "focusBorder": "#0078d4",
    },
    "vscode-high-contrast": {
        "editor-background": "#000000",
        "editor-foreground": "#ffffff",
        "sideBar-background": "#000000",
        "panel-border": "#6fc3df",
        "focusBorder": "#f38518",
        "contrastBorder": "#6fc3df",
    },
    "vscode-high-contrast vscode-high-contrast-light": {
        "editor-background": "#ffffff",
        "editor-foreground": "#292929",
        "sideBar-background": "#ffffff",
        "panel-border": "#0f4a85",
        "focusBorder": "#006bbd",
        "contrastBorder": "#0f4a85",
    },
}


def wear(page: Page, theme: str) -> None:
    """Give a page a theme of VS Code, and wait until its explorer follows."""
    page.evaluate(
        """([theme, colours]) => {
            document.body.className = theme;
            document.documentElement.style = document.body.style = "";
            for (const [name, colour] of Object.entries(colours)) {
                document.documentElement.style.setProperty(`--vscode-${name}`, colour);
            }
            document.documentElement.style.background = "transparent";
            document.body.style.background = "var(--vscode-editor-background)";
            document.body.style.color = "var(--vscode-editor-foreground)";
        }""",
        [theme, VS_CODE[theme]],
    )
    scheme = "light" if "light" in theme else "dark"
    page.locator(f".ckpt-viz[data-ckv-scheme={scheme}]").wait_for()


def test_vs_code_themes(opened: Open, axe: str) -> None:
    page = _failing_check(opened)
    for theme, scheme in product(VS_CODE, SCHEMES):
        page.emulate_media(color_scheme=scheme)
        wear(page, theme)
        name = theme.split()[-1]
        page.screenshot(path=_SCREENSHOTS / f"access-{name}.png")
        assert page.evaluate(COLOURS, ["back"]) == [
            list(bytes.fromhex(VS_CODE[theme]["editor-background"][1:]))
        ], theme
        assert weak_contrasts(page) == {}, theme
        assert violations(page, axe) == [], theme


# What is behind the explorer, and the text's colour in it, by a style of the page's body.
GROUNDS = {
    "black text on nothing": ("background: none; color: black", "light"),
    "white text on nothing": ("background: none; color: white", "dark"),
    "a white output in a dark page": ("color: #ccc; background: #fff", "light"),
    "a black output in a light page": ("color: black; background: black", "dark"),
    "a layer over black": ("background: linear-gradient(black); color: #eee", "dark"),
    "a grey that is too light for a dark ground": ("color: #ddd; background: #444", "dark"),
    "a grey that is too dark for a light ground": ("color: #333; background: #bbb", "light"),
    "a new notation of a colour": ("color: #ddd; background: oklch(0.2 0.05 250)", "dark"),
    "a veil": ("color: #ddd; background: rgb(0 0 0 / 80%)", "dark"),
}


def test_what_is_behind_it_decides_whatever_the_theme_says(opened: Open) -> None:
    page = opened(keras3_adam())
    for theme in ("vscode-light", "vscode-dark"):
        wear(page, theme)
        for ground, (style, scheme) in GROUNDS.items():
            page.evaluate("style => { document.body.style = style }", style)
            page.locator(f".ckpt-viz[data-ckv-scheme={scheme}]").wait_for()
            assert weak_contrasts(page) == {}, (theme, ground)


def test_it_has_the_very_ground_of_its_host_where_that_is_legible(opened: Open) -> None:
    page = opened(keras3_adam())
    wear(page, "vscode-dark")
    for colour, scheme in (
        ("rgb(253, 246, 227)", "light"),
        ("rgb(0, 43, 54)", "dark"),
        ("rgb(1, 1, 20)", "dark"),  # with texts of the same colour
    ):
        page.evaluate("colour => { document.body.style.background = colour }", colour)
        expect(page.locator(".ckpt-viz")).to_have_css("background-color", colour)
        expect(page.locator(".ckpt-viz")).to_have_attribute("data-ckv-scheme", scheme)


def test_it_follows_a_theme_that_changes_slowly(opened: Open) -> None:
    page = opened(keras3_adam(), color_scheme="light")
    page.evaluate(
        """() => {
            document.body.style = "transition: background .3s";
            document.body.offsetWidth;
            document.body.style = "transition: background .3s; background: black; color: white";
        }"""
    )
    page.locator(".ckpt-viz[data-ckv-scheme=dark]").wait_for()
    assert weak_contrasts(page) == {}


def test_printed_it_is_light(opened: Open) -> None:
    page = opened(keras3_adam(), color_scheme="dark")
    (screen,) = page.evaluate(COLOURS, ["back"])
    page.emulate_media(media="print")
    (paper,) = page.evaluate(COLOURS, ["back"])
    assert sum(screen) < 200
    assert paper == [255, 255, 255]
    assert weak_contrasts(page) == {}


def test_forced_colours_keep_the_selected_line_of_a_table(opened: Open) -> None:
    page = _failing_check(opened, forced_colors="active")
    colour = "(element, name) => getComputedStyle(element)[name]"
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        selected = page.locator(".ckv-table-line.ckv-selected")
        plain = page.locator(".ckv-table-line:not(.ckv-selected)").first
        grounds = [one.evaluate(colour, "backgroundColor") for one in (selected, plain)]
        assert grounds[0] != grounds[1]
        page.screenshot(path=_SCREENSHOTS / f"access-forced-table-{scheme}.png")


def test_forced_colours_keep_what_is_selected_and_what_lines_say(opened: Open) -> None:
    page = _failing_object_graph(opened, forced_colors="active")
    colour = "(element, name) => getComputedStyle(element)[name]"
    strokes_of = "shapes => shapes.map(shape => getComputedStyle(shape).stroke)"
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        selected = page.locator(".ckv-row.ckv-selected")
        plain = page.locator(".ckv-row:not(.ckv-selected)").first
        grounds = [one.evaluate(colour, "backgroundColor") for one in (selected, plain)]
        assert grounds[0] != grounds[1]
        ground = page.locator(".ckpt-viz").evaluate(colour, "backgroundColor")
        strokes = page.locator(".ckv-node > .ckv-shape").evaluate_all(strokes_of)
        assert ground not in strokes
        page.screenshot(path=_SCREENSHOTS / f"access-forced-{scheme}.png")


LOOKS = """(element) => {
    const { backgroundColor, borderTopStyle, color } = getComputedStyle(element);
    return [backgroundColor, borderTopStyle, color];
}"""


def test_forced_colours_keep_the_verdicts_of_strips(opened: Open) -> None:
    check = every_kind()
    page = opened(check.overlay.graph, check.overlay, forced_colors="active")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        looks = [
            page.locator(f".ckv-part-{look}").first.evaluate(LOOKS)
            for look in ("restored", "stays", "keeps")
        ]
        assert len({tuple(look) for look in looks}) == 3
        page.screenshot(path=_SCREENSHOTS / f"access-forced-strips-{scheme}.png")


MOVING = """() => [...document.querySelectorAll(".ckpt-viz, .ckpt-viz *")].filter(element => {
    const { animationName, scrollBehavior, transitionDuration } = getComputedStyle(element);
    return animationName !== "none" || transitionDuration !== "0s" || scrollBehavior !== "auto";
}).map(element => element.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("scene", ["failing_check", "help", "textbook"])
def test_nothing_moves_by_itself(opened: Open, scene: str) -> None:
    page = SCENES[scene](opened, reduced_motion="reduce")
    assert page.evaluate(MOVING) == []
    assert page.evaluate("document.getAnimations().length") == 0


# --- zoomed pages


CUT_OFF = """() => {
    const root = document.querySelector(".ckpt-viz").getBoundingClientRect();
    return [...document.querySelectorAll(".ckpt-viz :is(button, summary, input)")]
        .filter(element => element.checkVisibility() && !element.closest(
            ".ckv-outline, .ckv-details, .ckv-table"))
        .filter(element => {
            element.scrollIntoView({ block: "nearest" });
            const { left, right, top, bottom } = element.getBoundingClientRect();
            const [x, y] = [(left + right) / 2, (top + bottom) / 2];
            const hit = document.elementFromPoint(x, y);
            return left < root.left || right > root.right + 1 || bottom > root.bottom + 1
                || !(element.contains(hit) || element.closest("label")?.contains(hit));
        })
        .map(element => element.outerHTML.slice(0, 150));
}"""


@pytest.mark.parametrize("scene", ["single", "failing_check", "mistake", "focused", "textbook"])
def test_at_200_percent_nothing_is_cut_off(opened: Open, scene: str) -> None:
    page = SCENES[scene](opened, device_scale_factor=2)
    page.set_viewport_size({"width": 640, "height": 400})
    page.screenshot(path=_SCREENSHOTS / f"access-200-{scene}.png")
    assert page.evaluate(CUT_OFF) == []
    room = page.locator(".ckv-drawing, .ckv-table-body").bounding_box()
    boxes = ".ckv-node.ckv-selected > .ckv-shape, .ckv-table-line.ckv-selected"
    node = page.locator(boxes).first.bounding_box()
    assert room is not None and node is not None
    assert room["height"] > 150
    assert room["y"] < node["y"] < room["y"] + room["height"] - node["height"]


def _place(page: Page, of: str) -> tuple[float, float]:
    box = page.locator(of).first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("zoom", ["zoom: 2", "zoom: 0.5", "transform: scale(1.5)"])
def test_pointers_hit_what_they_point_at_in_a_zoomed_element(opened: Open, zoom: str) -> None:
    page = opened(keras3_adam())
    page.evaluate(
        """zoom => {
            const place = document.querySelector("#explorer");
            place.id = "output";
            place.style = `${zoom}; transform-origin: 0 0; width: 800px`;
            place.querySelector(".ckpt-viz").style.height = "330px";
        }""",
        zoom,
    )
    node = ".ckv-node.ckv-role-optimizer > .ckv-shape"
    page.get_by_role("treegrid").press("0")
    x, y = _place(page, node)
    width = page.locator(node).first.evaluate("node => node.getBoundingClientRect().width")
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -150)
    page.keyboard.up("Control")
    page.wait_for_function(
        "([node, before]) => document.querySelector(node).getBoundingClientRect().width > before",
        arg=[node, width],
    )
    assert _place(page, node) == pytest.approx((x, y), abs=1.5)
    page.mouse.click(x, y)
    expect(page.locator(".ckv-node-name")).to_contain_text("optimizer")

    area = page.locator(".ckv-drawing").bounding_box()
    assert area is not None
    start = (area["x"] + 12, area["y"] + 12)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 20, start[1] + 30, steps=5)
    page.mouse.up()
    assert _place(page, node) == pytest.approx((x + 20, y + 30), abs=1.5)

    handle = page.get_by_role("separator", name="Width of the outline")
    left = _place(page, ".ckv-handle")
    page.mouse.move(*left)  # which the handle's edge comes to: hence a handle's width more or less
    page.mouse.down()
    page.mouse.move(left[0] + 40, left[1], steps=4)
    page.mouse.up()
    assert _place(page, ".ckv-handle")[0] == pytest.approx(left[0] + 40, abs=6)
    expect(handle).to_be_visible()
    edge = _place(page, ".ckv-height-handle")
    page.mouse.move(*edge)
    page.mouse.down()
    page.mouse.move(edge[0], edge[1] - 30, steps=4)
    page.mouse.up()
    assert _place(page, ".ckv-height-handle")[1] == pytest.approx(edge[1] - 30, abs=12)
