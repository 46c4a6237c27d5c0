"""Explorers in pages of their own, without Jupyter."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, ViewportSize
from playwright.sync_api import Error as PlaywrightError

OpenPage = Callable[..., Page]

EXPECT_MS = 60_000  # a busy machine shows what is expected later
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


# `asking(model)`: the model with a kernel, which is `answer_pages` of the test.
_KERNEL = "https://kernel.invalid/"
ASKING = f"""
const asking = (model) => {{
  const listeners = new Set();
  const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const send = async ({{ id, question }}) => {{
    const body = JSON.stringify(question);
    const [answer, texts] = await (await fetch("{_KERNEL}", {{ method: "POST", body }})).json();
    const buffers = texts.map((text) => new DataView(bytesOf(text).buffer));
    const message = {{ kind: "ckpt-viz:answer", id, answer }};
    listeners.forEach((listener) => listener(message, buffers));
  }};
  return {{
    ...model,
    on: (name, listener) => name === "msg:custom" && listeners.add(listener),
    off: (_, listener) => listeners.delete(listener),
    send: (message) => void send(message),
  }};
}};
"""


def answer_pages(page: Page, answered: Callable[[Any], tuple[Any, list[bytes]]]) -> None:
    """Answer what the explorer of a page with `ASKING` asks."""

    def answer(route: Route) -> None:
        data, buffers = answered(json.loads(route.request.post_data or ""))
        texts = [base64.b64encode(buffer).decode("ascii") for buffer in buffers]
        route.fulfill(json=[data, texts], headers={"Access-Control-Allow-Origin": "*"})

    page.route(_KERNEL, answer)


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


def hurry(page: Page, times: int) -> None:
    """Have all timers that the page sets from now on run this many times as fast."""
    page.evaluate(
        """times => {
            const wait = window.setTimeout;
            window.setTimeout = (done, time, ...values) => wait(done, time / times, ...values);
        }""",
        times,
    )


# What a page can change of itself, with what it begins with. All else is its context's.
_OF_PAGE: dict[str, Any] = {
    "viewport": VIEWPORT,
    "color_scheme": "light",
    "forced_colors": "none",
    **WITHOUT_MOTION,
}
# The pages that no test uses, by what their contexts have.
_IDLE: WeakKeyDictionary[Browser, dict[str, list[Page]]] = WeakKeyDictionary()
_HELD_KEYS = ("Shift", "Control", "Alt", "Meta")


@contextmanager
def lent_pages(browser: Browser) -> Iterator[OpenPage]:
    """Give a function that lends an empty page with these options, and take the pages back.

    Later tests use them again: a new page is a new process, which compiles every script.
    """
    lent: list[tuple[Page, list[Page]]] = []
    pools = _IDLE.setdefault(browser, {})

    def lend(**options: Any) -> Page:
        own = {name: options.pop(name, default) for name, default in _OF_PAGE.items()}
        idle = pools.setdefault(json.dumps(options, sort_keys=True), [])
        page = idle.pop() if idle else browser.new_context(**options).new_page()
        lent.append((page, idle))
        page.set_viewport_size(own.pop("viewport"))
        page.emulate_media(media="null", **own)
        return page

    yield lend
    for page, idle in lent:
        try:
            _clear(page)
            idle.append(page)
        except PlaywrightError:  # it hangs, or the test has closed it
            page.context.close()


def _clear(page: Page) -> None:
    """Leave nothing of a test in its page, nor of its keys and pointer."""
    for other in page.context.pages:
        if other is not page:
            other.close()
    page.unroute_all()
    page.goto("about:blank")
    for key in _HELD_KEYS:
        page.keyboard.up(key)
    page.mouse.move(-1, -1)


@contextmanager
def html_pages(browser: Browser, directory: Path) -> Iterator[OpenPage]:
    """Give a function that opens a text of HTML, in a page with the options it is given."""
    with lent_pages(browser) as lend:
        count = 0

        def open_page(text: str, **options: Any) -> Page:
            nonlocal count
            count += 1
            path = directory / f"{count}.html"
            path.write_text(showing_objects(text), "utf-8")
            page = lend(**options)
            page.goto(path.as_uri())
            page.locator(".ckv-panes, .ckv-play").wait_for()
            return page

        yield open_page
