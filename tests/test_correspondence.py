"""What belongs together in a saved and a live graph: laws on random programs and known edits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from benchmarks import correspondence
from ckpt_viz.answers.restore_fix.guesses import with_accepted
from ckpt_viz.graphs.nodes.nodes import Attribute, Child, Node, Role, Slot, SlotRule
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin
from ckpt_viz.matching.correspondence.conversions import Form, conversion_of
from ckpt_viz.matching.correspondence.correspond import correspond, plain_restore
from ckpt_viz.matching.correspondence.pairs import Certainty, Evidence, Pair
from ckpt_viz.matching.correspondence.unchanged import is_unchanged
from ckpt_viz.matching.correspondence.value_mapping import ValueMapping
from tests.programs.keras_making import make
from tests.programs.keras_programs import LIBRARIES, RANGES, Layer, Program, draw
from tests.programs.law import Law, UnfitError
from tests.programs.tagged import FAMILIES, TaggedPair
from tests.programs.trees import REFACTORINGS, Part, graph_of, law_of
from tests.support.amounts import amount
from tests.support.graphs import graph
from tests.support.programs import ckpt, keras_3, module, saved, var

PROGRAMS = amount(40, 1000)
EDITED = amount(5, 100)


def graph_with(origin: Origin, **layers: str) -> Graph:
    """Return the graph of a program: each attribute is a layer with a kernel of one shape."""
    nodes = [Node(children=tuple(Child(name, 2 * i + 1) for i, name in enumerate(layers)))]
    for attribute, layer in layers.items():
        key = f"{attribute}/kernel/.ATTRIBUTES/VARIABLE_VALUE"
        value = Attribute("VARIABLE_VALUE", f"{layer}/kernel", key, "float32", (3, 3))
        nodes.append(Node(children=(Child("kernel", len(nodes) + 1),)))
        nodes.append(Node(attributes=(value,), role=Role.VARIABLE))
    return Graph(tuple(nodes), origin.value, origin)


def paired_layers(saved: Graph, live: Graph) -> dict[str, tuple[str, Certainty]]:
    """Return the live layer of each saved layer, by the attributes of the roots."""
    by_node = correspond(saved, live)
    names = {child.node_id + 1: child.local_name for child in live.nodes[0].children}
    return {
        child.local_name: (names[pair.obj], pair.certainty)
        for child in saved.nodes[0].children
        if (pair := by_node.get(child.node_id + 1)) is not None
    }


def graph_of_parts(origin: Origin, parts: dict[str, Any]) -> Graph:
    """Return the graph of nested parts; a shape stands for a value."""
    nodes: list[Node] = [Node()]

    def fill(node: int, part: dict[str, Any], path: str) -> None:
        children = []
        for name, below in part.items():
            child, where = len(nodes), f"{path}{name}"
            children.append(Child(name, child))
            nodes.append(Node())
            if isinstance(below, dict):
                fill(child, below, f"{where}/")
            else:
                key = f"{where}/.ATTRIBUTES/VARIABLE_VALUE"
                value = Attribute("VARIABLE_VALUE", "Variable", key, "float32", below)
                nodes[child] = Node(attributes=(value,), role=Role.VARIABLE)
        nodes[node] = Node(children=tuple(children))

    fill(0, parts, "")
    return Graph(tuple(nodes), origin.value, origin)


def places(was: dict[str, Any], now: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return the place and the certainty of each saved value that has a counterpart."""
    saved, live = graph_of_parts(Origin.SAVED, was), graph_of_parts(Origin.LIVE, now)
    return {
        saved.name(node).removeprefix("(root)."): (
            live.name(pair.obj).removeprefix("(root)."),
            pair.certainty.value,
        )
        for node, pair in correspond(saved, live).items()
        if saved.nodes[node].attributes
    }


TOWER = {"first": {"w": (3, 3)}, "second": {"w": (3, 2)}}


