"""The payload fixtures: Python writes them, labextension/src/data/graph.test.ts reads them.

`python -m tests.support.payload_fixtures` writes them again; tests/test_payload.py fails if
this code would write anything else.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

from ckpt_viz import Format, Kept, Node, NotSaved, ObjectGraph, Origin, Provenance, Role, Slice
from ckpt_viz.graphs.layers.calls import Call
from ckpt_viz.graphs.layers.rows import Layers
from ckpt_viz.graphs.nodes.nodes import ROOT, Fact, LayerFacts
from ckpt_viz.graphs.nodes.printed_names import ROOT_NAME
from ckpt_viz.graphs.nodes.tree import spanning_tree
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.side_names import SideNames
from ckpt_viz.graphs.overlay.comparison_table import (
    NO_LINE,
    CellSign,
    ComparisonTable,
    TableCell,
    TableGuess,
    TableLine,
    Totals,
)
from ckpt_viz.graphs.overlay.overlay import (
    Comparison,
    Mark,
    Overlay,
    Problem,
    Severity,
    State,
    Verdict,
)
from ckpt_viz.graphs.overlay.remedy import Advice, OtherPath, PartialFix, PathResult
from ckpt_viz.graphs.render import payload
from ckpt_viz.graphs.render.text import advice, notes
from ckpt_viz.graphs.search.grammar import MEASURES
from ckpt_viz.graphs.search.measures import COLUMNS, Measures, no_measures
from ckpt_viz.graphs.slots.scopes import NamedVariable, named_value, scope_nodes
from ckpt_viz.ground.expressions import quoted
from tests.support.graphs import graph, keras3_adam, named, transformer

DIRECTORY = Path(__file__).parents[1] / "data" / "payloads"
NONE = math.nan
HOSTILE = "<script>alert(1)</script>\n\"'&\x00\u202e\ud800"


def graphs() -> dict[str, ObjectGraph]:
    """Return the graphs of the fixtures, by file name."""
    adam = keras3_adam()
    return {
        "keras3_adam": adam,
        "declared_slots": graph(
            {0: {"model": 1, "opt": 2}, 1: {"kernel": 3}}, (3, 4), {2: (("m", 3, 4),)}
        ),
        "circles_and_lost_nodes": graph({0: {"self": 0, "a": 1}, 1: {"up": 0}, 2: {"lost": 3}}),
        "hostile_names": replace(named(adam, HOSTILE), title=HOSTILE),
        "error_and_saver": replace(adam, nodes=tuple(_marked(adam))),
        "name_based": _name_based(),
        "blocks": _called(transformer(4)),
        "measured": adam,
        "facts": _with_facts(),
        "numbered": _numbered(),
    }


def overlays() -> dict[str, Overlay]:
    """Return the comparisons of the fixtures, by file name."""
    check, diff = _check(), _diff()
    return {
        "check": check,
        "diff": diff,
        "hostile_check": _hostile(check),
        "measured_diff": diff,
    }


def measures() -> dict[str, Measures]:
    """Return what the values measure in the fixtures that have them, by file name."""
    # By node: elements, zeros, NaNs, infinities, min, max, mean, std, norm; in the diff also the
    # norm before, the norm of the change, its largest element, the changed part.
    alone: dict[int, tuple[float, ...]] = {
        5: (1, 0, 0, 0, 7, 7, 7, 0, 7),
        7: (12, 6, 0, 0, -2, 4, 0.5, 1.5, 1e3),
        8: (3, 3, 0, 0, 0, 0, 0, 0, 0),
        9: (12, 0, 2, 1, 1e-9, 3, 1, 0.25, 5.5),
        10: (3, 0, 3, 0, NONE, NONE, NONE, NONE, NONE),
    }
    compared: dict[int, tuple[float, ...]] = {
        2: (4, 0, 0, 0, -1, 1, 0, 1, 2, 8, 2, 0.5, 1),
        4: (2, 0, 2, 0, NONE, NONE, NONE, NONE, NONE, 3, math.inf, math.inf, 1),  # became NaN
        5: (4, 4, 0, 0, 0, 0, 0, 0, 0, NONE, NONE, NONE, NONE),
        6: (9, 1, 0, 0, 1, 1, 1, 0, 3, 3, 0, 0, 0),
        7: (2, 0, 0, 0, 1, 1, 1, 0, 1.5, 0, 1.5, 1, 1),
        10: (2, 0, 1, 0, 5, 5, 5, 0, 5, NONE, NONE, NONE, NONE),
    }
    return {
        "measured": _measures(len(keras3_adam().nodes), alone, unread=2),
        "measured_diff": _measures(len(_diff().graph.nodes), compared),
    }


_COLUMNS = [name for name in COLUMNS if name != "unreadable"]


def _measures(size: int, of_nodes: dict[int, tuple[float, ...]], unread: int = 0) -> Measures:
    columns = no_measures(size)
    for node_id, numbers in of_nodes.items():
        for name, number in zip(_COLUMNS, numbers, strict=False):
            columns[name][node_id] = number
    columns["unreadable"][size - 1] = 1 if unread else 0
    return Measures(columns, unread)


def expected(
    graph: Graph, overlay: Overlay | None = None, measures: Measures | None = None
) -> dict[str, Any]:
    """Return what the front end must make of the graph's payload."""
    tree = spanning_tree(graph.nodes)
    names = graph.names if overlay is None else overlay.names
    saved = [None] * len(graph.nodes) if overlay is None else [*overlay.saved_labels()]
    return {
        "title": graph.title,
        "origin": graph.origin.value,
        "notes": [*notes(graph), *(advice(graph) if overlay is None else overlay.notes)],
        "nodes": [
            {
                "name": graph.name(i),
                "place": names.place(i) if i != ROOT else ROOT_NAME,
                "role": node.role.value,
                "typeName": node.type_name,
                "error": node.error,
                "registeredSaver": node.registered_saver,
                "collections": ", ".join(node.collections) or None,
                "training": None if (training := graph.trainings[i]) is None else training.value,
                "facts": [fact._asdict() for fact in node.facts.stated] if node.facts else [],
                "gives": payload.shapes_text(node.facts and node.facts.gives),
                "gets": payload.shapes_text(node.facts and node.facts.gets),
                "notSaved": [
                    {
                        "name": u.name,
                        "type": u.type_name,
                        "values": u.count,
                        "isLost": u.is_lost,
                    }
                    for u in node.not_saved
                ],
                "label": tree.labels[i],
                "savedLabel": saved[i] or tree.labels[i],
                "treeParent": None if tree.parents[i] < 0 else tree.parents[i],
                "treeChildren": tree.children[i],
                "children": [{"localName": c.local_name, "node": c.node_id} for c in node.children],
                "edgesTo": [{"localName": n, "node": p} for p, n in graph.edges_to[i]],
                "attributes": [
                    {
                        "name": a.name,
                        "fullName": a.full_name,
                        "checkpointKey": a.checkpoint_key,
                        "dtype": a.dtype,
                        "shape": a.shape,
                        "nbytes": a.nbytes,
                        "slices": len(a.slices),
                        "error": a.error,
                    }
                    for a in node.attributes
                ],
                "size": _expected_size(graph, i),
                "slot": node.slot
                and {
                    "name": node.slot.name,
                    "variable": node.slot.variable,
                    "optimizer": node.slot.optimizer,
                    "rule": node.slot.rule.value,
                },
            }
            for i, node in enumerate(graph.nodes)
        ],
        "calls": list(graph.calls) or None,
        "layers": _expected_layers(graph.layers, {})
        if overlay is None
        else _expected_layers(overlay.layers, overlay.saved_titles),
        "overlay": overlay and _expected_overlay(overlay),
        "table": overlay and overlay.table and asdict(overlay.table),
        "measures": measures
        and {
            "unread": measures.unread,
            **{name: [_number(n) for n in measures[name].tolist()] for name in MEASURES},
        },
    }


