"""Colours and signs come from two tables, which the front end reads, too (src/style.test.ts)."""

from __future__ import annotations

import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz
from ckpt_viz.object_graph.overlay import Comparison, Severity, State
from ckpt_viz.render import palette
from ckpt_viz.render.html import _PAGE_STYLE
from ckpt_viz.render.signs import ASCII, SEVERITIES, SIDES, STATES, verdict_sign
from ckpt_viz.render.svg import STYLE
from tests.support.graphs import keras3_adam

_PACKAGE = Path(ckpt_viz.__file__).parent
_RENDER = _PACKAGE / "render"
_COLOUR = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b|\b(?:rgb|hsl)a?\(", re.I)
_SIGN = re.compile("[✓✗Δ↷]")  # those that mean nothing else in a text


def _table(name: str) -> Any:
    return json.loads((_RENDER / name).read_text("utf-8"))


def _strings(path: Path) -> Iterator[str]:
    """Yield the parts of a module that are no comments and no docstrings."""
    with tokenize.open(path) as file:
        before = tokenize.NEWLINE
        for token in tokenize.generate_tokens(file.readline):
            is_docstring = token.type == tokenize.STRING and before in (
                *(tokenize.NEWLINE, tokenize.INDENT, tokenize.NL),
            )
            if token.type != tokenize.COMMENT and not is_docstring:
                yield token.string
            before = token.type


@pytest.mark.parametrize("what", [_COLOUR, _SIGN], ids=["colour", "sign"])
def test_no_colour_or_sign_is_outside_of_the_tables(what: re.Pattern[str]) -> None:
    modules = sorted(_PACKAGE.rglob("*.py"))
    assert len(modules) > 60
    found = [
        f"{path.relative_to(_PACKAGE)}: {text}"
        for path in modules
        for text in _strings(path)
        if what.search(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("what", "code"),
    [(_COLOUR, 'LOOK = {"color": "#1a56db"}'), (_SIGN, 'GLYPH = "✓" if passes else "x"')],
)
def test_a_stray_is_found(what: re.Pattern[str], code: str, tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(f'"""#fff and ✓ may stand here."""\n{code}  # and here: #fff ✓\n', "utf-8")
    assert len([text for text in _strings(module) if what.search(text)]) == 1


def test_pictures_have_the_colours_of_the_explorer() -> None:
    table = _table("palette.json")
    assert (table["light"], table["dark"]) == (palette.LIGHT, palette.DARK)
    for kind in ("object", "variable", "optimizer", "slot"):
        light, dark = table["light"][kind], table["dark"][kind]
        assert f"svg.ckv-static .{kind}{{stroke:{light};fill:{light}}}" in STYLE
        assert f"svg.ckv-static .{kind}{{stroke:{dark};fill:{dark}}}" in STYLE
    source = keras3_adam().to_dot().source
    used = set(re.findall(r"#[0-9a-f]{6}", source))
    kinds = [table["light"][kind] for kind in ("variable", "optimizer", "slot")]
    assert used == {*kinds, table["dot"]["edge"]}
    assert f"light-dark({table['light']['back']}, {table['dark']['back']})" in _PAGE_STYLE


def test_every_state_severity_and_verdict_has_its_sign() -> None:
    table = _table("signs.json")
    assert table["states"].keys() == {state.value for state in State}
    assert table["severities"].keys() == {severity.value for severity in Severity}
    assert table["verdicts"].keys() == table["sides"].keys() == {one.value for one in Comparison}
    assert tuple(STATES[State.SAVED_ONLY]) == ("\N{MINUS SIGN}", "not used by program")
    assert tuple(SEVERITIES[Severity.INFO]) == ("i", "note")
    assert SIDES[Comparison.CHECK] == ("saved as", "in the program")
    assert verdict_sign(Comparison.CHECK, False).glyph == "✗"
    assert verdict_sign(Comparison.DIFF, False).glyph == "≠"
    glyphs = {sign.glyph for sign in (*STATES.values(), *SEVERITIES.values())}
    assert {glyph for glyph in glyphs if not glyph.isascii()} <= ASCII.keys()
