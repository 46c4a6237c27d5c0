from collections.abc import Sequence

from ckpt_viz import Node, Role, Slot, SlotRule
from ckpt_viz.graphs.slots.roles import assign_roles
from tests.support.graphs import graph, keras3_adam, nodes


def test_keras_3_slots_are_found_by_their_place_in_the_optimizers_lists() -> None:
    adam = keras3_adam()
    slots = {i: node.slot for i, node in enumerate(adam.nodes) if node.slot}
    assert slots == {
        9: Slot("momentum", variable=7, optimizer=1, rule=SlotRule.LIST_INDEX),
        10: Slot("momentum", variable=8, optimizer=1, rule=SlotRule.LIST_INDEX),
    }
    assert all(slot.rule.inferred for slot in slots.values())


def test_roles_of_a_keras_3_optimizer() -> None:
    roles = {i: node.role for i, node in enumerate(keras3_adam().nodes)}
    assert roles == {
        0: Role.OBJECT,
        1: Role.OPTIMIZER,
        2: Role.OBJECT,
        3: Role.OBJECT,
        4: Role.OBJECT,
        5: Role.VARIABLE,
        6: Role.OBJECT,
        7: Role.VARIABLE,
        8: Role.VARIABLE,
        9: Role.SLOT,
        10: Role.SLOT,
    }


def test_declared_slots_are_tensorflows_own() -> None:
    declared = graph({0: {"v": 1, "opt": 2}}, variables=(1, 3), slots={2: (("m", 1, 3),)})
    assert declared.nodes[3].slot == Slot("m", variable=1, optimizer=2, rule=SlotRule.DECLARED)
    assert [node.role for node in declared.nodes] == [
        Role.OBJECT,
        Role.VARIABLE,
        Role.OPTIMIZER,
        Role.SLOT,
    ]


def test_the_models_variables_in_the_optimizers_list_are_no_slots() -> None:
    own_variables_only = graph(
        {
            0: {"optimizer": 1, "v": 5},
            1: {"_variables": 2, "_trainable_variables": 3, "_iterations": 4, "watched": 6},
            2: {"0": 4},
            3: {"0": 5},
            6: {"0": 5},
        },
        variables=(4, 5),
    )
    assert own_variables_only.nodes[5].role is Role.VARIABLE


def _roles_with_scalars(names: Sequence[str], *, shape: tuple[int, ...] = ()) -> list[Role]:
    """Return the roles of a root and of variables of that shape below it, by their names."""
    variables = range(1, 1 + len(names))
    edges = {0: dict(zip(names, variables, strict=True))}
    found = [
        node._replace(attributes=tuple(a._replace(shape=shape) for a in node.attributes))
        for node in nodes(edges, variables=tuple(variables))
    ]
    return [node.role for node in assign_roles(found)]


def test_hyperparameters_show_an_optimizer_without_slots() -> None:
    for names in (
        ("iter", "decay", "learning_rate"),
        ("iter", "decay", "momentum"),  # with a schedule in place of a learning rate
        ("beta1_power", "beta2_power"),
    ):
        assert _roles_with_scalars(names) == [Role.OPTIMIZER] + [Role.VARIABLE] * len(names)


def test_users_counters_make_no_optimizer() -> None:
    for names in (("iter", "learning_rate"), ("iter", "decay"), ("_iterations", "_variables")):
        assert _roles_with_scalars(names) == [Role.OBJECT] + [Role.VARIABLE] * len(names)
    vectors = _roles_with_scalars(("iter", "decay", "learning_rate"), shape=(2,))
    assert vectors[0] is Role.OBJECT


def test_users_lists_of_variables_make_no_optimizer() -> None:
    users = graph(
        {0: {"_variables": 1, "_iterations": 3}, 1: {"0": 2, "1": 3}},
        variables=(2, 3),
    )
    assert users.nodes[0].role is Role.OBJECT


def test_optimizer_in_a_loss_scale_wrapper_is_one_though_the_wrapper_has_its_state() -> None:
    wrapper = graph({0: {"optimizer": 1}, 1: {"loss_scale": 2, "base_optimizer": 3}})
    assert [node.role for node in wrapper.nodes] == [
        Role.OBJECT,
        Role.OPTIMIZER,
        Role.OBJECT,
        Role.OPTIMIZER,
    ]


def test_role_comes_from_the_live_type_if_the_structure_shows_none() -> None:
    live = assign_roles([Node(role=Role.LAYER), Node(role=Role.OPTIMIZER)])
    assert [node.role for node in live] == [Role.LAYER, Role.OPTIMIZER]


def test_bookkeeping_is_what_keras_tracks_without_values() -> None:
    keras = graph({0: {"layer": 1}, 1: {"keras_api": 2, "kernel": 4}, 2: {"x": 3}}, variables=(4,))
    assert [node.role for node in keras.nodes] == [
        Role.OBJECT,
        Role.OBJECT,
        Role.BOOKKEEPING,
        Role.BOOKKEEPING,
        Role.VARIABLE,
    ]


def test_a_users_attribute_with_a_name_of_kerass_is_no_bookkeeping() -> None:
    with_value = graph({0: {"signatures": 1}, 1: {"v": 2}}, variables=(2,))
    assert with_value.nodes[1].role is Role.OBJECT


def test_what_is_reached_otherwise_too_is_no_bookkeeping() -> None:
    shared = graph({0: {"keras_api": 1, "mine": 2}, 1: {"x": 2}})
    assert [node.role for node in shared.nodes] == [Role.OBJECT, Role.BOOKKEEPING, Role.OBJECT]
