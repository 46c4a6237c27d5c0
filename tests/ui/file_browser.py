"""A person's actions in JupyterLab's file browser, and the explorers that open from it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from playwright.sync_api import Locator, Request, expect

from ckpt_viz import ObjectGraph
from tests.hostile.seeds import DIRECTORY
from tests.support.graphs import graph
from tests.support.saved_graphs import write_graph
from tests.ui.jupyter import JupyterLab

# The files are looked at every five seconds.
CHANGED_MS = 20_000

_SAVED = """async ([address, names]) => {
    for (;;) {
        const { data } = await (await fetch(address)).json();
        const layout = JSON.stringify(data["layout-restorer:data"]?.main ?? null);
        if (names.every((name) => name in data && layout.includes(JSON.stringify(name)))) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
}"""


def small_graph(*names: str) -> ObjectGraph:
    """Return a graph of a layer, which has variables of these names, and a step."""
    variables = {name: number for number, name in enumerate(names, 3)}
    return graph({0: {"layer": 1, "step": 2}, 1: variables}, (2, *variables.values()))


class Files:
    """A directory of its own below the server's root, in the file browser of a JupyterLab."""

    def __init__(self, lab: JupyterLab, name: str) -> None:
        self.lab = lab
        self.page = lab.page
        self.name = name
        self.place = lab.server.root / name
        self.place.mkdir()

    def add(self, seed: str, name: str = "") -> Path:
        """Put there what TensorFlow wrote (tests/data/seeds), in a directory of its own or not."""
        place = self.place / name
        shutil.copytree(DIRECTORY / seed, place, dirs_exist_ok=True)
        return place

    def write(self, name: str, *variables: str, filled: int = 0) -> None:
        """Write a small checkpoint of these variables, all of whose bytes are one number."""
        ids = range(2, 3 + len(variables))
        write_graph(self.place / name, small_graph(*variables), dict.fromkeys(ids, filled))

    def show(self) -> None:
        """Show the directory in the file browser as it is now."""
        self.lab.execute("filebrowser:go-to-path", path=self.name, dontShowBrowser=True)
        self.lab.execute("filebrowser:refresh")

    def item(self, name: str) -> Locator:
        """Return the file or directory of a name in the file browser."""
        text = self.page.get_by_text(name, exact=True)
        return self.page.locator("#filebrowser .jp-DirListing-item").filter(has=text)

    def open(self, name: str) -> Locator:
        """Open a file as its double click does; return the tab's explorer."""
        self.show()
        self.item(name).dblclick()
        self.await_tab(name)
        return self.tab

    def choose(self, *names: str, menu: str) -> None:
        """Select files, and choose from their context menu; `>` leads to a menu beside it."""
        first, *others = names
        if others:  # one alone is selected below; in Notebook 7 a click opens a directory
            self.item(first).click()
        for name in others:
            self.item(name).click(modifiers=["Control"])
        self.item(names[-1]).click(button="right")
        *above, last = menu.split(" > ")
        for entry in above:
            self._entry(entry).hover()
        self._entry(last).click()

    def _entry(self, words: str) -> Locator:
        label = self.page.locator(".lm-Menu-itemLabel").get_by_text(words, exact=True)
        return self.page.locator(".lm-Menu-item").filter(has=label)

    @property
    def title(self) -> Locator:
        """The current tab's title."""
        return self.page.locator("#jp-main-dock-panel .lm-TabBar-tab.lm-mod-current")

    @property
    def tab(self) -> Locator:
        """The explorer of the current tab, with the notices above it."""
        return self.page.locator("#jp-main-dock-panel .ckpt-viz-tab:visible")

    @property
    def toolbar(self) -> Locator:
        """The toolbar above the explorer of the current tab."""
        return self.page.locator("#jp-main-dock-panel .jp-Toolbar:visible")

    def await_tab(self, title: str) -> None:
        """Wait until the current tab has this title and a graph."""
        expect(self.title).to_have_text(title)
        self.tab.get_by_role("treegrid").wait_for()

    def close(self) -> None:
        """Close the current tab by its cross."""
        self.title.locator(".lm-TabBar-tabCloseIcon").click()

    def reload(self, *tabs: str) -> None:
        """Reload the page when JupyterLab has noted these tabs, by the names of its trackers."""
        self.page.evaluate(_SAVED, [self.lab.noted_at, tabs])
        self.lab.reload_page()

    @property
    def complaints(self) -> list[str]:
        """What the page's scripts have complained of."""
        return [one for one in self.lab.console if one.startswith(("error", "uncaught"))]


def show_values(tab: Locator) -> None:
    """Have the values of the selected node shown."""
    tab.get_by_role("button", name="Show values").click()
    expect(tab.locator(".ckv-elements").first).to_be_visible()


def document(path: str) -> str:
    """Return what JupyterLab calls the tab of a file or a directory."""
    return f"ckpt-viz-documents:{path}"


def comparison(path: str, against: str) -> str:
    """Return what JupyterLab calls the tab of a comparison."""
    said = json.dumps([path, against], separators=(",", ":"))
    return f"ckpt-viz-comparisons:ckpt-viz-compare:{said}"


def is_ours(request: Request) -> bool:
    """Return whether the server's extension is asked."""
    return "/ckpt-viz/api/" in request.url


def state_of(root: Path) -> dict[str, tuple[int, int, int]]:
    """Return size, times and mode of everything below a directory, hidden or not."""
    found = {}
    for path in (root, *root.rglob("*")):
        stat = path.lstat()
        found[str(path.relative_to(root))] = (stat.st_size, stat.st_mtime_ns, stat.st_mode)
    return found
