"""The explorer in hosts of widgets other than Jupyter's pages, each with a real kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import ckpt_viz as cv
from ckpt_viz.graphs.render.html import to_html
from tests.support import frontend, history_fixtures
from tests.support.graphs import keras3_adam
from tests.support.once import environment, keep_made, key_of, sources
from tests.ui import processes
from tests.ui.pages import html_pages, lent_pages, open_exports
from tests.ui.test_access import SCHEMES, _contrast, violations, weak_contrasts
from tests.ui.test_explorer import box, row
from tests.ui.widget_hosts import _OUTPUT, PAGES, WidgetHost, make_scripts, opened_host

_SAVED = Path(__file__).parents[1] / "data/old_versions/keras3.3/adam"
_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
_OTHER = _SAVED.parents[1] / "keras3.9/adamax"
SHOW = f"""
import ckpt_viz as cv
explorer = cv.show({str(_SAVED)!r})
explorer.view = "objects"
explorer
"""
SELECTED = "print(explorer.selected and explorer.graph.name(explorer.selected))"
CHECK = f"cv.show(cv.check({str(_OTHER)!r}, {str(_SAVED)!r}))"


@pytest.fixture(scope="module")
def scripts(front_end: None) -> Path:
    key = key_of(
        sources("tests/ui/hosts/*", "tests/ui/widget_hosts.py", "labextension/package-lock.json"),
        environment(),
    )
    return keep_made("hosts", key, make_scripts)


@pytest.fixture(scope="module")
def started_kernels() -> dict[str, str]:
    """The kernel that the pages share, once there is one."""
    return {}


@pytest.fixture(scope="module")
def opened(
    browser: Browser,
    server: processes.Server,
    scripts: Path,
    started_kernels: dict[str, str],
    request: pytest.FixtureRequest,
) -> Iterator[WidgetHost]:
    with opened_host(
        browser, server, scripts, request.param, started_kernels.get("shared")
    ) as host:
        started_kernels["shared"] = host.kernel
        yield host


@pytest.fixture
def host(opened: WidgetHost) -> Iterator[WidgetHost]:
    """A host that shows no widget, in a page that the tests of this host share."""
    yield opened
    opened.reset()


@pytest.fixture(scope="module")
def axe() -> str:
    return (frontend.LABEXTENSION / "node_modules/axe-core/axe.min.js").read_text("utf-8")


# One host in each of the ways that a page gets its widgets: from VS Code's scripts, or in a frame.
_FIRST = ("vscode-dark", "frame-dark")
ALL = pytest.mark.parametrize(
    "opened",
    [pytest.param(name, marks=() if name in _FIRST else pytest.mark.more) for name in PAGES],
    indirect=True,
)


@ALL
def test_page_and_kernel_share_one_explorer_that_is_legible(host: WidgetHost, axe: str) -> None:
    assert host.run(SHOW) == ""
    explorer = host.explorer
    box(explorer, "model").click()
    expect(explorer.locator(".ckv-node-name")).to_contain_text("model")
    host.run_until(SELECTED, "(root).model")
    host.run("explorer.select('model.first.kernel')")
    expect(explorer.locator(".ckv-node-name")).to_contain_text("kernel")
    explorer.get_by_role("button", name="Show values").click()
    expect(explorer.locator(".ckv-values")).to_contain_text("3, 3")
    host.screenshot(host.name)
    scheme = "dark" if host.name.endswith("dark") else "light"
    expect(explorer).to_have_attribute("data-ckv-scheme", scheme)
    assert weak_contrasts(host.page) == {}
    assert violations(host.page, axe) == []
    open_exports(explorer)  # whose code the kernel sends
    expect(explorer.get_by_role("button", name="PNG")).to_be_visible()
    assert host.errors == []


@ALL
def test_a_check_has_its_findings_and_is_legible(host: WidgetHost, axe: str) -> None:
    host.run(f"import ckpt_viz as cv\n{CHECK}")
    explorer = host.explorer
    expect(explorer.locator(".ckv-sentence")).to_be_visible()
    explorer.get_by_role("treegrid").first.press("]")
    expect(explorer.locator(".ckv-evidence")).to_contain_text("Use the optimizer that was saved")
    host.screenshot(f"{host.name}-check")
    assert weak_contrasts(host.page) == {}
    assert violations(host.page, axe) == []
    assert host.errors == []


@pytest.mark.parametrize("opened", ["vscode-dark"], indirect=True)
def test_it_follows_the_theme_of_vs_code(host: WidgetHost) -> None:
    host.run(SHOW)
    explorer = host.explorer
    expect(explorer).to_have_attribute("data-ckv-scheme", "dark")
    host.page.evaluate(
        """() => {
            document.body.className = "vscode-light";
            document.body.style.setProperty("--vscode-editor-foreground", "#3b3b3b");
            document.documentElement.style.background = "#ffffff";
        }"""
    )
    expect(explorer).to_have_attribute("data-ckv-scheme", "light")
    expect(row(explorer, "model")).to_be_visible()


def test_a_model_that_has_its_payload_alone_shows_it_as_a_new_explorer(
    browser: Browser, front_end: None, tmp_path: Path
) -> None:
    whole = to_html(keras3_adam())
    state = whole[whole.index('id="state">') :].split("</script>")[0]
    with html_pages(browser, tmp_path) as open_page:
        page = open_page(whole.replace(state, 'id="state">{}'))
        row(page.locator(".ckpt-viz"), "layer").first.click()
        expect(page.locator(".ckv-node-name")).to_contain_text("layer")


# --- tables without a script


# Texts and graphics, each with its colour, that of what is behind it, and the least contrast.
DRAWN = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const painted = (...colours) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const colour of colours) {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
        }
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const output = document.querySelector("#output");
    const page = output.appendChild(document.createElement("div"));
    page.style.background = "Canvas";
    const grounds = [getComputedStyle(page).backgroundColor];
    for (let part = output; part !== null; part = part.parentElement) {
        grounds.splice(1, 0, getComputedStyle(part).backgroundColor);
    }
    const drawn = [];
    const add = (name, least, colour, above = []) => {
        const ground = [...grounds, ...above];
        drawn.push([name, painted(...ground, colour), painted(...ground), least]);
    };
    for (const part of output.querySelectorAll("p, th, td, i, b, small, li, path, polyline")) {
        const style = getComputedStyle(part);
        const name = `${part.localName}.${part.getAttribute("class")}`;
        const isMark = part.matches("i, b.bar");
        if (!isMark && !part.matches("path, polyline")) {
            add(`${name} text`, 4.5, style.webkitTextFillColor);
        } else if (part.matches("i:not(:empty)")) {
            add(`${name} text`, 4.5, style.webkitTextFillColor, [style.backgroundColor]);
        }
        if (part.matches("i.bad, b.bar")) add(name, 3, style.backgroundColor);
        if (part.matches("i.new")) add(name, 3, style.borderTopColor);
        if (part.matches("path")) add(name, 3, style.fill);
        if (part.matches("polyline")) add(name, 3, style.stroke);
        if (part.matches("li.alarm")) add(name, 3, getComputedStyle(part, "::before").color);
    }
    return drawn;
}"""
# Of hosts that follow no attribute of JupyterLab's, and one whose attribute is another's.
STATIC_PAGES = {
    **{name: page for name, page in PAGES.items() if name != "vscode-white-output"},
    "exported": f"<html><body>{_OUTPUT}",
    "exported, dark": f'<html style="color-scheme: dark"><body>{_OUTPUT}',
    "lab": f"""<html><body data-jp-theme-light="true" style="background: white; color: rgb(0 0 0 /
        87%)">{_OUTPUT}""",
    "lab, dark": f"""<html><body data-jp-theme-light="false" style="background: #111; color:
        rgb(255 255 255 / 87%)">{_OUTPUT}""",
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A history with a NaN, a comparison of members, and a table of values."""
    times = history_fixtures.training()
    times[3]["block0/attention/query/kernel"].flat[0] = float("nan")
    sources = history_fixtures.write(tmp_path_factory.mktemp("training"), times)
    members = cv.compare(sources[4:8], progress=False)
    values = cv.graph(sources[3]).values(progress=False)
    history = cv.history(sources, progress=False)
    return "".join(each._repr_html_() for each in (history, members, values))


@pytest.mark.parametrize("name", STATIC_PAGES)
def test_tables_without_a_script_are_legible(browser: Browser, tables: str, name: str) -> None:
    scripts = re.compile(r"<script.*?</script>", re.DOTALL)
    with lent_pages(browser) as lend:
        page = lend(viewport={"width": 1200, "height": 1500})
        page.set_content(scripts.sub("", STATIC_PAGES[name]))
        page.evaluate("html => { document.querySelector('#output').innerHTML = html }", tables)
        for system_is in SCHEMES:
            page.emulate_media(color_scheme=system_is)
            page.screenshot(path=_SCREENSHOTS / f"static-tables-{name}.png")
            drawn = page.evaluate(DRAWN)
            assert {"p.alarm-text text", "i.bad text", "i.heat text", "b.bar", "path.null"} < {
                name for name, *_ in drawn
            }
            weak = [
                (name, round(_contrast(colour, ground), 2))
                for name, colour, ground, least in drawn
                if _contrast(colour, ground) < least
            ]
            assert weak == [], system_is
