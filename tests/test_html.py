import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.render import html, payload
from ckpt_viz.graphs.render.comparison_svg import comparison_svg
from ckpt_viz.graphs.render.html import to_html
from tests.hostile.makers import NASTY
from tests.support.graphs import keras3_adam, named
from tests.support.payload_fixtures import overlays

_BUILT = Path(cv.__file__).parent / "static" / "widget.js"
needs_bundle = pytest.mark.skipif(not _BUILT.exists(), reason="needs the front end: pip install")


@needs_bundle
def test_the_page_holds_payload_explorer_and_static_outline() -> None:
    page = to_html(keras3_adam())
    (encoded,) = re.findall(r'id="payload">(.*?)</script>', page)
    assert base64.b64decode(encoded) == payload.encode(keras3_adam())
    assert keras3_adam().to_svg() in page
    assert page.index("<noscript>") < page.index("<svg ") < page.index("</noscript>")


@needs_bundle
def test_a_comparison_is_in_payload_and_outline() -> None:
    overlay = overlays()["check"]
    page = to_html(overlay.graph, overlay)
    assert base64.b64encode(payload.encode(overlay.graph, overlay)).decode() in page
    assert comparison_svg(overlay) in page


@needs_bundle
def test_policy_lets_nothing_in_but_the_script_and_the_styles_of_the_page() -> None:
    page = to_html(keras3_adam())
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', page)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert rules == {
        "script-src": _hashes(script),
        "style-src": _hashes(*styles),
        "img-src": "blob:",  # what the page has drawn itself
    }


def _hashes(*texts: str) -> str:
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


@needs_bundle
@pytest.mark.parametrize("name", [*NASTY, "</script><script>alert(1)</script>", "</noscript>"])
def test_hostile_names_stay_in_their_place(name: str) -> None:
    harmless = to_html(keras3_adam())
    hostile = to_html(replace(named(keras3_adam(), name), title=name))
    assert _elements(hostile) - {"<text"} == _elements(harmless) - {"<text"}
    for element in ("script", "style", "noscript", "svg", "title", "meta"):
        assert hostile.count(f"<{element}") == harmless.count(f"<{element}")


def _elements(page: str) -> set[str]:
    return set(re.findall(r"<[/!]?\w+", page))


@needs_bundle
def test_the_page_starts_with_the_state_it_is_given() -> None:
    query = "</script><!--<script>"
    page = to_html(keras3_adam(), state={"selected": 3, "query": query})
    (state,) = re.findall(r'id="state">(.*?)</script>', page)
    assert json.loads(state) == {
        "_edition": 0,
        "selected": {"of": 0, "ids": 3},
        "expanded": None,
        "query": query,
        "mode": "highlight",
        "view": None,
        "measure": None,
        "step": None,
    }
    assert "<!--" not in page


@needs_bundle
def test_same_graph_gives_the_same_page_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = to_html(keras3_adam())
    monkeypatch.setattr("time.time", lambda: 1e9)
    assert to_html(keras3_adam()) == now


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (None, "widget.js: the explorer's front end is not built; run pip install to build it"),
        ("alert(1)", "widget.js: expected a module that ends in its default export"),
    ],
)
def test_front_end_that_is_not_there_is_named(
    module: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "_STATIC", tmp_path)
    (tmp_path / "widget.css").write_text("")
    (tmp_path / "extras.js").write_text("export default () => {}")
    if module is not None:
        (tmp_path / "widget.js").write_text(module)
    with pytest.raises(cv.UnsupportedError) as raised:
        to_html(keras3_adam())
    assert str(raised.value) == f"{tmp_path}/{said}"


def test_a_bundle_that_names_the_end_of_its_element_stays_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "_STATIC", tmp_path)
    (tmp_path / "widget.css").write_text('a::after { content: "</style>" }')
    (tmp_path / "widget.js").write_text('const a="<!--<script></SCRIPT>";export{a as default};')
    (tmp_path / "extras.js").write_text('export default () => "<!--<script></SCRIPT>"')
    page = to_html(keras3_adam())
    assert page.count("</style>") == 2  # with that of the outline
    assert page.lower().count("</script>") == 3
    assert "<!--" not in page
