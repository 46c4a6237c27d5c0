"""Widget hosts other than Jupyter's pages, around a kernel of Jupyter Server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anywidget
from playwright.sync_api import Browser, Locator, Page, Route

from tests.support import frontend
from tests.ui.jupyter import WITHIN
from tests.ui.pages import VIEWPORT
from tests.ui.processes import Server

_SOURCES = Path(__file__).with_name("hosts")
_SCRIPTS = ("vscode", "frame")
_SECONDS = 60
_RUNS = 100
_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"

# The theme of VS Code, and what VS Code puts behind the output of a widget.
_VS_CODE = {
    "editor-background": "#1f1f1f",
    "editor-foreground": "#cccccc",
    "sideBar-background": "#181818",
    "panel-border": "#2b2b2b",
    "focusBorder": "#0078d4",
}
_VARIABLES = "; ".join(f"--vscode-{name}: {colour}" for name, colour in _VS_CODE.items())
_VS_CODE_BODY = (
    f'<body class="vscode-dark" style="{_VARIABLES}; color: var(--vscode-editor-foreground)">'
)
_VS_CODE_SCRIPTS = """
<script src="/hosts/require"></script>
<script type="module">
import { activate } from "/hosts/vscode-widgets";
activate();
await import("/hosts/vscode");
</script>
"""
_FRAME_SCRIPTS = """
<script src="/hosts/require"></script>
<script src="/hosts/html-manager"></script>
<script type="module" src="/hosts/frame"></script>
"""
_OUTPUT = '<div id="output" class="cell-output-ipywidget-background"></div>'

PAGES: Mapping[str, str] = {
    # The editor's ground is behind the page that VS Code shows outputs in.
    "vscode-dark": f"""<html style="background: #1f1f1f"><style>
        .cell-output-ipywidget-background {{ background: transparent }}
        </style>{_VS_CODE_BODY}{_OUTPUT}{_VS_CODE_SCRIPTS}""",
    # Without a style of the user's, VS Code has a white output in every theme.
    "vscode-white-output": f"""<html style="background: #1f1f1f"><style>
        .cell-output-ipywidget-background {{ background: white; padding: 8px }}
        </style>{_VS_CODE_BODY}{_OUTPUT}{_VS_CODE_SCRIPTS}""",
    "frame-dark": f"""<html theme="dark"><style>
        html[theme=dark] {{ background: #383838; color: #d5d5d5 }}
        </style><body>{_OUTPUT}{_FRAME_SCRIPTS}""",
    "frame-light": f"""<html theme="light"><body>{_OUTPUT}{_FRAME_SCRIPTS}""",
}
# What a test may change of a page.
_LOOKS = """() => [document.documentElement, document.body].map(
    ({ className, style }) => [className, style.cssText])"""
_RESET = """(looks) => {
    document.querySelector("#output").replaceChildren();
    for (const [place, element] of [document.documentElement, document.body].entries()) {
        [element.className, element.style.cssText] = looks[place];
    }
}"""


@dataclass
class WidgetHost:
    """A page that shows the widgets of a kernel; `errors` keeps those that its scripts print."""

    name: str
    page: Page
    errors: list[str]
    kernel: str = ""
    _looks: object = None

    def start(self, kernel: str | None) -> None:
        """Connect the page to a kernel, or to a new one."""
        self.kernel = self._within("id => host.start(id)", kernel)
        self._looks = self.page.evaluate(_LOOKS)

    def reset(self) -> None:
        """Show no widget, and look as at first."""
        self.page.evaluate(_RESET, self._looks)
        self.errors.clear()

    def run(self, code: str) -> str:
        """Run code; return what it prints. The page shows the widget that it displays."""
        return self._within("code => host.run(code)", code)

    def run_until(self, code: str, text: str) -> None:
        """Run code until it prints this text: the kernel learns of changes one after the other."""
        printed = ""
        for _ in range(_RUNS):
            printed = self.run(f"import time; time.sleep(0.1)\n{code}").strip()
            if printed == text:
                return
        raise AssertionError(f"expected {text!r}, not {printed!r}")

    def _within(self, script: str, argument: str | None) -> str:
        """Call a script of the page; playwright puts no bound on these."""
        text: str = self.page.evaluate(
            f"([argument, seconds]) => ({WITHIN})(({script})(argument), seconds)",
            [argument, _SECONDS],
        )
        return text

    @property
    def explorer(self) -> Locator:
        """The explorer that the page shows."""
        return self.page.locator("#output .ckpt-viz")

    def screenshot(self, name: str) -> None:
        """Leave a picture in tests/screenshots/ for people to look at."""
        _SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=_SCREENSHOTS / f"host-{name}.png")


def make_scripts(directory: Path) -> None:
    """Fetch the bundles of the hosts from npm, and build the pages' own scripts."""
    packages = json.loads((_SOURCES / "packages.json").read_text("utf-8"))
    for name, package in packages.items():
        content = frontend.packed_file(**package, directory=directory / f"{name}-package")
        (directory / name).write_bytes(content)
    for name in _SCRIPTS:
        frontend.bundle(_SOURCES / f"{name}.js", directory / name)
    amd = Path(anywidget.__file__).with_name("nbextension") / "index.js"
    (directory / "anywidget.js").write_bytes(amd.read_bytes())


@contextmanager
def opened_host(
    browser: Browser, server: Server, scripts: Path, name: str, kernel: str | None
) -> Iterator[WidgetHost]:
    """Open a page of `PAGES` at the server's address, with a kernel or a new one."""
    # The page that the server sends forbids scripts; this one takes its place.
    context = browser.new_context(viewport=VIEWPORT, reduced_motion="reduce", bypass_csp=True)
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(f"uncaught: {error}"))
    page.route(f"{server.url}/hosts/*", lambda route: _send(route, scripts))
    page.goto(f"{server.url}/api")
    page.set_content(f"<!doctype html>{PAGES[name]}")
    page.wait_for_function("window.host !== undefined")
    host = WidgetHost(name, page, errors)
    host.start(kernel)
    yield host
    context.close()


def _send(route: Route, scripts: Path) -> None:
    name = route.request.url.rsplit("/", 1)[-1]
    route.fulfill(path=scripts / name, content_type="text/javascript")
