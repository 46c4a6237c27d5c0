"""The pictures of the documents, and the figures of first views.

Each model of `benchmarks.models` becomes a page, as `Explorer.save_html` writes it. A Chromium
shows it at three widths, light and dark. JupyterLab and a terminal have pictures, too. The figures
are printed as a table for docs/gallery.md.

    python -m benchmarks.pictures [--models gan ...] [--also PATH ...] [--all DIRECTORY] [--scenes]

Without `--all`, only the pictures of docs/images are written. `--also` adds saved checkpoints,
which are only measured, or shown with `--all`.
"""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import ckpt_viz as cv
from benchmarks import models, scenes
from ckpt_viz.graphs.render.html import to_html
from tests.ui import processes
from tests.ui.first_view import measured, plumbing

DOCS = Path(__file__).parents[1] / "docs" / "images"

_WIDTHS = (1500, 1100, 700)
_MEASURED_WIDTHS = (1500, 1100)
_HEIGHT = 1000
_HEIGHTS = {"cnn_check": 400}  # of a page with little to show
_SCHEMES = ("light", "dark")
_COLOURS = 256
# The pictures of single pages in the documents: the model, and the width and scheme of each.
_IN_DOCS = {
    "check.png": ("cnn_check", 1100, "light"),
    "trained.png": ("trained", 1500, "light"),
    "guide.png": ("guide", 1100, "light"),
    "mobilenet.png": ("mobilenet", 1500, "light"),
    "mobilenet_saved.png": ("mobilenet_saved", 1100, "light"),
    "mobilenet_check.png": ("mobilenet_check", 1500, "dark"),
    "transformer.png": ("transformer", 1500, "dark"),
    "gan.png": ("gan", 1100, "light"),
    "tensorflow_1.png": ("tensorflow_1", 1100, "light"),
    "bert.png": ("bert", 1500, "light"),
    "modules.png": ("modules", 1100, "light"),
    "narrow.png": ("transformer", 700, "light"),
}
_TABLE = """\
| model | width | rows | plumbing | ink | boxes cut | smallest letter |
| --- | --- | --- | --- | --- | --- | --- |"""

Sources = dict[str, Callable[[], models.Source]]


def main() -> None:
    """Write the pictures and print the figures of the chosen models."""
    parser = argparse.ArgumentParser(description=__doc__)
    known: Sources = {make.__name__: make for make in models.MODELS}
    parser.add_argument("--models", nargs="*", choices=known, default=list(known))
    parser.add_argument("--also", nargs="*", type=Path, default=[], metavar="PATH")
    parser.add_argument("--all", type=Path, metavar="DIRECTORY")
    parser.add_argument("--scenes", action="store_true", help="also JupyterLab and the terminal")
    options = parser.parse_args()
    sources: Sources = {name: known[name] for name in options.models}
    for path in options.also:
        sources[path.name] = partial(cv.graph, path.resolve())
    every = options.all and options.all.resolve()
    executable = processes.find_chromium()
    assert executable is not None, "no Chromium: set CKPT_VIZ_CHROMIUM to its path"
    with TemporaryDirectory() as directory, sync_playwright() as playwright:
        os.chdir(directory)  # so that checkpoints have short paths
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        print(_TABLE)
        for name, make in sources.items():
            _show(browser, name, make(), every)
        if options.scenes:
            for picture, taken in scenes.taken(browser, Path(directory)):
                _write(DOCS / picture, taken)


def _show(browser: Browser, name: str, source: models.Source, every: Path | None) -> None:
    """Write a model's pictures and print its figures."""
    path = Path(f"{name}.html").resolve()
    _save(source, path)
    wanted = {place: file for file, place in _IN_DOCS.items()}
    for width in _WIDTHS:
        for scheme in _SCHEMES:
            file = wanted.get((name, width, scheme))
            is_measured = scheme == "light" and width in _MEASURED_WIDTHS
            if every is None and file is None and not is_measured:
                continue
            size = (width, _HEIGHTS.get(name, _HEIGHT))
            with _opened(browser, path, size, scheme) as page:
                if every is not None:
                    _write(every / f"{name}-{width}-{scheme}.png", page.screenshot())
                if file is not None:
                    _write(DOCS / file, page.screenshot())
                if is_measured and page.locator(".ckv-table").count() == 0:  # a drawing
                    print(_figures(name, width, page), flush=True)


def _save(source: models.Source, path: Path) -> None:
    """Write the page of an explorer."""
    if isinstance(source, cv.Explorer):
        source.save_html(path)
    elif isinstance(source, cv.ObjectGraph):
        path.write_text(to_html(source), "utf-8")
    else:
        path.write_text(to_html(source.overlay.graph, source.overlay), "utf-8")


@contextmanager
def _opened(browser: Browser, path: Path, size: tuple[int, int], scheme: str) -> Iterator[Page]:
    """Open a page as a user does, and wait until nothing moves any more."""
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page.goto(path.as_uri())
    page.locator(".ckv-panes").wait_for()
    page.wait_for_timeout(400)
    yield page
    page.close()


def _figures(name: str, width: int, page: Page) -> str:
    view = measured(page)
    cells = (
        name.replace("_", " "),
        str(width),
        str(view.rows),
        str(plumbing(page, view.rows)),
        f"{view.ink:.1f} %",
        str(view.cut),
        f"{view.letter:.1f} px",
    )
    return f"| {' | '.join(cells)} |"


def _write(path: Path, png: bytes) -> None:
    """Write a picture with few colours, since a page has few."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.open(io.BytesIO(png)).convert("RGB")
    small = image.quantize(_COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


if __name__ == "__main__":
    main()