def _number(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)


def _expected_layers(view: Layers, saved: Mapping[int, str]) -> dict[str, Any]:
    count = len(view.parents) - len(view.groups)
    rows = list(view.preorder())
    shown = {node_id: row for row in rows if row < count for node_id in view.path(row)}
    return {
        "order": rows,
        "labels": [view.title(row) for row in rows],
        "savedLabels": [saved.get(row, view.title(row)) for row in rows],
        "parents": [None if row == ROOT else view.parents[row] for row in rows],
        "groups": [
            None
            if row < count
            else {"isAlike": view.groups[row - count].is_alike, "size": len(view.children[row])}
            for row in rows
        ],
        "shownAs": [shown.get(node_id) for node_id in range(count)],
    }


def _expected_size(graph: Graph, node_id: int) -> dict[str, float | None]:
    """Return the bytes of a node, as the column of the outline counts them."""
    node = graph.nodes[node_id]
    known = [a.nbytes for a in node.attributes if a.nbytes is not None]
    own = sum(known) if known else None
    slots = {i for i, one in enumerate(graph.nodes) if one.slot and one.slot.variable == node_id}
    children = graph.tree.children[node_id]
    total = _bytes_below(graph, node_id)
    of_slots = sum(_bytes_below(graph, child) for child in children if child in slots)
    return {"own": own, "all": total - of_slots or own, "withSlots": total or own}


