"""Bytes read from disk to show a checkpoint of several gigabytes.

Writes a sparse checkpoint, which takes no space: an index, an object graph, and shards that are
holes except for the graph. Opens it in a process of its own. That process asks the kernel how many
bytes all its read calls returned, from the disk or its cache. The kernel has this figure as `rchar`
in /proc/self/io, so this runs on Linux only.

    python -m benchmarks.bytes_read [--gigabytes 8] [--tensors 2000]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ckpt_viz.formats.arrays.protos import TrackableObjectGraph
from tests.support import tables

GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
# Opens twice: the first run also reads the modules that it imports.
OPEN = """
import sys, ckpt_viz as cv
def read():
    with open("/proc/self/io") as file:
        return int(file.readline().split()[1])
cv.graph(sys.argv[1])
before = read()
own = read() - before
before = read()
graph = cv.graph(sys.argv[1])
print(read() - before - own, len(graph.nodes))
"""


def write_sparse(prefix: str, count: int, size: int) -> int:
    """Write a checkpoint of so many bytes, and return how many the object graph takes."""
    graph = TrackableObjectGraph()
    root = graph.nodes.add()
    tensors: dict[str, bytes] = {}
    for number in range(count):
        key = f"layer_{number:05d}/.ATTRIBUTES/VARIABLE_VALUE"
        root.children.add(node_id=number + 1, local_name=f"layer_{number:05d}")
        node = graph.nodes.add()
        node.attributes.add(name="VARIABLE_VALUE", full_name=f"v{number}", checkpoint_key=key)
        tensors[key] = tables.bundle_entry(
            tables.FLOAT32, tables.shape(size // 4), offset=number * size, size=size
        )
    stored = tables.string(graph.SerializeToString())
    tensors[GRAPH_KEY] = tables.bundle_entry(
        tables.STRING,
        offset=count * size,
        size=len(stored.data),
        crc32c=tables.masked_crc32c(stored.checked),
    )
    rows = sorted((key.encode(), entry) for key, entry in tensors.items())
    tables.write_index(prefix, [(b"", tables.header()), *rows])
    with open(f"{prefix}.data-00000-of-00001", "wb") as file:
        file.seek(count * size)
        file.write(stored.data)
    return len(stored.data)


def main() -> None:
    """Write the checkpoint, open it, print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gigabytes", type=int, default=8)
    parser.add_argument("--tensors", type=int, default=2_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        prefix = str(Path(directory, "ckpt"))
        size = (options.gigabytes << 30) // options.tensors // 4 * 4
        graph_bytes = write_sparse(prefix, options.tensors, size)
        index_bytes = os.path.getsize(f"{prefix}.index")
        whole = os.path.getsize(f"{prefix}.data-00000-of-00001")
        output = subprocess.run(
            [sys.executable, "-c", OPEN, prefix], check=True, capture_output=True, text=True
        ).stdout.split()
        read, nodes = map(int, output)
    print(f"{whole / (1 << 30):.1f} GiB, {nodes} nodes")
    print(f"index {index_bytes} bytes, object graph {graph_bytes} bytes")
    print(f"read {read} bytes, {read - index_bytes - graph_bytes} more than those two")


if __name__ == "__main__":
    main()