@pytest.mark.parametrize(
    ("was", "name", "now"),
    [
        (("discriminator", "generator"), "generator", "gen"),
        (("target_network", "q_network"), "q_network", "q_net"),
        (("model", "ema_model"), "ema_model", "ema"),
    ],
)
def test_a_name_tells_which_of_equal_parts_is_left(
    was: tuple[str, ...], name: str, now: str
) -> None:
    pairs = places(dict.fromkeys(was, TOWER), {now: TOWER})
    assert pairs == {f"{name}.{i}.w": (f"{now}.{i}.w", "likely") for i in ("first", "second")}


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (("q_network", "target_network"), ("policy",)),
        (("tower",), ("user_tower", "item_tower")),
    ],
)
def test_equal_parts_that_names_do_not_tell_apart_are_guesses(
    was: tuple[str, ...], now: tuple[str, ...]
) -> None:
    pairs = places(dict.fromkeys(was, TOWER), dict.fromkeys(now, TOWER))
    assert {certainty for _, certainty in pairs.values()} == {"guess"}


def test_a_part_that_joins_the_root_is_not_taken_for_the_root() -> None:
    own = {"a": (6, 6), "b": (4,)}
    assert places(own, {**own, "teacher": own}) == {n: (n, "certain") for n in own}


def test_what_moves_up_leaves_the_levels_of_the_roots() -> None:
    was = {"model": {"head": {"w": (2, 2)}, "body": {"w": (9, 9), "b": (9,)}}}
    now = {"model": {"head": {"w": (2, 2)}}, "body": {"w": (9, 9), "b": (9,)}}
    assert places(was, now) == {
        "model.head.w": ("model.head.w", "certain"),
        "model.body.w": ("body.w", "likely"),
        "model.body.b": ("body.b", "likely"),
    }


def test_what_is_beside_a_model_comes_along_to_the_root() -> None:
    layers = {"l1": {"w": (2, 2), "b": (2,)}, "head": {"w": (5, 5), "b": (5,)}}
    pairs = places({"trainer": {"model": layers, "step": ()}}, {**layers, "step": ()})
    assert pairs["trainer.step"] == ("step", "likely")
    assert pairs["trainer.model.head.w"] == ("head.w", "likely")


def test_equal_items_keep_their_places_beside_an_item_of_another_shape() -> None:
    was = {"layers": {str(i): {"w": (4, 4)} for i in range(4)}}
    now = {"layers": {**was["layers"], "3": {"w": (4, 7)}}}
    pairs = places(was, now)
    assert {name: pairs[name] for name in list(pairs)[:3]} == {
        f"layers.{i}.w": (f"layers.{i}.w", "likely") for i in range(3)
    }


@pytest.mark.tf
def test_an_object_is_bound_to_every_saved_node_that_leads_to_it(tmp_path: Path) -> None:
    """Keras 2 leads to a layer by two numbers, one of them among layers with weights."""
    was = ckpt(**{"layer-0": module(), "layer_with_weights-0": (dense := module(w=var([1.0])))})
    was._track_trackable(dense, "layer-1")
    now = ckpt(**{"layer-0": (first := module(w=var([0.0]))), "layer-1": module(w=var([0.0]))})
    now._track_trackable(first, "layer_with_weights-0")
    path = was.save(str(tmp_path / "ckpt"))
    saved, live = cv.graph(path), cv.graph(now)
    bound = plain_restore(saved, live)
    assert live.name(bound[saved.node_id("(root).layer_with_weights-0.w")]) == "(root).layer-0.w"
    now.restore(path).expect_partial()
    assert float(first.w[0]) == 1.0


def test_equal_items_go_from_a_list_to_names_as_guesses() -> None:
    was = {"parts": {str(i): {"w": (3,)} for i in range(3)}}
    pairs = places(was, {"parts": {name: {"w": (3,)} for name in "abc"}})
    assert pairs == {f"parts.{i}.w": (f"parts.{n}.w", "guess") for i, n in enumerate("abc")}


def test_values_have_other_names_in_all_items_of_a_list() -> None:
    was = {"layers": {str(i): {"w": (3, 3), "b": (3,)} for i in range(3)}}
    now = {"layers": {str(i): {"weight": (3, 3), "bias": (3,)} for i in range(3)}}
    pairs = places(was, now)
    assert pairs["layers.1.w"] == ("layers.1.weight", "likely")
    assert len(pairs) == 6


