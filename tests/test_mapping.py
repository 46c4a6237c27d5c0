"""The mapping of saved values to variables: laws on random programs and known refactorings."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import partial
from random import Random

import pytest

from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.matching.correspondence.pairs import Certainty
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping, map_values
from tests.programs.law import UnfitError
from tests.programs.trees import (
    NEW,
    REFACTORINGS,
    Maker,
    Part,
    graph_of,
    identified,
    law_of,
    numbered,
    value,
)
from tests.support.amounts import amount
from tests.support.graphs import keras3_adam

PROGRAMS = amount(60, 1000)
ALWAYS_DECIDED = ("rename", "wrap", "unwrap", "to_names", "to_list", "root_shift")
ALWAYS_FOUND = tuple(one for one in REFACTORINGS if one != "insert")
NUMBERS = (1, 1, 2, 3)  # of refactorings


def judged(was: Part, now: Part) -> dict[str, str]:
    """Return for each value whether it is right, wrong, missed, or rightly left out.

    A value is rightly left out if it is gone, or if another layer has a name of its layer: a name
    that is there wins over shapes.
    """
    saved, identities = graph_of(was, Origin.SAVED)
    live, others = graph_of(now, Origin.LIVE)
    places = {identity: obj for obj, identity in others.items()}
    pairs = {pair.node: pair for pair in map_values(saved, live).pairs}
    owners = {saved.name(node): identity for node, identity in identities.items()}
    others_now = {live.name(obj): identity for obj, identity in others.items()}
    found = {}
    for node, identity in identities.items():
        pair, true = pairs.get(node), places.get(identity)
        if pair is None and true is not None:
            names = saved.name(node), live.name(true)
            holders = {owners.get(names[1], identity), others_now.get(names[0], identity)}
            is_item = any(name.split(".")[-2].isdecimal() for name in names)
            outcome = "missed" if is_item or holders == {identity} else "gone"
        elif pair is None:
            outcome = "gone"
        elif pair.obj == true:
            outcome = "right"
        else:
            outcome = f"wrong, {pair.certainty.value}"
        found[saved.name(node)] = outcome
    return found


def assert_all_are(allowed: set[str], was: Part, now: Part) -> None:
    others = {name: found for name, found in judged(was, now).items() if found not in allowed}
    assert not others, others


@pytest.mark.parametrize("refactoring", ALWAYS_FOUND)
def test_values_in_layers_of_different_shapes_are_found_wherever_they_are(
    refactoring: str, seed: int
) -> None:
    judge = partial(assert_all_are, {"right", "gone"})
    claim = f"Layers of different shapes are found: {refactoring}"
    law_of(claim, judge, [refactoring], NUMBERS, are_distinct=True).hold(seed, PROGRAMS)


@pytest.mark.parametrize("refactoring", ALWAYS_DECIDED)
def test_alike_layers_are_found_by_their_names_and_their_order(refactoring: str, seed: int) -> None:
    claim = f"Layers that look alike are found: {refactoring}"
    judge = partial(assert_all_are, {"right"})
    law_of(claim, judge, [refactoring], NUMBERS).hold(seed, PROGRAMS)


@pytest.mark.parametrize("kind", ["layer", "list"])
def test_a_part_that_is_gone_leaves_its_name_to_the_part_that_has_it_now(kind: str) -> None:
    """Two parts dissolve. One has the name of what the other held, and a value like those in it."""

    def layer(label: str, width: int) -> Part:
        return Part(label, (value("kernel", 4, width), value("bias", width)))

    items = Part("expand", numbered([layer("", 8)] * 3))
    inner = {"layer": layer("expand", 8), "list": items}[kind]
    name_giver = Part("expand", (layer("fuse", 8), layer("mix", 32)))
    gone = Part("key", (layer("value", 4), inner))
    was = identified(Part("", (Part("model", (layer("gate", 64), name_giver, gone)),)))
    now = was.copied()
    gate, *dissolved = now.parts[0].parts
    now.parts[0].parts = (gate, *(part for holder in dissolved for part in holder.parts))
    assert_all_are({"right"}, was, now)


def test_of_alike_layers_after_several_refactorings_few_are_wrong(seed: int) -> None:
    def judge(was: Part, now: Part) -> list[str]:
        return [*judged(was, now).values()]

    law = law_of("Few of alike layers are wrong", judge, [*REFACTORINGS], NUMBERS)
    found = law.hold(seed, 5 * PROGRAMS)
    assert found["wrong, certain"] + found["wrong, likely"] <= found.total() / 50, found
    assert found["right"] >= 0.9 * found.total(), found


def test_an_item_inserted_among_alike_ones_leaves_only_guesses() -> None:
    layer = Part("", (value("kernel", 4, 4), value("bias", 4)))
    was, now = (Part("", (Part("items", numbered([layer] * number)),)) for number in (3, 4))
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
    was, now = (
        Part("", (Part("head", (value("kernel", 4, width), value("scale", 4))),))
        for width in (10, 3)
    )
    (saved, _), (live, _) = graph_of(was, Origin.SAVED), graph_of(now, Origin.LIVE)
    mapping = map_values(saved, live)
    assert [(saved.name(p.node), live.name(p.obj)) for p in mapping.misfits] == [
        ("(root).head.kernel", "(root).head.kernel")
    ]
    assert [live.name(obj) for obj in mapping.missing] == ["(root).head.kernel"]
    assert [saved.name(node) for node in mapping.unused] == ["(root).head.kernel"]


def changed_in_five_ways(seed: int) -> tuple[Part, Part]:
    maker = Maker(Random(seed))
    was = identified(maker.model())
    now = was.copied()
    for name in ("insert", "move", "remove", "reshape", "wrap"):
        with suppress(UnfitError):
            REFACTORINGS[name](maker, now)
    return was, identified(now, NEW)


def test_a_reshaped_part_whose_content_one_side_lacks_keeps_its_place() -> None:
    found = Counter(judged(*changed_in_five_ways(1627407129)).values())
    assert found["right"] > 0 and found["wrong, certain"] == 0


def test_the_mapping_is_the_same_each_time(seed: int) -> None:
    was, now = changed_in_five_ways(seed)
    saved, live = graph_of(was, Origin.SAVED)[0], graph_of(now, Origin.LIVE)[0]
    assert map_values(saved, live) == map_values(saved, live)
