"""Explorers in pages of their own, without Jupyter."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize

OpenPage = Callable[..., Page]

EXPECT_MS = 15_000  # a busy machine shows what is expected later
VIEWPORT: ViewportSize = {"width": 1280, "height": 800}
WITHOUT_MOTION = {"reduced_motion": "reduce"}  # tests measure where boxes are

# `answering(model, answer, buffers, others)`: the model with a kernel that answers every question
# so. `others` has further answers, with their buffers, by question.
ANSWERING = """
const answering = (model, answer, buffers, others = {}) => {
  const listeners = new Set();
  return {
    ...model,
    on: (name, listener) => name === "msg:custom" && listeners.add(listener),
    off: (_, listener) => listeners.delete(listener),
    send: ({ id, question }) => {
      const [own, ownBuffers] = others[question.ask] ?? [answer, buffers];
      const message = { kind: "ckpt-viz:answer", id, answer: own };
      setTimeout(() => listeners.forEach((listener) => listener(message, ownBuffers)));
    },
  };
};
"""


def open_exports(view: Locator) -> None:
    """Open the menu of an explorer's exports, which a narrow toolbar has in another menu."""
    more = view.locator(".ckv-toolbar > .ckv-menu > summary")
    if more.is_visible():
        more.click()
    view.locator("summary:visible").get_by_text("Export", exact=True).click()


def choose_view(view: Locator, name: str) -> None:
    """Show a view of an explorer; a narrow toolbar has its button in a menu."""
    button = view.get_by_role("button", name=name, exact=True)
    if not button.is_visible():
        view.locator(".ckv-toolbar > .ckv-menu > summary").click()
    button.click()


def showing_objects(page: str) -> str:
    """Return a page whose explorer shows objects first, unless the page has its own defaults."""
    return showing_first("objects", page)


def showing_first(view: str, page: str) -> str:
    """Return a page whose explorer shows a view first, unless the page has its own defaults."""
    defaults = html.escape(json.dumps({"view": view}))
    if "<html data-" in page:
        return page
    return page.replace("<html ", f'<html data-ckpt-viz="{defaults}" ')


def new_page(context: BrowserContext) -> Page:
    """Return a page as large as that of `html_pages`, without motion, whatever the context has."""
    page = context.new_page()
    as_new(page)
    return page


def as_new(page: Page) -> None:
    """Give a page the size and the media of `new_page`."""
    page.set_viewport_size(VIEWPORT)
    page.emulate_media(color_scheme="null", forced_colors="null", reduced_motion="reduce")


@contextmanager
def html_pages(browser: Browser, directory: Path) -> Iterator[OpenPage]:
    """Give a function that opens a text of HTML, in a context with the options it is given."""
    contexts: list[BrowserContext] = []

    def open_page(text: str, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": VIEWPORT, **WITHOUT_MOTION, **options})
        contexts.append(context)
        path = directory / f"{len(contexts)}.html"
        path.write_text(showing_objects(text), "utf-8")
        page = context.new_page()
        page.goto(path.as_uri())
        page.locator(".ckv-panes, .ckv-play").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
