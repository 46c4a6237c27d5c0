"""Values that go wrong while every assert passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ckpt_viz.live import facts
from ckpt_viz.matching.engine import fits
from ckpt_viz.matching.trace import Action, Step
from ckpt_viz.object_graph.nodes import Node, Role
from ckpt_viz.object_graph.overlay import Severity
from ckpt_viz.restore_check.case import Case, is_optimizer, without_number
from ckpt_viz.restore_check.failures import IMPORT_SAVER
from ckpt_viz.restore_check.finding import Finding, Kind, Told
from ckpt_viz.words import count

_INDEX_LISTS = ("_trainable_variables", "_variables", "_trainable_variables_indices")
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
        is_kept = _has_value(case.saved.nodes[kept])
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
    return step.node is not None and _has_value(case.saved.nodes[step.node])


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
    """Find saved objects with several paths that lead to different live objects.

    The first path decides; through the index of a Keras 3 optimizer's list it is often another
    variable's.
    """
    others: dict[int, dict[int, None]] = {}
    by_index: dict[int, list[tuple[int, int, int]]] = {}
    for step in case.steps(Action.KEEP):
        node = step.node
        assert node is not None and step.parent is not None
        parent, first = case.bound.get(step.parent), case.bound.get(node)
        if parent is None or first is None or node in told.nodes:
            continue
        other = case.live_child(parent, step.name)
        if other is None or other == first or other in others.setdefault(node, {}):
            continue
        others[node][other] = None
        saved = case.saved.nodes[node]
        if saved.slot is not None or not _has_value(saved) or not _holds_a_value(case, other):
            continue  # slots are compared with their variables, by `swapped`
        optimizer = _optimizer_of(case, case.binding.get(node))
        if optimizer is not None:
            by_index.setdefault(optimizer, []).append((node, first, other))
        elif _optimizer_of(case, step) is None:  # or else only its state goes astray
            yield _untied(case, node, first, other)
    for optimizer, pairs in by_index.items():
        yield _cross_wired(case, optimizer, pairs)


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


def _cross_wired(case: Case, optimizer: int, pairs: list[tuple[int, int, int]]) -> Finding:
    node, first, other = pairs[0]
    nodes = dict.fromkeys(node for node, _, _ in pairs)
    objects = dict.fromkeys(obj for _, *both in pairs for obj in both)
    state = case.saved_state(optimizer) & case.unresolved
    live = case.bound.get(optimizer)
    live_state = case.live_state(live) & case.unmatched if live is not None else ()
    return case.finding(
        case.severity(state, (*objects, *live_state)),
        Kind.CROSS_WIRED,
        f"By their index in the lists of {case.saved.name(optimizer)}, "
        f"{count(len(nodes), 'saved value')} belong to other variables than by their path in the "
        f"model: that of {case.saved_place(node)} goes into {case.live_place(first)}, and not "
        f"into {case.live_place(other)}.",
        "Build the optimizer with the same trainable variables in the same order as when it was "
        "saved, or restore model and optimizer from checkpoints of their own.",
        nodes=(*nodes, *sorted(state - nodes.keys())),
        objects=(*objects, *sorted(set(live_state) - objects.keys())),
    )


def _optimizer_of(case: Case, step: Step | None) -> int | None:
    """Return the saved optimizer of which the step's parent is a list of variables."""
    if step is None or step.parent is None or not step.name.isdecimal():
        return None
    for parent, name in case.saved.edges_to[step.parent]:
        if name in _INDEX_LISTS and is_optimizer(case.saved.nodes[parent]):
            return parent
    return None


def _holds_a_value(case: Case, obj: int) -> bool:
    """Return whether an object has a value itself; below it every path is looked at anyway."""
    node = case.live_node(obj)
    return node is not None and _has_value(node)


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
    # What no name leads to begins a chain; what is left then are circles.
    for name in sorted(goes_to, key=lambda name: name in comes_from):
        if name in done:
            continue
        chain = [name]
        while (following := goes_to[chain[-1]][2]) in goes_to and following != name:
            chain.append(following)
        done.update(chain)
        if len(chain) > 1:
            yield _swapped_chain(case, [goes_to[one] for one in chain], name)
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


def _names_by_names(case: Case, told: Told) -> dict[str, tuple[int, int, str]]:
    """Return, by saved full name: node, object and the object's full name, where they differ."""
    pairs = []
    nodes, bound = case.saved.nodes, case.bound
    for node in case.restored - told.nodes:
        saved, obj = nodes[node], bound[node]
        live = case.live_node(obj)
        if live is None or live.slot is not None or saved.slot is not None:
            continue
        pairs.append((_full_name(saved), _full_name(live), node, obj))
    if all(saved == live for saved, live, _, _ in pairs):
        return {}  # as mostly
    pairs = [
        (without_number(saved), without_number(live), node, obj)
        for saved, live, node, obj in pairs
        if saved and live
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


def _swapped_slots(case: Case, told: Told) -> Iterator[Finding]:
    """Find states of an optimizer that change places, one finding for each optimizer."""
    names: dict[int | None, list[int]] = {}
    variables: dict[int | None, list[int]] = {}
    protos = case.saved.nodes
    slots = [node for node in case.bound if protos[node].slot is not None]
    for node in sorted(slots):
        obj = case.bound[node]
        live, saved = case.live_node(obj), case.saved.nodes[node]
        if live is None or live.slot is None or saved.slot is None or node in told.nodes:
            continue
        its_variable = case.bound.get(saved.slot.variable)
        if saved.slot.name != live.slot.name:
            names.setdefault(saved.slot.optimizer, []).append(node)
        elif its_variable not in (None, live.slot.variable) and not _is_in_place(case, node, obj):
            variables.setdefault(saved.slot.optimizer, []).append(node)
    for kind, groups in ((Kind.SWAPPED, names), (Kind.CROSS_WIRED, variables)):
        for nodes in groups.values():
            yield _slots_change_places(case, kind, nodes)


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


def _has_value(node: Node) -> bool:
    return bool(node.attributes or node.registered_saver)


def _surely_has_value(node: Node) -> bool:
    """Return whether a live node has a value, and not only code of its own that may give some."""
    return bool(node.registered_saver) or any(attribute.name for attribute in node.attributes)
