"""The view of a history: in a page of its own, and in a notebook of JupyterLab."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import ckpt_viz as cv
from ckpt_viz.answers.timeline.history import History
from tests.support import frontend, history_fixtures
from tests.ui.cut import settle
from tests.ui.file_browser import Files
from tests.ui.history_pages import history_page
from tests.ui.jupyter import JupyterLab, SharedKernel
from tests.ui.pages import lent_pages
from tests.ui.test_access import SCHEMES, in_scheme, violations

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"

pytestmark = pytest.mark.usefixtures("front_end")

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    directory = tmp_path_factory.mktemp("run")
    return history_fixtures.write(directory, history_fixtures.training())


@pytest.fixture(scope="module")
def histories(sources: list[str]) -> dict[str, History]:
    """What is read of the training, and of some checkpoints side by side."""
    return {
        "history": cv.history(sources, progress=False),
        "members": cv.compare(sources[2:6], progress=False),
    }


@pytest.fixture
def opened(browser: Browser, histories: dict[str, History], tmp_path: Path) -> Iterator[Open]:
    """A function that opens a history in a page of its own."""
    with lent_pages(browser) as lend:

        def open_page(
            a: int = 0, b: int = 8, *, of: str = "history", has_kernel: bool = True, **options: Any
        ) -> Page:
            path = tmp_path / f"{of}-{a}-{b}-{has_kernel}.html"
            path.write_text(history_page(histories[of], a, b, has_kernel=has_kernel), "utf-8")
            page = lend(**options)
            page.goto(path.as_uri())
            page.get_by_role("grid").wait_for()
            return page

        yield open_page


def rows(page: Page | Locator) -> Locator:
    return page.locator(".ckh-body [role=row]")


def details(page: Page | Locator) -> Locator:
    return page.get_by_role("region", name="Details of the selected variable")


def point(page: Page | Locator, title: str) -> Locator:
    return page.get_by_role("button", name=f"{title},")


# --- what a person does


def test_clicks_and_keys_move_a_and_b(opened: Open) -> None:
    page = opened()
    point(page, "ckpt-5").click()
    point(page, "ckpt-2").click(modifiers=["Shift"])
    ends = page.get_by_role("group", name="Checkpoints").locator("[aria-pressed=true]")
    expect(ends).to_have_count(2)
    assert [one.locator(".ckh-said").inner_text() for one in ends.all()] == [
        "ckpt-2, step 1,000, a",
        "ckpt-5, step 2,500, b",
    ]
    grid = page.get_by_role("grid")
    grid.press(",")
    grid.press("Shift+Period")
    expect(point(page, "ckpt-4").locator(".ckh-said")).to_have_text("ckpt-4, step 2,000, b")
    expect(point(page, "ckpt-3").locator(".ckh-said")).to_have_text("ckpt-3, step 1,500, a")
    point(page, "ckpt-4").press("ArrowRight")
    expect(point(page, "ckpt-5").locator(".ckh-said")).to_have_text("ckpt-5, step 2,500, b")
    assert page.evaluate("[traits.a, traits.b]") == [3, 5]


def test_the_first_nan_is_one_key_or_click_away(opened: Open) -> None:
    for is_key in (True, False):
        page = opened(0, 4)
        if is_key:
            page.get_by_role("grid").press("n")
        else:
            page.get_by_role("button", name="Go to the first NaN").click()
        expect(point(page, "ckpt-8")).to_have_attribute("aria-pressed", "true")
        expect(page.locator("[role=row][aria-selected=true]")).to_contain_text("NaN")
        expect(details(page)).to_contain_text("NaN in 12 of 12 elements")


def test_the_kernel_computes_what_the_history_lacks(opened: Open) -> None:
    page = opened(3, 7)
    row = rows(page).filter(has_text="block0.attention.query").filter(has_text="kernel")
    expect(row).to_contain_text("≥")
    page.get_by_role("button", name="Compute a → b").first.click()
    expect(page.get_by_role("status").filter(has_text="exact")).to_be_visible()
    times = [
        time["block0/attention/query/kernel"].astype(float) for time in history_fixtures.training()
    ]
    share = ((times[7] - times[3]) ** 2).sum() ** 0.5 / (times[3] ** 2).sum() ** 0.5
    expect(row).to_contain_text(f"{100 * share:.0f} %")
    expect(row).not_to_contain_text("≥")


def test_without_a_kernel_the_view_offers_no_computing(opened: Open) -> None:
    page = opened(3, 7, has_kernel=False)
    expect(rows(page).first).to_be_visible()
    expect(page.get_by_text("≥ is the least change")).to_be_visible()
    expect(page.get_by_role("button", name="Compute")).to_have_count(0)


def test_the_details_show_both_checkpoints(opened: Open) -> None:
    page = opened(0, 7)
    search = page.get_by_role("searchbox")
    page.get_by_role("grid").press("/")
    expect(search).to_be_focused()
    search.fill("block1 kernel")
    expect(rows(page)).to_have_count(1)
    page.get_by_role("grid").press("ArrowDown")
    expect(details(page).get_by_role("heading").first).to_contain_text("block1.attention.query")
    expect(details(page).get_by_role("img", name="Values of a and b")).to_be_visible()
    expect(details(page)).to_contain_text("block1/attention/query/kernel")
    search.fill("no such variable")
    expect(page.get_by_text("No variable has this name")).to_be_visible()


def test_many_variables_have_few_rows_in_the_page(opened: Open) -> None:
    page = opened()
    shown = page.evaluate(
        """async () => {
            const bytes = new Uint8Array(traits._payload.buffer);
            const unzip = new DecompressionStream("gzip");
            const text = await new Response(new Blob([bytes]).stream().pipeThrough(unzip)).text();
            const history = JSON.parse(text);
            const [row] = history.rows;
            for (const cell of row.cells) delete cell.values?.histogram;
            history.rows = Array.from({ length: 50000 }, (_, n) =>
                ({ ...row, is_state: false, place: `layer${n}.kernel` }));
            const zip = new CompressionStream("gzip");
            const packed = new Blob([JSON.stringify(history)]).stream().pipeThrough(zip);
            traits._payload = new DataView(await new Response(packed).arrayBuffer());
            document.getElementById("history").replaceChildren();
            remount();
            const frame = () => new Promise(requestAnimationFrame);
            const rows = () => document.querySelectorAll(".ckh-body [role=row]").length;
            while (rows() === 0) await frame();
            const shown = [rows()];
            const grid = document.querySelector("[role=grid]");
            for (let i = 0; i < 10; i++) {
                grid.dispatchEvent(new KeyboardEvent("keydown", { key: ",", bubbles: true }));
                await frame();
                shown.push(rows());
            }
            return shown;
        }"""
    )
    assert 0 < min(shown) <= max(shown) < 100
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", "50001")
    grid.press("End")
    expect(rows(page).filter(has_text="layer49999")).to_be_visible()
    assert rows(page).count() < 100


# --- where it changed


def select(page: Page, name: str) -> None:
    page.get_by_role("searchbox").fill(name)
    expect(rows(page)).to_have_count(1)
    page.get_by_role("grid").press("ArrowDown")


def where(page: Page) -> Locator:
    return details(page).get_by_role("img", name="Map of the change")


def test_the_details_show_where_a_variable_changed(opened: Open) -> None:
    page = opened(3, 7)
    select(page, "block0 kernel")
    times = history_fixtures.training()
    key = "block0/attention/query/kernel"
    sizes = abs(times[7][key].astype(float) - times[3][key])
    image = where(page)
    expect(image).to_be_visible()
    box = image.bounding_box()
    assert box is not None
    for i, j in ((0, 0), (15, 11), (4, 7)):
        x, y = box["width"] * (j + 0.5) / 12, box["height"] * (i + 0.5) / 16
        image.hover(position={"x": x, "y": y})
        mean = float(f"{sizes[i, j]:.4g}")
        expect(details(page)).to_contain_text(f"rows {i}, columns {j}: mean {mean:g}")
    page.mouse.move(0, 0)
    expect(details(page)).to_contain_text("16 × 12, each cell one element")
    i, j = divmod(int(sizes.argmax()), 12)
    expect(details(page)).to_contain_text(f"max |Δ| {float(f'{sizes.max():.4g}'):g} at [{i}, {j}]")


# Timers then go off by `rest()` alone, but for the short ones that drawing takes.
_HOLD_TIMERS = """() => {
    const [set, clear] = [setTimeout, clearTimeout];
    const held = new Map();
    let last = 1e9;
    window.setTimeout = (work, ms, ...rest) => {
        if (!(ms >= 100)) return set(work, ms, ...rest);
        held.set(++last, work);
        return last;
    };
    window.clearTimeout = (id) => held.delete(id) || clear(id);
    window.rest = () => held.forEach((work) => work());
}"""


def test_rows_that_a_held_key_passes_are_not_read(opened: Open) -> None:
    page = opened(3, 7)
    page.evaluate(_HOLD_TIMERS)
    for _ in range(6):
        page.get_by_role("grid").press("ArrowDown")
        settle(page.locator(".ckpt-viz-timeline"))
    read = "asked.filter(({ ask }) => ask === 'where').length"
    assert page.evaluate(read) == 0
    page.evaluate("rest()")
    expect(where(page).or_(details(page).get_by_text("equal, bit by bit").last)).to_be_visible()
    assert page.evaluate(read) == 1


def test_equal_values_have_no_map_but_the_reason(opened: Open) -> None:
    page = opened(3, 7)
    select(page, "block0 bias")
    expect(details(page).get_by_text("equal, bit by bit")).to_have_count(2)
    expect(where(page)).to_have_count(0)


def test_cells_with_nan_have_stripes(opened: Open) -> None:
    page = opened(3, 8)
    select(page, "block2 kernel")
    expect(where(page).locator("path[fill^=url]")).to_have_count(1)
    expect(details(page)).to_contain_text("NaN or Inf")


def test_without_a_kernel_the_details_say_what_shows_the_map(opened: Open) -> None:
    page = opened(3, 7, has_kernel=False)
    select(page, "block0 kernel")
    expect(details(page)).to_contain_text("A running kernel can show where it changed")


def test_the_save_after_a_nan_tells_what_its_change_leaves_out(
    browser: Browser, tmp_path: Path
) -> None:
    times = history_fixtures.training(saves=4)
    times[2]["block0/attention/query/kernel"][0, :5] = float("nan")
    times[3].pop("head/bias", None)
    found = cv.history(history_fixtures.write(tmp_path, times), progress=False)
    change = found["block0/attention/query/kernel"].cells[3].relative or 0.0
    path = tmp_path / "page.html"
    path.write_text(history_page(found, 2, 3), "utf-8")
    with lent_pages(browser) as lend:
        page = lend()
        page.goto(path.as_uri())
        select(page, "block0 kernel")
        heat = rows(page).locator(".ckh-heat i").last
        words = "without 5 elements NaN or infinite here or before"
        expect(heat).to_have_attribute("title", re.compile(words))
        share = f"{100 * change:.0f} %"
        expect(details(page)).to_contain_text(
            "The change leaves out 5 elements that are NaN or infinite in a or b. "
            f"The others changed by {share}."
        )


# --- the way back


def test_without_cells_the_code_of_the_way_back_is_copied(opened: Open) -> None:
    for has_kernel in (True, False):
        page = opened(has_kernel=has_kernel, permissions=["clipboard-read", "clipboard-write"])
        page.get_by_role("grid").press("n")
        said = details(page)
        expect(said).to_contain_text("ckpt-7 is the last whole checkpoint")
        said.get_by_role("button", name="Copy restore of ckpt-7").click()
        expect(said).to_contain_text("Copied.")
        code = page.evaluate("navigator.clipboard.readText()")
        assert code.splitlines()[-1].startswith("your_saver.restore(your_session, '/")
        assert code.splitlines()[-1].endswith("ckpt-7')")


# --- the order by layer


def test_the_order_by_layer_has_lines_that_keys_pass(opened: Open) -> None:
    page = opened()
    page.get_by_role("button", name="By layer").click()
    layers = page.locator(".ckh-layer")
    expect(layers.first).to_contain_text("block0.attention.query")
    grid = page.get_by_role("grid")
    names = []
    for _ in range(3):
        grid.press("ArrowDown")
        names.append(page.locator("[role=row][aria-selected=true] .ckh-name").inner_text())
    assert names == ["bias", "kernel", "gamma"]
    expect(details(page).get_by_role("heading").first).to_contain_text("block0.norm")
    assert page.evaluate("traits.order") == "layer"
    page.evaluate("document.getElementById('history').replaceChildren(); remount(); null")
    expect(layers.first).to_be_visible()
    expect(page.get_by_role("button", name="By layer")).to_have_attribute("aria-pressed", "true")


# --- files


def saved(page: Page, name: str) -> str:
    page.locator(".ckh-toolbar summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=name, exact=True).click()
    return Path(download.value.path()).read_text("utf-8")


def test_the_menu_saves_files_of_the_kernel(opened: Open, histories: dict[str, History]) -> None:
    page, history = opened(), histories["history"]
    assert json.loads(saved(page, "JSON")) == history.to_json()
    assert saved(page, "Table, CSV") == history.to_csv().replace("\r\n", "\n")
    assert saved(page, "Picture, HTML") == history.to_html()
    page.locator(".ckh-toolbar summary").click()
    page.keyboard.press("Escape")
    expect(page.locator(".ckh-toolbar summary")).to_be_focused()
    expect(page.get_by_role("button", name="JSON")).not_to_be_visible()


def test_without_a_kernel_the_menu_saves_what_the_view_has(
    opened: Open, histories: dict[str, History]
) -> None:
    page, history = opened(has_kernel=False), histories["history"]
    content = json.loads(saved(page, "JSON"))
    assert content["headline"] == history.headline
    assert len(content["rows"]) == len(history.rows)
    lines = saved(page, "Table, CSV").splitlines()
    assert len(lines) == len(history.to_csv().splitlines())
    assert lines[0] == history.to_csv().splitlines()[0]
    page.locator(".ckh-toolbar summary").click()
    expect(page.get_by_role("button", name="Picture, HTML")).to_have_count(0)


# --- access


@pytest.fixture(scope="module")
def axe() -> str:
    return (frontend.LABEXTENSION / "node_modules/axe-core/axe.min.js").read_text("utf-8")


SCENES: dict[str, dict[str, Any]] = {
    "history": {"a": 3, "b": 7},
    "nan": {},
    "members": {"of": "members", "b": 3},
    "narrow": {"viewport": {"width": 640, "height": 800}},
}


@pytest.mark.parametrize("scene", SCENES)
def test_axe_finds_nothing(opened: Open, axe: str, scene: str) -> None:
    page = opened(**SCENES[scene])
    page.get_by_role("grid").press("ArrowDown")
    details(page).get_by_role("heading").first.wait_for()
    for scheme in SCHEMES:
        in_scheme(page, scheme, ".ckpt-viz-timeline")
        page.screenshot(path=_SCREENSHOTS / f"history-{scene}-{scheme}.png")
        assert violations(page, axe, ".ckpt-viz-timeline") == [], scheme


# --- in a notebook


def test_a_notebook_shows_the_view_and_keeps_the_picture(
    lab: JupyterLab, shared: SharedKernel
) -> None:
    directory = lab.server.root / "training"
    directory.mkdir()
    history_fixtures.write(directory, history_fixtures.training())
    shared.open(
        lab,
        "history.ipynb",
        "import ckpt_viz as cv\n"
        f"history = cv.history('{directory}/ckpt-*', progress=False)\nhistory",
        "print(history.show().a, history.show().b)",
        "history.show().b = 5",
    )
    lab.run_cell(0)
    view = lab.output(0).locator(".ckpt-viz-timeline")
    expect(rows(view).first).to_be_visible()
    view.get_by_role("grid").press("ArrowDown")
    lab.screenshot("history-notebook-light")
    lab.execute("apputils:change-theme", theme="JupyterLab Dark")
    expect(lab.page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    lab.page.locator("#jupyterlab-splash").wait_for(state="detached")
    lab.screenshot("history-notebook-dark")
    lab.execute("apputils:change-theme", theme="JupyterLab Light")

    # b moves by a key, which is no command of the notebook, and the kernel follows.
    view.get_by_role("grid").press(",")
    expect(point(view, "ckpt-7")).to_have_attribute("aria-pressed", "true")
    lab.run_cell_until(1, "0 7")
    lab.run_cell(2)
    expect(point(view, "ckpt-5")).to_have_attribute("aria-pressed", "true")

    # The first NaN, and an answer of the kernel.
    view.get_by_role("button", name="Go to the first NaN").click()
    expect(point(view, "ckpt-8")).to_have_attribute("aria-pressed", "true")
    point(view, "ckpt-3").click(modifiers=["Shift"])
    point(view, "ckpt-7").click()
    view.get_by_role("button", name="Compute a → b").first.click()
    expect(view.get_by_role("status").filter(has_text="exact")).to_be_visible()

    # The saved notebook has the picture and no widget.
    lab.save()
    saved = json.loads((lab.server.root / "history.ipynb").read_text())
    data = saved["cells"][0]["outputs"][0]["data"]
    assert "application/vnd.jupyter.widget-view+json" not in data
    assert "NaN" in "".join(data["text/html"])

    # The page opens it again: first with the kernel, then without.
    lab.reload()
    expect(rows(view).first).to_be_visible()
    lab.shut_down_kernel()
    expect(view).to_have_count(0)
    expect(lab.output(0).get_by_role("table")).to_be_visible()
    expect(lab.output(0)).to_contain_text("NaN first in ckpt-8")


TRAINING = """
import numpy as np, tensorflow as tf, ckpt_viz as cv
kernel = tf.Variable(np.ones((4, 6), np.float32))
ckpt = tf.train.Checkpoint(kernel=kernel)
manager = tf.train.CheckpointManager(ckpt, {directory!r}, max_to_keep=None)
for save in range(4):
    kernel.assign_add(tf.ones((4, 6)))
    if save == 3:
        kernel[1, 2].assign(np.nan)
    manager.save()
