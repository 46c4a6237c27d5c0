"""What the first view of an explorer shows, measured in its page."""

from __future__ import annotations

from typing import NamedTuple

from playwright.sync_api import Page

from tests.ui.cut import settle

SMALLEST_LETTER = 11  # px

_ROW_HEIGHT = 22
_MEASURE = """() => {
  const explorer = document.querySelector(".ckpt-viz");
  const pane = explorer.querySelector("svg.ckv-drawing");
  const edge = pane.getBoundingClientRect();
  const isWhole = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return left > edge.left - 1 && right < edge.right + 1 &&
      top > edge.top - 1 && bottom < edge.bottom + 1;
  };
  const rows = explorer.querySelector("[role=treegrid]").ariaRowCount - 1;
  const whole = [...pane.querySelectorAll(".ckv-node")].filter(isWhole).length;

  // Boxes and panels are painted over each other, so that no pixel counts twice.
  const canvas = new OffscreenCanvas(Math.round(edge.width), Math.round(edge.height));
  const context = canvas.getContext("2d", { willReadFrequently: true });
  for (const shape of pane.querySelectorAll(".ckv-node > .ckv-shape, .ckv-panel")) {
    const { x, y, width, height } = shape.getBoundingClientRect();
    const place = [x - edge.x, y - edge.y, width, height].map(Math.round);
    context.fillRect(...place);
  }
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  let inked = 0;
  for (let place = 3; place < data.length; place += 4) inked += data[place] > 0;

  const texts = document.createTreeWalker(explorer, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let letter = Infinity;
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    range.selectNodeContents(texts.currentNode);
    const { width, height } = range.getBoundingClientRect();
    if (!texts.currentNode.data.trim() || width < 2 || height < 2) continue;
    const scale = element instanceof SVGElement ? element.getScreenCTM().a : 1;
    letter = Math.min(letter, parseFloat(getComputedStyle(element).fontSize) * scale);
  }
  return [rows, (100 * inked) / (canvas.width * canvas.height), rows - whole, letter];
}"""
# Containers have a role; parts of long lists have no columns; counters have names.
_PLUMBING = r"""() => [...document.querySelectorAll(".ckv-outline-body [role=row]")].filter((row) =>
  row.querySelector(".ckv-role-container") !== null ||
  (row.classList.contains("ckv-chunk") && row.querySelector(".ckv-cell") === null) ||
  /^_?(iterations?|save_counter)$/.test(
    row.querySelector(".ckv-name")?.textContent ?? "")).length
"""


class FirstView(NamedTuple):
    """The figures of one first view.

    `cut` counts the boxes that are not wholly in sight, and `ink` is the part of the drawing
    that boxes and panels cover, in percent. `letter` is the size of the smallest letter in px.
    """

    rows: int
    ink: float
    cut: int
    letter: float


def measured(page: Page) -> FirstView:
    """Return the figures of the first view of the page's explorer."""
    rows, ink, cut, letter = page.evaluate(_MEASURE)
    return FirstView(int(rows), ink, int(cut), letter)


def plumbing(page: Page, rows: int) -> int:
    """Return how many rows of the outline are containers, parts of long lists or counters.

    The page grows until all rows have elements, so take its picture before.
    """
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({"width": size["width"], "height": 400 + _ROW_HEIGHT * rows})
    settle(page.locator(".ckpt-viz"))
    count: int = page.evaluate(_PLUMBING)
    return count
