"""Slot variables of name-based checkpoints, recognised by their names.

TensorFlow 1 stores a slot variable beside its variable: `w/Adam` and `w/Adam_1` are `m` and `v` of
`w` (tensorflow/python/training/slot_creator.py). An optimizer that made them inside a variable
scope puts the scope in front: `train/w/Adam`. The user chooses the optimizer's name, and the file
has no other evidence of it. So a name counts as a slot only if no other reading is possible; an
unrecognised slot remains a variable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from ckpt_viz.graphs.nodes.nodes import Attribute
from ckpt_viz.graphs.slots.optimizer_table import ROWS, Generation, groups_of

# The default `name` of each TensorFlow optimizer, and the slots that it makes for a variable, in
# their order: the second is stored as `Adam_1`. RMSProp makes three if centered.
_SLOT_NAMES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    **{
        row.default_name: tuple(
            dict.fromkeys(
                tuple(slot.name for group in groups_of(row, options) for slot in group)
                for options in ((), ("_centered",))
            )
        )
        for row in ROWS
        if row.generation is Generation.TENSORFLOW_1 and row.slots
    },
    "ExponentialMovingAverage": (("average",),),
    # BERT's own optimizer and its descendants use these names (google-research/bert)
    "adam_m": (("m",),),
    "adam_v": (("v",),),
}
_ADAM_PAIR = frozenset({0, 1})
_BETA1, _BETA2 = "beta1_power", "beta2_power"  # scalars, one of each for every Adam
_MAX_DIGITS = 6
_MAX_PREFIX = 64  # scopes in front of a name that the rule tries


@dataclass(frozen=True, slots=True)
class _NumberedValues:
    """The values `scope/base`, `scope/base_1` and so on, by number: perhaps of one variable."""

    scope: str
    base: str
    names: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The variable that a group may belong to, and the scope in front of it."""

    variable: str
    prefix: str


def slots_by_name(
    values: Mapping[str, Attribute], possible: Container[str]
) -> dict[str, tuple[str, str]]:
    """Return, by the name of each slot variable, the name of its variable and of the slot.

    Args:
        values: The checkpoint's values by name.
        possible: Which of them can be slot variables at all: for example, no trainable ones.
    """
    groups = _groups(name for name in values if name in possible)
    named = [(group, _slot_names(group)) for group in groups if group.base in _SLOT_NAMES]
    if _has_beta_powers(values):
        named += _renamed_adams(group for group in groups if "adam" in group.base.lower())
    slots = _claimed([(group, names) for group, names in named if names], values)
    return {slot: claim for slot, claim in slots.items() if claim[0] not in slots}


def _groups(names: Iterable[str]) -> list[_NumberedValues]:
    groups: dict[tuple[str, str], _NumberedValues] = {}
    for name in names:
        scope, slash, last = name.rpartition("/")
        if slash:
            base, number = _numbered(last)
            groups.setdefault((scope, base), _NumberedValues(scope, base)).names[number] = name
    return list(groups.values())


def _numbered(last: str) -> tuple[str, int]:
    """Return a name without the number with which TensorFlow made it unique, and that number.

    >>> _numbered("Adam_1"), _numbered("Adam"), _numbered("Adam_01")
    (('Adam', 1), ('Adam', 0), ('Adam_01', 0))
    """
    base, _, digits = last.rpartition("_")
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DIGITS
    if base and is_number and not digits.startswith("0"):
        return base, int(digits)
    return last, 0


def _slot_names(group: _NumberedValues) -> dict[int, str]:
    """Return the slots' names by number; empty if some are missing or ambiguous.

    Two optimizers of one name share the numbering: `Adam_2` and `Adam_3` are `m` and `v` of the
    second.
    """
    numbers = group.names.keys()
    count = len(numbers)
    fitting = [names for names in _SLOT_NAMES[group.base] if count % len(names) == 0]
    if len(fitting) != 1:
        return {}
    (names,) = fitting
    if len(names) > 1 and max(numbers) != count - 1:
        return {}
    return {number: names[number % len(names)] for number in numbers}


def _claimed(
    named: Iterable[tuple[_NumberedValues, dict[int, str]]], values: Mapping[str, Attribute]
) -> dict[str, tuple[str, str]]:
    """Return the slots of the groups with exactly one reading left.

    A scope in front counts if at least two variables have slots in it that have no other reading. A
    single one may have lost its own variable to a Saver of some variables. Accepted scopes also
    decide whether `train/w/Adam` is a slot of `w` or of `train/w`.
    """
    readings = [(group, names, _readings(group, values)) for group, names in named]
    sure = Counter(
        (group.base, options[0].prefix) for group, _, options in readings if len(options) == 1
    )
    slots: dict[str, tuple[str, str]] = {}
    for group, names, options in readings:
        left = [reading for reading in options if sure[group.base, reading.prefix]]
        if len(left) == 1 and sure[group.base, left[0].prefix] >= (2 if left[0].prefix else 1):
            for number, name in group.names.items():
                slots[name] = (left[0].variable, names[number])
    return slots


def _has_beta_powers(values: Mapping[str, Attribute]) -> bool:
    """Return whether an Adam keeps its powers of beta here: `beta1_power`, `beta2_power`."""
    for name in values:
        scope, slash, last = name.rpartition("/")
        if last.startswith(_BETA1):
            other = values.get(f"{scope}{slash}{_BETA2}{last[len(_BETA1) :]}")
            if other is not None and other.shape == () == values[name].shape:
                return True
    return False


def _renamed_adams(
    groups: Iterable[_NumberedValues],
) -> list[tuple[_NumberedValues, dict[int, str]]]:
    """Return the slots of an Adam under a user's name: `w/MyAdam` and `w/MyAdam_1`.

    The caller knows that its powers of beta are here. All other groups of that name must be pairs
    too.
    """
    families: dict[str, list[_NumberedValues]] = {}
    for group in groups:
        if group.base not in _SLOT_NAMES:
            families.setdefault(group.base, []).append(group)
    return [
        (group, {0: "m", 1: "v"})
        for family in families.values()
        if all(other.names.keys() == _ADAM_PAIR for other in family)
        for group in family
    ]


def _readings(group: _NumberedValues, values: Mapping[str, Attribute]) -> list[_Reading]:
    """Return the variables that the group could belong to, longest name first.

    A slot has its variable's shape and dtype.
    """
    wanted = {_kind(values[name]) for name in group.names.values()}
    if len(wanted) != 1 or None in wanted:
        return []
    readings = []
    start = 0
    for _ in range(_MAX_PREFIX):
        variable = group.scope[start:]
        if variable in values and _kind(values[variable]) in wanted:
            readings.append(_Reading(variable, group.scope[:start]))
        start = group.scope.find("/", start) + 1
        if not start:
            break
    return readings


def _kind(value: Attribute) -> tuple[str | None, tuple[int, ...]] | None:
    return (value.dtype, value.shape) if value.shape is not None else None
