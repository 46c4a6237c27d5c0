"""Checkpoint keys: how TensorFlow spells a path through the object graph.

Source: tensorflow/python/trackable/trackable_utils.py.
"""

from __future__ import annotations

VARIABLE_VALUE = "VARIABLE_VALUE"
_OBJECT_ATTRIBUTES = ".ATTRIBUTES"
_OPTIMIZER_SLOT = ".OPTIMIZER_SLOT"
_ESCAPES = str.maketrans({".": "..", "/": ".S"})


def escape_local_name(local_name: str) -> str:
    """Return the local name as checkpoint keys spell it.

    >>> escape_local_name("conv/1.0")
    'conv.S1..0'
    """
    return local_name.translate(_ESCAPES)


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
