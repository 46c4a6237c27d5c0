"""A person's actions in the side panel of live objects, and the explorers that open from it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from playwright.sync_api import Locator, WebSocket, expect

from tests.ui.file_browser import Files
from tests.ui.jupyter import RESET, JupyterLab, code_cell

# Nothing is left of what other tests have made in the same kernel, and its directory is set.
PROGRAM = f"""{RESET}
import os; os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.chdir({{directory!r}})
import tensorflow as tf
class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable([[1.0, 2.0]])
        self.step = tf.Variable(7)
net = Net()
ckpt = tf.train.Checkpoint(net=net)
"""
SAVE = "path = ckpt.write('saved/ckpt')"
TRAIN = "net.step.assign_add(1); net.added = tf.Variable(3.0)"
RENAME = "net.renamed = net.kernel; del net.kernel"

_NAME = "program.ipynb"
# What JupyterLab's debugger says of a restart, and Notebook 7 of its settings.
_KNOWN = ("restore the debugger state", "undefined (reading 'schema')")


def complaints(lab: JupyterLab) -> list[str]:
    """Return what the page's scripts have complained of, but for what they do without us."""
    found = [one for one in lab.console if one.startswith(("error", "uncaught"))]
    return [one for one in found if not _is_of_jupyterlab(one)]


def _is_of_jupyterlab(complaint: str) -> bool:
    if "removeChild" in complaint:
        return "/extensions/ckpt-viz/" not in complaint  # a file in its stack
    return any(known in complaint for known in _KNOWN)


class Live:
    """A notebook of a program with live objects, in a directory of its own, and the panel."""

    def __init__(self, lab: JupyterLab, name: str, kernel_id: str | None = None) -> None:
        self.lab = lab
        self.page = lab.page
        self.files = Files(lab, name)
        self.kernel_id = kernel_id
        self._requests = 0
        lab.listen("websocket", self._count_sent)

    def _count_sent(self, socket: WebSocket) -> None:
        socket.on("framesent", self._count)

    def _count(self, frame: str | bytes) -> None:
        data = frame.encode() if isinstance(frame, str) else frame
        self._requests += data.count(b'"msg_type":"execute_request"')

    @property
    def requests(self) -> int:
        """How often the page has asked kernels to execute something."""
        self.page.evaluate("0")  # Chromium reports earlier requests first
        return self._requests

    def write(self, *cells: str, path: str = _NAME) -> str:
        """Write a notebook of these cells; return its path."""
        path = f"{self.files.name}/{path}"
        (self.lab.server.root / path).parent.mkdir(exist_ok=True)
        self.lab.create_notebook(path, *map(code_cell, cells))
        return path

    def start(self, *cells: str, path: str = _NAME, ran: int = 1) -> None:
        """Open a notebook of the program and these cells, and run the first of them."""
        program = PROGRAM.format(directory=str(self.files.place))
        self.lab.open_notebook(self.write(program, *cells, path=path), self.kernel_id)
        for index in range(ran):
            self.lab.run_cell(index)

    def bring(self, title: str = _NAME) -> None:
        """Bring a notebook or another tab to the front by a click on its title."""
        tabs = self.page.locator("#jp-main-dock-panel .lm-TabBar-tab")
        tabs.get_by_text(title, exact=True).click()

    # --- the panel

    @property
    def panel(self) -> Locator:
        return self.page.locator("#ckpt-viz-live-objects")

    def show_panel(self) -> None:
        """Show the panel by its keys."""
        self.page.keyboard.press("Alt+Shift+K")
        expect(self.panel).to_be_visible()

    def item(self, name: str) -> Locator:
        """Return the row of a variable."""
        return self.panel.locator(f"li[data-name='{name}']")

    def expect_listed(self, *names: str) -> None:
        expect(self.panel.locator("li b")).to_have_text(names)

    def expect_said(self, words: str) -> None:
        """Expect one sentence, and no list."""
        expect(self.panel.get_by_role("status")).to_contain_text(words)
        self.expect_listed()

    def press(self, name: str, button: str) -> None:
        """Press one of the buttons below a variable."""
        self.item(name).get_by_role("button", name=button).click()

    # --- tabs

    @property
    def tab(self) -> Locator:
        """The live explorer in sight, with the notices above it."""
        return self.page.locator(".ckpt-viz-tab:visible")

    @property
    def notices(self) -> Locator:
        return self.tab.locator(".ckpt-viz-notices")

    @property
    def problem(self) -> Locator:
        return self.tab.get_by_role("alert")

    @property
    def headline(self) -> Locator:
        """What a check says above its table."""
        return self.tab.locator(".ckv-check-words")

    def click(self, name: str) -> Locator:
        """Click on a variable; return the tab that opens."""
        self.item(name).locator(".ckpt-viz-live-open").click()
        return self.tab

    def open(self, name: str) -> Locator:
        """Open the live explorer of a variable."""
        tab = self.click(name)
        tab.get_by_role("treegrid").wait_for()
        return tab

    def pick(self, *path: str) -> None:
        """Pick a file in the dialog, directory by directory."""
        dialog = self.page.get_by_role("dialog")
        *directories, name = path
        for directory in directories:
            if directory == "..":
                dialog.locator(f".jp-BreadCrumbs-item[title='{self.files.name}']").click()
            else:
                dialog.get_by_text(directory, exact=True).dblclick()
        dialog.locator(".jp-DirListing-item").get_by_text(name, exact=True).click()
        dialog.get_by_role("button", name="Select").click()

    def check(self, name: str, *path: str) -> Locator:
        """Check what restoring a checkpoint that is picked would do."""
        self.press(name, "Check…")
        self.pick(*path)
        self.headline.wait_for()
        return self.tab

    def drag(self, file: str, target: Locator) -> None:
        """Drag a file from the file browser somewhere, and drop it."""
        ends = [self.files.item(file).bounding_box(), target.bounding_box()]
        (x, y), (to_x, to_y) = (
            (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in ends if box
        )
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + 10, y + 10, steps=3)
        self.page.mouse.move(to_x, to_y, steps=8)
        self.page.mouse.up()

    def name_of_tab(self, name: str, path: str | None = None) -> str:
        """Return what JupyterLab calls the live tab of a variable."""
        said = json.dumps([self.lab.kernel_id, name, path], separators=(",", ":"))
        return f"ckpt-viz-live:ckpt-viz-live:{said}"

    @property
    def sources(self) -> Sequence[str]:
        """The sources of the cells in the current notebook."""
        cells = "jupyterapp.shell.currentWidget.content.model.cells"
        found: list[str] = self.page.evaluate(f"[...{cells}].map(c => c.sharedModel.source)")
        return found

    @property
    def active(self) -> int:
        """Which cell of the current notebook is the active one."""
        cell: int = self.page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex")
        return cell
