"""A person's actions in JupyterLab, for browser tests."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator, Page, expect

from tests.ui.processes import Server

_SCREENSHOTS = Path(__file__).parents[1] / "screenshots"

_CURRENT = "jupyterapp.shell.currentWidget"

# A second connection to the kernel would close the widgets' comms, which it does not know.
_NEW_KERNEL = """async () => {
    const connection = await jupyterapp.serviceManager.kernels.startNew({ name: "python3" });
    const { id } = connection;
    connection.dispose();
    return id;
}"""
_IS_RUNNING = """async id => {
    const { kernels } = jupyterapp.serviceManager;
    await kernels.refreshRunning();
    return [...kernels.running()].some(one => one.id === id);
}"""
_SHUT_DOWN_OTHERS = """async kept => {
    const { sessions } = jupyterapp.serviceManager;
    await sessions.refreshRunning();
    const others = [...sessions.running()].filter(one => one.kernel?.id !== kept);
    await Promise.all(others.map(one => sessions.shutdown(one.id)));
}"""

# Playwright puts no bound on scripts; these become a failure instead of a test without an end.
_COMMAND_SECONDS = 180
_ANSWER_SECONDS = 20
_KERNELS = 3
_RUNS = 5
WITHIN = """(promise, seconds) => Promise.race([
    promise,
    new Promise((_, fail) => setTimeout(
        () => fail(new Error(`not done within ${seconds} s`)), seconds * 1000)),
])"""

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
        page.on("console", lambda message: self.console.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.console.append(f"uncaught: {error}"))
        self._start(f"{server.url}/lab/workspaces/{workspace}")

    def _start(self, address: str) -> None:
        self.page.goto(address)
        self._await_start()

    def shut_down(self, kept: str | None = None) -> None:
        """Shut down all kernels but the one to be kept, and close the page."""
        self.page.evaluate(_SHUT_DOWN_OTHERS, kept)
        self.page.close()

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
        self.page.reload()
        self._await_start()

    def execute(self, command: str, **arguments: object) -> None:
        """Execute one of JupyterLab's commands and wait for its end."""
        self.page.evaluate(
            f"""([command, arguments, seconds]) => ({WITHIN})(
                jupyterapp.commands.execute(command, arguments).then(() => undefined), seconds)""",
            [command, arguments, _COMMAND_SECONDS],
        )

    def create_notebook(self, path: str, *cells: Cell) -> None:
        """Write a notebook below the server's root."""
        notebook = {
            "cells": cells,
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
        (self.server.root / path).write_text(json.dumps(notebook))

    def open_notebook(self, path: str, kernel_id: str | None = None) -> None:
        """Open a notebook with its kernel, if that runs, the given one, or a new one."""
        kernel = {} if kernel_id is None else {"kernel": {"id": kernel_id}}
        self.execute("docmanager:open", path=path, factory="Notebook", **kernel)
        self.await_notebook()
        self._await_answer()

    def _await_answer(self) -> None:
        """Wait until the notebook's kernel runs code; put another in the place of a deaf one.

        Now and then a new ipykernel 7 never answers what is sent to it, and nothing but another
        kernel helps.
        """
        for _ in range(_KERNELS - 1):
            try:
                return self._ask_kernel()
            except PlaywrightError:
                self._within(f"{_CURRENT}.sessionContext.changeKernel({{ name: 'python3' }})")
        self._ask_kernel()

    def _ask_kernel(self) -> None:
        self.await_idle(_ANSWER_SECONDS)
        ask = "requestExecute({ code: '', silent: true }).done"
        self._within(f"{_CURRENT}.sessionContext.session.kernel.{ask}")

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
        for _ in range(_RUNS - 1):
            self.run_cell(index)
            with suppress(AssertionError):
                return expect(self.output(index)).to_contain_text(text, timeout=1000)
        self.run_cell(index)
        expect(self.output(index)).to_contain_text(text)

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
        """Shut down the current notebook's kernel."""
        self.execute("notebook:shutdown-kernel")

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


class SharedKernel:
    """A kernel that tests share, since TensorFlow takes its time to be imported."""

    # The first lines of a cell that needs the kernel as if it were new.
    AFRESH = """
%reset -f
import ipywidgets; ipywidgets.Widget.close_all()
"""

    def __init__(self) -> None:
        self.id: str | None = None

    def started(self, lab: JupyterLab) -> str:
        """Return the kernel's id; start it if it does not run, or no longer."""
        if self.id is None or not lab.page.evaluate(_IS_RUNNING, self.id):
            self.id = lab.page.evaluate(_NEW_KERNEL)
        assert self.id is not None
        return self.id


class Notebook7(JupyterLab):
    """A page that shows Jupyter Notebook 7: the parts of JupyterLab, one notebook in a page."""

    def _start(self, address: str) -> None:
        pass  # until a notebook is opened

    def shut_down(self, kept: str | None = None) -> None:
        """Shut down all kernels but the one to be kept, if a page was opened, and close it."""
        if self.page.url.startswith(self.server.url):
            super().shut_down(kept)

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
