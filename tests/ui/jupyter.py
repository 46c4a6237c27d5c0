"""A person's actions in JupyterLab, for browser tests."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from playwright.sync_api import BrowserContext, Locator, Page, expect
from playwright.sync_api import Error as PlaywrightError

from tests.support.waiting import wait_until
from tests.ui import forked_kernels
from tests.ui.pages import EXPECT_MS, as_new, new_page
from tests.ui.processes import Server

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"

_CURRENT = "jupyterapp.shell.currentWidget"
_THEME = "JupyterLab Light"
_FRAMES = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
_THEME_SETTINGS = "themes.jupyterlab-settings"  # each change of the theme writes this file

# JupyterLab closes the widgets of a kernel for which no manager of widgets is there yet. One
# connection to a kernel takes its widgets, such as that of its first notebook.
_TAKES_WIDGETS = """id => {
    const connections = [...jupyterapp.serviceManager.kernels._kernelConnections];
    const taking = connections.filter((one) => one.id === id && one.handleComms);
    return taking.length === 1 && "jupyter.widget" in taking[0]._targetRegistry;
}"""
# A second connection to the kernel would close the widgets' comms, which it does not know.
_NEW_KERNEL = """async name => {
    const connection = await jupyterapp.serviceManager.kernels.startNew({ name });
    const { id } = connection;
    connection.dispose();
    return id;
}"""
_IS_RUNNING = """async id => {
    const { kernels } = jupyterapp.serviceManager;
    await kernels.refreshRunning();
    return [...kernels.running()].some(one => one.id === id);
}"""
_RUN_APART = """async ([id, code]) => {
    const { kernels } = jupyterapp.serviceManager;
    const model = { id, name: "python3" };
    const connection = kernels.connectTo({ model, handleComms: false });
    await connection.requestExecute({ code, silent: true }).done;
    connection.dispose();
}"""
_SHUT_DOWN_OTHERS = """async kept => {
    const { sessions } = jupyterapp.serviceManager;
    await sessions.refreshRunning();
    const others = [...sessions.running()].filter(one => !kept.includes(one.kernel?.id));
    await Promise.all(others.map(one => sessions.shutdown(one.id)));
}"""
# Tabs that are disposed of ask nothing. JupyterLab opens a launcher where no tab is left, but not
# in a page that was reloaded.
_CLOSE_ALL = """async ([theme, isReloaded]) => {
    const { commands, shell } = jupyterapp;
    for (const area of ["main", "down"]) {
        for (const widget of [...shell.widgets(area)]) widget.dispose();
    }
    // JupyterLab asks after recent documents when it starts again, and prints a 404 of each that is
    // gone; those of an earlier test are.
    await commands.execute("docmanager:clear-recents");
    if (isReloaded) await commands.execute("launcher:create");
    if (document.body.dataset.jpThemeName !== theme) {
        await commands.execute("apputils:change-theme", { theme });
    }
    shell.mode = "multiple-document";
    shell.collapseRight();
    shell.activateById("filebrowser");
    await commands.execute("filebrowser:go-to-path", { path: "/", dontShowBrowser: true });
}"""
_NAMES = """() => ({
    commands: jupyterapp.commands.listCommands(), globals: Object.keys(window)
})"""
# What a test may change in a page without a trace on the server.
_STATE = """known => {
    const { commands, serviceManager, shell, status } = jupyterapp;
    // The first kernel brings its pages of help.
    const isNew = (id) => !known.commands.includes(id) && !id.startsWith("help-menu-");
    // JupyterLab loads MathJax when it first needs it.
    const isAdded = (name) => !known.globals.includes(name) && name !== "MathJax";
    const leftOver = ".jp-Dialog, .lm-Menu, .jp-ModalCommandPalette:not(.lm-mod-hidden)";
    delete window.axe; // which tests bring along
    return {
        areas: Object.fromEntries(["main", "left", "right", "down"].map((area) =>
            [area, [...shell.widgets(area)].map(({ id, title, isVisible }) =>
                [area === "main" ? title.label : id, isVisible])])),
        classes: [document.documentElement, document.body].map(({ className }) => className),
        commands: commands.listCommands().filter(isNew),
        // A notebook that is closed while its session starts leaves one, and the next notebook of
        // the same kernel would get no widgets.
        connections: serviceManager.kernels._kernelConnections.size,
        dialogs: document.querySelectorAll(leftOver).length,
        globals: Object.keys(window).filter(isAdded),
        isDirty: status.isDirty,
        layout: shell.saveLayout().relativeSizes,
        theme: document.body.dataset.jpThemeName,
    };
}"""

# Playwright puts no bound on scripts; these become a failure instead of a test without an end.
_COMMAND_SECONDS = 180
_ANSWER_SECONDS = 60
_KERNELS = 3
WITHIN = """(promise, seconds) => Promise.race([
    promise,
    new Promise((_, fail) => setTimeout(
        () => fail(new Error(`not done within ${seconds} s`)), seconds * 1000)),
])"""

# Removes what a program has made. It searches for garbage, for 0.4 s if TensorFlow is there, unless
# it may leave out what the last reset has found in use.
RESET = """
%reset -f
__import__("gc").freeze()
"""

Cell = dict[str, Any]


def code_cell(source: str, *outputs: dict[str, Any]) -> Cell:
    """Return a code cell as notebooks hold it; an output is its data by MIME type."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "source": source,
        "outputs": [
            {"output_type": "display_data", "metadata": {}, "data": data} for data in outputs
        ],
    }