def _bytes_below(graph: Graph, node_id: int) -> float:
    own = sum(a.nbytes or 0 for a in graph.nodes[node_id].attributes)
    return own + sum(_bytes_below(graph, child) for child in graph.tree.children[node_id])


def _guess_json(overlay: Overlay, place: int) -> dict[str, Any]:
    guess = overlay.guesses[place]
    return {
        "place": place,
        "code": quoted(guess),
    }


def _expected_overlay(overlay: Overlay) -> dict[str, Any]:
    return {
        "comparison": overlay.comparison.value,
        "baseSize": overlay.base_size,
        "verdicts": [
            {"name": v.name, "passes": v.passes, "message": v.message} for v in overlay.verdicts
        ],
        "marks": [
            {
                "state": m.state.value,
                "detail": m.detail or None,
                "partner": m.partner or None,
                "goesTo": m.goes_to,
            }
            for m in overlay.marks
        ],
        "problems": [
            {
                "severity": p.severity.value,
                "kind": p.kind,
                "nodes": p.nodes,
                "saved": p.saved,
                "live": p.live,
                "why": p.why,
                "remedy": p.to_do(overlay.wording) or None,
            }
            for p in overlay.problems
        ],
        "isOther": [node_id >= overlay.base_size for node_id in range(len(overlay.marks))],
        "savedElements": {str(node_id): n for node_id, n in overlay.saved_elements.items()},
        "guesses": [_guess_json(overlay, place) for place in range(len(overlay.guesses))],
    }


def files() -> Iterator[tuple[Path, bytes]]:
    """Yield every fixture's path and content."""
    alone = {name: (graph, None) for name, graph in graphs().items()}
    compared = {name: (overlay.graph, overlay) for name, overlay in overlays().items()}
    measured = measures()
    for name, shown in (alone | compared).items():
        fixture = (*shown, measured.get(name))
        yield DIRECTORY / f"{name}.payload", payload.encode(*fixture)
        text = json.dumps(expected(*fixture), indent=1, ensure_ascii=False) + "\n"
        # As in the payload, what is no Unicode is spelled out: a backslash, in JSON two.
        yield DIRECTORY / f"{name}.json", re.sub("[\ud800-\udfff]", _spelled, text).encode()


def content(path: Path, data: bytes) -> bytes:
    """Return what must be equal: unpacked, since zlib's output differs between its versions."""
    return gzip.decompress(data) if path.suffix == ".payload" else data


def _called(blocks: ObjectGraph) -> ObjectGraph:
    """Return the graph with calls between its layers: in their order, and around each first one."""
    layers = [child.node_id for child in blocks.nodes[2].children]
    in_order = [Call(*pair) for pair in pairwise(layers)]
    around = [Call(*pair) for pair in pairwise(layers[::2])]
    return replace(blocks, calls=tuple(sorted(in_order + around)))


# root ─┬─ optimizer                 trains kernel and bias
#       └─ model ─┬─ kernel, bias
#                 ├─ added            in no optimizer
#                 ├─ moving           never trained
#                 └─ base ─┬─ kernel  trainable, but base is frozen
#                          └─ bias    says itself that it is not trainable
def _with_facts() -> ObjectGraph:
    """Return a graph with facts, shapes and every kind of training; hostile names among them."""
    model = graph(
        {
            0: {"optimizer": 1, "model": 2},
            1: {"_variables": 3, "_trainable_variables": 4, "_iterations": 5, "_momentums": 6},
            2: {"kernel": 7, "bias": 8, "added": 11, "moving": 12, "base": 13},
            3: {"0": 5, "1": 9, "2": 10},
            4: {"0": 7, "1": 8},
            6: {"0": 9, "1": 10},
            13: {"kernel": 14, "bias": 15},
        },
        variables=(5, 7, 8, 9, 10, 11, 12, 14, 15),
    )
    units = LayerFacts((Fact("units", "128"), Fact("activation", "relu")), ((1280,),), ((128,),))
    hostile = LayerFacts((Fact(HOSTILE, HOSTILE),), ((96, None, 3), (7,)), ((),))
    changes: dict[int, dict[str, Any]] = {
        2: {"role": Role.LAYER, "facts": units},
        13: {"role": Role.LAYER, "facts": hostile, "is_frozen": True},
        **{variable: {"trainable": True} for variable in (7, 8, 11, 14)},
        **{variable: {"trainable": False} for variable in (5, 9, 10, 12)},
        15: {"trainable": False, "is_frozen": True},
    }
    nodes = enumerate(model.nodes)
    return replace(model, nodes=tuple(node._replace(**changes.get(i, {})) for i, node in nodes))


