"""The nodes that a query finds in a graph; labextension/src/search/evaluate.ts does the same.

Both must find what tests/data/search.json lists. The grammar is in docs/search.md.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from itertools import chain

import numpy as np

from ckpt_viz.errors import QueryError
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.search.fields import FIELDS
from ckpt_viz.graphs.search.grammar import LIMITS
from ckpt_viz.graphs.search.index import Index, Marks, marks
from ckpt_viz.graphs.search.measures import Measures
from ckpt_viz.graphs.search.pasted import find_named, is_pasted, without_output
from ckpt_viz.graphs.search.syntax import BLANK_OR_END, BLANKS, FIELD_NAME, QueryReader, folded
from ckpt_viz.graphs.search.whole_names import with_whole_name

INDEX = "_search_index"  # the place in a graph, as `cached_property` keeps its values
_REGEX = r"(?s:/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\[\\])*)/)"


def find(
    graph: Graph,
    query: str,
    overlay: Overlay | None = None,
    measure: Callable[[], Measures] | None = None,
) -> tuple[int, ...]:
    """Return the ids of the nodes that a query finds.

    Nodes of which the query is the whole name come first. All others follow in the order of the
    outline. An empty query finds nothing. `measure` reads the values; it is called for a query that
    asks for them.

    Raises:
        QueryError: The query cannot be read, or asks a single graph for a comparison, or asks for
            values without `measure`.
    """
    pasted, index = query[: LIMITS["pasted"]].strip(BLANKS), _index_of(graph, overlay)
    if not pasted:
        return ()
    whole, others = _matches(QueryReader(query, measure), pasted, index)
    order = np.array(index.order)
    in_order = [order[of_kind[order]].tolist() for of_kind in (whole, others & ~whole)]
    return tuple(chain(*in_order))


def _index_of(graph: Graph, overlay: Overlay | None) -> Index:
    """Return what a search knows of a graph; the next search needs it again."""
    searched = graph if overlay is None else overlay
    index: Index | None = searched.__dict__.get(INDEX)
    if index is None:
        index = searched.__dict__[INDEX] = Index(graph, overlay)
    return index


def _matches(reader: QueryReader, pasted: str, index: Index) -> tuple[Marks, Marks]:
    """Return the nodes that have the query as a whole name, and all that it finds."""
    nothing = np.zeros(len(index.nodes), np.bool_)
    if is_pasted(pasted) and (named := find_named(pasted, index)).any():
        return nothing, named
    whole = with_whole_name(pasted, index)
    try:
        return whole, nothing if is_pasted(pasted) else _by_terms(reader, index)
    except QueryError:
        if whole.any():  # a name may have any sign in it
            return whole, nothing
        raise


def _by_terms(reader: QueryReader, index: Index) -> Marks:
    """Return where all terms apply.

    Words also apply to the nodes below a match. In a query of only words and exclusions, at least
    one word must match the node itself: otherwise a word would find whole subtrees.
    """
    if len(reader.text) > LIMITS["query"]:
        reader.fail(LIMITS["query"], f"at most {LIMITS['query']} characters")
    kinds: list[str] = []
    matches, at_words = ~np.zeros(len(index.nodes), np.bool_), np.zeros(len(index.nodes), np.bool_)
    while reader.has_more():
        if len(kinds) == LIMITS["terms"]:
            reader.fail(reader.place, f"at most {LIMITS['terms']} terms")
        is_not = reader.take(f"-(?!-|{BLANK_OR_END})") is not None
        is_word, own = _term(reader, index)
        at_or_below = index.at_or_below(own) if is_word else own
        matches &= ~at_or_below if is_not else at_or_below
        at_words |= own & (is_word and not is_not)
        kinds.append("not" if is_not else "word" if is_word else "field")
    return matches & at_words if "word" in kinds and "field" not in kinds else matches


def _term(reader: QueryReader, index: Index) -> tuple[bool, Marks]:
    """Read a term; return whether it is a word or a regular expression, and what it finds."""
    start = reader.start = reader.place
    if reader.text[start] == '"':
        return True, _word({reader.value()}, index)
    if reader.text[start] == "/":
        return True, _regex(reader, index)
    name = reader.take(FIELD_NAME)
    for field in () if name is None else (f"{name[0].lower()}:", f"{name[0].lower()}>"):
        if field in FIELDS and (field.endswith(">") or reader.take(":")):
            return False, FIELDS[field](reader, index)
    if name is not None and not reader.take(f":[0-9]+{BLANK_OR_END}") and reader.take(":"):
        reader.fail(start, f"one of {', '.join(FIELDS)}; or quotes around a word with a colon")
    reader.take(f"[^{BLANKS}]+")
    text = folded(reader.text[start : reader.place])
    bare = without_output(text) or text  # tensors are printed with their output, `kernel:0`
    return True, _word({bare, bare.replace(".", "/")}, index)


def _word(spellings: set[str], index: Index) -> Marks:
    """Return the nodes with a word in their names; one with a slash may begin in their path."""
    matches = np.zeros(len(index.nodes), np.bool_)
    for text in spellings:
        matches |= index.where_name_has(text)
        if "/" in text:
            for way, paths in zip(index.ways, index.paths, strict=True):
                ends = zip(way.names, paths, strict=True)
                matches |= marks(text in path[-len(text) - len(name) :] for name, path in ends)
    return matches


def _regex(reader: QueryReader, index: Index) -> Marks:
    """Return the nodes whose names or path a regular expression matches.

    A match in the path ends in the local name: else everything below the node would match, too.
    """
    start, pattern = reader.place, reader.take(_REGEX)
    if pattern is None:
        reader.fail(start, "a closing / for this pattern")
    if not reader.take(BLANK_OR_END):
        reader.fail(reader.place, "a blank behind the pattern; a / in it is written \\/")
    if not pattern[1]:
        reader.fail(start + 1, "a pattern between / and /")
    if len(pattern[1]) > LIMITS["pattern"]:
        reader.fail(start + 1, f"a pattern of at most {LIMITS['pattern']} characters")
    anywhere = _compiled(pattern[1], start + 1, reader)
    # A pattern such as `(?i)a` is valid only at the beginning, so here it is a mistake.
    at_end = _compiled(rf"(?:{pattern[1]})(?=[^/]*\Z)", start + 1, reader)
    most = LIMITS["text"]
    # `^` does not match at the place where a path is cut.
    paths = marks(
        any(at_end.search(path, max(len(path) - most, 0)) for path in of_node)
        for of_node in zip(*index.paths, strict=True)
    )
    return paths | marks(any(anywhere.search(t[:most]) for t in names) for names in index.names)


def _compiled(pattern: str, place: int, reader: QueryReader) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about future changes in Python
            return re.compile(pattern, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError):
        reader.fail(place, "a valid regular expression")
