"""Values that go wrong while every assert passes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ckpt_viz.live import facts
from ckpt_viz.matching.engine import fits
from ckpt_viz.matching.trace import Action, Step
from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.object_graph.nodes import Node, Role
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.case import Case, has_value, is_optimizer
from ckpt_viz.restore_check.counterparts import names_of_states
from ckpt_viz.restore_check.failures import IMPORT_SAVER
from ckpt_viz.restore_check.finding import Finding, Kind, Told
from ckpt_viz.text import count

_AFTER_A_WORD = re.compile(r"[/_]")
_HYPERPARAMETERS = ("learning_rate", "decay", "beta_1", "beta_2", "momentum", "rho")


# --- two values for one object, or none


def value_lost(case: Case, told: Told) -> Iterator[Finding]:
    """Find saved values of which another one goes into the same variable."""
    for step in case.steps(Action.REPEAT):
        assert step.node is not None and step.obj is not None
        if step.node in told.nodes or step.obj in told.objects or not _is_valued(case, step):
            continue
        kept = next((n for n in case.holders[step.obj] if n != step.node), None)
        if kept is None or _same_bytes(case, kept, step.node):
            continue
        if _is_gone(case, step.node) and not _is_gone(case, kept):
            continue  # an index led it to the object of another value
        is_kept = has_value(case.saved.nodes[kept])
        yield case.finding(
            Severity.WARNING,
            Kind.VALUE_LOST,
            f"Two saved objects belong to this one object: that of {case.saved_place(kept)} is "
            f"{'restored' if is_kept else 'first and has no value'}, that of "
            f"{case.saved_place(step.node)} is not restored.",
            "Give the program two objects, as it had when it was saved.",
            nodes=(step.node, kept),
            objects=(step.obj,),
        )


def _is_gone(case: Case, node: int) -> bool:
    """Return whether nothing of the program is what a saved object was."""
    return node not in case.counterparts


def _same_bytes(case: Case, left: int, right: int) -> bool:
    a, b = (_fingerprints(case, node) for node in (left, right))
    return a == b and None not in a


def _fingerprints(case: Case, node: int) -> list[object]:
    attributes = case.saved.nodes[node].attributes
    return [case.saved.fingerprint(attribute.checkpoint_key) for attribute in attributes]


def never_restored(case: Case, told: Told) -> Iterator[Finding]:
    """Find live values that are bound to a saved object without a value."""
    lost = {step.obj for step in case.steps(Action.REPEAT) if _is_valued(case, step)}
    for step in case.steps(Action.VALUELESS):
        assert step.node is not None and step.obj is not None
        live = case.live_node(step.obj)
        if live is None or not _surely_has_value(live):
            continue
        if is_optimizer(live) or step.obj in lost:
            continue
        yield case.finding(
            Severity.WARNING,
            Kind.NEVER_RESTORED,
            "The checkpoint has an object without a value in this place, so the program's value "
            "stays what it is, and no assert tells.",
            "Give the two different local names, or restore into an object of the saved class.",
            nodes=(step.node,),
            objects=(step.obj,),
        )


def _is_valued(case: Case, step: Step) -> bool:
    return step.node is not None and has_value(case.saved.nodes[step.node])


def tensor_ignored(case: Case, told: Told) -> Iterator[Finding]:
    """Find stored tensors that the object does not ask for."""
    failed = {step.node for step in case.steps(Action.FAIL)}
    for step in case.steps(Action.GATHER):
        assert step.node is not None and step.obj is not None
        node = case.saved.nodes[step.node]
        reads_all = tuple([a.checkpoint_key for a in node.attributes]) == step.names
        if reads_all or step.node in failed:
            continue
        unused = set(case.trace.unused_attributes.get(step.node, ()))
        ignored = [
            attribute.name
            for attribute in node.attributes
            if attribute.name not in unused and not _is_read(attribute.checkpoint_key, step.names)
        ]
        if ignored:
            yield case.finding(
                Severity.WARNING,
                Kind.TENSOR_IGNORED,
                f"The object reads {len(step.names)} of the saved tensors and leaves "
                f"{', '.join(ignored)} unread; no assert tells.",
                "Restore into an object of the class that was saved.",
                nodes=(step.node,),
                objects=(step.obj,),
            )


def _is_read(key: str, keys: Iterable[str]) -> bool:
    # One attribute may stand for several tensors: `.../table` for `.../table-keys`.
    return any(read.startswith(key) for read in keys)


def saver_unknown(case: Case, told: Told) -> Iterator[Finding]:
    """Find objects whose registered saver does not run here."""
    for step in case.steps(Action.SKIP_SAVER):
        assert step.node is not None and step.obj is not None
        yield case.finding(
            Severity.WARNING,
            Kind.SAVER_UNKNOWN,
            f"It was saved by the registered saver {step.name!r}, which this program does not "
            "have or which does not take this object; it is left as it is, and no assert tells.",
            IMPORT_SAVER,
            nodes=(step.node,),
            objects=(step.obj,),
        )


# --- one value for two objects


def inconsistent(case: Case, told: Told) -> Iterator[Finding]:
    """Find saved objects that stand for several, and those that an optimizer leads astray.

    The first path decides; through the index of a Keras 3 optimizer's list it is often another
    variable's.
    """
    if case.is_all_in_place:
        return
    others: dict[int, dict[int, None]] = {}
    for step, other in case.conflicts():
        node = step.node
        assert node is not None
        first, saved = case.bound[node], case.saved.nodes[node]
        if node in told.nodes or other in others.setdefault(node, {}):
            continue
        others[node][other] = None
        if saved.slot is not None or not has_value(saved) or not _holds_a_value(case, other):
            continue  # slots are compared with their variables, by `swapped`
        if case.optimizer_of(step) is None and _are_both_its_own(case, node, first, other):
            yield _untied(case, node, first, other)
    yield from _cross_wired(case, told)


def _are_both_its_own(case: Case, node: int, *objects: int) -> bool:
    """Return whether a saved object stands for all of these, and none is only met by an index."""
    own = case.counterparts.get(node)
    return own is None or all(obj in own for obj in objects)


def _untied(case: Case, node: int, first: int, other: int) -> Finding:
    return case.finding(
        case.severity((), (other,)),
        Kind.UNTIED,
        f"One saved object stands for two of the program, {case.run.live_name(first)} and "
        f"{case.run.live_name(other)}; only the first one gets its value.",
        "Share the object in the program, as it was when it was saved, or set the other after "
        "restoring.",
        nodes=(node,),
        objects=(first, other),
    )


def _cross_wired(case: Case, told: Told) -> Iterator[Finding]:
    """Find variables that get the value of another variable through a list of an optimizer."""
    by_optimizer: dict[int, list[int]] = {}
    for node in sorted(case.counterparts):
        if node in told.nodes or not case.is_astray(node):
            continue
        optimizer = case.misleading_optimizer(node)
        if optimizer is not None:
            by_optimizer.setdefault(optimizer, []).append(node)
    for optimizer, nodes in by_optimizer.items():
        variables = [node for node in nodes if case.saved.nodes[node].slot is None]
        if variables:
            slots = [node for node in nodes if case.saved.nodes[node].slot is not None]
            yield _wired_by(case, optimizer, [*variables, *slots])


def _wired_by(case: Case, optimizer: int, nodes: Sequence[int]) -> Finding:
    node, wrong = nodes[0], case.led_astray(nodes[0])
    assert wrong is not None
    moved = sorted({other for one in nodes if (other := case.led_astray(one)) is not None})
    variables = [one for one in moved if case.saved.nodes[one].slot is None]
    objects = [case.bound[wrong], *[case.counterparts[one][0] for one in nodes]]
    objects += [case.bound[one] for one in nodes if one in case.bound]
    state = case.saved_state(optimizer) & case.unresolved
    live = case.bound.get(optimizer)
    live_state = case.live_state(live) & case.unmatched if live is not None else ()
    return case.finding(
        case.severity(state, (*objects, *live_state)),
        Kind.CROSS_WIRED,
        f"By their index in the lists of {case.saved.name(optimizer)}, "
        f"{count(len(variables), 'saved value')} belong to other variables than by their "
        f"{'path in the model' if _has_a_model(case, nodes) else 'names and order'}: that of "
        f"{case.saved_place(wrong)} goes into {case.live_place(case.bound[wrong])}, "
        f"{_and_not(case, node, wrong)}.",
        "Build the optimizer with the same trainable variables in the same order as when it was "
        f"saved{_or_restore_the_model_alone(case, nodes)}.",
        nodes=dict.fromkeys((*filter(case.keeps_its_object, nodes), *moved, *sorted(state))),
        objects=dict.fromkeys((*objects, *sorted(live_state))),
    )


def _or_restore_the_model_alone(case: Case, nodes: Iterable[int]) -> str:
    """Return that advice where the model leads to all of these on its own."""
    if not _has_a_model(case, nodes) or any(node in case.at_other_paths for node in nodes):
        return ""
    return ", or restore the model alone, by a tf.train.Checkpoint without the optimizer"


def _has_a_model(case: Case, nodes: Iterable[int]) -> bool:
    """Return whether something else than an optimizer leads to all of these variables."""
    return not any(
        case.is_led_by_optimizer(node) for node in nodes if case.saved.nodes[node].slot is None
    )


def _and_not(case: Case, node: int, wrong: int) -> str:
    """Return where a value belongs: the one that goes elsewhere, or the one in whose place."""
    own = case.live_place(case.counterparts[node][0])
    return (
        f"and not into {own}"
        if node == wrong
        else f"where that of {case.saved_place(node)} belongs"
    )


def _holds_a_value(case: Case, obj: int) -> bool:
    """Return whether an object has a value itself; below it every path is looked at anyway."""
    node = case.live_node(obj)
    return node is not None and has_value(node)


# --- one for the other


def swapped(case: Case, told: Told) -> Iterator[Finding]:
    """Find variables that get another one's value, as their full names tell.

    A name proves it only where both sides have it: a saved `b` that goes into the variable `a` is
    a renaming, unless the program has a `b`, too, and restores another value into that. Numbers
    that Keras makes names unique by are no evidence. One finding tells of all that follow from
    one another.
    """
    goes_to = _names_by_names(case, told)
    comes_from = {live: saved for saved, (_, _, live) in goes_to.items()}
    done: set[str] = set()
    chained: set[int] = set()
    # What no name leads to begins a chain; what is left then are circles.
    for name in sorted(goes_to, key=lambda name: name in comes_from):
        if name in done:
            continue
        chain = [name]
        while (following := goes_to[chain[-1]][2]) in goes_to and following != name:
            chain.append(following)
        done.update(chain)
        if len(chain) > 1:
            found = _swapped_chain(case, [goes_to[one] for one in chain], name)
            chained.update(found.nodes)
            yield found
    yield from _misplaced(case, told.nodes | chained)
    yield from _swapped_slots(case, told)


def _swapped_chain(case: Case, members: list[tuple[int, int, str]], name: str) -> Finding:
    other, is_circle = members[0][2], members[-1][2] == name
    why = f"The value that was saved from {name!r} goes into {other!r}, "
    why += (
        "and in turn: by position they belong together, by name they have changed places."
        if is_circle
        else "which has a saved value of its own: by position they belong together, by name not."
    )
    return case.finding(
        Severity.WARNING,
        Kind.SWAPPED,
        why,
        "Put them in the order in which they were saved.",
        nodes=[node for node, _, _ in members],
        objects=[obj for _, obj, _ in members],
    )


def _misplaced(case: Case, told: set[int]) -> Iterator[Finding]:
    """Find variables that get the value of another variable, judged by all their places."""
    if case.is_all_in_place:
        return
    astray: dict[int, int] = {}
    for node in case.counterparts:
        if node not in told and case.saved.nodes[node].slot is None and case.is_astray(node):
            wrong = case.led_astray(node)
            if wrong is not None and wrong not in told:
                astray[node] = wrong
    if not astray:
        return
    node, wrong = next(iter(astray.items()))
    yield case.finding(
        Severity.WARNING,
        Kind.SWAPPED,
        f"{count(len(astray), 'variable')} of the program "
        f"{'gets' if len(astray) == 1 else 'get'} the value of another: that of "
        f"{case.saved_place(wrong)} goes into {case.live_place(case.bound[wrong])}, and that of "
        f"{case.saved_place(node)} belongs into "
        f"{case.live_place(case.counterparts[node][0])}.",
        "Put them in the order in which they were saved.",
        nodes=dict.fromkeys((*astray, *astray.values())),
        objects=dict.fromkeys(
            obj
            for node, wrong in astray.items()
            for obj in (case.bound[wrong], case.counterparts[node][0])
        ),
    )


def _names_by_names(case: Case, told: Told) -> dict[str, tuple[int, int, str]]:
    """Return, by saved full name: node, object and the object's full name, where they differ."""
    bound = [
        (node, case.bound[node])
        for node in case.restored - told.nodes
        if case.saved.nodes[node].slot is None
        and (live := case.live_node(case.bound[node])) is not None
        and live.slot is None
    ]
    saved_names = _names(case, case.saved, [node for node, _ in bound])
    live_names = _names(case, case.live, [obj for _, obj in bound])
    scopes = _scope(case.saved, saved_names), _scope(case.live, live_names)
    if all(scopes) and scopes[0] != scopes[1]:  # such as a model that has another name now
        saved_names, live_names = map(_without, (saved_names, live_names), scopes)
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


