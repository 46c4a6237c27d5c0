"""The mapping of saved values to variables: laws on random programs and known refactorings."""

from __future__ import annotations

import copy
from collections import Counter
from random import Random

import pytest

from ckpt_viz.correspondence.pairs import Certainty
from ckpt_viz.correspondence.value_mapping import ValueMapping, map_values
from ckpt_viz.object_graph.graph import Origin
from tests.support.amounts import amount
from tests.support.graphs import keras3_adam
from tests.support.refactorings import (
    REFACTORINGS,
    Maker,
    Part,
    Refactoring,
    graph_of,
    insert,
    move,
    remove,
    rename,
    reshape,
    root_shift,
    to_list,
    to_names,
    unwrap,
    wrap,
)

PROGRAMS = amount(60, 1000)
ALWAYS_DECIDED = (rename, wrap, unwrap, to_names, to_list, root_shift)
ALWAYS_FOUND = tuple(one for one in REFACTORINGS if one is not insert)


def judged(was: Part, now: Part) -> Counter[str]:
    """Return how many values are right, wrong, missed, or rightly left out, by certainty.

    A value is rightly left out if it is gone, or if another layer has a name of its layer: a name
    that is there wins over shapes.
    """
    saved, identities = graph_of(was, Origin.SAVED)
    live, others = graph_of(now, Origin.LIVE)
    places = {identity: obj for obj, identity in others.items()}
    pairs = {pair.node: pair for pair in map_values(saved, live).pairs}
    owners = {saved.name(node): identity for node, identity in identities.items()}
    others_now = {live.name(obj): identity for obj, identity in others.items()}
    found: Counter[str] = Counter()
    for node, identity in identities.items():
        pair, true = pairs.get(node), places.get(identity)
        if pair is None and true is not None:
            names = saved.name(node), live.name(true)
            holders = {owners.get(names[1], identity), others_now.get(names[0], identity)}
            is_item = any(name.split(".")[-2].isdecimal() for name in names)
            found["missed" if is_item or holders == {identity} else "gone"] += 1
        elif pair is None:
            found["gone"] += 1
        elif pair.obj == true:
            found["right"] += 1
        else:
            found[f"wrong, {pair.certainty.value}"] += 1
    return found


def changed(seed: int, *refactorings: Refactoring, are_distinct: bool = False) -> Counter[str]:
    """Judge the mapping of a random program to what one to three refactorings make of it."""
    rng = Random(seed)
    maker = Maker(rng, are_distinct=are_distinct)
    was = maker.model()
    now = copy.deepcopy(was)
    for _ in range(rng.choice([1, 1, 2, 3])):
        rng.choice(refactorings)(maker, now)
    return judged(was, now)


@pytest.mark.parametrize("refactoring", ALWAYS_FOUND, ids=lambda one: one.__name__)
def test_values_in_layers_of_different_shapes_are_found_wherever_they_are(
    refactoring: Refactoring, seed: int
) -> None:
    for number in range(PROGRAMS):
        found = changed(seed + number, refactoring, are_distinct=True)
        assert found.keys() <= {"right", "gone"}, (seed + number, found)


@pytest.mark.parametrize("refactoring", ALWAYS_DECIDED, ids=lambda one: one.__name__)
def test_alike_layers_are_found_by_their_names_and_their_order(
    refactoring: Refactoring, seed: int
) -> None:
    for number in range(PROGRAMS):
        found = changed(seed + number, refactoring)
        assert found.keys() == {"right"}, (seed + number, found)


@pytest.mark.parametrize("kind", ["layer", "list"])
def test_a_part_that_is_gone_leaves_its_name_to_the_part_that_has_it_now(kind: str) -> None:
    """Two parts dissolve. One has the name of what the other held, and a value like those in it."""
    maker = Maker(Random(0))

    def layer(label: str, width: int) -> Part:
        return Part(label, [maker.value("kernel", 4, width), maker.value("bias", width)])

    inner = {
        "layer": layer("expand", 8),
        "list": Part("expand", [layer("0", 8), layer("1", 8), layer("2", 8)]),
    }[kind]
    name_giver = Part("expand", [layer("fuse", 8), layer("mix", 32)])
    gone = Part("key", [layer("value", 4), inner])
    was = Part("", [Part("model", [layer("gate", 64), name_giver, gone])])
    now = copy.deepcopy(was)
    gate, *dissolved = now.parts[0].parts
    now.parts[0].parts = [gate, *(part for holder in dissolved for part in holder.parts)]
    assert judged(was, now).keys() == {"right"}


def test_of_alike_layers_after_several_refactorings_few_are_wrong(seed: int) -> None:
    found = sum(
        (changed(seed + number, *REFACTORINGS) for number in range(5 * PROGRAMS)), Counter[str]()
    )
    assert found["wrong, certain"] + found["wrong, likely"] <= found.total() / 50, found
    assert found["right"] >= 0.9 * found.total(), found


def test_an_item_inserted_among_alike_ones_leaves_only_guesses() -> None:
    maker = Maker(Random(0))
    layer = Part("0", [maker.value("kernel", 4, 4), maker.value("bias", 4)])
    items = Part("items", [layer, maker.again(layer), maker.again(layer)])
    was = Part("", [items])
    now = copy.deepcopy(was)
    now.parts[0].parts.insert(1, maker.again(layer))
    for program in (was, now):
        for index, item in enumerate(program.parts[0].parts):
            item.label = str(index)
    saved, live = graph_of(was, Origin.SAVED)[0], graph_of(now, Origin.LIVE)[0]
    assert {pair.certainty for pair in map_values(saved, live).pairs} == {Certainty.GUESS}


def test_slots_follow_their_variables() -> None:
    graph = keras3_adam()
    mapping = map_values(graph, graph)
    assert not mapping.missing and not mapping.unused and not mapping.misfits
    assert _objects(mapping) == {node: node for node in (5, 7, 8, 9, 10)}


def _objects(mapping: ValueMapping) -> dict[int, int]:
    return {pair.node: pair.obj for pair in mapping.pairs}


def test_a_layer_of_another_shape_is_a_misfit_in_its_place() -> None:
    maker = Maker(Random(1))
    was = Part("", [Part("head", [maker.value("kernel", 4, 10), maker.value("scale", 4)])])
    now = copy.deepcopy(was)
    now.parts[0].parts[0] = maker.value("kernel", 4, 3)
    (saved, _), (live, _) = graph_of(was, Origin.SAVED), graph_of(now, Origin.LIVE)
    mapping = map_values(saved, live)
    assert [(saved.name(p.node), live.name(p.obj)) for p in mapping.misfits] == [
        ("(root).head.kernel", "(root).head.kernel")
    ]
    assert [live.name(obj) for obj in mapping.missing] == ["(root).head.kernel"]
    assert [saved.name(node) for node in mapping.unused] == ["(root).head.kernel"]


def changed_in_five_ways(seed: int) -> tuple[Part, Part]:
    maker = Maker(Random(seed))
    was = maker.model()
    now = copy.deepcopy(was)
    for refactoring in (insert, move, remove, reshape, wrap):
        refactoring(maker, now)
    return was, now


def test_a_reshaped_part_whose_content_one_side_lacks_keeps_its_place() -> None:
    found = judged(*changed_in_five_ways(1627407129))
    assert found["right"] > 0 and found["wrong, certain"] == 0


def test_the_mapping_is_the_same_each_time(seed: int) -> None:
    was, now = changed_in_five_ways(seed)
    saved, live = graph_of(was, Origin.SAVED)[0], graph_of(now, Origin.LIVE)[0]
    assert map_values(saved, live) == map_values(saved, live)