def _numbered() -> ObjectGraph:
    """Return layers as Keras 3 saves them: by numbers, with names only in those of variables."""
    blocks = ("block_3_depthwise_BN", "block_3_expand", "block_4_expand", "block_4_c")
    layers = ("head_norm", *blocks, "my.net/tail", "head")
    tops = range(3, 3 + len(layers))
    kernels = range(tops.stop, tops.stop + len(layers))
    slot = kernels.stop
    numbered = graph(
        {
            0: {"model": 1, "opt": slot + 1},
            1: {"_operations": 2},
            2: {str(place): top for place, top in enumerate(tops)},
            **{top: {"_kernel": kernel} for top, kernel in zip(tops, kernels, strict=True)},
            slot + 1: {},
        },
        (*kernels, slot),
        {slot + 1: (("momentum", kernels[-1], slot),)},
    )
    nodes = [*numbered.nodes]
    for top, kernel, layer in zip(tops, kernels, layers, strict=True):
        (value,) = nodes[kernel].attributes
        value = value._replace(full_name=f"{layer}/kernel")
        nodes[kernel] = nodes[kernel]._replace(attributes=(value,))
        nodes[top] = nodes[top]._replace(own_name=layer if "/" in layer else None)
    return replace(numbered, nodes=tuple(nodes))


def _name_based() -> ObjectGraph:
    """Return what a name-based checkpoint in a managed directory gives."""
    names = ("dense/kernel", "dense/kernel/Adam", "dense/kernel/Adam_1")
    nodes = scope_nodes(
        NamedVariable(
            named_value(name, "float32", (4, 2), 32, slices=(Slice((0, 0), (2, 2)),) * 2),
            trainable="Adam" not in name,
            collections=("trainable_variables", "variables"),
        )
        for name in names
    )
    kept = (
        Kept("run/model-1", datetime(2026, 11, 20, 9, 30, tzinfo=timezone.utc), False),
        Kept("run/model-2", None, True),
    )
    said = "run/model-2 is the latest checkpoint, of 2 in run"
    provenance = Provenance("run", "run/model-2", Format.NAME_BASED, said, kept)
    return ObjectGraph(nodes, "run/model-2", Origin.SAVED, provenance)


# root ─┬─ model ─┬─ dense ─┬─ kernel, with slot m        the program's nodes: 0 to 12
#       │         │         └─ bias
#       │         ├─ head ─┬─ kernel                      another shape
#       │         │        └─ bias                        another dtype
#       │         └─ aux ── kernel                        nodes 13 and 14: in the file alone
#       ├─ optimizer ─┬─ iterations
#       │             └─ later                            node 15: waits until it is made
#       ├─ step                                           not in the file
#       └─ table                                          fails
def _check_graph() -> ObjectGraph:
    return graph(
        {
            0: {"model": 1, "optimizer": 2, "step": 3, "table": 4},
            1: {"dense": 5, "head": 6, "aux": 13},
            2: {"iterations": 7, "later": 15},
            5: {"kernel": 8, "bias": 9},
            6: {"kernel": 10, "bias": 11},
            13: {"kernel": 14},
        },
        (3, 4, 7, 8, 9, 10, 11, 12, 14, 15),
        {2: (("m", 8, 12),)},
        title="train.py: ckpt ← run/ckpt-40",
    )