def _names(case: Case, graph: Graph, nodes: Sequence[int]) -> dict[int, str]:
    """Return the names of variables: of several with one full name those that their slots have."""
    found = {node: case.names.plain(_full_name(graph.nodes[node])) for node in nodes}
    times = Counter(found.values())
    states = names_of_states(graph, case.names) if len(times) < len(found) else {}
    for node, name in found.items():
        own = name.rpartition("/")[2]
        if times[name] > 1 and own and states.get(node):
            path, _, _ = states[node][0].rpartition(own)
            found[node] = f"{path}{own}" if path else name
    return found


def _without(names: Mapping[int, str], scope: str) -> dict[int, str]:
    return {
        node: name[len(scope) + 1 :] if _AFTER_A_WORD.split(name)[0] == scope else name
        for node, name in names.items()
    }


def _scope(graph: Graph, names: Mapping[int, str]) -> str:
    """Return the first word of the names of all variables that have slots, if it is one."""
    trained = {node.slot.variable for node in graph.nodes if node.slot is not None}
    words = {
        _AFTER_A_WORD.split(name)[0] if _AFTER_A_WORD.search(name) else ""
        for node, name in names.items()
        if node in trained
    }
    return words.pop() if len(words) == 1 else ""


def _full_name(node: Node) -> str:
    return node.attributes[0].full_name if len(node.attributes) == 1 else ""


