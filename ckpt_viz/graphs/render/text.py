"""Object graphs in words: one node in a line, and the tree for a terminal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ckpt_viz.graphs.layers.training import Training
from ckpt_viz.graphs.nodes.in_no_checkpoint import in_no_checkpoint, lost_attributes, what_to_do
from ckpt_viz.graphs.nodes.names import slot_of
from ckpt_viz.graphs.nodes.nodes import CONFIGURATION, ROOT, Node, Role, has_value
from ckpt_viz.graphs.nodes.printed_names import ROOT_NAME
from ckpt_viz.graphs.nodes.tree import Tree
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format, Kept, Origin, Provenance
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.render.signs import SEVERITIES
from ckpt_viz.graphs.render.views import MAX_LINES
from ckpt_viz.ground.text import count, first_clause, readable, shape_words
from ckpt_viz.ground.text import printable as printable

_MAX_SHOWN = 1000  # characters of a name, or of the values of a node
_MAX_PROBLEMS = 3  # problems of a node
_MAX_NAMES = 3  # of variables in a sentence
_MAX_KEPT = 20  # checkpoints of a directory, the latest ones
_WORDS = {Origin.LIVE: "live object", Origin.SAVED: "saved checkpoint"}


def render_tree(graph: Graph, max_lines: int | None = MAX_LINES, above: Sequence[str] = ()) -> str:
    """Return the graph as an indented tree under a one-line summary and the lines `above`.

    Every node has one line, at the most natural of its paths. A further edge to it is a separate
    line that ends in an arrow and the node's id. After `max_lines` lines in all, the last one tells
    that others are left out.
    """
    said = (*above, *alarms(graph), *notes(graph), *advice(graph))
    lines = [summary(graph), *map(printable, said)]
    tree, room = graph.tree, max((max_lines or 0) - len(lines), 1)
    for number, line in enumerate(_tree_lines(graph, tree)):
        if max_lines is not None and number >= room:
            lines[-1] = f"… cut after {max_lines} lines"
            break
        lines.append(line)
    return "\n".join(lines)


def summary(graph: Graph) -> str:
    """Return one line: the source, the number of nodes of each role, and what is trained."""
    counts = Counter(node.role for node in graph.nodes)
    roles = ", ".join(f"{counts[role]} {role.value}" for role in Role if counts[role])
    kind = kind_of_file(graph) or _WORDS[graph.origin]
    source = f"{printable(graph.title)} ({kind})"
    return f"{source}: {count(len(graph.nodes), 'node')}: {roles}{_trained(graph)}"


def kind_of_file(graph: Graph) -> str | None:
    """Return what a file of Keras is; None for any other source."""
    return graph.provenance.format.value if graph.provenance and graph.is_of_keras else None


_TRAININGS = {
    Training.TRAINED: "trained",
    Training.FROZEN: "frozen",
    Training.NEVER: "never trained",
    Training.LEFT_OUT: "in no optimizer",
}


def _trained(graph: Graph) -> str:
    """Return what a training does to the parameters; "" if the source does not record it."""
    parameters = graph.parameters_by_training
    words = ", ".join(f"{number:,} {_TRAININGS[kind]}" for kind, number in parameters.items())
    return f"; parameters: {words}" if words else ""


ALARM = SEVERITIES[Severity.ERROR].glyph


def alarms(graph: Graph) -> tuple[str, ...]:
    """Return a sentence, after a sign, for each reason why data files lack values, and the remedy.

    The sentences come above the graph, because folded rows hide the values.
    """
    from ckpt_viz.formats.bundles.lost_files import (
        lost_files,  # here: the help of a command needs no file
    )

    return tuple(f"{ALARM} {files}" for files in lost_files(graph.stored_in))


def notes(graph: Graph) -> tuple[str, ...]:
    """Return sentences about the source: how its path led there, and what else is there."""
    provenance = graph.provenance
    if provenance is None:
        return ()
    lines = [provenance.resolved] if provenance.resolved else []
    if provenance.format is not Format.OBJECT_BASED:  # of which nothing is to tell
        lines += writer_in_words(provenance)
    if provenance.format in (Format.NAME_BASED, Format.NAME_BASED_V1):
        lines.append(
            f"{provenance.prefix} is a {provenance.format.value}: names of variables, no objects"
        )
    if len(provenance.kept) > 1:
        named = [kept for kept in provenance.kept if kept.is_named]
        others = [kept for kept in provenance.kept if not kept.is_named]
        listed = [*others[-_MAX_KEPT:], *named[-_MAX_KEPT:]]
        lines += [_kept_words(kept, provenance.prefix) for kept in listed]
    return tuple(lines)


def writer_in_words(provenance: Provenance) -> list[str]:
    """Return who wrote a file and what opens it, in one text; none if that is unknown."""
    if not provenance.written_by:
        return []
    return [f"{provenance.written_by} wrote it. To open it, use {provenance.opened_by}."]


def advice(graph: Graph) -> tuple[str, ...]:
    """Return what to know about the object graph itself, in one sentence each and what to do."""
    return _lost(graph) + _empty(graph) + _hanging(graph) + _left_out(graph)


BUILD_AND_SAVE = (
    "Build the model, or assign it to an attribute of the object that you save, and save again."
)


def emptiness(graph: Graph, what: str) -> str:
    """Return that a file, called `what`, holds no values; "" if it holds some.

    `BUILD_AND_SAVE` is what to do.
    """
    valued = [node_id for node_id, node in enumerate(graph.nodes) if has_value(node)]
    if graph.origin is not Origin.SAVED or any(i != graph.save_counter for i in valued):
        return ""
    values = "no value but the count of its saves" if valued else "no values"
    return f"{what} holds {values}: nothing that was saved had a variable yet."


def _empty(graph: Graph) -> tuple[str, ...]:
    says = emptiness(graph, "It")
    return (f"{says} {BUILD_AND_SAVE}",) if says else ()


def _lost(graph: Graph) -> tuple[str, ...]:
    lost = lost_attributes(graph.nodes)
    if not lost:
        return ()
    (holder, first), notes = lost[0], [note for _, note in lost]
    place = graph.names.child_place(holder, first.name)
    return (f"{in_no_checkpoint(place, notes)} {what_to_do(first)}",)


def _left_out(graph: Graph) -> tuple[str, ...]:
    variables = [i for i, kind in enumerate(graph.trainings) if kind is Training.LEFT_OUT]
    if not variables:
        return ()
    places = graph.names
    names = [places.place(i) for i in variables[:_MAX_NAMES]]
    more = [f"{len(variables) - len(names)} more"] if len(variables) > len(names) else []
    return (
        f"No optimizer has {count(len(variables), 'variable')}, though one has others of the same "
        f"model: {', '.join([*names, *more])}. A training leaves such variables as they are. "
        "To train all, make the optimizer after the last layer is built.",
    )


def _hanging(graph: Graph) -> tuple[str, ...]:
    hanging = graph.hanging
    variables, blocks = hanging.variables, hanging.blocks
    if not variables:
        return ()
    number, noun = (blocks, "block") if blocks else (len(variables), "variable")
    they, verb, do = ("it", "hangs", "does") if number == 1 else ("they", "hang", "do")
    return (
        f"{count(number, noun)} {verb} from the optimizer alone: without it {they} {do} "
        "not restore. Assign the blocks to attributes of the model, or all to one as a tuple, such "
        "as self.blocks = tuple(blocks), and save again.",
    )


def _kept_words(kept: Kept, shown: str) -> str:
    when = f", saved {kept.saved_at:%Y-%m-%d %H:%M:%S} UTC" if kept.saved_at else ""
    mark = ", shown here" if kept.prefix == shown else ""
    if not kept.is_named:
        return f"also there: {kept.prefix}{mark}"
    return f"kept: {kept.prefix}{when}{mark}{'' if kept.exists else ', gone'}"


def describe_value(node: Node) -> str:
    """Return dtype and shape of a node's values, `float32 5×3`; "" if there are none."""
    return ", ".join(
        " ".join(filter(None, (attribute.dtype, shape_words(attribute.shape))))
        for attribute in node.attributes
        if attribute.dtype and attribute.name != CONFIGURATION
    )


