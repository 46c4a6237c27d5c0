"""The variables of a layer beside it in a picture: a pill each, with a chip for each slot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ckpt_viz.graphs.nodes.nodes import Role
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.render.row_tree import Row
from ckpt_viz.graphs.render.row_words import RowText, slots_of
from ckpt_viz.graphs.render.svg_parts import escaped
from ckpt_viz.graphs.render.svg_text import cut_to, pixels, shorter
from ckpt_viz.graphs.render.text import shortened
from ckpt_viz.ground.text import shape_words

_HEIGHT = 20
_MAX_NAME, _MAX_VALUE = 210, 110
_CHIP, _MAX_CHIPS = 15, 4
_USUAL = "float32"


@dataclass(frozen=True, slots=True)
class Pill:
    """A variable: its row's place, name and value, and by name the letter of each slot."""

    place: int
    name: str
    value: str
    slots: tuple[tuple[str, str], ...]

    @property
    def width(self) -> float:
        """The width in pixels."""
        words = pixels(self.name) + (7 + pixels(self.value, 11) if self.value else 0)
        return 20 + words + len(self._chips) * (_CHIP + 2) + (4 if self._chips else 0)

    @property
    def _chips(self) -> Sequence[str]:
        letters = [letter for _, letter in self.slots]
        if len(letters) <= _MAX_CHIPS:
            return letters
        return [*letters[: _MAX_CHIPS - 1], f"+{len(letters) - _MAX_CHIPS + 1}"]

    def drawn(self, x: float, y: float) -> Iterator[str]:
        """Yield the shapes and texts with the upper left corner at (x, y)."""
        yield (
            f'<rect class="icon variable" x="{x:.1f}" y="{y:.1f}" width="{self.width:.1f}" '
            f'height="{_HEIGHT}" rx="{_HEIGHT // 2}"/>'
        )
        at, base = x + 10, y + 14
        yield f'<text x="{at:.1f}" y="{base:.1f}">{escaped(self.name)}</text>'
        at += pixels(self.name) + 7
        if self.value:
            words = escaped(self.value)
            yield f'<text class="faint small" x="{at:.1f}" y="{base:.1f}">{words}</text>'
            at += pixels(self.value, 11) + 4
        for letter in self._chips:
            yield (
                f'<rect class="icon slot dashed" x="{at:.1f}" y="{y + 3:.1f}" width="{_CHIP}" '
                f'height="{_HEIGHT - 6}"/>'
            )
            inset = (_CHIP - pixels(letter, 11)) / 2
            yield (
                f'<text class="small" x="{at + inset:.1f}" y="{base - 0.5:.1f}">'
                f"{escaped(letter)}</text>"
            )
            at += _CHIP + 2


def pills_of(
    graph: Graph, rows: Sequence[Row], texts: Sequence[RowText]
) -> Mapping[int, Sequence[Pill]]:
    """Return by the place of a row the variables that are beside it, if all below it are those.

    A row has its own line if something is wrong with it, or if other rows are below it.
    """
    parents = {row.parent for row in rows}
    letters = _letters({name for row in rows for name in slots_of(graph, row)})
    pills: dict[int, list[Pill]] = {}
    for place, (row, line) in enumerate(zip(rows, texts, strict=True)):
        if row.node_id is None or place in parents or line.note or row.parent < 0:
            continue
        node = graph.nodes[row.node_id]
        if node.role is not Role.VARIABLE or len(node.attributes) != 1:
            continue
        attribute = node.attributes[0]
        dtype = "" if attribute.dtype in (None, _USUAL) else f"{attribute.dtype} "
        value = cut_to(f"{dtype}{shape_words(attribute.shape)}", _MAX_VALUE, 11)
        slots = tuple((shortened(name), letters[name]) for name in slots_of(graph, row))
        pill = Pill(place, shorter(line.name, _MAX_NAME), value, slots)
        pills.setdefault(row.parent, []).append(pill)
    return pills


def pill_lines(pills: Sequence[Pill], room: float) -> Sequence[Sequence[Pill]]:
    """Return pills in lines that are at most so wide."""
    lines: list[list[Pill]] = [[]]
    width = 0.0
    for pill in pills:
        if lines[-1] and width + pill.width > room:
            lines.append([])
            width = 0.0
        lines[-1].append(pill)
        width += pill.width + 6
    return lines


def _letters(names: set[str]) -> Mapping[str, str]:
    """Return by slot its first letter, or two where several begin alike."""
    bare = {name: shortened(name).lstrip("_") or "?" for name in names}
    firsts = [words[0] for words in bare.values()]
    return {
        name: words[0] if firsts.count(words[0]) == 1 else words[:2] for name, words in bare.items()
    }
