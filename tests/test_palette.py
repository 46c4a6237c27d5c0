"""Colours and signs come from two tables, which src/view/style.test.ts reads, too."""

from __future__ import annotations

import json
import re
import tokenize
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ckpt_viz
from ckpt_viz.graphs.overlay.comparison_table import CellSign
from ckpt_viz.graphs.overlay.overlay import Comparison, Severity, State
from ckpt_viz.graphs.render import palette
from ckpt_viz.graphs.render.html import _PAGE_STYLE
from ckpt_viz.graphs.render.signs import ASCII, CELLS, SEVERITIES, SIDES, STATES
from ckpt_viz.graphs.render.svg_parts import STYLE
from tests.support.graphs import keras3_adam

_PACKAGE = Path(ckpt_viz.__file__).parent
_RENDER = _PACKAGE / "graphs" / "render"
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


@pytest.mark.slow
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
    for colours in (table["light"], table["dark"]):
        outlined = f"stroke:{colours['object']};fill:{colours['back']}"
        assert f"svg.ckv-static :is(.object,.layer){{{outlined}}}" in STYLE
        for kind in ("variable", "optimizer", "slot"):
            filled = f"stroke:{colours[kind]};fill:{colours[f'{kind}-tint']}"
            assert f"svg.ckv-static .{kind}{{{filled}}}" in STYLE
    source = keras3_adam().to_dot().source
    used = set(re.findall(r"#[0-9a-f]{6}", source))
    kinds = [table["light"][kind] for kind in ("variable", "optimizer", "slot")]
    assert used == {*kinds, table["dot"]["edge"]}
    assert f"light-dark({table['light']['back']}, {table['dark']['back']})" in _PAGE_STYLE


def test_every_state_severity_verdict_and_cell_has_its_sign() -> None:
    table = _table("signs.json")
    # A payload has the places in these lists as codes.
    assert list(table["states"]) == [state.value for state in State]
    assert list(table["severities"]) == [severity.value for severity in Severity]
    assert table["verdicts"].keys() == table["sides"].keys() == {one.value for one in Comparison}
    assert tuple(STATES[State.SAVED_ONLY]) == ("\N{MINUS SIGN}", "not used by program", "loud")
    assert tuple(SEVERITIES[Severity.INFO]) == ("i", "note", "quiet")
    assert SIDES[Comparison.CHECK] == ("saved as", "in the program")
    assert table["cells"].keys() == {sign.value for sign in CellSign}
    signs = (*STATES.values(), *SEVERITIES.values(), *CELLS.values())
    glyphs = {sign.glyph for sign in signs}
    assert {glyph for glyph in glyphs if not glyph.isascii()} <= ASCII.keys()


# Machado, Oliveira and Fernandes 2009, "A Physiologically-based Model for Simulation of Color
# Vision Deficiency", severity 1.0: matrices for linear RGB.
_SEEN_BY = {
    "normal": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
_KINDS = ("object", "container", "variable", "optimizer", "slot", "mark")
_BACKS = {"light": ("#ffffff", "#eeeeee"), "dark": ("#111111", "#212121")}


def _linear(colour: str) -> np.ndarray:
    """Return linear RGB of #rgb or #rrggbb, from 0 to 1 (IEC 61966-2-1)."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = np.array([int(digits[i : i + 2], 16) for i in (0, 2, 4)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _lab(linear: np.ndarray) -> np.ndarray:
    """Return CIELAB for the white point D65."""
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    ratios = to_xyz @ linear / to_xyz.sum(axis=1)
    f = np.where(ratios > (6 / 29) ** 3, np.cbrt(ratios), ratios / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def _contrast(a: str, b: str) -> float:
    """Return the contrast ratio of WCAG 2."""
    one, other = (float(_linear(c) @ [0.2126, 0.7152, 0.0722]) + 0.05 for c in (a, b))
    return max(one, other) / min(one, other)


def test_the_measures_have_their_known_values() -> None:
    assert _contrast("#fff", "#000000") == pytest.approx(21)
    assert _lab(_linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.2], abs=0.05)
    # Red and dark green, the classic pair: far apart, except for deuteranopes.
    pair = [_linear("#a52a2a"), _linear("#556b2f")]
    apart = {who: _distance(pair[0], pair[1], seen) for who, seen in _SEEN_BY.items()}
    assert apart["deutan"] < 20 < 50 < apart["normal"]


def _distance(a: np.ndarray, b: np.ndarray, seen: np.ndarray) -> float:
    """Return ΔE76 of two colours as somebody sees them."""
    one, other = (_lab(np.clip(seen @ colour, 0, 1)) for colour in (a, b))
    return float(np.linalg.norm(one - other))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("who", _SEEN_BY)
def test_kinds_differ_under_every_colour_vision(scheme: str, who: str) -> None:
    colours = _table("palette.json")[scheme]
    apart = {
        (a, b): _distance(_linear(colours[a]), _linear(colours[b]), _SEEN_BY[who])
        for a, b in combinations(_KINDS, 2)
    }
    assert min(apart.values()) >= 18, min(apart.items(), key=lambda item: item[1])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_kinds_are_visible_on_every_background(scheme: str) -> None:
    colours = _table("palette.json")[scheme]
    for back in _BACKS[scheme]:
        # WCAG 2.2, 1.4.11: graphics need 3:1.
        assert {kind for kind in _KINDS if _contrast(colours[kind], back) < 3} == set()
        for kind in ("variable", "optimizer", "slot"):
            assert _contrast(colours["fore"], colours[f"{kind}-tint"]) >= 7


@pytest.mark.parametrize(("scheme", "limit"), [("light", "DARKEST"), ("dark", "LIGHTEST")])
def test_the_grounds_of_hosts_that_the_explorer_takes_keep_the_contrasts(
    scheme: str, limit: str
) -> None:
    module = _PACKAGE.parent / "labextension/src/host/ground.ts"
    match = re.search(rf"const {limit}_\w+ = ([0-9.]+);", module.read_text("utf-8"))
    assert match is not None
    level = round(255 * float(match[1]) ** (1 / 2.2))
    back = f"#{level:02x}{level:02x}{level:02x}"
    colours = _table("palette.json")[scheme]
    for name in ("fore", "faint", "alarm", "mark"):
        assert _contrast(colours[name], back) >= 4.5, name
    for name in (*_KINDS, "edge", "accent"):
        assert _contrast(colours[name], back) >= 3, name
