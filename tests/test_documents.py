"""The documents keep the rules of plain English, and list the rooms of both halves."""

from __future__ import annotations

import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import rooms

ROOT = Path(__file__).parents[1]
PLAIN_ENGLISH = ROOT / "docs/plain_english.md"
LONGEST_SENTENCE = 25  # words
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for place in (
        "*.md",
        "*/*.md",
        "docs/*/*.md",
        "labextension/src/*.md",
        "notebooks/*.ipynb",
        "notebooks/*/*.ipynb",
    )
    for path in ROOT.glob(place)
)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_sentence_is_longer_than_a_reader_takes_at_once(document: str) -> None:
    long = [
        f"{len(words)} words: {sentence}"
        for block in _prose(ROOT / document)
        for sentence in _sentences(block)
        if len(words := _words(sentence)) > LONGEST_SENTENCE
    ]
    assert long == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_phrase_is_one_that_contributing_tells_to_avoid(document: str) -> None:
    avoided = _avoided_phrases()
    found = [
        f"{phrase!r} in: {block}"
        for block in [*_prose(ROOT / document), *_cells_of_tables(ROOT / document)]
        for phrase, pattern in avoided.items()
        if pattern.search(_without_code(block))
    ]
    assert found == []


@pytest.mark.parametrize("wing", rooms.WINGS)
def test_the_page_of_a_wing_names_each_of_its_rooms(wing: str) -> None:
    source = (rooms.PACKAGE / wing / "__init__.py").read_text()
    assert len(source.splitlines()) <= 60
    for room in (room for layer in rooms.WINGS[wing] for room in layer if "." in room):
        assert f"`{room.removeprefix(f'{wing}.')}`" in source


def _prose(document: Path) -> list[str]:
    """Return the paragraphs, headings and list items, each as one line."""
    return [block for source in _markdown(document) for block in _blocks(source)]


def _markdown(document: Path) -> Iterator[str]:
    """Yield the text of a document; of a notebook its text cells and its comments."""
    if document.suffix == ".md":
        yield document.read_text()
        return
    for cell in json.loads(document.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
        else:
            yield from _comments(source)


def _comments(source: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")


def _blocks(markdown: str) -> Iterator[str]:
    block: list[str] = []
    for line in [*_without_fences(markdown), ""]:
        starts_anew = not line.strip() or line.startswith("#") or _is_table(line) or _is_item(line)
        if starts_anew and block:
            yield " ".join(block)
            block = []
        if line.strip() and not _is_table(line):
            block.append(re.sub(r"^\s*(#+|[-*]|\d+\.)\s+", "", line).strip())


def _without_fences(markdown: str) -> Iterator[str]:
    fenced = False
    for line in markdown.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield ""
        elif not fenced:
            yield line


def _is_table(line: str) -> bool:
    return line.startswith("|")


def _is_item(line: str) -> bool:
    return re.match(r"\s*([-*]|\d+\.)\s", line) is not None


def _sentences(block: str) -> list[str]:
    return re.split(r"(?<=[.!?])[\"”)*]*\s+", _without_code(block))


def _without_code(block: str) -> str:
    """Return a block with each inline code as one word, and of links and images their text."""
    block = re.sub(r"!?\[([^]]*)]\([^)]*\)", r"\1", re.sub(r"(`+).+?\1", "CODE", block))
    return re.sub(r"<[^>]*>", "", block)


def _words(sentence: str) -> list[str]:
    return [word for word in sentence.split() if re.search(r"\w", word)]


def _cells_of_tables(document: Path) -> list[str]:
    return [
        line
        for source in _markdown(document)
        for line in _without_fences(source)
        if _is_table(line)
    ]


def _avoided_phrases() -> dict[str, re.Pattern[str]]:
    phrases = {
        phrase: re.compile(rf"\b{re.escape(phrase)}\b", re.IGNORECASE)
        for table in _tables(PLAIN_ENGLISH.read_text(), first_header="avoid")
        for row in table
        for phrase in re.findall(r"`([^`]+)`", row[0])
    }
    assert phrases
    return phrases


def _tables(markdown: str, first_header: str) -> Iterator[list[list[str]]]:
    """Yield the rows of the tables whose first column has this header."""
    rows: list[list[str]] = []
    for line in [*_without_fences(markdown), ""]:
        if _is_table(line):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            if rows[0][0] == first_header:
                yield rows[2:]
            rows = []