def _check() -> Overlay:
    """Return a restore check with every state, and problems of every severity."""
    merged = _check_graph()
    marks = _marks(
        merged,
        {
            3: Mark(State.LIVE_ONLY),
            4: Mark(State.FAILED, "no saver of this name", "(root).tables.0"),
            9: Mark(State.WARNED, "two saved values, one variable", "(root).model.dense.b"),
            10: Mark(State.SHAPE, "float32 10×2 ≠ 10×3"),
            11: Mark(State.DTYPE, "float32 ≠ float64 11×2"),
            14: Mark(State.SAVED_ONLY),
            15: Mark(State.DEFERRED),
        },
    )
    head = "(root).model.head"
    problems: Sequence[Problem] = (
        Problem(
            Severity.ERROR,
            "shape",
            (10, 11),
            f"{head}.kernel",
            f"{head}.kernel",
            "The checkpoint has shape 10×3, the variable has 10×2.",
            PartialFix(instead="Make the layer with 3 units"),
        ),
        Problem(
            Severity.FAIL,
            "unresolved",
            (14, 13),
            "(root).model.aux.kernel",
            None,
            "Nothing in the program takes this value.",
            Advice("Save the model with tf.train.Checkpoint."),
        ),
        Problem(
            Severity.FAIL,
            "unmatched",
            (3,),
            None,
            "(root).step",
            "The checkpoint has no value for this variable.",
            Advice("Save once more with step tracked."),
        ),
        Problem(Severity.ERROR, "saver_unknown", (4,), "(root).table", None, "It has no saver."),
        Problem(
            Severity.DEFERRED,
            "not_built",
            (15,),
            "(root).optimizer.later",
            None,
            "The optimizer has no variables yet.",
            Advice("Call optimizer.build() before the restore."),
        ),
        Problem(
            Severity.WARNING,
            "value_lost",
            (9,),
            "(root).model.dense.b",
            "(root).model.dense.bias",
            "Two saved values go to one variable; the last one stays.",
            Advice("Give each its own variable."),
        ),
        Problem(
            Severity.WARNING,
            "wrong_path",
            (),
            None,
            None,
            "run/ckpt-40.index is a file of the checkpoint, not its prefix.",
            OtherPath("run/ckpt-40", PathResult.PASSES),
        ),
        Problem(Severity.INFO, "leftover", (), None, None, "save_counter is not used."),
    )
    verdicts = (
        Verdict("assert_consumed", False, "AssertionError: Unresolved object in checkpoint"),
        Verdict("assert_existing_objects_matched", False),
        Verdict("assert_nontrivial_match", True),
    )
    counts = "1 of another shape, 1 of another dtype, 1 not used, 1 not in checkpoint"
    said = f"restore() would raise ValueError: {counts}"
    sides = SideNames.of_one(merged)
    problems = _placed(problems, sides)
    guesses = f"{head}.aux", "(root).model.dense"
    return Overlay(
        *(Comparison.CHECK, merged, 13, marks, problems, verdicts, said),
        lambda _: _check_table(),
        guesses=guesses,
    )


# root ─┬─ model ─┬─ kernel      another value           nodes of b: 0 to 8
#       │         ├─ bias        another shape
#       │         ├─ scale       another dtype
#       │         ├─ gain        a variable in b, an object in a
#       │         └─ same
#       ├─ new                   holds what a has as old
#       ├─ added                 in b alone
#       ├─ old                   node 9: where new stood in a
#       └─ dropped               node 10: in a alone
def _diff() -> Overlay:
    """Return a diff with every state of one."""
    merged = graph(
        {
            0: {"model": 1, "new": 7, "added": 8, "old": 9, "dropped": 10},
            1: {"kernel": 2, "bias": 3, "scale": 4, "gain": 5, "same": 6},
        },
        tuple(range(2, 11)),
        title="run/ckpt-40 ↔ run/ckpt-50",
    )
    marked = {
        2: Mark(State.VALUE, "other bytes, float32 2×2"),
        3: Mark(State.SHAPE, "float32 3×4 ≠ 3×2"),
        4: Mark(State.DTYPE, "float64 ≠ float32 4×2"),
        5: Mark(State.ROLE, "object ≠ variable"),
        7: Mark(State.MOVED, "", "(root).old", 9),
        8: Mark(State.ONLY_B),
        9: Mark(State.MOVED, "", "(root).new", 7),
        10: Mark(State.ONLY_A),
    }
    problems = tuple(
        Problem(
            Severity.INFO,
            marked[nodes[0]].state.value.replace(" ", "_"),
            nodes,
            saved,
            live,
            why,
        )
        for nodes, saved, live, why in (
            ((2,), "(root).model.kernel", "(root).model.kernel", "The stored bytes differ."),
            ((3,), "(root).model.bias", "(root).model.bias", "The shape is 3×4 in a, 3×2 in b."),
            ((4,), "(root).model.scale", "(root).model.scale", "float64 in a, float32 in b."),
            ((5,), "(root).model.gain", "(root).model.gain", "An object in a, a variable in b."),
            ((7, 9), "(root).old", "(root).new", "It has another name in b."),
            ((8,), None, "(root).added", "Nothing in a corresponds to it."),
            ((10,), "(root).dropped", None, "Nothing in b corresponds to it."),
        )
    )
    said = "7 differences: 1 only in a, 1 only in b, 1 moved, 4 changed"
    marks = _marks(merged, marked)
    was = replace(merged, nodes=tuple(_renamed(merged, {"scale": "factor"})))
    sides = SideNames(merged, was, {node: node for node in (*range(7), 9, 10)})
    problems = _placed(problems, sides)
    verdict = Verdict("equal", False)
    return Overlay(
        Comparison.DIFF,
        merged,
        9,
        marks,
        problems,
        (verdict,),
        said,
        lambda _: _diff_table(),
        saved_elements={3: 12, 5: 0},
        sides=sides,
    )


