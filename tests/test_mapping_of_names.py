"""The mapping of names tells the truth: each variable has a tag, whatever its name becomes.

A random program of TensorFlow 1 gets other scopes, other last names, more and fewer variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format, Origin, Provenance
from ckpt_viz.graphs.slots.scopes import NamedVariable, named_value, scope_nodes
from ckpt_viz.matching.correspondence.of_savers import map_names
from ckpt_viz.matching.correspondence.pairs import is_guess
from tests.support.amounts import amount

WORDS = (
    *("bert", "encoder", "decoder", "attention", "self", "output", "query", "key", "value"),
    *("dense", "conv", "block", "stem", "head", "tower", "embed", "norm", "pool"),
)
NEW_WORDS = (
    "former",
    "trunk",
    "branch",
    "sapling",
)  # words of other scopes mislead
OLD_NAMES = {"kernel": "weights", "bias": "biases"}

Tag = tuple[int, str]
Names = dict[Tag, tuple[str, tuple[int, ...]]]


def _program(rng: Random) -> Names:
    """Return names and shapes of a random tree of layers, by tag."""
    layers: list[str] = []

    def grow(scope: str, depth: int) -> None:
        inside = rng.sample(WORDS, rng.choice((1, 2, 2, 3)))
        if rng.random() < 0.35:
            inside = [f"{inside[0]}_{number}" for number in range(rng.choice((2, 3, 4)))]
        for name in inside:
            if depth < rng.choice((1, 2, 3)):
                grow(f"{scope}{name}/", depth + 1)
            else:
                layers.append(f"{scope}{name}")

    grow(f"{rng.choice(WORDS)}/" if rng.random() < 0.6 else "", 0)
    return {
        (number, name): (f"{layer}/{name}", shape)
        for number, layer in enumerate(layers[: rng.choice((3, 6, 12, 20))])
        for name, shape in _layer(rng).items()
    }


def _layer(rng: Random) -> dict[str, tuple[int, ...]]:
    inputs, units = rng.choice((2, 3, 4, 8)), rng.choice((2, 3, 4, 8, 10))
    kinds: tuple[dict[str, tuple[int, ...]], ...] = (
        {"kernel": (inputs, units), "bias": (units,)},
        {"kernel": (3, 3, inputs, units), "bias": (units,)},
        {"gamma": (units,), "beta": (units,), "moving_mean": (units,)},
    )
    return rng.choice(kinds)


def _other_names(names: Names, new_name: Callable[[str], str]) -> Names:
    return {tag: (new_name(name), shape) for tag, (name, shape) in names.items()}


def _scope_of(rng: Random, names: Names) -> str:
    parts = rng.choice([name for name, _ in names.values()]).split("/")
    return "/".join(parts[: rng.randint(1, max(1, len(parts) - 1))])


def _rename_scope(rng: Random, names: Names) -> Names:
    old = _scope_of(rng, names)
    new = f"{old.rpartition('/')[0]}/{rng.choice(NEW_WORDS)}".strip("/")
    return _other_names(names, lambda n: new + n[len(old) :] if n.startswith(f"{old}/") else n)


def _wrap(rng: Random, names: Names) -> Names:
    return _other_names(names, lambda name: f"outer/{name}")


def _unwrap(rng: Random, names: Names) -> Names:
    firsts = {name.partition("/")[0] for name, _ in names.values()}
    is_common = len(firsts) == 1 and all(name.count("/") > 1 for name, _ in names.values())
    return _other_names(names, lambda name: name.partition("/")[2]) if is_common else names


def _last_names(rng: Random, names: Names) -> Names:
    def older(name: str) -> str:
        scope, _, last = name.rpartition("/")
        return f"{scope}/{OLD_NAMES.get(last, last)}"

    return _other_names(names, older)


def _drop(rng: Random, names: Names) -> Names:
    scope = _scope_of(rng, names)
    left = {tag: kept for tag, kept in names.items() if not kept[0].startswith(f"{scope}/")}
    return left or names


def _add(rng: Random, names: Names) -> Names:
    scope, number = _scope_of(rng, names), rng.randrange(1000)
    return {**names, (-number - 1, ""): (f"{scope}/fresh_{number}/kernel", (7, 11 + number))}


EDITS = (_rename_scope, _wrap, _unwrap, _last_names, _drop, _add)


def _graph(names: Names) -> Graph:
    nodes = scope_nodes(
        NamedVariable(named_value(name, "float32", shape, None)) for name, shape in names.values()
    )
    return Graph(nodes, "program", Origin.SAVED, Provenance("", "", Format.NAME_BASED))


def _tags(graph: Graph, names: Names) -> dict[int, Tag]:
    by_name = {name: tag for tag, (name, _) in names.items()}
    nodes = enumerate(graph.nodes)
    return {node: by_name[a.full_name] for node, proto in nodes for a in proto.attributes}


@pytest.mark.parametrize("first", range(0, amount(200, 6000), 100))
def test_no_sure_pair_is_wrong_and_nearly_all_are_sure(first: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(first, first + 100):
        rng = Random(seed)
        was = now = _program(rng)
        for _ in range(rng.choice((1, 2, 4, 8))):
            now = rng.choice(EDITS)(rng, now)
        if len({name for name, _ in now.values()}) < len(now):
            continue
        saved, live = _graph(was), _graph(now)
        mapping, tags = map_names(saved, live, {}), (_tags(saved, was), _tags(live, now))
        sure = [pair for pair in mapping.pairs if not is_guess(pair)]
        wrong = [pair for pair in sure if tags[0][pair.node] != tags[1][pair.obj]]
        assert not wrong, (seed, [saved.name(pair.node) for pair in wrong])
        counts.update(cases=1, sure=len(sure), possible=len(was.keys() & now.keys()))
    assert counts["cases"] > 50 and counts["sure"] > 0.98 * counts["possible"]
