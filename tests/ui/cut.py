"""Text that a page cuts off, or prints over other text."""

from __future__ import annotations

from playwright.sync_api import Locator

# Names of files have no bound, so that these places shorten them and have the rest as a tooltip.
# The drawing can be moved.
_MAY_BE_SHORT = (
    ".ckv-title, [role=treegrid] *, [role=grid] *, .ckv-drawing *, .ckv-ribbon *, .ckv-strip *"
)
_FAULTS = """(root, mayBeShort) => {
  const faults = [];
  const texts = [];
  const isShown = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const { width, height } = at.getBoundingClientRect();
      if (width <= 1 && height <= 1) return false; // for screen readers alone
    }
    return element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  };
  const scrolls = (value) => value === "auto" || value === "scroll";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    const words = node.data.trim();
    if (words === "" || !isShown(element)) continue;
    range.selectNodeContents(node);
    let boxes = [...range.getClientRects()].filter(({ width }) => width > 1);
    let isCut = false;
    let floats = null;
    for (let at = element; at !== root.parentElement; at = at.parentElement) {
      const { overflowX, overflowY, position, zIndex } = getComputedStyle(at);
      if (position !== "static" && zIndex !== "auto") floats ??= at;
      if (at instanceof SVGElement && !(at instanceof SVGSVGElement)) continue;
      const edge = at.getBoundingClientRect();
      if (overflowX === "visible" && overflowY === "visible") continue;
      boxes = boxes.filter(({ left, right, top, bottom }) => {
        const outX = right > edge.right + 1.5 || left < edge.left - 1.5;
        const outY = bottom > edge.bottom + 3 || top < edge.top - 3;
        isCut ||= (outX && !scrolls(overflowX)) || (outY && !scrolls(overflowY));
        return !outX && !outY;
      });
    }
    if (element.closest(mayBeShort) === null && isCut) {
      const by = element.closest("[class]")?.getAttribute("class") ?? element.tagName;
      faults.push(`cut in ${by}: ${words.slice(0, 60)}`);
    }
    texts.push(...boxes.map((box) => ({ box, node, words, floats })));
  }
  for (const [place, { box: a, node, words, floats }] of texts.entries()) {
    for (const { box: b, node: other, words: others, floats: overlay } of texts.slice(place + 1)) {
      const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (x > 2 && y > 5 && floats === overlay && node !== other) {
        faults.push(`overlap: ${words.slice(0, 40)} | ${others.slice(0, 40)}`);
      }
    }
  }
  return faults;
}"""


# An observer of sizes draws in one frame what the next one measures.
_SETTLED = """async (root) => {
  const look = () => JSON.stringify([...root.querySelectorAll("*")].map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height].map(Math.round);
  }));
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  let before = "", same = 0;
  while (same < 3) {
    await frame();
    const now = look();
    same = now === before ? same + 1 : 0;
    before = now;
  }
}"""


def settle(root: Locator) -> None:
    """Wait until nothing below an element has moved in three frames."""
    root.evaluate(_SETTLED)


def faults(root: Locator) -> list[str]:
    """Return the texts below an element that are cut, and the pairs that overlap."""
    found: list[str] = root.evaluate(_FAULTS, _MAY_BE_SHORT)
    return found