_HERE = TableCell(CellSign.HERE, "here")


def _line(
    parent: int,
    names: str,
    nodes: int | tuple[int | None, int | None],
    plain: TableCell,
    fixed: TableCell | None = None,
    **more: Any,
) -> TableLine:
    """Return a line of a table: `old → new` for two names, an empty one for what a side lacks."""
    saved, _, live = names.partition(" → ") if " → " in names else (names, "", names)
    saved_node, live_node = (nodes, nodes) if isinstance(nodes, int) else nodes
    facts = {
        "saved_facts": "2×2" if saved else "not in the file",
        "live_facts": "" if live else "gone",
    }
    known = {"parent": parent, "saved": saved, "live": live, **facts, "values": 1, **more}
    return TableLine(saved_node=saved_node, live_node=live_node, plain=plain, fixed=fixed, **known)


def _check_table() -> ComparisonTable:
    """Return the table of the check: its lines in the order of the picture of its graph."""
    stays = TableCell(CellSign.NOWHERE, "nowhere"), TableCell(CellSign.NOWHERE, "stays")
    misfit = TableCell(CellSign.MISFIT, "stays, other shape")
    raises = TableCell(CellSign.FAILS, "other shape")
    waits = TableCell(CellSign.WAITS, "waits until built")
    keeps = TableCell(CellSign.KEEPS, "keeps its own")
    fails = TableCell(CellSign.FAILS, "no saver"), TableCell(CellSign.ASKS, "its own code decides")
    lines = (
        _line(NO_LINE, "dense", 5, _HERE, _HERE, values=3, live_facts="Dense"),
        _line(0, "kernel", 8, _HERE, _HERE, values=2),
        _line(0, "b → bias", 9, TableCell(CellSign.LIKELY, "two of one"), _HERE),
        _line(NO_LINE, "head", 6, raises, misfit, values=2, guess=0),
        _line(3, "kernel", 10, raises, misfit, guess=0),
        _line(3, "bias", 11, raises, misfit, guess=0),
        _line(NO_LINE, "aux → ", (13, None), *stays),
        _line(6, "kernel → ", (14, None), *stays),
        _line(NO_LINE, "optimizer", 2, waits, waits, values=2),
        _line(8, "iterations", 7, _HERE, _HERE),
        _line(8, "later → ", (15, None), waits, waits),
        _line(NO_LINE, " → step", (None, 3), keeps, keeps),
        _line(NO_LINE, "table", 4, *fails),
    )
    return ComparisonTable(
        sentence="You removed aux and added step.",
        verdict="A plain restore() raises ValueError.",
        heads=("as saved", "restore()", "with the fix", "in the program"),
        notes=("save_counter is not used.",),
        is_one_column=False,
        lines=lines,
        totals=Totals(saved=9, live=9, restored=4, fixed=5),
        guessed=(
            TableGuess(2, "Does w belong to v?", "A tick restores 2 values more.", "here, if so"),
            TableGuess(0, "Do the first 2 of 3 mean the same?", "A tick copies it.", "in part"),
        ),
    )


def empty_table(_: Overlay) -> ComparisonTable:
    """Return a table without lines, for tests that look at no table."""
    return ComparisonTable("", "", ("", "", "", ""), (), True, (), Totals(0, 0, 0, None))


