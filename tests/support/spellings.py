"""How the sentences of a check, its fix and the difference spell shapes and names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.graphs.nodes.names import LayerNames
from ckpt_viz.graphs.object_graph.graph import Graph
from tests.support.told import told

# Behind a letter or a bracket a tuple is an argument or an index, so code.
_SIZE = r"(?:\d+|None|\?)"
_PYTHONS_SHAPE = re.compile(
    rf"(?<![\w()\[\].])(?:\({_SIZE}?,[\d, ?None]*\)|\[[\d, ?]*\]|<unknown>)"
)

_IN_ROOT = re.compile(r"\(root\)[^\s,;:]*")
_PATH = re.compile(r"(?<![\w.'/\[(])[\w-]+(?:\.[\w-]+)+")  # not in code, and no key


def pythons_shapes_in(text: str, quoted: Iterable[str] = ()) -> list[str]:
    """Return the shapes of a text that are spelled as in Python; not those of a `quoted` message.

    >>> pythons_shapes_in("It has shape (3, 2), not (None, 2) or [2].")
    ['(3, 2)', '(None, 2)', '[2]']
    >>> pythons_shapes_in("It has 3×2: tf.zeros((3, 2)), a['b'][0].", ["(1,) fails"])
    []
    """
    return _PYTHONS_SHAPE.findall(_without(quoted, text))


def _without(quoted: Iterable[str], text: str) -> str:
    for message in sorted(quoted, key=len, reverse=True):
        text = text.replace(message, "quote")
    return text


def tensorflow_names_in(
    text: str, paths: Collection[str] = (), quoted: Iterable[str] = ()
) -> list[str]:
    """Return the names of a text that are spelled as by TensorFlow; not those of a message.

    `paths` are paths of the object graph that people do not use as names.

    >>> tensorflow_names_in("(root).a goes into net._layers.0, not net.dense", ["net._layers.0"])
    ['(root).a', 'net._layers.0']
    >>> tensorflow_names_in("It raises: no (root).a", quoted=["no (root).a"])
    []
    """
    text = _without(quoted, text)
    return [*_IN_ROOT.findall(text), *(name for name in _PATH.findall(text) if name in paths)]


def misspelled(check: RestoreCheck, further: Iterable[str] = ()) -> list[str]:
    """Return the sentences, and the details of rows, that spell a shape or a name otherwise."""
    graphs = [graph for graph in (check.saved, check.live) if graph is not None]
    people, paths = _names_of_people(graphs), _paths_in(graphs)
    # A program may call its own parts so.
    quoted = [*quoted_in(check), *(name for name in people if "(root)" in name)]
    return [
        text
        for text in (*_texts(check), *further)
        if pythons_shapes_in(text, quoted) or tensorflow_names_in(text, paths - people, quoted)
    ]


def sentences_of_fix(check: RestoreCheck) -> Iterator[str]:
    """Yield what a fix says, in its text, its changes and the comments of its code."""
    with suppress(cv.SourceError):  # no checkpoint, or that of a Saver
        for fix in (check.fix(), check.fix(guesses=True)):
            yield from str(fix).splitlines()[1:]  # the first has the path
            yield from (change.why for change in fix.changes)
            yield from (line for line in fix.code.splitlines() if line.startswith("#"))


def sentences_of_diff(check: RestoreCheck) -> Iterator[str]:
    """Yield what the difference of checkpoint and program says."""
    if check.saved is not None:
        overlay = cv.diff(check.saved, check.live).overlay
        yield from (overlay.headline, *(problem.why for problem in overlay.problems))
        yield from (mark.detail for mark in overlay.marks)


def _names_of_people(graphs: Iterable[Graph]) -> set[str]:
    places = {LayerNames(graph).place(i) for graph in graphs for i in range(len(graph.nodes))}
    return places.union(*(graph.tree.labels for graph in graphs))


def _paths_in(graphs: Iterable[Graph]) -> set[str]:
    """Return the paths of nodes in the outline, and their shortest paths."""
    nodes = [(graph, node_id) for graph in graphs for node_id in range(len(graph.nodes))]
    shortest = {graph.name(node_id).removeprefix("(root).") for graph, node_id in nodes}
    return shortest | {".".join(graph.path(node_id)) for graph, node_id in nodes}


def quoted_in(check: RestoreCheck) -> Iterator[str]:
    """Yield what TensorFlow and the objects' own code say, which a finding may quote."""
    steps = [step.failure for step in check.trace if step.failure is not None]
    messages = [failure.message for failure in steps]
    messages += [node.error for node in check.live.nodes if node.error is not None]
    messages += [check.raises.message] if check.raises is not None else []
    sentences = [one for text in messages for one in re.split(r"\. |\n", text)]
    yield from (one.removesuffix(".") for one in (*messages, *sentences) if one)


def _texts(check: RestoreCheck) -> Iterator[str]:
    for finding in told(check):
        yield from (finding.why, str(finding.remedy))
        if finding.change is not None:
            yield finding.change.why
    yield check.overlay.headline
    yield from (mark.detail for mark in check.overlay.marks)
