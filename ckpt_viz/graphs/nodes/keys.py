"""Checkpoint keys: how TensorFlow spells a path through the object graph.

Source: tensorflow/python/trackable/trackable_utils.py.
"""

from __future__ import annotations

import re
from typing import NamedTuple

VARIABLE_VALUE = "VARIABLE_VALUE"
_OBJECT_ATTRIBUTES = ".ATTRIBUTES"
_OPTIMIZER_SLOT = ".OPTIMIZER_SLOT"
_ESCAPED = re.compile(r"\.[.S]")
_ESCAPES = str.maketrans({".": "..", "/": ".S"})


def escape_local_name(local_name: str) -> str:
    """Return the local name as checkpoint keys spell it.

    >>> escape_local_name("conv/1.0")
    'conv.S1..0'
    """
    is_plain = "." not in local_name and "/" not in local_name
    return local_name if is_plain else local_name.translate(_ESCAPES)


def checkpoint_key(object_key: str, attribute: str) -> str:
    """Return the checkpoint key of one attribute of an object.

    >>> checkpoint_key("model/bias", VARIABLE_VALUE)
    'model/bias/.ATTRIBUTES/VARIABLE_VALUE'
    """
    return f"{object_key}/{_OBJECT_ATTRIBUTES}/{escape_local_name(attribute)}"


def slot_key(variable_key: str, optimizer_key: str, slot_name: str) -> str:
    """Return the object key of a declared slot variable.

    >>> slot_key("model/bias", "optimizer", "m")
    'model/bias/.OPTIMIZER_SLOT/optimizer/m'
    """
    return f"{variable_key}/{_OPTIMIZER_SLOT}/{optimizer_key}/{escape_local_name(slot_name)}"


def unescape_local_name(step: str) -> str:
    """Return the local name that one step of a checkpoint key spells.

    >>> unescape_local_name("conv.S1..0"), unescape_local_name("a..S")
    ('conv/1.0', 'a.S')
    """
    return _ESCAPED.sub(lambda match: "/" if match[0] == ".S" else ".", step)


class CheckpointKey(NamedTuple):
    """A checkpoint key in its parts: the key of the object, the name of its attribute."""

    object_key: str
    attribute: str


class SlotKey(NamedTuple):
    """The object key of a declared slot variable in its parts."""

    variable_key: str
    optimizer_key: str
    slot_name: str


def parse_checkpoint_key(key: str) -> CheckpointKey | None:
    """Return the parts of a checkpoint key, None of one that is none.

    >>> parse_checkpoint_key("model/bias/.ATTRIBUTES/VARIABLE_VALUE")
    CheckpointKey(object_key='model/bias', attribute='VARIABLE_VALUE')
    """
    object_key, separator, attribute = f"/{key}".rpartition(f"/{_OBJECT_ATTRIBUTES}/")
    return CheckpointKey(object_key[1:], unescape_local_name(attribute)) if separator else None


def parse_slot_key(object_key: str) -> SlotKey | None:
    """Return the parts of a declared slot variable's key, None of another object's.

    >>> parse_slot_key("model/bias/.OPTIMIZER_SLOT/optimizer/m")
    SlotKey(variable_key='model/bias', optimizer_key='optimizer', slot_name='m')
    """
    variable_key, separator, rest = f"/{object_key}".partition(f"/{_OPTIMIZER_SLOT}/")
    if not separator:
        return None
    optimizer_key, _, slot_name = f"/{rest}".rpartition("/")
    return SlotKey(variable_key[1:], optimizer_key[1:], unescape_local_name(slot_name))


def part_in_words(checkpoint_key: str) -> str:
    """Return which tensor a key means of a node that has several, as its place ends.

    >>> part_in_words("table/.ATTRIBUTES/table-keys")
    ' [table-keys]'
    """
    parsed = parse_checkpoint_key(checkpoint_key)
    return "" if parsed is None else f" [{parsed.attribute}]"


def without_part(name: str) -> str:
    """Return the name of a node without the part that `part_in_words` adds.

    >>> without_part("table [table-keys]"), without_part("table")
    ('table', 'table')
    """
    return name.rpartition(" [")[0] or name if name.endswith("]") else name
