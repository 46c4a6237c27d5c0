"""The payload fixtures that Python writes and TypeScript reads (labextension/src/graph.test.ts).

`python -m tests.payload_fixtures` writes them anew; tests/test_payload.py fails while what is
committed is not what this code would write.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ckpt_viz import (
    Format,
    Kept,
    Node,
    NotSaved,
    ObjectGraph,
    Origin,
    Provenance,
    Role,
    Slice,
)
from ckpt_viz.object_graph.scopes import NamedVariable, named_value, scope_nodes
from ckpt_viz.object_graph.tree import spanning_tree
from ckpt_viz.render import payload
from ckpt_viz.render.text import notes
from tests.graphs import graph, keras3_adam, named

DIRECTORY = Path(__file__).parent / "data" / "payloads"
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
    }


def expected(graph: ObjectGraph) -> dict[str, Any]:
    """Return what the front end must make of the graph's payload."""
    tree = spanning_tree(graph.nodes)
    return {
        "title": graph.title,
        "origin": graph.origin.value,
        "notes": notes(graph),
        "nodes": [
            {
                "name": graph.name(i),
                "role": node.role.value,
                "typeName": node.type_name,
                "error": node.error,
                "registeredSaver": node.registered_saver,
                "trainable": node.trainable,
                "collections": ", ".join(node.collections) or None,
                "notSaved": [
                    {"name": u.name, "type": u.type_name, "values": u.count} for u in node.not_saved
                ],
                "label": tree.labels[i],
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
    }


def files() -> Iterator[tuple[Path, bytes]]:
    """Yield every fixture's path and content."""
    for name, fixture in graphs().items():
        yield DIRECTORY / f"{name}.payload", payload.encode(fixture)
        text = json.dumps(expected(fixture), indent=1, ensure_ascii=False) + "\n"
        # As in the payload, what is no Unicode is spelled out: a backslash, in JSON two.
        yield DIRECTORY / f"{name}.json", re.sub("[\ud800-\udfff]", _spelled, text).encode()


def content(path: Path, data: bytes) -> bytes:
    """Return what must be equal: unpacked, since zlib's output differs between its versions."""
    return gzip.decompress(data) if path.suffix == ".payload" else data


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


def _spelled(match: re.Match[str]) -> str:
    return f"\\\\u{ord(match[0]):04x}"


def _marked(graph: ObjectGraph) -> Iterator[Node]:
    for i, node in enumerate(graph.nodes):
        if i == 2:
            node = replace(node, error="ValueError: poisoned", type_name="Dense", role=Role.LAYER)
        if i == 6:
            node = replace(node, registered_saver="Custom.saver", role=Role.VALUE)
        if i == 0:
            node = replace(node, not_saved=(NotSaved("blocks", "TrackedList", 2),))
        if i == 7:
            broken = replace(node.attributes[0], error="ckpt.data: no such file")
            node = replace(node, attributes=(broken,))
        yield node


if __name__ == "__main__":
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for path, data in files():
        path.write_bytes(data)
