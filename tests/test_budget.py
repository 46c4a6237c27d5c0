"""Counts of work beside their bounds in benchmarks/budget.toml, which no machine changes.

A second walk or a new import is seen on the day it comes. Who makes a bound larger says why.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from configparser import ConfigParser
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.graphs.nodes.nodes import Attribute, Child, Node
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render.payload import encode
from ckpt_viz.graphs.slots.roles import assign_roles

pytestmark = pytest.mark.tf

_PACKAGE = Path(cv.__file__).parent
_BUDGET = Path(__file__).parents[1] / "benchmarks" / "budget.toml"
_BLOCKS = 12
_OPEN = """
import sys
import ckpt_viz as cv
def own():
    names = {name for name in sys.modules if name.partition(".")[0] == "ckpt_viz"}
    return {name for name in names if not hasattr(sys.modules[name], "__path__")}
print(len(own()))
cv.graph(sys.argv[1])
print(len(own()))
"""

Calls = Counter[tuple[str, str]]


@contextmanager
def counted_calls() -> Iterator[Calls]:
    """Count the calls of the package's functions, by module and name."""
    calls = Calls()

    def called(frame: FrameType, event: str, arg: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(_PACKAGE)):
            calls[Path(path).stem, frame.f_code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def calls_of(work: Callable[[], object]) -> Calls:
    work()  # what is known of each class is known for ever
    with counted_calls() as calls:
        work()
    return calls


def program(classes: int) -> Any:
    """Return the checkpoint of a model of some convolutions with Adam."""
    import keras
    import tensorflow as tf
    from keras import layers

    keras.backend.clear_session()
    x = inputs = keras.Input((16, 16, 3))
    for block in range(_BLOCKS):
        x = layers.Conv2D(4, 3, padding="same", name=f"block{block}_conv")(x)
        x = layers.BatchNormalization(name=f"block{block}_bn")(x)
        x = layers.ReLU(name=f"block{block}_relu")(x)
    outputs = layers.Dense(classes, name="head")(layers.GlobalAveragePooling2D(name="average")(x))
    model = keras.Model(inputs, outputs)
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    return tf.train.Checkpoint(model=model, optimizer=optimizer)


def plain_graph() -> cv.ObjectGraph:
    """Return a graph of layers of two values each, which no file has."""
    nodes, children = [Node()], list[Child]()
    for layer in range(300):
        children.append(Child(f"layer_{layer}", len(nodes)))
        parts = tuple(Child(part, len(nodes) + i) for i, part in enumerate(("kernel", "bias"), 1))
        nodes.append(Node(parts))
        nodes += [_value(f"layer_{layer}/{part.local_name}") for part in parts]
    nodes[0] = Node(tuple(children))
    return cv.ObjectGraph(assign_roles(nodes), "model", cv.Origin.SAVED)


def _value(name: str) -> Node:
    return Node(attributes=(Attribute("VARIABLE_VALUE", name, name, "float32", (2,), 8),))


def _pictured(check: cv.RestoreCheck) -> tuple[Graph, Overlay]:
    return check.overlay.graph, check.overlay


def figures(directory: Path) -> Mapping[str, float]:
    """Return what is counted, by its name in the budget."""
    live = program(1000)
    path = program(1000).save(str(directory / "ckpt"))
    changed = program(7)
    size = len(cv.graph(path).nodes)
    opening = calls_of(lambda: cv.graph(path))
    walk = calls_of(lambda: cv.graph(live))
    check = calls_of(lambda: cv.check(live, path))
    of_changed = calls_of(lambda: cv.check(changed, path))
    checks = [(cv.check(live, path), cv.check(changed, path)) for _ in range(2)]
    shown, fixed = iter(checks), iter(checks)
    picture = calls_of(lambda: encode(*_pictured(next(shown)[0])))
    code = calls_of(lambda: next(fixed)[1].fix().code)
    output = subprocess.check_output([sys.executable, "-c", _OPEN, path], text=True)
    imported, opened = map(int, output.split())
    a, b = plain_graph(), plain_graph()
    diff = cv.diff(a, b)
    return {
        "modules.import": imported,
        "modules.open": opened,
        "calls_for_each_node.open": opening.total() / size,
        "calls_for_each_node.walk": walk.total() / size,
        "calls_for_each_node.check": check.total() / size,
        "calls_for_each_node.check_of_changed": of_changed.total() / size,
        "calls_for_each_node.picture_of_check": picture.total() / size,
        "calls_for_each_node.code_of_fix": code.total() / size,
        "calls_for_each_node.find_again": calls_of(lambda: a.find("kernel")).total() / len(a.nodes),
        "calls_for_each_node.text_of_equal": calls_of(lambda: str(diff)).total() / len(a.nodes),
        "calls.walks_in_a_check": check["walk", "reach"],
        "calls.searches_for_untracked_in_a_check": check["untracked", "unsaved_in"],
        "calls.correspondences_in_a_check": check["correspond", "correspond"],
        "calls.correspondences_in_a_check_of_changed": of_changed["correspond", "correspond"],
    }


def test_no_count_is_beyond_its_bound(tmp_path: Path) -> None:
    budget = ConfigParser(inline_comment_prefixes="#")  # Python 3.10 reads no TOML
    budget.read_string(_BUDGET.read_text("utf-8"))
    tables = [(table, budget[table].items()) for table in budget.sections()]
    bounds = {f"{table}.{name}": float(bound) for table, of in tables for name, bound in of}
    counts = figures(tmp_path)
    for name, seen in counts.items():
        print(f"{name}: {seen:.2f} of {bounds.get(name)}")
    assert counts.keys() == bounds.keys()
    assert {name: seen for name, seen in counts.items() if seen > bounds[name]} == {}