def side_by_side(*words: str) -> str:
    """Return texts in one line with a gap between them, without the empty ones."""
    return "  ".join(filter(None, words))


def shortened(name: str) -> str:
    """Return an untrusted name, printable, without the end of a giant one."""
    return printable(readable(name))


_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}: ")


def briefly(error: str) -> str:
    """Return why a value cannot be read, if a data file is the reason, by the file's name alone.

    >>> briefly("a/b.data-00000-of-00001: no such file, expected a shard; the copy is partial")
    'b.data-00000-of-00001: no such file, expected a shard'
    """
    match = _SHARD.search(error)
    if match is None:
        return error
    before = error[: match.start()]
    name = before[max(before.rfind("/"), before.rfind("\\")) + 1 :]
    return f"{name}{match[0]}{first_clause(error[match.end() :])}" if name else error


def _tree_lines(graph: Graph, tree: Tree) -> Iterator[str]:
    """Yield the lines of the tree, depth first and without recursion."""
    yield " ".join(filter(None, (ROOT_NAME, _node_words(graph.nodes[ROOT], ROOT))))
    stack = [(ROOT, _edges(graph, tree, ROOT), "")]
    shown = {ROOT}
    while stack:
        parent, edges, indent = stack[-1]
        if not edges:
            stack.pop()
            continue
        label, target = edges.pop()
        branch, below = ("├─ ", "│  ") if edges else ("└─ ", "   ")
        if target in shown or (tree.parents[target], tree.labels[target]) != (parent, label):
            place = shortened(_pointed_at(graph, target))
            yield f"{indent}{branch}{shortened(label)} → #{target} {place}"
            continue
        shown.add(target)
        own = " at ".join(map(shortened, dict.fromkeys((graph.names.name(target), label))))
        yield f"{indent}{branch}{own} {_node_words(graph.nodes[target], target)}"
        stack.append((target, _edges(graph, tree, target), indent + below))


