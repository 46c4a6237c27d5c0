"""The code of an edited copy of the checkpoint that an explorer shows.

A page says which parts a person means: a row, or all that the search finds. The edit is made before
its code goes anywhere, so that the code does what the explorer shows. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ckpt_viz.answers.dry_runs.dry_run import prefix_of
from ckpt_viz.answers.graph_diff.diff_result import GraphDiff
from ckpt_viz.entrances.jupyter.kernel_run import free_name, kernel_shell, package_of, variable_of
from ckpt_viz.entrances.jupyter.shown import Shown
from ckpt_viz.errors import EditError, QueryError, SourceError
from ckpt_viz.graphs.edits.edited_access import first_graph
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.provenance import Format, Origin
from ckpt_viz.ground.expressions import quoted
from ckpt_viz.live.sources.pictured import ObjectGraph, parts_meant
from ckpt_viz.live.sources.snapshot import Snapshot

# By kind of edit, the variable that holds the copy in code.
_VARIABLES = {"without": "slim", "only": "part", "renamed": "renamed"}
_MOST_NAMES = 100  # in code
_MOST_CHARACTERS = 200  # of a new name
_WIDTH = 88  # of a line of code
_NO_VARIABLE = (
    "No variable of the notebook holds this graph, and no file has it. Write graph = in front of "
    "what makes it, show graph, and try again."
)


class _Copy(NamedTuple):
    """An edit of a saved graph, its arguments as code, and the edited graph."""

    source: ObjectGraph
    kind: str
    arguments: Sequence[str]
    edited: ObjectGraph


def code_of_copy(shown: Shown, question: Mapping[str, Any]) -> str:
    """Return the code of the copy that a page asks for, by the names that the notebook has.

    Raises EditError and NoSuchNodeError if there is no such copy, and SourceError for a graph that
    no code leads to, or that is none of a checkpoint.
    """
    copy = _asked(shown, question)
    shell = kernel_shell()
    first, package = package_of(shell)
    graph, path = _expressions(shown, copy.source, shell, package)
    name = free_name(shell, _VARIABLES[copy.kind])
    call = _call(f"{name} = {graph}.{copy.kind}", copy.arguments, is_table=copy.kind == "renamed")
    prefix = quoted(f"{_base_of(copy.source)}-{name}")
    write = f"# {name}.write({prefix})"
    if first_graph(copy.source).is_of_keras:
        write += "  # as a TensorFlow checkpoint"
    return f"{first}{call}\n{package}.show({path}, against={name})\n{write}\n"


def _asked(shown: Shown, question: Mapping[str, Any]) -> _Copy:
    kind = question["kind"]
    if not isinstance(kind, str) or kind not in _VARIABLES:
        raise SourceError(f"found the edit {kind!r:.40}, expected one of {', '.join(_VARIABLES)}")
    source, nodes = _saved_side(shown, question)
    if kind == "renamed":
        names = _new_names(source, nodes, question)
        items = [f"{quoted(old)}: {quoted(new)}" for old, new in names.items()]
        return _Copy(source, kind, items, source.renamed(names))
    queries = _queries(source, nodes, question)
    edited = source.without(*queries) if kind == "without" else source.only(*queries)
    return _Copy(source, kind, [*map(quoted, queries)], edited)


# --- which parts a page means


def _saved_side(shown: Shown, question: Mapping[str, Any]) -> tuple[ObjectGraph, list[int]]:
    """Return the saved graph that a page means, and the nodes in it."""
    source, node_of = _side(shown, question.get("side"))
    if first_graph(source).origin is Origin.LIVE:
        raise SourceError(
            f"{source.title}: found live objects, whose values may change; expected a saved graph: "
            "cv.snapshot(live)"
        )
    pictured = _pictured(shown, question)
    nodes = pictured if node_of is None else [node_of[id_] for id_ in pictured if id_ in node_of]
    is_whole = len(nodes) == len(pictured) or "query" in question
    if not (nodes and is_whole):
        other = "; choose the other side" if isinstance(shown.comparison, GraphDiff) else ""
        raise EditError(f"{source.title}: has no such part{other}")
    return source, nodes


def _side(shown: Shown, side: object) -> tuple[ObjectGraph, Mapping[int, int] | None]:
    """Return a side that was saved, and its nodes by those of the picture; None for the same."""
    comparison = shown.comparison
    if comparison is None:
        return shown.graph, None
    if isinstance(comparison, GraphDiff):
        if side == "a":
            return comparison.a, _reversed(comparison.places)
        return comparison.b, {node: node for node in range(len(comparison.b.nodes))}
    if comparison.saved is None:
        raise SourceError(f"{shown.graph.title}: has no checkpoint that can be read")
    return comparison.saved, _reversed(comparison.saved_places)


def _reversed(places: Mapping[int, int]) -> dict[int, int]:
    return {place: node for node, place in places.items()}


def _pictured(shown: Shown, question: Mapping[str, Any]) -> list[int]:
    """Return the nodes of the picture that a page means: some rows, or what the search finds."""
    if "query" not in question:
        nodes, size = question["nodes"], len(shown.graph.nodes)
        if not isinstance(nodes, list) or not all(
            type(node) is int and 0 <= node < size for node in nodes
        ):
            raise SourceError(f"found nodes {nodes!r:.80}, expected ids below {size}")
        return [*dict.fromkeys(nodes)]
    query = question["query"]
    if not isinstance(query, str):
        raise SourceError(f"found the query {query!r:.80}, expected a text")
    from ckpt_viz.graphs.search.evaluate import find  # here, because importing numpy takes long

    return [*find(shown.graph, query, shown.overlay, shown.measures)]


def _queries(source: ObjectGraph, nodes: Sequence[int], question: Mapping[str, Any]) -> list[str]:
    """Return what `without` and `only` take for some nodes: the query if it means them, or names.

    A query that is also the name of a part means that part alone, and one about a comparison means
    nothing in the saved graph.
    """
    query, tops = question.get("query"), _tops(source, nodes)
    if query is not None and {*_tops(source, _parts(source, query))} == {*tops}:
        return [query]
    return [_name_of(source, node) for node in _few(source, tops)]


def _tops(graph: ObjectGraph, nodes: Sequence[int]) -> list[int]:
    """Return the nodes that are below none of the others."""
    all_nodes = {*nodes}
    return [node for node in nodes if all_nodes.isdisjoint(graph.tree.above(node))]


def _few(graph: ObjectGraph, nodes: Sequence[int]) -> Sequence[int]:
    if len(nodes) > _MOST_NAMES:
        raise EditError(
            f"{graph.title}: found {len(nodes)} parts, expected at most {_MOST_NAMES} by name; "
            "search with a field, such as path:**/dense*"
        )
    return nodes


def _name_of(graph: ObjectGraph, node: int) -> str:
    """Return a name that means this node alone, that of people if possible."""
    keys = [attribute.checkpoint_key for attribute in graph.nodes[node].attributes[:1]]
    path = "/".join(graph.path(node))
    names = (*([path] if graph.is_name_based else []), graph.names.place(node), path)
    for name in (*names, graph.name(node), *keys):
        if name and [*_parts(graph, name)] == [node]:
            return name
    raise EditError(f"{graph.title}: no name means {graph.names.place(node)} alone")


def _parts(graph: ObjectGraph, query: str) -> Sequence[int]:
    try:
        return parts_meant(graph, query)
    except QueryError:
        return ()


# --- new names


def _new_names(
    graph: ObjectGraph, nodes: Sequence[int], question: Mapping[str, Any]
) -> dict[str, str]:
    """Return the new names of some nodes by their old ones: what is deeper is renamed first."""
    new = question.get("to")
    if not isinstance(new, str) or len(new) > _MOST_CHARACTERS:
        raise SourceError(
            f"found the new name {new!r:.80}, expected a text of at most {_MOST_CHARACTERS} "
            "characters"
        )
    if ROOT in nodes:
        raise EditError(f"{graph.title}: found the root, expected a part with a name")
    deepest_first = sorted(_few(graph, nodes), key=lambda node: -len(graph.path(node)))
    return {_name_of(graph, node): _in_its_place(graph, node, new) for node in deepest_first}


def _in_its_place(graph: ObjectGraph, node: int, new: str) -> str:
    """Return a new name as `renamed` takes it: in a name-based checkpoint it is a whole name.

    There a name without a slash is the last one, and an empty one takes a scope away.
    """
    if not graph.is_name_based or not new or "/" in new:
        return new
    return "/".join((*graph.path(node)[:-1], new))


# --- code


def _expressions(shown: Shown, source: ObjectGraph, shell: Any, package: str) -> tuple[str, str]:
    """Return code for a saved graph, and code that `show` takes for it."""
    name = None if shell is None else variable_of(shell, source)
    if name is not None:
        return name, name
    for given in shown.given:
        if shell is not None and _is_of(given, source):
            name = variable_of(shell, given)
            if name is not None:
                return f"{name}.graph", name
    if source.is_unwritten:
        raise SourceError(_NO_VARIABLE)
    path = quoted(_path_of(source))
    return f"{package}.graph({path})", path


def _is_of(given: object, source: ObjectGraph) -> bool:
    return isinstance(given, Snapshot) and source.is_held and given.graph.held is source.held


def _path_of(source: ObjectGraph) -> str:
    provenance = source.provenance
    if provenance is not None and provenance.format is Format.SAVED_MODEL:
        return source.title
    return prefix_of(source)


def _base_of(source: ObjectGraph) -> str:
    """Return the last part of the path of a checkpoint."""
    first = first_graph(source)
    path = "ckpt" if first.provenance is None else _path_of(ObjectGraph.of(first))
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2] or "ckpt"
    return name.partition(".")[0] or "ckpt" if first.is_of_keras else name


def _call(function: str, arguments: Iterable[str], *, is_table: bool) -> str:
    """Return a call on one line, or on a line for each argument."""
    opening, closing = ("({", "})") if is_table else ("(", ")")
    items = [*arguments]
    line = f"{function}{opening}{', '.join(items)}{closing}"
    if len(line) <= _WIDTH or len(items) == 1:
        return line
    lines = "".join(f"    {item},\n" for item in items)
    return f"{function}{opening}\n{lines}{closing}"