def _swapped_slots(case: Case, told: Told) -> Iterator[Finding]:
    """Find states of an optimizer that change places, one finding for each optimizer."""
    names: dict[int | None, list[int]] = {}
    variables: dict[int | None, list[int]] = {}
    protos = case.saved.nodes
    slots = [node for node in case.bound if protos[node].slot is not None]
    misled = _misled_slots(case, told) if slots else set()
    for node in sorted(slots):
        obj = case.bound[node]
        live, saved = case.live_node(obj), case.saved.nodes[node]
        if live is None or live.slot is None or saved.slot is None:
            continue
        if node in told.nodes and node not in misled:
            continue
        its_variable = case.bound.get(saved.slot.variable)
        if saved.slot.name != live.slot.name:
            names.setdefault(saved.slot.optimizer, []).append(node)
        elif node in misled:
            variables.setdefault(saved.slot.optimizer, []).append(node)
        elif case.is_all_in_place or node not in case.counterparts:
            is_other = its_variable not in (None, live.slot.variable)
            if is_other and not _is_in_place(case, node, obj):
                variables.setdefault(saved.slot.optimizer, []).append(node)
    for kind, groups in ((Kind.SWAPPED, names), (Kind.CROSS_WIRED, variables)):
        for nodes in groups.values():
            yield _slots_change_places(case, kind, nodes)