class JupyterLab:
    """A page that shows JupyterLab; `console` keeps what its scripts print and throw."""

    def __init__(self, page: Page, server: Server, workspace: str) -> None:
        self.page = page
        self.server = server
        self.console: list[str] = []
        self.noted_at = f"{server.url}/lab/api/workspaces/{workspace}"
        self.has_failed = False
        self._is_reloaded = False
        self._logged = len(server.log.read_text())
        self._listeners: list[tuple[str, Callable[[Any], None]]] = []
        page.on("console", lambda message: self.console.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.console.append(f"uncaught: {error.stack or error}"))
        self._start(f"{server.url}/lab/workspaces/{workspace}")

    def _start(self, address: str) -> None:
        self.page.goto(address)
        self._await_start()

    def shut_down(self) -> None:
        """Shut down all kernels but the shared ones, and close the page."""
        self.page.evaluate(_SHUT_DOWN_OTHERS, list(SharedKernel.ids))
        self.page.close()

    @property
    def settings(self) -> Path:
        """Where JupyterLab keeps what a person sets."""
        return self.server.root.parent / "jupyter_config_dir/lab/user-settings"

    @property
    def log(self) -> str:
        """What the server has printed since the page was reset."""
        return self.server.log.read_text()[self._logged :]

    def listen(self, event: str, listener: Callable[[Any], None]) -> None:
        """Call a function at each event of the page until the test ends."""
        self._listeners.append((event, listener))
        self.page.on(event, listener)  # type: ignore[call-overload]

    def reset(self) -> None:
        """Close all tabs, shut down all kernels but the shared ones, and look as at first."""
        for event, listener in self._listeners:
            self.page.remove_listener(event, listener)
        self._listeners.clear()
        self.page.unroute_all()
        self.page.set_default_timeout(EXPECT_MS)
        self.page.mouse.move(0, 0)
        as_new(self.page)
        self.page.evaluate(_CLOSE_ALL, [_THEME, self._is_reloaded])
        self.page.evaluate(_SHUT_DOWN_OTHERS, list(SharedKernel.ids))
        self._await_launcher()
        self.console.clear()
        self._logged = len(self.server.log.read_text())

    def names(self) -> dict[str, list[str]]:
        """Return what scripts may add to: JupyterLab's commands and the page's variables."""
        names: dict[str, list[str]] = self.page.evaluate(_NAMES)
        return names

    def state(self, known: dict[str, list[str]]) -> dict[str, Any]:
        """Return what is open, what is shown, and what scripts have added to known names."""
        state: dict[str, Any] = self.page.evaluate(_STATE, known)
        return state

    def _await_launcher(self) -> None:
        self.page.wait_for_function(
            """() => {
                const [launcher, ...others] = jupyterapp.shell.widgets("main");
                for (const other of others) other.dispose(); // JupyterLab opened one as well
                return others.length === 0 && launcher?.isVisible &&
                    launcher.node.querySelector(".jp-LauncherCard") !== null;
            }"""
        )

    def reload(self) -> None:
        """Reload the page; JupyterLab opens the current notebook again."""
        # Soon after the last change, JupyterLab notes on the server that the notebook is open, and
        # its place in the layout. Without both, it does not open the notebook again.
        self._within(
            f"""(async () => {{
                const place = `notebook:${{{_CURRENT}.context.path}}`;
                for (;;) {{
                    const {{ data }} = await (await fetch("{self.noted_at}")).json();
                    const layout = JSON.stringify(data["layout-restorer:data"]?.main ?? null);
                    if (place in data && layout.includes(place)) return;
                    await new Promise((resolve) => setTimeout(resolve, 100));
                }}
            }})()"""
        )
        self.reload_page()
        self.await_notebook()
        self.await_idle()

    def reload_page(self) -> None:
        """Reload the page; JupyterLab opens the tabs that it has noted."""
        self._is_reloaded = True
        self.page.reload()
        self._await_start()

    def execute(self, command: str, **arguments: object) -> None:
        """Execute one of JupyterLab's commands and wait for its end."""
        self.page.evaluate(
            f"""([command, arguments, seconds]) => ({WITHIN})(
                jupyterapp.commands.execute(command, arguments).then(() => undefined), seconds)""",
            [command, arguments, _COMMAND_SECONDS],
        )

    def await_frames(self) -> None:
        """Wait until the page has drawn what events so far have changed."""
        self.page.evaluate(_FRAMES)

    def show_theme(self, name: str) -> None:
        """Show the theme "JupyterLab Light" or another, and wait for its colours."""
        theme = f"JupyterLab {name}"
        self.execute("apputils:change-theme", theme=theme)
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-name", theme)
        self.await_frames()

    def create_notebook(self, path: str, *cells: Cell) -> None:
        """Write a notebook below the server's root; its kernel has what the cells import."""
        imports_tensorflow = any("import tensorflow" in cell["source"] for cell in cells)
        kernel = forked_kernels.NAME if imports_tensorflow else "python3"
        notebook = {
            "cells": cells,
            "metadata": {"kernelspec": {"name": kernel, "display_name": "Python 3"}},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
        (self.server.root / path).write_text(json.dumps(notebook))

    def start_kernel(self, name: str) -> str:
        """Start a kernel of a kernelspec, and return its id."""
        kernel_id: str = self.page.evaluate(_NEW_KERNEL, name)
        return kernel_id

    def open_notebook(self, path: str, kernel_id: str | None = None) -> None:
        """Open a notebook with its kernel, if that runs, the given one, or a new one."""
        kernel = {} if kernel_id is None else {"kernel": {"id": kernel_id}}
        self.execute("docmanager:open", path=path, factory="Notebook", **kernel)
        self.await_notebook()
        self._await_answer()

    def open_without_kernel(self, path: str) -> None:
        """Open a notebook that no session knows, and start no kernel for it."""
        preference = {"kernelPreference": {"shouldStart": False}}
        self.execute("docmanager:open", path=path, factory="Notebook", **preference)
        self.await_notebook()

    def reopen_without_kernel(self, path: str) -> None:
        """Close the notebook, and open what was saved under a name of which no kernel knows."""
        self.close()
        copy = f"copy-of-{path}"
        shutil.copy(self.server.root / path, self.server.root / copy)
        self.open_without_kernel(copy)

    def _await_answer(self) -> None:
        """Wait until the notebook's kernel runs code; put another in the place of a deaf one.

        Now and then a new ipykernel 7 never answers what is sent to it, and nothing but another
        kernel helps.
        """
        for _ in range(_KERNELS - 1):
            try:
                return self._ask_kernel()
            except PlaywrightError:
                context = f"{_CURRENT}.sessionContext"
                self._within(f"{context}.changeKernel({{ name: {context}.session.kernel.name }})")
        self._ask_kernel()

    def _ask_kernel(self) -> None:
        self.await_idle(_ANSWER_SECONDS)
        kernel = f"{_CURRENT}.sessionContext.session.kernel"
        self._within(f"{kernel}.requestExecute({{ code: '', silent: true }}).done")
        self.page.wait_for_function(
            _TAKES_WIDGETS, arg=self.kernel_id, timeout=_ANSWER_SECONDS * 1000
        )

    def run_apart(self, kernel_id: str, code: str) -> None:
        """Run code in a kernel that no notebook needs, and wait for its end."""
        self._within(f"({_RUN_APART})({json.dumps([kernel_id, code])})")

    def _within(self, promise: str) -> None:
        self.page.evaluate(
            f"seconds => ({WITHIN})(({promise}).then(() => undefined), seconds)", _ANSWER_SECONDS
        )

    def await_notebook(self) -> None:
        """Wait until the current notebook's cells are there."""
        self.page.wait_for_function(f"{_CURRENT}?.context?.isReady === true")
        self._cell(0).wait_for()

    def await_idle(self, seconds: float = _COMMAND_SECONDS) -> None:
        """Wait until the current notebook's kernel runs and has nothing to do."""
        self.page.wait_for_function(
            f"{_CURRENT}.sessionContext.session?.kernel?.status === 'idle'", timeout=seconds * 1000
        )

    def run_all(self) -> None:
        """Run all cells and wait for the last."""
        self.execute("notebook:run-all-cells")
        self.await_idle()

    def select_cell(self, index: int) -> None:
        """Make one cell the current one."""
        self.page.evaluate(f"index => {{ {_CURRENT}.content.activeCellIndex = index }}", index)

    def run_cell(self, index: int) -> None:
        """Run one cell and wait for its end."""
        self.select_cell(index)
        self.execute("notebook:run-cell")
        self.await_idle()

    def run_cell_until(self, index: int, text: str) -> None:
        """Run one cell until its output has this text.

        The kernel learns of changes in the browser one after the other. ipywidgets holds the next
        change back until the kernel has answered the last one, and may send a cell in between.
        """

        def shows() -> bool:
            self.run_cell(index)
            return " ".join(text.split()) in " ".join(self.output(index).inner_text().split())

        wait_until(shows, f"for an output with {text!r}")

    def output(self, index: int) -> Locator:
        """Return the place of all outputs of one cell."""
        return self._cell(index).locator(".jp-OutputArea")

    @property
    def path(self) -> str:
        """The path of the current notebook."""
        path: str = self.page.evaluate(f"{_CURRENT}.context.path")
        return path

    @property
    def kernel_id(self) -> str:
        """The id of the current notebook's kernel."""
        kernel_id: str = self.page.evaluate(f"{_CURRENT}.sessionContext.session.kernel.id")
        return kernel_id

    def save(self) -> None:
        """Save the current notebook."""
        self.execute("docmanager:save")

    def close(self) -> None:
        """Close the current tab, which has no unsaved changes."""
        self.execute("application:close")

    def restart_kernel(self) -> None:
        """Restart the current notebook's kernel, as the button does."""
        self.page.evaluate(f"{_CURRENT}.sessionContext.restartKernel()")
        self.await_idle()

    def shut_down_kernel(self) -> None:
        """Shut down the current notebook's kernel, and let all in the page know."""
        self.execute("notebook:shutdown-kernel")
        self._within("jupyterapp.serviceManager.kernels.refreshRunning()")

    def screenshot(self, name: str) -> None:
        """Leave a picture in tests/screenshots/ for people to look at."""
        _SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=_SCREENSHOTS / f"{name}.png")

    def _cell(self, index: int) -> Locator:
        return self.page.locator(".jp-NotebookPanel:visible .jp-Notebook .jp-Cell").nth(index)

    def _await_start(self) -> None:
        self.page.wait_for_function("window.jupyterapp !== undefined")
        self.page.evaluate("jupyterapp.restored.then(() => undefined)")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")


