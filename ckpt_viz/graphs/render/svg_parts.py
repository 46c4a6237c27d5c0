"""The parts of every static picture: its frame, its colours, its icons and its lines of text."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping

from ckpt_viz.graphs.nodes.nodes import Node, Role
from ckpt_viz.graphs.render.families import family_of
from ckpt_viz.graphs.render.palette import DARK, LIGHT
from ckpt_viz.graphs.render.signs import Sign
from ckpt_viz.graphs.render.svg_text import FONT, lines_of
from ckpt_viz.graphs.render.text import printable

MAX_WIDTH, MIN_WIDTH = 1000, 640  # pixels; GitHub shows at most some 1000
ROW = 26  # the height of a row
LINE = 18  # the height of a line of a sentence, or of a second row of pills
MARGIN, GAP = 16, 20
ICON, ICON_HEIGHT = 17, 14
NAME, SMALL = 13, 12  # sizes of text; 11 is the least
BADGE = 15  # the diameter of a sign
_MAX_LINES = 4  # of a sentence above the rows


def _colors(colors: Mapping[str, str]) -> str:
    root = "svg.ckv-static"
    rules = [
        f"{root} .back{{fill:{colors['back']}}}",
        f"{root} text{{fill:{colors['fore']}}}",
        f"{root} .faint{{fill:{colors['faint']}}}",
        f"{root} .tree{{stroke:{colors['branch']}}}",
        f"{root} .flow{{stroke:{colors['edge']}}}",
        f"{root} .line{{stroke:{colors['line']}}}",
        f"{root} .mark{{fill:{colors['mark']}}}",
        f"{root} .sign{{stroke:{colors['back']}}}",
        f"{root} :is(.quiet,.ring)>.disc{{stroke:{colors['edge']}}}",
        f"{root} .hollow>.disc{{stroke:{colors['mark']}}}",
        f"{root} .loud>.disc{{fill:{colors['mark']};stroke:{colors['mark']}}}",
        f"{root} .loud>.glyph{{fill:{colors['on-mark']}}}",
        f"{root} .hollow>.glyph{{fill:{colors['mark']}}}",
        f"{root} .tab{{fill:{colors['object']}}}",
        f"{root} .dashed+.sign{{stroke:{colors['object']}}}",
        f"{root} .container{{stroke:{colors['container']}}}",
        f"{root} :is(.object,.layer){{stroke:{colors['object']};fill:{colors['back']}}}",
        *(
            f"{root} .{kind}{{stroke:{colors[kind]};fill:{colors[f'{kind}-tint']}}}"
            for kind in ("variable", "optimizer", "slot")
        ),
    ]
    return "".join(rules)


# A constant: a page that shows the picture can allow exactly this style, by its hash. In print, the
# colours are the light ones.
STYLE = (
    f"svg.ckv-static text{{font:{SMALL}px {FONT};white-space:pre;unicode-bidi:isolate}}"
    f"svg.ckv-static .name{{font-size:{NAME}px}}"
    "svg.ckv-static .strong{font-weight:bold}"
    "svg.ckv-static .small{font-size:11px}"
    "svg.ckv-static .end{text-anchor:end}"
    "svg.ckv-static .gone{text-decoration:line-through}"
    "svg.ckv-static :is(.tree,.flow,.line){fill:none;stroke-width:1}"
    "svg.ckv-static .flow{stroke-width:1.3}"
    "svg.ckv-static .icon{stroke-width:1.4}"
    "svg.ckv-static .optimizer{stroke-width:1.8}"
    "svg.ckv-static .container{fill:none}"
    "svg.ckv-static .sign{fill:none;stroke-width:1.6}"
    "svg.ckv-static .dashed{stroke-dasharray:2.5 1.8}"
    "svg.ckv-static .disc{fill:none;stroke-width:1}"
    "svg.ckv-static .glyph{font-size:11px;font-weight:bold;text-anchor:middle}"
    f"{_colors(LIGHT)}@media screen and (prefers-color-scheme:dark){{{_colors(DARK)}}}"
)

SHAPES = {
    "object": '<rect class="icon object{}" x="{x}" y="{y}" width="17" height="14" rx="3"/>',
    "layer": '<rect class="icon layer{}" x="{x}" y="{y}" width="17" height="14" rx="3"/>',
    "container": '<path class="icon container{}" d="M{x} {y}m5 0h-5v14h5m7 -14h5v14h-5"/>',
    "group": '<path class="icon object" d="M{x} {y}m3 3h14v11h-14zm-3 8v-11h14"/>',
    "variable": '<rect class="icon variable{}" x="{x}" y="{y}" width="17" height="14" rx="7"/>',
    "slot": '<rect class="icon slot dashed{}" x="{x}" y="{y}" width="14" height="14"/>',
    "optimizer": '<path class="icon optimizer{}" d="M{x} {y}m4 0h9l4 7l-4 7h-9l-4 -7z"/>',
}
KINDS = {
    Role.LAYER: "layer",
    Role.CONTAINER: "container",
    Role.BOOKKEEPING: "container",
    Role.VARIABLE: "variable",
    Role.OPTIMIZER: "optimizer",
    Role.SLOT: "slot",
}


def document(
    title: str, description: str, width: float, height: float, parts: Iterable[str]
) -> str:
    """Return a picture of these parts, with what a screen reader says of it first."""
    size = f'width="{px(width)}" height="{px(height)}"'
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="ckv-static" {size} '
            f'viewBox="0 0 {px(width)} {px(height)}" role="group">\n',
            f"<title>{escaped(title)}</title>\n",
            f"<desc>{escaped(description)}</desc>\n",
            f"<style>{STYLE}</style>\n",
            f'<rect class="back" {size}/>\n',
            *parts,
            "</svg>\n",
        )
    )


def icon_of(node: Node | None, x: float, y: float, *, is_dashed: bool = False) -> str:
    """Return the shape of a node's role; without a node, that of a group."""
    at = {"x": px(x), "y": px(y)}
    if node is None:
        return SHAPES["group"].format(**at)
    kind = KINDS.get(node.role, "object")
    shape = SHAPES[kind].format(" dashed" if is_dashed else "", **at)
    return shape + (tab(node, is_dashed, x, y) if kind == "layer" else "")


