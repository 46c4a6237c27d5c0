"""Size of a saved notebook with one explorer, and with ten of the same graph.

Runs each notebook in a kernel of its own, as `nbconvert --execute` does. Prints the kilobytes of
the outputs alone, and with the state of the widgets, which a setting makes JupyterLab send. It also
prints what the server extension saves, and the ratio of ten explorers to one.

    python -m benchmarks.saved_notebook [--b7]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from typing import Any

import nbformat
from nbclient import NotebookClient

import ckpt_viz as cv
from ckpt_viz.entrances.server.slim_notebooks import slimmed

# That of TensorFlow's guide, and one of the size of EfficientNetB7 with Adam.
GRAPHS = {
    "quickstart, 19 nodes": """
import ckpt_viz as cv
from tests.support.live_objects import guide_loop
graph = guide_loop()
""",
    "3,301 nodes": """
import ckpt_viz as cv
from benchmarks.saved_notebook import large
graph = large()
""",
}
B7 = """
import tensorflow as tf
import ckpt_viz as cv
model = tf.keras.applications.EfficientNetB7(weights=None)
optimizer = tf.keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
graph = tf.train.Checkpoint(model=model, optimizer=optimizer)
"""


@dataclass(frozen=True)
class Sizes:
    """Bytes of a saved notebook."""

    outputs: int
    with_state: int
    slim: int


def large(layers: int = 550) -> cv.ObjectGraph:
    """Return a graph of layers with a kernel, a bias, and a moving average of each."""
    nodes = [cv.Node(tuple(cv.Child(f"layer_{i}", 1 + i) for i in range(layers)))]
    places = iter(range(1 + layers, 1 + 6 * layers))
    names = ("kernel", "bias", "moving_kernel", "moving_bias", "axis")
    nodes += [cv.Node(tuple(cv.Child(name, next(places)) for name in names)) for _ in range(layers)]
    for i in range(layers):
        for name in names:
            key = f"model/layer_with_weights-{i}/{name}/.ATTRIBUTES/VARIABLE_VALUE"
            value = cv.Attribute("VARIABLE_VALUE", f"block{i}/{name}", key, "float32", (3, 3, i))
            nodes.append(cv.Node((), (value,), role=cv.Role.VARIABLE))
    return cv.ObjectGraph(tuple(nodes), "large", cv.Origin.SAVED)


def measure(setup: str, explorers: int) -> Sizes:
    """Run a notebook that shows so many explorers, each in a cell of its own."""
    cells = [f"import os\nos.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'\n{setup}"]
    cells += ["cv.show(graph)"] * explorers
    notebook = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],  # type: ignore[no-untyped-call]
    )
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    with_state, slim = _size(notebook), _size(slimmed(notebook))
    del notebook.metadata["widgets"]
    return Sizes(_size(notebook), with_state, slim)


def _size(notebook: dict[str, Any]) -> int:
    return len(json.dumps(notebook, indent=1, ensure_ascii=False).encode()) + 1


def main() -> None:
    """Print a line for each graph and way of saving."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--b7", action="store_true", help="EfficientNetB7 with Adam, too")
    graphs = GRAPHS | ({"EfficientNetB7 with Adam": B7} if parser.parse_args().b7 else {})
    print(f"{'graph':26}{'saved':16}{'one, kB':>10}{'ten, kB':>10}{'ratio':>8}")
    for name, setup in graphs.items():
        one, ten = measure(setup, 1), measure(setup, 10)
        for how, first, all_ten in (
            ("outputs", one.outputs, ten.outputs),
            ("with state", one.with_state, ten.with_state),
            ("by the server", one.slim, ten.slim),
        ):
            figures = f"{first / 1000:10.1f}{all_ten / 1000:10.1f}{all_ten / first:8.2f}"
            print(f"{name:26}{how:16}{figures}", flush=True)


if __name__ == "__main__":
    main()