class SharedPage:
    """A page of JupyterLab that tests use one after the other, each as if it were new."""

    def __init__(self, context: BrowserContext, server: Server) -> None:
        self._context = context
        self._server = server
        self._opened = 0
        self._lab: JupyterLab | None = None
        self._names: dict[str, list[str]] = {}
        self._state: dict[str, Any] = {}
        self._stored: dict[Path, tuple[int, str]] = {}

    def taken(self) -> JupyterLab:
        """Return the page with nothing open; open one if the last test has left none."""
        if self._lab is None:
            self._opened += 1
            page = new_page(self._context)
            self._lab = JupyterLab(page, self._server, workspace=f"shared-{self._opened}")
            self._lab.reset()
            self._names = self._lab.names()
            self._state = self._lab.state(self._names)
            self._stored = _read_settings(self._lab)
        self._lab.page.bring_to_front()  # a page behind that of another test draws no frames
        return self._lab

    def give_back(self) -> str:
        """Reset the page; if something of the test is left, close the page and return what."""
        lab = self._lab
        assert lab is not None
        left = self._what_is_left(lab)
        if left:
            self.close()
        if _read_settings(lab) != self._stored:
            self._put_back(lab)
        return left

    def close(self) -> None:
        """Close the page, so that the next test gets a new one."""
        if self._lab is not None:
            with suppress(PlaywrightError):  # of a page that has crashed or hangs
                self._lab.shut_down()
            self._lab = None

    def _what_is_left(self, lab: JupyterLab) -> str:
        if _read_settings(lab) != self._stored:
            return "settings"
        if lab.has_failed:
            return "a failure"
        try:
            lab.reset()
            state = lab.state(self._names)
        except PlaywrightError as error:
            return str(error)
        changed = {key: state[key] for key, value in self._state.items() if state[key] != value}
        return json.dumps(changed) if changed else ""

    def _put_back(self, lab: JupyterLab) -> None:
        for path in _read_settings(lab).keys() - self._stored.keys():
            path.unlink()
        for path, (_, text) in self._stored.items():
            path.write_text(text)