def _diff_table() -> ComparisonTable:
    """Return the table of the diff: without a fix."""
    moved = TableCell(CellSign.ELSEWHERE, "moved")
    lines = (
        _line(NO_LINE, "model", 1, TableCell(CellSign.CHANGED, "1 value differs"), values=5),
        _line(0, "kernel", 2, TableCell(CellSign.CHANGED, "value differs")),
        _line(0, "bias", 3, TableCell(CellSign.MISFIT, "shape differs")),
        _line(0, "factor → scale", 4, TableCell(CellSign.MISFIT, "dtype differs")),
        _line(0, "gain", 5, TableCell(CellSign.MISFIT, "role differs")),
        _line(0, "same", 6, _HERE),
        _line(NO_LINE, "old → new", (9, 7), moved),
        _line(NO_LINE, " → added", (None, 8), TableCell(CellSign.KEEPS, "only in b")),
        _line(NO_LINE, "dropped → ", (10, None), TableCell(CellSign.NOWHERE, "only in a")),
    )
    return ComparisonTable(
        *("7 differences.", "", ("a", "change", "", "b"), ("b is newer.",), True, lines),
        Totals(saved=7, live=7, restored=1, fixed=None),
        worst=2,
    )


def _hostile_table(table: ComparisonTable) -> ComparisonTable:
    """Return a table with hostile texts alone."""
    head, cell = "<b>\u202e", replace(_HERE, words=HOSTILE)
    texts: Any = dict.fromkeys(("saved", "live", "saved_facts", "live_facts"), HOSTILE)
    return replace(
        table,
        sentence=HOSTILE,
        verdict=HOSTILE,
        heads=(head,) * 4,
        notes=(HOSTILE * 20,),
        is_one_column=False,
        lines=[replace(line, **texts, plain=cell) for line in table.lines],
    )


def _placed(problems: Iterable[Problem], names: SideNames) -> tuple[Problem, ...]:
    """Return problems of merged nodes with the place of their first node."""
    return tuple(
        replace(
            p,
            place=names.place_of_both((p.saved, p.nodes), (p.live, p.nodes)),
        )
        for p in problems
    )


def _renamed(graph: ObjectGraph, names: dict[str, str]) -> Iterator[Node]:
    """Yield the nodes of a graph with other local names."""
    for node in graph.nodes:
        yield node._replace(
            children=tuple(
                child._replace(local_name=names.get(child.local_name, child.local_name))
                for child in node.children
            )
        )


def _marks(graph: ObjectGraph, marked: dict[int, Mark]) -> tuple[Mark, ...]:
    """Return those marks, and the state that every other node has."""
    return tuple(
        marked.get(i, Mark(State.MATCHED if node.attributes else State.PLAIN))
        for i, node in enumerate(graph.nodes)
    )


def _hostile(overlay: Overlay) -> Overlay:
    return replace(
        overlay,
        graph=named(_check_graph(), HOSTILE),
        headline=HOSTILE,
        marks=tuple(replace(mark, detail=HOSTILE, partner=HOSTILE) for mark in overlay.marks),
        problems=tuple(
            Problem(
                *(p.severity, HOSTILE, p.nodes, HOSTILE, HOSTILE, HOSTILE * 20, Advice(HOSTILE)),
            )
            for p in overlay.problems
        ),
        guesses=(HOSTILE, HOSTILE * 2),
        verdicts=(Verdict(HOSTILE, False, HOSTILE),),
        draw_table=lambda _: _hostile_table(overlay.table),
    )


def _spelled(match: re.Match[str]) -> str:
    return f"\\\\u{ord(match[0]):04x}"


def _marked(graph: ObjectGraph) -> Iterator[Node]:
    for i, node in enumerate(graph.nodes):
        if i == 2:
            node = node._replace(error="ValueError: poisoned", type_name="Dense", role=Role.LAYER)
        if i == 6:
            node = node._replace(registered_saver="Custom.saver", role=Role.VALUE)
        if i == 0:
            note = NotSaved("_loss_tracker", "Mean", 2, is_lost=False)
            node = node._replace(not_saved=(NotSaved("blocks", "TrackedList", 2), note))
        if i == 7:
            broken = node.attributes[0]._replace(error="ckpt.data: no such file")
            node = node._replace(attributes=(broken,))
        yield node


if __name__ == "__main__":
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for path, data in files():
        path.write_bytes(data)