cv.history(manager, progress=False)
"""


@pytest.mark.tf
def test_a_notebook_takes_the_code_of_the_way_back(lab: JupyterLab, shared: SharedKernel) -> None:
    directory = str(lab.server.root / "way_back")
    read = "print(float(tf.reduce_sum(kernel)))"
    shared.open(lab, "way_back.ipynb", TRAINING.format(directory=directory), read)
    lab.run_cell(0)
    view = lab.output(0).locator(".ckpt-viz-timeline")
    expect(rows(view).first).to_be_visible(timeout=60_000)
    view.get_by_role("button", name="Go to the first NaN").click()
    said = details(view)
    expect(said).to_contain_text("NaN in 1 of 24 elements")
    expect(said.get_by_role("img", name="Map of the change")).to_be_visible()
    lab.screenshot("history-way-back")
    said.get_by_role("button", name="Insert restore of ckpt-3").click()
    source = "app => app.shell.currentWidget.content.activeCell.model.sharedModel.source"
    lab.page.wait_for_function(f"({source})(window.jupyterapp).includes('restore')")
    code = lab.page.evaluate(f"({source})(window.jupyterapp)")
    last = f"ckpt.restore({directory + '/ckpt-3'!r}).assert_existing_objects_matched()"
    assert code.splitlines()[-1] == last
    lab.run_cell(1)
    lab.run_cell_until(2, "96.0")


# --- from the file browser


def test_a_directory_shows_its_history_in_a_tab(
    lab: JupyterLab, request: pytest.FixtureRequest
) -> None:
    files = Files(lab, request.node.name)
    directory = files.place / "run"
    directory.mkdir()
    prefixes = history_fixtures.write(directory, history_fixtures.training())
    lines = [f'all_model_checkpoint_paths: "{Path(one).name}"' for one in prefixes]
    latest = f'model_checkpoint_path: "{Path(prefixes[-1]).name}"'
    (directory / "checkpoint").write_text("\n".join([latest, *lines]))
    files.show()
    files.choose("run", menu="Show Checkpoint History")
    expect(files.title).to_have_text("History of run")
    view = files.tab.locator(".ckpt-viz-timeline")
    expect(rows(view).first).to_be_visible()
    point(view, "ckpt-4").click()
    view.get_by_role("grid").press("n")
    expect(point(view, "ckpt-8")).to_have_attribute("aria-pressed", "true")
    expect(details(view)).to_contain_text("NaN in 12 of 12 elements")
    lab.screenshot("history-tab")

    # A later save is there once the tab has read it again.
    for file in directory.glob("ckpt-*"):
        file.unlink()
    history_fixtures.write(directory, history_fixtures.training(saves=10))
    (directory / "checkpoint").write_text(
        "\n".join([latest, *lines, 'all_model_checkpoint_paths: "ckpt-9"'])
    )
    files.toolbar.get_by_role("button").first.click()
    expect(point(view, "ckpt-9")).to_be_visible()
