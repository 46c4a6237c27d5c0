"""The tables of docs/payload.md, made of ckpt_viz/render/payload.json.

`python -m tests.support.payload_tables` writes them again; tests/test_payload.py fails if they
differ. A comment in the document names the table that follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ckpt_viz.graphs.render.payload import SCHEMA

DOCUMENT = Path(__file__).parents[2] / "docs" / "payload.md"
_TABLE = re.compile(r"<!-- (\w+) (\w+) -->\n\n(?:\|.*\n)*\n?")


def with_tables(text: str) -> str:
    """Return the document with its tables as the schema has them."""

    def table(match: re.Match[str]) -> str:
        head, *rows = {"fields": _fields, "columns": _columns, "codes": _codes}[match[1]](match[2])
        lines = [f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows)]
        return "\n".join((f"<!-- {match[1]} {match[2]} -->", "", *lines, "", ""))

    return _TABLE.sub(table, text)


def _fields(part: str) -> Iterator[tuple[str, ...]]:
    about = SCHEMA["about"]["fields"][part]
    yield "field", "kind", "what"
    for name, kind in SCHEMA["fields"][part].items():
        yield f"`{name}`", f"`{kind}`", about[name]


def _columns(part: str) -> Iterator[tuple[str, ...]]:
    """Yield a row for each column; one without a text of its own shares that of the one before."""
    about = SCHEMA["about"]["columns"]
    yield "section", "kind", "one per", "what"
    for per, kinds in SCHEMA["columns"][part].items():
        rows: list[list[str]] = []
        for name, kind in kinds.items():
            if name in about:
                rows.append([f"`{name}`", f"`{kind}`", per, about[name]])
            else:
                rows[-1][0] += f", `{name}`"
        yield from map(tuple, rows)


def _codes(kind: str) -> Iterator[tuple[str, ...]]:
    yield "kind", "type", "what"
    for name, (type_name, what) in SCHEMA[kind].items():
        yield f"`{name}`", type_name, what


if __name__ == "__main__":
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text("utf-8")), "utf-8")
