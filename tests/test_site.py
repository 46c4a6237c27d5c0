"""The site around the page: its pages, their links, and what they load."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.once import ROOT
from tests.support.site import build_docs, built_site

# The build runs the notebooks, which takes a minute.
pytestmark = [pytest.mark.tf, pytest.mark.slow, pytest.mark.more]

# Of the attributes that a browser loads or follows; of links, only `rel` tells which.
_ADDRESSES = ("href", "src", "action", "data", "poster")
# The page of checkpoints, and JupyterLab in the browser: steps of their own build them.
_OTHERS = ("index.html", "try/index.html")


class _Page(HTMLParser):
    """What a page loads and follows, and the ids in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.followed: list[str] = []
        self.ids: set[str] = set()
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids.update(given[name] for name in ("id", "name") if name in given)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        addresses = [given[name] for name in _ADDRESSES if name in given]
        (self.followed if tag in ("a", "form") else self.loaded).extend(addresses)


@pytest.fixture(scope="module")
def site() -> Path:
    return built_site()


@pytest.fixture(scope="module")
def pages(site: Path) -> Mapping[Path, _Page]:
    return {path: _page(path) for path in sorted(site.rglob("*.html"))}


@cache
def _page(path: Path) -> _Page:
    return _Page(path.read_text("utf-8"))


def test_every_document_and_notebook_is_a_page(site: Path) -> None:
    """Sphinx warns of a page that no toctree names, and the build refuses warnings."""
    sources = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("notebooks/*.ipynb"),
        *ROOT.glob("notebooks/course/*.ipynb"),
    ]
    pages = [site / path.relative_to(ROOT).with_suffix(".html") for path in sources]
    assert len(pages) > 30
    assert [page for page in pages if not page.is_file()] == []


def test_no_link_is_dead(site: Path, pages: Mapping[Path, _Page]) -> None:
    dead = [
        f"{path.relative_to(site)}: {address}"
        for path, page in pages.items()
        for address in [*page.loaded, *page.followed]
        if not _lives(path, address, site)
    ]
    assert dead == []


def _lives(page: Path, address: str, site: Path) -> bool:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return True
    target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    if target in [site / name for name in _OTHERS]:
        return True
    if not target.is_file() or site not in target.parents:
        return False
    fragment = unquote(parts.fragment)
    return not fragment or target.suffix != ".html" or fragment in _page(target).ids


def test_no_page_loads_anything_from_another_site(pages: Mapping[Path, _Page]) -> None:
    foreign = [
        (path.name, address)
        for path, page in pages.items()
        for address in page.loaded
        if urlsplit(address).scheme not in ("", "data") or urlsplit(address).netloc
    ]
    assert foreign == []


def test_no_style_loads_anything_from_another_site(site: Path) -> None:
    loaded = [
        (path.name, address)
        for path in site.rglob("*.css")
        for address in re.findall(
            r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")]+)", path.read_text("utf-8")
        )
    ]
    assert loaded == []


def test_every_page_has_a_policy_that_allows_nothing_else(pages: Mapping[Path, _Page]) -> None:
    assert len(pages) > 30
    for path, page in pages.items():
        rules = [rule.split() for rule in page.policy.split(";")]
        assert ["default-src", "'none'"] in rules, path
        sources = {source for _, *sources in rules for source in sources}
        allowed = {"'none'", "'self'", "'unsafe-inline'", "'wasm-unsafe-eval'", "data:", "blob:"}
        assert {s for s in sources - allowed if not s.startswith("'sha256-")} == set(), path
        (scripts,) = ([*sources] for name, *sources in rules if name == "script-src")
        assert "'unsafe-inline'" not in scripts


def test_each_explorer_of_a_notebook_has_its_picture_and_its_data(site: Path) -> None:
    pages = [*site.glob("notebooks/*.html"), *site.glob("notebooks/course/*.html")]
    texts = {path.stem: path.read_text("utf-8") for path in pages}
    numbers = {name: text.count('class="stored-explorer"') for name, text in texts.items()}
    assert numbers["quickstart"] == 1
    assert sum(numbers.values()) >= 16
    for name, text in texts.items():
        assert text.count('<script type="text/plain" class="payload">') == numbers[name]
        assert text.count('<div class="picture">') == numbers[name]
        assert text.count("_static/site.js") == (numbers[name] > 0)
        assert "require.min.js" not in text
        assert "application/vnd.jupyter.widget" not in text


def test_a_second_build_is_the_same(site: Path, tmp_path: Path) -> None:
    build_docs(tmp_path / "site", tmp_path / "doctrees")
    assert dict(_files(tmp_path / "site")) == dict(_files(site))


def _files(site: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(path for path in site.rglob("*") if path.is_file()):
        yield path.relative_to(site).as_posix(), path.read_bytes()
