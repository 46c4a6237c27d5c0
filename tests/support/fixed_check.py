"""A check with a fix, made of graphs alone, and what a kernel would answer about the fix."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import ckpt_viz as cv
from ckpt_viz import ObjectGraph
from ckpt_viz.entrances.jupyter.answers import Answer, fix_answer
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.graphs.overlay.overlay import Overlay
from tests.support.graphs import graph


@dataclass(frozen=True)
class FixedCheck:
    """The check of a live program, and the answers about its fix."""

    overlay: Overlay
    answers: Mapping[str, Answer]

    def as_javascript(self) -> str:
        """Return the answers by question, each with its buffers."""
        entries = {
            ask: [data, [base64.b64encode(buffer).decode("ascii") for buffer in buffers]]
            for ask, (data, buffers) in self.answers.items()
        }
        encoded = json.dumps(json.dumps(entries)).replace("<", "\\u003c")
        bytes_of = "Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer"
        buffer = f"buffers.map((text) => new DataView({bytes_of}))"
        pair = f"([ask, [data, buffers]]) => [ask, [data, {buffer}]]"
        return f"Object.fromEntries(Object.entries(JSON.parse({encoded})).map({pair}))"


def fixed_check(program: ObjectGraph, saved: ObjectGraph, source: str | None = None) -> FixedCheck:
    """Return the check of a program that would save this graph, as if it were live."""
    check = cv.check(program, saved)
    overlay = check.overlay
    live = replace(overlay, graph=replace(overlay.graph, origin=Origin.LIVE))
    return FixedCheck(live, {"fix": fix_answer(check, check.fix(), source, ())})


def of_shapes(of: ObjectGraph, shapes: Mapping[int, tuple[int, ...]]) -> ObjectGraph:
    """Return a graph with other shapes of some variables."""
    nodes = list(of.nodes)
    for node_id, shape in shapes.items():
        (attribute,) = nodes[node_id].attributes
        nodes[node_id] = nodes[node_id]._replace(attributes=(attribute._replace(shape=shape),))
    return replace(of, nodes=tuple(nodes))


def every_kind() -> FixedCheck:
    """Return a check whose fix has pairs of every certainty, values to keep, and unused ones."""
    saved = graph(
        {
            0: {"net": 1, "step": 2, "blocks": 8, "out": 13},
            1: {"encoder": 3, "head": 4},
            3: {"w": 5, "b": 6},
            4: {"w": 7},
            8: {"0": 9, "1": 10},
            9: {"w": 11},
            10: {"w": 12},
            13: {"w": 14},
        },
        (2, 5, 6, 7, 11, 12, 14),
        title="ckpt-7",
    )
    program = graph(
        {
            0: {"net": 1, "blocks": 10, "head": 17},
            1: {"inner": 2, "classifier": 4, "new": 8},
            2: {"dense": 3},
            3: {"w": 5, "b": 6},
            4: {"w": 7},
            8: {"w": 9},
            10: {"0": 11, "1": 12, "2": 13},
            11: {"w": 14},
            12: {"w": 15},
            13: {"w": 16},
            17: {"w": 18},
        },
        (5, 6, 7, 9, 14, 15, 16, 18),
        title="Checkpoint",
    )
    blocks = dict.fromkeys((14, 15, 16), (8,))
    return fixed_check(
        of_shapes(program, {5: (3, 4), 6: (4,), 7: (3, 9), 9: (2,), 18: (6, 6), **blocks}),
        of_shapes(
            saved,
            {2: (11,), 5: (3, 4), 6: (4,), 7: (3, 7), 11: (8,), 12: (8,), 14: (6, 6)},
        ),
        "trainer",
    )