def _edges(graph: Graph, tree: Tree, node_id: int) -> list[tuple[str, int]]:
    """Return the edges below a node in reverse, those of the graph and its slots."""
    edges = [(child.local_name, child.node_id) for child in graph.nodes[node_id].children]
    have = set(edges)
    own = [(tree.labels[c], c) for c in tree.children[node_id]]
    edges += [edge for edge in own if edge not in have]
    return edges[::-1]


def _pointed_at(graph: Graph, node_id: int) -> str:
    """Return what people call a node; for a slot, whose slot it is."""
    if node_id == ROOT:
        return ROOT_NAME
    slot, place = graph.nodes[node_id].slot, graph.names.place
    return place(node_id) if slot is None else slot_of(slot.name, place(slot.variable))


def _node_words(node: Node, node_id: int) -> str:
    parts = [f"#{node_id}", f"[{node.role.value}]"]
    parts += [shortened(node.type_name or ""), shortened(describe_value(node))]
    if node.slot is not None:
        parts.append(f"slot ({node.slot.rule.value})")
    problems = _problems(node)
    parts += [f"! {printable(problem)}" for problem in problems[:_MAX_PROBLEMS]]
    if len(problems) > _MAX_PROBLEMS:
        parts.append(f"! {len(problems) - _MAX_PROBLEMS} more")
    notes = [unsaved_object for unsaved_object in node.not_saved if not unsaved_object.is_lost]
    parts += [
        f"(not tracked: {shortened(unsaved_object.name)} {unsaved_object.type_name})"
        for unsaved_object in notes[:_MAX_PROBLEMS]
    ]
    return " ".join(filter(None, parts))


def _problems(node: Node) -> list[str]:
    """Return the problems of a node: it could not be walked or read, or is not saved whole."""
    problems = [node.error] + [
        attribute.error and briefly(attribute.error) for attribute in node.attributes
    ]
    unsaved = [
        f"not saved: {unsaved_object.name} ({unsaved_object.type_name})"
        for unsaved_object in node.not_saved
        if unsaved_object.is_lost
    ]
    return [problem for problem in problems if problem is not None] + unsaved
