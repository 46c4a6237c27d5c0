"""Time and memory to open a saved checkpoint of 20,000 nodes, against TensorFlow.

Runs whole processes in turn, as a user does: `cv.graph(prefix)` against `import tensorflow`,
`tf.train.load_checkpoint` and parsing the object graph. Prints both and the ratio pair by pair.

    python benchmarks/open_saved.py [--nodes 20000] [--runs 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WRITE = """
import sys, tensorflow as tf
root = tf.Module()
for i in range(int(sys.argv[2]) // 3):
    layer = tf.Module()
    layer.kernel, layer.bias = tf.Variable([[1.0]]), tf.Variable([1.0])
    setattr(root, f"layer_{i}", layer)
tf.train.Checkpoint(root).write(sys.argv[1])
"""
OURS = "import sys, ckpt_viz as cv; print(len(cv.graph(sys.argv[1]).nodes))"
TENSORFLOW = """
import sys, tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph
reader = tf.train.load_checkpoint(sys.argv[1])
graph = TrackableObjectGraph.FromString(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
print(len(graph.nodes))
"""


def measure(program: str, *arguments: str) -> tuple[float, float, str]:
    """Return seconds, peak MB and output of a whole process."""
    environ = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    output = process.stdout.read().strip()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit status {process.returncode} of: {program}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024, output


def main() -> None:
    """Write a checkpoint, open it both ways in turn, print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        prefix = str(Path(directory, "ckpt"))
        measure(WRITE, prefix, str(options.nodes))
        measure(OURS, prefix), measure(TENSORFLOW, prefix)  # warms the page cache
        pairs = []
        for _ in range(options.runs):
            ours, theirs = measure(OURS, prefix), measure(TENSORFLOW, prefix)
            assert ours[2] == theirs[2], "both must see the same number of nodes"
            pairs.append((ours, theirs))
    print(f"{pairs[0][0][2]} nodes, {options.runs} runs, medians")
    for index, unit in ((0, "s"), (1, "MB")):
        mine = statistics.median(ours[index] for ours, _ in pairs)
        other = statistics.median(theirs[index] for _, theirs in pairs)
        ratio = statistics.median(ours[index] / theirs[index] for ours, theirs in pairs)
        print(f"ckpt_viz {mine:.2f} {unit}, TensorFlow {other:.2f} {unit}, ratio 1/{1 / ratio:.1f}")


if __name__ == "__main__":
    main()