def _read_settings(lab: JupyterLab) -> dict[Path, tuple[int, str]]:
    """Return when each file of settings was written, and its text."""
    paths = lab.settings.rglob("*.jupyterlab-settings")
    return {
        path: (path.stat().st_mtime_ns, path.read_text())
        for path in paths
        if path.name != _THEME_SETTINGS
    }


class SharedKernel:
    """A kernel that tests share, since TensorFlow takes its time to be imported."""

    ids: ClassVar[set[str]] = set()

    # The first lines of a program that needs the kernel as if it were new. As those of a cell they
    # may leave an output: TensorFlow warns of objects that another test has left.
    AFRESH = f"{RESET}import ipywidgets; ipywidgets.Widget.close_all()\n"

    def __init__(self) -> None:
        self.id: str | None = None

    def open(self, lab: JupyterLab, path: str, *sources: str) -> None:
        """Write a notebook of these cells, and open it with the kernel as if that were new.

        The kernel is cleared before: a notebook that opens loads the widgets that the kernel has.
        """
        lab.create_notebook(path, *map(code_cell, sources))
        was_running = self.id
        if self.started(lab) == was_running:
            lab.run_apart(self.started(lab), self.AFRESH)
        lab.open_notebook(path, self.started(lab))

    def started(self, lab: JupyterLab) -> str:
        """Return the kernel's id; start it if it does not run, or no longer."""
        if self.id is None or not lab.page.evaluate(_IS_RUNNING, self.id):
            self.id = lab.start_kernel(forked_kernels.NAME)
        self.ids.add(self.id)
        return self.id

    def shut_down(self, lab: JupyterLab) -> None:
        """Shut the kernel down if it was started."""
        if self.id is not None:
            self.ids.remove(self.id)
            lab.page.evaluate("id => jupyterapp.serviceManager.kernels.shutdown(id)", self.id)


class Notebook7(JupyterLab):
    """A page that shows Jupyter Notebook 7: the parts of JupyterLab, one notebook in a page."""

    def _start(self, address: str) -> None:
        pass  # until a notebook is opened

    def shut_down(self) -> None:
        """Shut down all kernels, if a page was opened, and close it."""
        if self.page.url.startswith(self.server.url):
            super().shut_down()

    def open_tree(self, path: str) -> None:
        """Show a directory in the page."""
        self.page.goto(f"{self.server.url}/tree/{path}")
        self._await_start()

    def open_notebook(self, path: str, kernel_id: str | None = None) -> None:
        """Open a notebook in the page, with the kernel that it has or a new one."""
        assert kernel_id is None
        self.page.goto(f"{self.server.url}/notebooks/{path}")
        self._await_start()
        self.await_notebook()
        self._await_answer()