def _misled_slots(case: Case, told: Told) -> set[int]:
    """Return the slot variables whose values go into the state of another variable."""
    if case.is_all_in_place:
        return set()
    astray = [
        node
        for node in case.counterparts
        if case.saved.nodes[node].slot is not None and node not in told.nodes
    ]
    return {
        wrong
        for node in astray
        if case.is_astray(node) and (wrong := case.led_astray(node)) is not None
    }


def _is_in_place(case: Case, node: int, obj: int) -> bool:
    """Return whether two slots stand in one place: their variable then is what goes astray."""
    return case.saved_place(node) == case.live_place(obj)


def _slots_change_places(case: Case, kind: Kind, nodes: list[int]) -> Finding:
    node, obj = nodes[0], case.bound[nodes[0]]
    return case.finding(
        Severity.WARNING,
        kind,
        f"{count(len(nodes), 'value')} of the optimizer's state change places: "
        f"{case.saved_place(node)} goes by its index into {case.live_place(obj)}.",
        "Restore with the version of Keras and the optimizer that saved it."
        if kind is Kind.SWAPPED
        else "Build the optimizer with the same trainable variables in the same order as when it "
        "was saved.",
        nodes=nodes,
        objects=[case.bound[one] for one in nodes],
    )


# --- what is as it should be, and worth knowing


