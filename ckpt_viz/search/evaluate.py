"""The nodes that a query finds in a graph; labextension/src/search/evaluate.ts does the same.

Both must find what tests/data/search.json lists. The grammar is in docs/search.md.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, reduce

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.overlay import Overlay
from ckpt_viz.search.fields import FIELDS
from ckpt_viz.search.index import Index, Marks, both, either, folded
from ckpt_viz.search.pasted import find_named, is_pasted, without_output
from ckpt_viz.search.syntax import (
    BLANK_OR_END,
    BLANKS,
    Mistake,
    MistakeError,
    Reader,
    fail,
    filled,
)

MAX_QUERY = 1_000  # characters
MAX_PASTED = 20_000
MAX_TERMS = 50
MAX_PATTERN = 200  # characters of a regular expression
MAX_TEXT = 1_000  # characters of a name, and of the end of a path, that the pattern is tried on
_WORD = f"[^{BLANKS}]+"
_ARROW = f"->{BLANK_OR_END}"
_REGEX = r"/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\[\\])*)/"


@dataclass(frozen=True, slots=True)
class Term:
    """A part of a query: words and exclusions apply in their own ways."""

    ask: Callable[[Index], Marks]
    is_word: bool = False
    is_not: bool = False


def find(graph: Graph, query: str, overlay: Overlay | None = None) -> tuple[int, ...] | Mistake:
    """Return the ids of the nodes that a query finds, in the order of the outline.

    An empty query finds nothing. An unreadable or unanswerable query is a Mistake.
    """
    try:
        terms = _read(query)
        index = Index(graph, overlay)
        marks = _all_of(terms, index) if terms else ()
    except MistakeError as error:
        return error.mistake
    return tuple([node_id for node_id in index.order if marks[node_id]]) if terms else ()


def _all_of(terms: Sequence[Term], index: Index) -> Marks:
    """Return where all terms apply.

    Words also apply to the nodes below a match. In a query of only words and exclusions, at least
    one word must match the node itself: otherwise a word would find whole subtrees.
    """
    marks: Marks = [True] * len(index.nodes)
    found: Marks = [not any(term.is_word for term in terms)] * len(index.nodes)
    for term in terms:
        own = term.ask(index)
        found = either(found, own) if term.is_word else found
        marks = both(marks, index.at_or_below(own) if term.is_word else own)
    are_alone = all(term.is_word or term.is_not for term in terms)
    return both(marks, found) if are_alone else marks


# Reading


def _read(query: str) -> Sequence[Term]:
    if is_pasted(query[:MAX_PASTED]):
        return [Term(lambda index: find_named(query[:MAX_PASTED].strip(BLANKS), index))]
    if len(query) > MAX_QUERY:
        fail(MAX_QUERY, f"at most {MAX_QUERY} characters")
    reader, terms = Reader(query), list[Term]()
    while reader.has_more():
        if len(terms) == MAX_TERMS:
            fail(reader.place, f"at most {MAX_TERMS} terms")
        terms.append(_chain(reader))
    return terms


def _chain(reader: Reader) -> Term:
    """Read terms with arrows between them: find the last, with parents from the terms before."""
    place = reader.place
    if reader.take(_ARROW):
        fail(place, "a term before ->")
    terms = [_term(reader)]
    while reader.has_more() and (arrow := reader.take(_ARROW)):
        place = reader.has_more() and reader.place
        if not place or reader.take(_ARROW) or len(terms) == MAX_TERMS:
            fail(arrow.start(), "a term behind ->")
        terms.append(_term(reader))
    return terms[0] if len(terms) == 1 else Term(lambda index: _children(terms, index))


def _term(reader: Reader) -> Term:
    if not reader.take(rf"-(?!-|{BLANK_OR_END})"):
        return _simple(reader)
    term = _simple(reader)

    def ask(index: Index) -> Marks:
        marks = term.ask(index)
        return [not mark for mark in (index.at_or_below(marks) if term.is_word else marks)]

    return Term(ask, is_not=True)


def _simple(reader: Reader) -> Term:
    start = reader.start = reader.place
    if reader.text[start] == '"':
        return _word(filled(reader.value(), start), is_quoted=True)
    if reader.text[start] == "/":
        return _regex(reader)
    name = reader.take(r"[A-Za-z]+(?=[:<>=])")
    field = None if name is None else FIELDS.get(name[0].lower())
    if field is not None and (reader.take(":") if field.sign == ":" else True):
        value = field.read(reader)
        return Term(lambda index: field.ask(value, index))
    is_tensor = reader.take(rf":[0-9]+{BLANK_OR_END}") is not None
    if name is not None and reader.take(":") and not is_tensor:
        known = ", ".join(name + field.sign for name, field in FIELDS.items())
        fail(start, f"one of {known}; or quotes around a word with a colon")
    reader.take(_WORD)
    return _word(reader.text[start : reader.place], is_quoted=False)


def _regex(reader: Reader) -> Term:
    start, found = reader.place, reader.take(re.compile(_REGEX, re.DOTALL))
    if found is None:
        fail(start, "a closing / for this pattern")
    if not reader.take(BLANK_OR_END):
        fail(reader.place, "a blank behind the pattern; a / in it is written \\/")
    if not found[1]:
        fail(start + 1, "a pattern between / and /")
    if len(found[1]) > MAX_PATTERN:
        fail(start + 1, f"a pattern of at most {MAX_PATTERN} characters")
    ask = _found_by(found[1], start + 1)
    return Term(ask, is_word=True)


# Words, regular expressions, parents


def _word(written: str, *, is_quoted: bool) -> Term:
    """Return what matches a word; a bare one may use dots for slashes, and end in `:0`."""
    text = folded(written)
    bare = text if is_quoted else without_output(text) or text
    spellings = {bare} if is_quoted else {bare, bare.replace(".", "/")}
    asked = [_containing(spelling) for spelling in spellings]
    return Term(lambda index: reduce(either, [ask(index) for ask in asked]), is_word=True)


def _containing(text: str) -> Callable[[Index], Marks]:
    def ask(index: Index) -> Marks:
        own = zip(index.labels, index.texts, strict=True)
        marks = [text in label or any(text in one for one in texts) for label, texts in own]
        if "/" not in text:
            return marks
        # The kept part of the parent's path is too short to contain the text itself.
        steps = index.where_path(len(text) - 1, lambda path, _: text in path)
        return either(marks, steps)

    return ask


def _found_by(pattern: str, place: int) -> Callable[[Index], Marks]:
    """Return what finds a regular expression of Python."""
    # The searched text is in lower case, and a case-sensitive search is faster.
    flags = 0 if pattern == pattern.lower() else re.IGNORECASE
    anywhere = _compiled(pattern, flags, place)

    @cache
    def in_last(characters: int) -> re.Pattern[str]:
        """Return what matches the pattern at the last characters of a text."""
        return _compiled(rf"(?:{pattern})(?=(?s:.{{0,{max(characters - 1, 0)}}})\Z)", flags, place)

    def is_in_path(path: str, own: int) -> bool:
        # `search` starts where the path is cut: a `^` does not match there.
        start = max(len(path) - MAX_TEXT, 0)
        return in_last(min(own, MAX_TEXT)).search(path, start) is not None

    # Patterns such as `(?i)` are valid only at the beginning, so here they are a mistake.
    in_last(1)
    return lambda index: either(
        index.where_path(MAX_TEXT, is_in_path),
        [any(anywhere.search(text[:MAX_TEXT]) for text in texts) for texts in index.texts],
    )


def _compiled(pattern: str, flags: int, place: int) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about future changes in Python
            return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError):
        fail(place, "a valid regular expression")


def _children(terms: Sequence[Term], index: Index) -> Marks:
    """Return the last term's matches that have, by any edge, a parent found by the term before."""
    marks = terms[0].ask(index)
    for term in terms[1:]:
        above = [node_id for node_id, mark in enumerate(marks) if mark]
        children = {child.node_id for node_id in above for child in index.nodes[node_id].children}
        children.update(*[index.graph.tree.children[node_id] for node_id in above])
        marks = [mark and node_id in children for node_id, mark in enumerate(term.ask(index))]
    return marks
