"""The explorer in hosts of widgets other than Jupyter's pages, each with a real kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ckpt_viz.render.html import to_html
from tests.support import frontend
from tests.support.graphs import keras3_adam
from tests.support.once import make_once
from tests.ui import processes
from tests.ui.pages import html_pages, open_exports
from tests.ui.test_access import violations, weak_contrasts
from tests.ui.test_explorer import box, row
from tests.ui.widget_hosts import PAGES, WidgetHost, make_scripts, opened_host

_SAVED = Path(__file__).parents[1] / "data/old_versions/keras3.3/adam"
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
def scripts(front_end: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_once("hosts", make_scripts, tmp_path_factory)


@pytest.fixture(scope="module")
def kernels() -> dict[str, str]:
    """The kernel that the pages share, once there is one."""
    return {}


@pytest.fixture
def host(
    browser: Browser,
    server: processes.Server,
    scripts: Path,
    kernels: dict[str, str],
    request: pytest.FixtureRequest,
) -> Iterator[WidgetHost]:
    with opened_host(browser, server, scripts, request.param, kernels.get("shared")) as opened:
        kernels["shared"] = opened.kernel
        yield opened


@pytest.fixture(scope="module")
def axe() -> str:
    return (frontend.LABEXTENSION / "node_modules/axe-core/axe.min.js").read_text("utf-8")


ALL = pytest.mark.parametrize("host", PAGES, indirect=True)


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
    expect(explorer.locator(".ckv-headline")).to_be_visible()
    explorer.get_by_role("treegrid").first.press("]")
    expect(explorer.locator(".ckv-remedy")).to_contain_text("Use the optimizer that was saved")
    host.screenshot(f"{host.name}-check")
    assert weak_contrasts(host.page) == {}
    assert violations(host.page, axe) == []
    assert host.errors == []


@pytest.mark.parametrize("host", ["vscode-dark"], indirect=True)
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
