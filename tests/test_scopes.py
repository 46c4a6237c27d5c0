"""Name-based checkpoints as trees of name scopes, and slots by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckpt_viz import Child, Node, Role, Slot, SlotRule
from ckpt_viz.errors import UnsupportedError
from ckpt_viz.graphs.slots import scopes
from ckpt_viz.graphs.slots.scopes import NamedVariable, named_value, scope_nodes

Shape = tuple[int, ...] | None
W = (2, 3)  # the shape of a weight


def variable(name: str, shape: Shape = W, dtype: str = "float32") -> NamedVariable:
    return NamedVariable(named_value(name, dtype, shape, 24))


def nodes(*names: str, scalars: tuple[str, ...] = ()) -> tuple[Node, ...]:
    """Return the nodes of weights and scalars with these names."""
    return scope_nodes(
        [*(variable(name) for name in names), *(variable(name, ()) for name in scalars)]
    )


def slots(found: tuple[Node, ...]) -> dict[str, tuple[str, str]]:
    """Return, by the slot variable's name, its variable's name and the name of the slot."""
    by_id = [node.attributes[0].full_name if node.attributes else "" for node in found]
    return {
        by_id[node_id]: (by_id[node.slot.variable], node.slot.name)
        for node_id, node in enumerate(found)
        if node.slot
    }


def names_by_path(found: tuple[Node, ...]) -> dict[str, str]:
    """Return the name of each value by the local names that lead to it, joined by slashes."""
    paths: dict[int, tuple[str, ...]] = {0: ()}
    for node_id, node in enumerate(found):
        for child in node.children:
            assert child.node_id not in paths  # a tree
            paths[child.node_id] = (*paths[node_id], child.local_name)
    return {
        "/".join(paths[i]): n.attributes[0].full_name
        for i, n in enumerate(found)
        if paths[i] and n.attributes
    }


# --- the tree


def test_scopes_are_nodes_breadth_first_with_sorted_children() -> None:
    found = nodes("b/w", "a", "b/b/w")
    assert [node.children for node in found] == [
        (Child("a", 1), Child("b", 2)),
        (),
        (Child("b", 3), Child("w", 4)),
        (Child("w", 5),),
        (),
        (),
    ]
    roles = [node.role for node in found]
    value, scope = Role.VARIABLE, Role.OBJECT
    assert roles == [scope, value, scope, scope, value, value]


def test_scope_that_is_a_variable_too_is_one_node() -> None:
    found = nodes("w", "w/x")
    assert len(found) == 3
    assert found[1].attributes == (named_value("w", "float32", W, 24),)
    assert found[1].children == (Child("x", 2),)
    assert found[1].role is Role.VARIABLE


def test_value_is_stored_under_its_name() -> None:
    (attribute,) = nodes("dense/w")[2].attributes
    assert (attribute.name, attribute.full_name, attribute.checkpoint_key) == (
        "VARIABLE_VALUE",
        "dense/w",
        "dense/w",
    )


def test_no_values_are_a_root_alone() -> None:
    assert scope_nodes([]) == (Node(),)


def test_slashes_at_odd_places_keep_names_apart() -> None:
    names = ("", "/", "a", "/a", "a/", "//", "a//b", "a/b", "/a/b")
    assert names_by_path(nodes(*names)) == {name: name for name in names}


_PARTS = st.sampled_from(["", "a", "b", "w", "Adam", "Adam_1", "é", "\n", "..", "part_0"])
_NAMES = st.one_of(st.text(), st.lists(_PARTS, min_size=1).map("/".join))


@given(st.sets(_NAMES))
def test_every_name_has_one_node_and_every_path_is_its_name(names: set[str]) -> None:
    found = nodes(*names)
    assert names_by_path(found) == {name: name for name in names}
    order = [child.node_id for node in found for child in node.children]
    assert order == list(range(1, len(found)))
    for node in found:
        local_names = [child.local_name for child in node.children]
        assert local_names == sorted(set(local_names))


@given(st.lists(_NAMES, unique=True), st.randoms())
def test_order_of_the_values_does_not_matter(names: list[str], random: object) -> None:
    shuffled = list(names)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert nodes(*names) == nodes(*shuffled)


@given(st.sets(_NAMES))
def test_slots_are_leaves_of_variables_above_with_the_same_shape(names: set[str]) -> None:
    found = nodes(*names, scalars=("beta1_power", "beta2_power"))
    for node in found:
        if node.slot:
            above = found[node.slot.variable]
            assert node.role is Role.SLOT and not node.children and not node.trainable
            assert above.role is Role.VARIABLE and above.slot is None
            assert above.attributes[0].shape == node.attributes[0].shape


def test_a_hundred_thousand_scopes_deep() -> None:
    deep = "/".join("a" * 100_000)
    found = nodes(deep, f"{deep}/Adam", f"{deep}/Adam_1", f"{deep}/b")
    assert len(found) == 100_004
    assert slots(found) == {f"{deep}/Adam": (deep, "m"), f"{deep}/Adam_1": (deep, "v")}


def test_more_scopes_than_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scopes, "MAX_SCOPES", 4)
    assert len(nodes("a/b/c")) == 4
    with pytest.raises(UnsupportedError, match=r"^the names have more than 4 scopes, expected"):
        nodes("a/b/c/d")


# --- slots


def test_slots_by_name_have_no_node_for_the_optimizer() -> None:
    found = nodes("w", "w/Adam", "w/Adam_1")
    assert [node.slot for node in found] == [
        None,
        None,
        Slot("m", variable=1, optimizer=None, rule=SlotRule.SCOPE),
        Slot("v", variable=1, optimizer=None, rule=SlotRule.SCOPE),
    ]
    assert [node.role for node in found[1:]] == [Role.VARIABLE, Role.SLOT, Role.SLOT]
    assert SlotRule.SCOPE.inferred


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("Adam", "Adam_1"), ("m", "v")),
        (("Momentum",), ("momentum",)),
        (("RMSProp", "RMSProp_1"), ("rms", "momentum")),
        (("RMSProp", "RMSProp_1", "RMSProp_2"), ("rms", "mg", "momentum")),
        (("Adagrad",), ("accumulator",)),
        (("Adadelta", "Adadelta_1"), ("accum", "accum_update")),
        (("Ftrl", "Ftrl_1"), ("accum", "linear")),
        (("ProximalAdagrad",), ("accumulator",)),
        (("AdagradDA", "AdagradDA_1"), ("gradient_accumulator", "gradient_squared_accumulator")),
        (("ExponentialMovingAverage",), ("average",)),
        (("adam_m", "adam_v"), ("m", "v")),
        # two of one name on one variable
        (("Adam", "Adam_1", "Adam_2", "Adam_3"), ("m", "v", "m", "v")),
        (("Momentum", "Momentum_1"), ("momentum", "momentum")),
        (("RMSProp", "RMSProp_1", "RMSProp_2", "RMSProp_3"), ("rms", "momentum") * 2),
    ],
)
def test_slot_names_are_those_of_get_slot(names: tuple[str, ...], expected: tuple[str]) -> None:
    suffixes = dict(zip(names, expected, strict=True))
    assert slots(nodes("a/w", *(f"a/w/{name}" for name in names))) == {
        f"a/w/{name}": ("a/w", slot) for name, slot in suffixes.items()
    }


@pytest.mark.parametrize(
    "names",
    [
        ("Adam",),  # m, or what a user's optimizer of that name keeps
        ("Adam_1",),
        ("Adam", "Adam_2"),
        ("Adam", "Adam_1", "Adam_2"),
        ("RMSProp",),
        ("RMSProp", *(f"RMSProp_{i}" for i in range(1, 6))),  # 2 of 3 slots or 3 of 2
        ("Adam_01", "Adam"),
        ("MyAdam", "MyAdam_1"),  # without powers of beta it can be anything
        ("MyMomentum",),
        ("adam",),
    ],
)
def test_what_could_be_something_else_is_no_slot(names: tuple[str, ...]) -> None:
    assert slots(nodes("w", *(f"w/{name}" for name in names))) == {}


def test_counters_and_powers_of_beta_stay_variables() -> None:
    found = nodes("w", "w/Adam", "w/Adam_1", scalars=("beta1_power", "beta2_power", "global_step"))
    roles = {n.attributes[0].full_name: n.role for n in found if n.attributes}
    assert {name for name, role in roles.items() if role is Role.VARIABLE} == {
        "w",
        "beta1_power",
        "beta2_power",
        "global_step",
    }


def test_slot_has_its_variables_shape_and_dtype() -> None:
    assert slots(scope_nodes([variable("w"), variable("w/Momentum", (3, 2))])) == {}
    assert slots(scope_nodes([variable("w"), variable("w/Momentum", dtype="float64")])) == {}
    assert slots(scope_nodes([variable("w", None), variable("w/Momentum", None)])) == {}
    half = [variable("w"), variable("w/Adam"), variable("w/Adam_1", (3,))]
    assert slots(scope_nodes(half)) == {}


def test_slot_of_a_variable_that_is_not_saved_is_no_slot() -> None:
    assert slots(nodes("w/Adam", "w/Adam_1")) == {}


def test_trainable_variable_is_no_slot() -> None:
    trainable = NamedVariable(named_value("w/Momentum", "float32", W, 24), trainable=True)
    assert slots(scope_nodes([variable("w"), trainable])) == {}


def test_value_with_scopes_below_is_no_slot() -> None:
    assert slots(nodes("w", "w/Momentum", "w/Momentum/x")) == {}


def test_average_of_a_slot_is_a_variable() -> None:
    found = slots(nodes("w", "w/Momentum", "v/w/Momentum/Adagrad", "w/Momentum_1"))
    assert found == {"w/Momentum": ("w", "momentum"), "w/Momentum_1": ("w", "momentum")}


def test_scope_in_front_of_the_variables_name() -> None:
    found = nodes("a/w", "b", *(f"train/{v}/Adam{n}" for v in ("a/w", "b") for n in ("", "_1")))
    assert slots(found) == {
        "train/a/w/Adam": ("a/w", "m"),
        "train/a/w/Adam_1": ("a/w", "v"),
        "train/b/Adam": ("b", "m"),
        "train/b/Adam_1": ("b", "v"),
    }


def test_scope_in_front_of_one_variable_alone_is_not_believed() -> None:
    assert slots(nodes("w", "a/w/Momentum")) == {}  # a/w may be what the Saver left out


def test_scope_in_front_is_whole_parts_of_the_path() -> None:
    assert slots(nodes("w", "x", "draw/Momentum", "drax/Momentum")) == {}


def test_name_with_two_readings_is_decided_by_the_scopes_used_elsewhere() -> None:
    ambiguous = ("w", "a/w", "a/w/Momentum")
    in_scope = ("u", "a/u/Momentum", "v", "a/v/Momentum")
    assert slots(nodes(*ambiguous)) == {}
    assert slots(nodes(*ambiguous, "w/Momentum"))["a/w/Momentum"] == ("a/w", "momentum")
    assert slots(nodes(*ambiguous, *in_scope))["a/w/Momentum"] == ("w", "momentum")
    assert "a/w/Momentum" not in slots(nodes(*ambiguous, *in_scope, "w/Momentum"))
    assert "a/w/Momentum" not in slots(nodes(*ambiguous, *in_scope[:2], "w/Momentum"))


def test_two_readings_of_which_one_has_another_shape_are_one() -> None:
    found = scope_nodes([variable("w", (9,)), variable("a/w"), variable("a/w/Momentum")])
    assert slots(found) == {"a/w/Momentum": ("a/w", "momentum")}


def test_adam_under_a_name_of_the_users_is_known_by_its_powers_of_beta() -> None:
    pair = ("w", "w/adam_d", "w/adam_d_1", "v", "v/adam_d", "v/adam_d_1")
    betas = ("beta1_power", "beta2_power")
    assert slots(nodes(*pair, scalars=betas)) == {
        "w/adam_d": ("w", "m"),
        "w/adam_d_1": ("w", "v"),
        "v/adam_d": ("v", "m"),
        "v/adam_d_1": ("v", "v"),
    }
    assert len(slots(nodes(*pair, scalars=("ns/beta1_power_1", "ns/beta2_power_1")))) == 4
    assert slots(nodes(*pair, scalars=("beta1_power",))) == {}
    assert slots(nodes(*pair, "u", "u/adam_d", scalars=betas)) == {}  # not always a pair
    assert slots(nodes("w", "w/opt", "w/opt_1", scalars=betas)) == {}