def unknowable(case: Case, told: Told) -> Iterator[Finding]:
    """Find values that code of the object's own takes in, and restores that run later."""
    if case.trace.builds_graph:
        yield case.finding(
            Severity.INFO,
            Kind.UNKNOWABLE,
            "A graph is being built: restore() adds operations to it, and no value is assigned "
            "before run_restore_ops() runs them in a session.",
            "Call run_restore_ops() on the status that restore() returns.",
        )
    for step in case.steps(Action.RESTORE):
        if step.node is None or step.obj is None:
            continue
        live = case.live_node(step.obj)
        if live is None or live.role in (Role.VARIABLE, Role.SLOT):
            continue
        if facts.takes_values_by_own_code(case.live_object(step.obj)):
            yield case.finding(
                Severity.INFO,
                Kind.UNKNOWABLE,
                "Code of its own class takes the saved value in; only running it shows whether "
                "it can.",
                "Try it on a copy of the object.",
                nodes=(step.node,),
                objects=(step.obj,),
            )


def reshaped(case: Case, told: Told) -> Iterator[Finding]:
    """Find variables of a TensorFlow 1 graph that take a value of another shape."""
    for step in case.steps(Action.RESTORE) if case.trace.builds_graph else ():
        if step.node is None or step.obj is None:
            continue
        live = case.live_node(step.obj)
        shape = live.attributes[0].shape if live is not None and len(live.attributes) == 1 else None
        stored = case.saved.stored(step.names[0]) if len(step.names) == 1 else None
        if stored is not None and not fits(shape, stored.shape):
            yield case.finding(
                Severity.WARNING,
                Kind.SHAPE,
                f"The saved value has shape {stored.shape}, the program's variable {shape}; the "
                "graph takes it without a word and has a value of the wrong shape then.",
                "Make the variable with the saved shape, or give it another local name.",
                nodes=(step.node,),
                objects=(step.obj,),
            )


def overwritten(case: Case, told: Told) -> Iterator[Finding]:
    """Find hyperparameters that were set to something else than what was saved."""
    for node in sorted(case.restored):
        step = case.binding.get(node)
        name = step.name.strip("_") if step is not None else ""
        if step is None or step.parent is None or name not in _HYPERPARAMETERS:
            continue
        if not is_optimizer(case.saved.nodes[step.parent]) or _is_unused(case, step.parent):
            continue
        values = _scalars(case, node, case.bound[node])
        if values is not None and values[0] != values[1]:
            yield case.finding(
                Severity.INFO,
                Kind.OVERWRITTEN,
                f"The program's {name} is {values[1]:.7g}; the restore sets it to "
                f"{values[0]:.7g}, as it was saved.",
                "Set it again after restoring, if that is not meant.",
                nodes=(node,),
                objects=(case.bound[node],),
            )


def _is_unused(case: Case, optimizer: int) -> bool:
    """Return whether the rate of the program's optimizer has no effect: those inside count."""
    obj = case.bound.get(optimizer)
    return obj is not None and facts.has_inner_optimizers(case.live_object(obj))


def _scalars(case: Case, node: int, obj: int) -> tuple[float, float] | None:
    """Return the saved and the live value of a scalar; None where one cannot be read."""
    live = case.live_node(obj)
    attributes = (*case.saved.nodes[node].attributes, *(live.attributes if live else ()))
    if len(attributes) != 2 or any(attribute.shape != () for attribute in attributes):
        return None
    try:
        return (
            float(case.saved.read(attributes[0].checkpoint_key)),
            float(case.live.read(attributes[1].checkpoint_key)),
        )
    except Exception:  # unreadable here is told where it is the matter
        return None


def _surely_has_value(node: Node) -> bool:
    """Return whether a live node has a value, and not only code of its own that may give some."""
    return bool(node.registered_saver) or any(attribute.name for attribute in node.attributes)