@pytest.mark.parametrize(
    ("was", "now", "node", "obj"),
    [
        ({"l1": {"w": (2, 2)}}, {"l1": {"inner": {"w": (2, 2)}}}, "l1", "l1.inner"),
        (
            {"m": {"0": {"w": (2, 2)}, "1": {"a": {"w": (3, 3)}, "b": {"w": (4, 4)}}}},
            {"m": {"0": {"a": {"w": (3, 3)}, "b": {"w": (4, 4)}}}},
            "m.1",
            "m.0",
        ),
    ],
    ids=["wrapped layer", "item after a removed one"],
)
def test_a_part_keeps_its_level(
    was: dict[str, Any], now: dict[str, Any], node: str, obj: str
) -> None:
    saved, live = graph_of_parts(Origin.SAVED, was), graph_of_parts(Origin.LIVE, now)
    names = {
        saved.name(pair.node): live.name(pair.obj) for pair in correspond(saved, live).values()
    }
    assert names[f"(root).{node}"] == f"(root).{obj}"


@pytest.mark.parametrize("refactoring", REFACTORINGS)
def test_each_node_has_one_counterpart(refactoring: str, seed: int) -> None:
    def judge(was: Part, now: Part) -> None:
        saved, live = graph_of(was, Origin.SAVED)[0], graph_of(now, Origin.LIVE)[0]
        pairs = correspond(saved, live)
        objects = [pair.obj for pair in pairs.values()]
        assert len(objects) == len(set(objects))
        assert all(pair.node == node for node, pair in pairs.items())
        assert pairs.keys() <= {*range(len(saved.nodes))}
        assert {*objects} <= {*range(len(live.nodes))}

    law_of(f"Each node has one counterpart: {refactoring}", judge, [refactoring]).hold(
        seed, PROGRAMS
    )


def test_an_unchanged_program_keeps_the_places_of_a_plain_restore(seed: int) -> None:
    """The classes of live objects make both graphs unequal: the search runs."""

    def judge(was: Part, _: Part) -> None:
        saved, _values = graph_of(was, Origin.SAVED)
        live = replace(saved, nodes=tuple(n._replace(type_name="Layer") for n in saved.nodes))
        pairs = correspond(saved, live)
        assert {node: pair.obj for node, pair in pairs.items()} == {n: n for n in pairs}
        assert pairs.keys() == {*range(len(saved.nodes))}
        assert Certainty.GUESS not in {pair.certainty for pair in pairs.values()}

    law_of("An unchanged program keeps its places", judge).hold(seed, PROGRAMS)


@pytest.mark.parametrize("refactoring", REFACTORINGS)
def test_a_pair_of_other_values_is_at_most_likely(refactoring: str, seed: int) -> None:
    def judge(was: Part, now: Part) -> None:
        (saved, values), (live, others) = graph_of(was, Origin.SAVED), graph_of(now, Origin.LIVE)
        pairs = correspond(saved, live)
        wrong = [
            pairs[node]
            for node, value in values.items()
            if node in pairs and others.get(pairs[node].obj) != value and value in others.values()
        ]
        assert all(pair.certainty is not Certainty.CERTAIN for pair in wrong), wrong

    law_of(f"No wrong pair is certain: {refactoring}", judge, [refactoring]).hold(seed, PROGRAMS)


def test_a_removed_layer_and_an_added_layer_are_not_exchanged() -> None:
    saved = graph_with(Origin.SAVED, stem="stem", body="body", tail="tail")
    live = graph_with(Origin.LIVE, stem="stem", tail="tail", head="head")
    layers = paired_layers(saved, live)
    assert {name: layer for name, (layer, _) in layers.items() if name != "body"} == {
        "stem": "stem",
        "tail": "tail",
    }
    assert layers.get("body", ("", Certainty.GUESS))[1] is Certainty.GUESS


