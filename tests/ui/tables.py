"""The table of a comparison in a page: its lines, and what their cells say."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page

from ckpt_viz.graphs.overlay.comparison_table import NO_LINE, ComparisonTable, TableCell
from ckpt_viz.graphs.render.signs import CELLS

# By line in sight its cells: names without their facts, and signs with their words.
_CELLS = """lines => lines.map(line => [...line.querySelectorAll("[role=gridcell]")].map(cell => {
  const name = cell.querySelector(".ckv-table-name, .ckv-table-none");
  return name === null ? cell.innerText.replace(/\\s+/g, " ").trim() : name.textContent;
}))"""


def line(page: Page | Locator, name: str) -> Locator:
    """Return the line of a part, by its name on either side."""
    root = page if isinstance(page, Page) else page.page
    named = root.locator(".ckv-table-name", has_text=re.compile(f"^{re.escape(name)}$"))
    return page.locator(".ckv-table-line").filter(has=named)


def selected(page: Page | Locator) -> Locator:
    return page.locator(".ckv-table-line[aria-selected=true]")


def shown(page: Page | Locator) -> list[list[str]]:
    """Return the cells of the lines in sight, questions left out."""
    lines = page.locator(".ckv-table-line:not(.ckv-table-question)")
    lines.first.wait_for()
    cells: list[list[str]] = lines.evaluate_all(_CELLS)
    return cells


def expected(table: ComparisonTable) -> list[list[str]]:
    """Return the cells that a page must show of the outer lines."""
    return [
        [
            one.saved or one.saved_facts,
            *(_words(cell) for cell in (one.plain, one.fixed) if cell is not None),
            one.live or one.live_facts,
        ]
        for one in table.lines
        if one.parent == NO_LINE
    ]


def _words(cell: TableCell) -> str:
    return f"{CELLS[cell.sign].glyph} {cell.words}"