def tab(node: Node, is_other: bool, x: float, y: float) -> str:
    """Return what makes a box a layer: it is solid, with the sign of its family."""
    family = family_of(node.type_name or "")
    width = 6 if family is None else 0 if is_other else ICON
    drawn = (
        f'<rect class="tab" x="{px(x)}" y="{px(y)}" width="{width}" height="{ICON_HEIGHT}" rx="3"/>'
    )
    if family is None:
        return drawn
    sign = (
        f'<svg class="sign" x="{px(x + 2.5)}" y="{px(y + 1)}" width="12" height="12" '
        f'viewBox="0 0 12 12"><path d="{family.path}"/></svg>'
    )
    return f"{drawn if width else ''}{sign}"


def wrapped(sentences: Iterable[tuple[str, str]], width: float) -> Iterator[tuple[str, str]]:
    """Yield sentences, each with its look, in lines that fit into the picture."""
    for look, sentence in sentences:
        if sentence:
            size = NAME if "name" in look else SMALL
            for line in lines_of(sentence, (width - 2 * MARGIN) / 1.08, size, _MAX_LINES):
                yield look, line


def paragraphs(lines: Iterable[tuple[str, str]], top: float) -> Iterator[str]:
    """Yield lines below each other, each with its look."""
    for place, (look, line) in enumerate(lines):
        yield text_at(MARGIN, top + LINE * place + 12, line, look) + "\n"


def text_at(x: float, y: float, words: str, look: str = "") -> str:
    """Return a text with its base line at (x, y); nothing without words."""
    if not words:
        return ""
    styled = f' class="{look}"' if look else ""
    return f'<text{styled} x="{px(x)}" y="{px(y)}">{escaped(words)}</text>'


def px(value: float) -> str:
    """Return a number of pixels with one digit after the point, if it needs any."""
    return f"{value:.1f}".removesuffix(".0")


def escaped(words: str) -> str:
    """Return text for XML; as a precaution, replace unprintable characters that remain."""
    return html.escape(printable(words))


def badge(sign: Sign, x: float, middle: float) -> str:
    """Return a sign in a circle whose left edge is at `x`; what does not fit has a solid one."""
    centre = x + BADGE / 2
    return (
        f'<g class="{sign.look}"><circle class="disc" cx="{px(centre)}" '
        f'cy="{px(middle)}" r="{px(BADGE / 2)}"/>'
        f"{text_at(centre, middle + 4, sign.glyph, 'glyph')}</g>"
    )
