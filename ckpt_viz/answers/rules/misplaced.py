"""Values that go into the wrong object: crossed by an optimizer, swapped or untied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.answers.evidence.sides import is_below_optimizer
from ckpt_viz.graphs.nodes.nodes import Node, has_value
from ckpt_viz.graphs.nodes.places import same_places
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.graphs.overlay.remedy import Advice, Fix, HowFixed
from ckpt_viz.ground.text import count
from ckpt_viz.matching.changes.kind import Kind


def inconsistent(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find saved objects that match several in the program, and those led astray by an optimizer.

    The first path decides. If it leads through the index of a Keras 3 optimizer's list, it is often
    the path of another variable.
    """
    if case.placement.is_all_right:
        return
    others: dict[int, dict[int, None]] = {}
    for step, other in case.placement.conflicts():
        node = step.node
        assert node is not None
        first, saved = case.trace.bound[node], case.saved.nodes[node]
        if node in explained.nodes or other in others.setdefault(node, {}):
            continue
        others[node][other] = None
        if saved.slot is not None:
            continue  # `swapped` compares slots with their variables
        if not has_value(saved):
            if values := case.placement.shared_below(other):
                yield _untied(case, (first, other), values)
        elif (
            _holds_a_value(case, other)
            and case.placement.optimizer_of(step) is None
            and _are_both_its_own(case, node, first, other)
        ):
            yield _untied(case, (first, other), {other: node})
    yield from _led_by_lists(case, explained)


def _are_both_its_own(case: Case, node: int, *objects: int) -> bool:
    """Return whether a saved object belongs to all of these, none of them by an index alone."""
    own = case.placement.counterparts.get(node)
    return own is None or all(obj in own for obj in objects)


def _untied(case: Case, tops: tuple[int, int], values: Mapping[int, int]) -> Finding:
    """Return the finding for two objects; `values` has the saved values that the second lacks."""
    nodes = [*values.values()]
    firsts = [case.trace.bound[node] for node in nodes]
    first, other = map(case.live_side.place, tops)
    has_fix = case.placement.are_shared(values)
    return case.run.finding(
        case.severity((), (*values,)),
        Kind.UNTIED,
        f"The program has {first} and {other} for one saved object. The restore fills only "
        f"{first}, so {other} lacks {count(len(values), 'value')}.",
        Fix(HowFixed.BY_PLACES, len(nodes), 0)
        if has_fix
        else Advice(
            "Share one object in the program, as when it was saved, or set the other after "
            "restoring."
        ),
        nodes=nodes,
        objects=(*firsts, *values),
    )