def test_the_only_layer_of_a_file_keeps_its_name_behind_a_new_layer() -> None:
    saved = graph_with(Origin.SAVED, **{"0": "stem"})
    live = graph_with(Origin.LIVE, **{"0": "head", "1": "stem"})
    assert paired_layers(saved, live) == {"0": ("1", Certainty.CERTAIN)}


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("family", ["removed_and_added", "sliding_names", "exchanged_tasks"])
def test_no_equal_part_takes_the_values_of_a_removed_part(family: str, seed: int) -> None:
    def judge(pair: TaggedPair, at: Path) -> None:
        example = pair.made()
        was, now = ({tag for tag, _ in one.variables} for one in (example.was, example.now))
        if len(was & now) < len(was - now):
            raise UnfitError("too little remains to tell one part from another")
        counts, mistakes = correspondence.measure(example, at)
        assert counts["wrong"] == counts["left out"] == 0, "\n".join(mistakes)
        assert counts["right"] == counts["possible"], "\n".join(mistakes)
        assert counts["matched, not in fix"] == 0, "\n".join(mistakes)

    claim = f"No equal part takes the values of a removed part: {family}"
    Law(claim, FAMILIES[family], judge).hold(seed, EDITED)


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_search_finds_no_other_pairs_in_an_unchanged_program(
    library: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(program: Program, at: Path) -> None:
        was, now = make(program), make(program)
        saved = cv.graph(was.checkpoint.save(str(at / "ckpt")))
        live = cv.graph(now.checkpoint)
        if not is_unchanged(saved, live, plain_restore(saved, live)):
            raise UnfitError("Keras counts on in the names of slot variables")
        with monkeypatch.context() as patched:
            patched.setattr(
                "ckpt_viz.matching.correspondence.correspond.is_unchanged", lambda *_: False
            )
            searched = correspond(saved, live)
        pairs = correspond(saved, live)
        assert {node: pair.obj for node, pair in searched.items()}.items() <= {
            node: pair.obj for node, pair in pairs.items()
        }.items()

    pytest.importorskip(library)
    claim = f"The search finds no other pairs in an unchanged model of {library}"
    Law(claim, lambda rng: draw(rng, RANGES[library], library), judge).hold(seed, EDITED)


@pytest.mark.tf
def test_a_number_that_keras_has_not_given_tells_two_variables_apart(tmp_path: Path) -> None:
    for name, other, is_given in (
        ("enc_dense_1_scale", "enc_dense_2_scale", False),
        ("dense_1/scale", "dense_2/scale", True),
    ):
        path = saved(tmp_path / other, a=var(1.0, name=name), b=var(2.0, name=other))
        live = ckpt(a=var(0.0, name=other), b=var(0.0, name=name))
        cv.check(live, path).fix().apply()
        assert [float(live.a), float(live.b)] == ([1.0, 2.0] if is_given else [2.0, 1.0])


def test_the_name_of_a_layer_wins_over_its_attribute() -> None:
    saved = graph_with(Origin.SAVED, a="cats", b="dogs")
    live = graph_with(Origin.LIVE, a="dogs", b="cats")
    pairs = paired_layers(saved, live)
    assert {name: layer for name, (layer, _) in pairs.items()} == {"a": "b", "b": "a"}


def test_keys_of_a_dict_are_names() -> None:
    saved = graph_with(Origin.SAVED, **{"3": "dense", "4": "dense_1", "5": "dense_2"})
    live = graph_with(Origin.LIVE, **{"4": "dense", "3": "dense_1", "5": "dense_2"})
    pairs = paired_layers(saved, live)
    assert {name: layer for name, (layer, _) in pairs.items()} == {"3": "3", "4": "4", "5": "5"}


@pytest.mark.tf
@pytest.mark.usefixtures("quiet_tensorflow")
@pytest.mark.parametrize("optimizer", ["adam", "momentum"])
def test_variables_that_only_an_optimizer_tracks_are_paired(optimizer: str) -> None:
    """Keras 3 tracks no list of layers of a subclassed model; the optimizer lists the variables."""
    keras_3()
    layers = tuple(Layer(name, "dense", f"{name}_net") for name in ("stem", "body", "tail"))
    program = Program("subclassed_with_a_list", layers, optimizer)
    was = make(program)
    now = make(replace(program, layers=(*layers[1:], layers[0])))
    saved, live = cv.graph(was.checkpoint), cv.graph(now.checkpoint)
    pairs = correspond(saved, live)
    places = {id(live.object(pair.obj)): saved.object(node) for node, pair in pairs.items()}
    for key, variable in now.variables.items():
        assert places[id(variable)] is was.variables[key], key


def test_a_restore_decides_where_the_names_of_layers_and_variables_disagree() -> None:
    edges = {0: {"blocks": 1}, 1: {"0": 2, "1": 3}, 2: {"w": 4}, 3: {"w": 5}}
    sides = []
    for names in ("alpha", "omega"), ("omega", "alpha"):
        nodes = list(graph(edges, (4, 5)).nodes)  # the variables are v4 and v5 on both sides
        for node, name in zip((2, 3), names, strict=True):
            nodes[node] = nodes[node]._replace(own_name=name)
        sides.append(replace(graph(edges, (4, 5)), nodes=tuple(nodes)))
    pairs = correspond(*sides)
    assert {node: pairs[node].obj for node in (2, 3, 4, 5)} == {2: 2, 3: 3, 4: 4, 5: 5}


def test_a_part_that_moves_inside_each_of_several_equal_blocks_stays_in_its_block() -> None:
    attention = {"query": {"w": (3, 3)}, "key": {"w": (3, 3)}}
    block = {"outer": {"inner": {"attention": attention}}, "mixer": {"w": (7,)}, "head": (5,)}
    changed = {"mixer": {"attention": attention, "w": (7,)}, "head": (5,)}
    blocks = ("block_a", "block_b", "block_c")
    found = places(dict.fromkeys(blocks, block), dict.fromkeys(blocks, changed))
    for block_name in blocks:
        place, _ = found[f"{block_name}.outer.inner.attention.query.w"]
        assert place == f"{block_name}.mixer.attention.query.w"


def test_a_local_name_tells_in_each_of_several_equal_blocks() -> None:
    layer = {"w": (3, 3), "b": (3,)}
    attention = {"query": layer, "key": layer}
    block = {"inner": {"attention": attention, "feed": layer}}
    changed = {"attention": attention, "outer": {"feed": layer}}
    blocks = ("block_a", "block_b")
    found = places(dict.fromkeys(blocks, block), dict.fromkeys(blocks, changed))
    for block_name in blocks:
        place = f"{block_name}.outer.feed.w"
        assert found[f"{block_name}.inner.feed.w"] == (place, Certainty.LIKELY.value)


def test_attributes_between_others_are_guesses_if_an_equal_one_is_free() -> None:
    tower = {"query": {"w": (5, 5)}, "key": {"w": (5, 5)}}
    middle = {"middle": {"w": (3, 3)}}
    found = places({"a": tower, **middle, "p": tower}, {"b": tower, **middle, "q": tower})
    certainties = {name.split(".")[0]: certainty for name, (_, certainty) in found.items()}
    assert certainties == {"a": "guess", "middle": "certain", "p": "guess"}


def test_a_part_is_a_guess_if_as_much_speaks_for_an_equal_one() -> None:
    part = {"w": (2,)}
    found = places({"0": part, "d": part}, {"d": {"c": part}, "e": part})
    assert {certainty for _, certainty in found.values()} == {"guess"}


def test_no_slot_of_the_two_biases_of_cudnn_is_summed() -> None:
    def lstm(bias: tuple[int, ...]) -> Graph:
        layer = {"kernel": (3, 16), "recurrent_kernel": (4, 16), "bias": bias}
        built = graph_of_parts(Origin.SAVED, {"rnn": layer, "m": bias})
        nodes = [*built.nodes]
        nodes[1] = nodes[1]._replace(type_name="LSTM")
        slot = Slot("m", 4, None, SlotRule.DECLARED)
        nodes[5] = nodes[5]._replace(role=Role.SLOT, slot=slot)
        return replace(built, nodes=tuple(nodes))

    saved, live = lstm((32,)), lstm((16,))
    conversions = [
        conversion_of(saved, live, Pair(node, node, Certainty.CERTAIN, Evidence.PLACE))
        for node in (4, 5)
    ]
    assert [one and one.form for one in conversions] == [Form.SUM, Form.NONE]


def test_two_accepted_guesses_give_no_variable_two_values() -> None:
    parts = graph_of_parts(Origin.SAVED, {"a": (2,), "b": (2,)})
    guesses = tuple(Pair(node, 1, Certainty.GUESS, Evidence.ORDER) for node in (1, 2))
    mapping = ValueMapping(parts, parts, guesses, {}, (), (), ())
    accepted = [pair.certainty for pair in with_accepted(mapping, True).pairs]
    assert accepted == [Certainty.LIKELY, Certainty.GUESS]
