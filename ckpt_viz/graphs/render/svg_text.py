"""How wide a text is in a picture, and its lines: no browser tells us.

The widths are those of Arial, which Helvetica and Liberation Sans share.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

FONT = "Helvetica,Arial,'Liberation Sans',sans-serif"

# In thousandths of the size: a group of characters for each width.
_GROUPS = {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;I[\\]ft",
    333: "()-`r",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jckvsxyz",
    556: "#$0123456789?L_abdeghnopqu",
    584: "+<=>~×",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1000: "…",
    1015: "@",
}
_WIDTHS = {character: width for width, group in _GROUPS.items() for character in group}
_OTHER, _WIDE, _BOLD = 650, 1000, 1.08
_MOST = 1000  # characters: endless accents take no space


def pixels(words: str, size: float = 12, *, is_bold: bool = False) -> float:
    """Return how wide a text is at a size.

    >>> pixels("mill", 10), pixels("…", 10)
    (14.99, 10.0)
    """
    width = sum(map(_width, words)) * size / 1000
    return width * _BOLD if is_bold else width


def cut_to(words: str, most: float, size: float = 12, *, is_bold: bool = False) -> str:
    """Return a text that is at most so wide, without its end.

    >>> cut_to("embeddings", 70, 12), cut_to("embeddings", 40, 12)
    ('embeddings', 'emb…')
    """
    scale = size / 1000 * (_BOLD if is_bold else 1)
    room, width, fitting = most - _WIDTHS["…"] * scale, 0.0, 0
    for place, character in enumerate(words):
        if width <= room:
            fitting = place
        width += _width(character) * scale
        if width > most or place > _MOST:
            return f"{words[:fitting]}…"
    return words


def shorter(words: str, most: float, size: float = 12, *, is_bold: bool = False) -> str:
    """Return a name that is at most so wide, without its middle: both ends tell names apart.

    >>> shorter("multi_head_attention_query.kernel", 120)
    'multi_hea…ery.kernel'
    """
    if pixels(words[:_MOST], size, is_bold=is_bold) <= most and len(words) <= _MOST:
        return words
    half = (most - pixels("…", size, is_bold=is_bold)) / 2
    ends = (_fitting(part, half, size, is_bold) for part in (words, words[::-1]))
    start, end = ends
    return f"{start}…{end[::-1]}"


def _fitting(words: Sequence[str], most: float, size: float, is_bold: bool) -> str:
    width, scale = 0.0, size / 1000 * (_BOLD if is_bold else 1)
    for place, character in enumerate(words[:_MOST]):
        width += _width(character) * scale
        if width > most:
            return "".join(words[:place])
    return "".join(words[:_MOST])


def lines_of(words: str, most: float, size: float, max_lines: int) -> Iterator[str]:
    """Yield the lines of a sentence, each at most so wide; the last of too many is cut."""
    line = ""
    for number, word in enumerate(words.split(" ")):
        longer = f"{line} {word}" if line else word
        if number and pixels(longer, size) > most:
            if max_lines == 1:
                yield cut_to(f"{line} …", most, size)
                return
            yield cut_to(line, most, size)
            line, max_lines = word, max_lines - 1
        else:
            line = longer
    yield cut_to(line, most, size)


def _width(character: str) -> int:
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    if unicodedata.combining(character):
        return 0
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _OTHER