def _led_by_lists(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find variables that get the value of another variable through a list of an optimizer."""
    by_optimizer: dict[int, list[int]] = {}
    for node in sorted(case.placement.astray.keys() - explained.nodes):
        optimizer = case.placement.misleading_optimizer(node)
        if optimizer is not None:
            by_optimizer.setdefault(optimizer, []).append(node)
    for optimizer, nodes in by_optimizer.items():
        variables = [node for node in nodes if case.saved.nodes[node].slot is None]
        if variables:
            slots = [node for node in nodes if case.saved.nodes[node].slot is not None]
            yield _wired_by(case, optimizer, [*variables, *slots])


def _wired_by(case: Case, optimizer: int, nodes: Sequence[int]) -> Finding:
    node, wrong = nodes[0], case.placement.led_astray(nodes[0])
    assert wrong is not None
    led = {case.placement.led_astray(node) for node in nodes}
    moved = sorted(node for node in led if node is not None)
    variables = [value for value in moved if case.saved.nodes[value].slot is None]
    own = [case.placement.counterparts[value][0] for value in nodes]
    bound = [case.trace.bound[value] for value in nodes if value in case.trace.bound]
    objects = [case.trace.bound[wrong], *own, *bound]
    state = case.saved_side.state_of(optimizer) & case.unresolved
    misleading, live = case.saved_side.place(optimizer), case.trace.bound.get(optimizer)
    live_state = case.live_side.state_of(live) & case.unmatched if live is not None else ()
    return case.run.finding(
        case.severity(state, (*objects, *live_state)),
        Kind.MISPLACED,
        f"The lists of {misleading} and {_what_tells(case, nodes)} disagree about "
        f"{count(len(variables), 'saved value')}. {_led(case, node, wrong)}",
        "Build the optimizer with the saved trainable variables in the saved "
        f"order{_or_restore_the_model_alone(case, nodes)}.",
        nodes=(*filter(case.placement.keeps_its_object, nodes), *moved, *sorted(state)),
        objects=(*objects, *sorted(live_state)),
    )


def _or_restore_the_model_alone(case: Case, nodes: Iterable[int]) -> str:
    """Return that advice if the model leads to all of these on its own."""
    if not _has_a_model(case, nodes) or any(
        node in case.placement.at_other_paths for node in nodes
    ):
        return ""
    return ", or restore the model without the optimizer"


def _what_tells(case: Case, nodes: Iterable[int]) -> str:
    return "the model" if _has_a_model(case, nodes) else "the order of names"


def _has_a_model(case: Case, nodes: Iterable[int]) -> bool:
    """Return whether more than an optimizer leads to all of these variables."""
    return not any(
        is_below_optimizer(case.saved, node)
        for node in nodes
        if case.saved.nodes[node].slot is None
    )


def _led(case: Case, node: int, wrong: int) -> str:
    """Return where a value goes, and where it or the value that it replaces belongs."""
    value, goes_to = case.saved_side.place(wrong), case.live_side.place(case.trace.bound[wrong])
    if node == wrong:
        own = case.live_side.place(case.placement.counterparts[node][0])
        return f"The saved {value} belongs in {own}, but the restore puts it into {goes_to}."
    belongs = f"where the saved {case.saved_side.place(node)} belongs"
    return f"The restore puts the saved {value} into {goes_to}, {belongs}."


def _holds_a_value(case: Case, obj: int) -> bool:
    """Return whether an object has a value itself; the check follows every path below it anyway."""
    node = case.live_side.node(obj)
    return node is not None and has_value(node)


def swapped(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find variables that get another one's value, judged by their full names.

    A name proves it only if both sides have it. A saved `b` that goes into the variable `a` is a
    renaming, unless the program also has a `b` and restores another value into that. The numbers
    with which Keras makes names unique are no evidence. One finding covers all swaps that follow
    from one another.
    """
    goes_to = _names_by_names(case, explained)
    comes_from = {live: saved for saved, (_, _, live) in goes_to.items()}
    done: set[str] = set()
    # A value that no name leads to begins a chain; the rest are circles.
    for name in sorted(goes_to, key=lambda name: name in comes_from):
        if name in done:
            continue
        chain = [name]
        while (following := goes_to[chain[-1]][2]) in goes_to and following != name:
            chain.append(following)
        done.update(chain)
        if len(chain) > 1:
            yield _swapped_chain(case, [goes_to[link] for link in chain], name)
    yield from _swapped_slots(case, explained)


def _swapped_chain(case: Case, members: list[tuple[int, int, str]], name: str) -> Finding:
    other, is_circle = members[0][2], members[-1][2] == name
    why = f"By position, the restore puts the value of {name!r} into {other!r}"
    if not is_circle:
        why += f"; by name, {other!r} has a saved value of its own."
    elif len(members) == 2:
        why += ", and the other way round: by name, their values change places."
    else:
        why += f", and so on: by name, {len(members)} values change places."
    return case.run.finding(
        Severity.WARNING,
        Kind.SWAPPED,
        why,
        "Put the variables back in the saved order.",
        nodes=[node for node, _, _ in members],
        objects=[obj for _, obj, _ in members],
    )


def _names_by_names(case: Case, explained: Explained) -> dict[str, tuple[int, int, str]]:
    """Return, by saved full name: node, object and the object's full name, if the names differ."""
    bound = [
        (node, case.trace.bound[node])
        for node in case.trace.restored - explained.nodes
        if case.saved.nodes[node].slot is None
        and (live := case.live_side.node(case.trace.bound[node])) is not None
        and live.slot is None
    ]
    plain = case.placement.full_names.plain
    saved_names = {node: plain(_full_name(case.saved.nodes[node])) for node, _ in bound}
    live_names = {obj: plain(_full_name(case.live.nodes[obj])) for _, obj in bound}
    pairs = [
        (saved_names[node], live_names[obj], node, obj)
        for node, obj in bound
        if saved_names[node] and live_names[obj]
    ]
    saved_count = Counter(saved for saved, *_ in pairs)
    live_count = Counter(live for _, live, *_ in pairs)
    return {
        saved: (node, obj, live)
        for saved, live, node, obj in sorted(pairs)
        if saved != live and saved_count[saved] == 1 and live_count[live] == 1
    }


def _full_name(node: Node) -> str:
    return node.attributes[0].full_name if len(node.attributes) == 1 else ""


def _swapped_slots(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find states of an optimizer that are exchanged, one finding for each optimizer."""
    names: dict[int | None, list[int]] = {}
    variables: dict[int | None, list[int]] = {}
    protos = case.saved.nodes
    slots = [node for node in case.trace.bound if protos[node].slot is not None]
    misled = _misled_slots(case, explained) if slots else set()
    in_live = same_places(case.saved, case.live)
    for node in sorted(slots):
        obj = case.trace.bound[node]
        live, saved = case.live_side.node(obj), case.saved.nodes[node]
        if live is None or live.slot is None or saved.slot is None:
            continue
        if node in explained.nodes and node not in misled:
            continue
        its_variable = case.trace.bound.get(saved.slot.variable)
        if saved.slot.name != live.slot.name:
            names.setdefault(saved.slot.optimizer, []).append(node)
        elif node in misled:
            variables.setdefault(saved.slot.optimizer, []).append(node)
        elif case.placement.is_all_right or node not in case.placement.counterparts:
            is_other = its_variable not in (None, live.slot.variable)
            # Slots of one place are where they belong: it is their variable that goes astray.
            if is_other and in_live(saved.slot.variable) != live.slot.variable:
                variables.setdefault(saved.slot.optimizer, []).append(node)
    for kind, groups in ((Kind.SWAPPED, names), (Kind.MISPLACED, variables)):
        for nodes in groups.values():
            yield _slots_change_places(case, kind, nodes)


def _misled_slots(case: Case, explained: Explained) -> set[int]:
    """Return the slot variables whose values go into the state of another variable."""
    left_out = explained.nodes - explained.of_optimizers
    astray = [
        node
        for node in case.placement.astray.keys() - left_out
        if case.saved.nodes[node].slot is not None
    ]
    return {wrong for node in astray for wrong in case.placement.all_led_astray(node)}


def _slots_change_places(case: Case, kind: Kind, nodes: list[int]) -> Finding:
    node, obj = nodes[0], case.trace.bound[nodes[0]]
    return case.run.finding(
        Severity.WARNING,
        kind,
        f"{count(len(nodes), 'value')} of the optimizer's state change places: "
        f"{case.saved_side.place(node)} goes by index into {case.live_side.place(obj)}.",
        "Restore with the Keras version and the optimizer that saved it."
        if kind is Kind.SWAPPED
        else "Build the optimizer with the saved trainable variables in the saved order.",
        nodes=nodes,
        objects=[case.trace.bound[state] for state in nodes],
    )
