"""Values that mean the same in another form: a rule of its own for each, and no other.

The rules of cuDNN are those of `_convert_rnn_weights` (tf_keras/src/saving/legacy/hdf5_format.py):
the shape of the saved bias alone tells the form of a layer's values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ckpt_viz.graphs.nodes.nodes import Node
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.matching.correspondence.pairs import Evidence, Pair

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

_GATES = {"LSTM": 4, "LSTMCell": 4, "GRU": 3, "GRUCell": 3}
_KERNEL, _RECURRENT, _BIAS = "kernel", "recurrent_kernel", "bias"


class Form(Enum):
    """How a saved value becomes one of the form that the program has; the value is the code.

    The code is a template with the expression of the saved value, and the number of gates. None is
    for a layer that cannot take the values at all.
    """

    HEADS = "{value}.reshape(variable.shape)"
    INPUT = "np.hstack([k.T.reshape(k.shape, order='F') for k in np.hsplit({value}, {gates})])"
    RECURRENT = "np.hstack([k.T for k in np.hsplit({value}, {gates})])"
    SUM = "np.sum(np.split({value}, 2), axis=0)"
    ROWS = "{value}.reshape(2, -1)"
    CAST = "{value}"  # to assign it converts it
    PART = "in_part(variable, {value})"
    NONE = ""


_WORDS = {
    Form.HEADS: "divided among the heads of attention",
    Form.INPUT: "transposed for each gate, from the order of cuDNN",
    Form.RECURRENT: "transposed for each gate, from the order of cuDNN",
    Form.SUM: "summed, since cuDNN has two biases",
    Form.ROWS: "in two rows, since cuDNN has two biases",
    Form.CAST: "converted to the dtype of the program",
    Form.PART: "copied in part: the elements that both shapes have",
}
IN_PART = """\
def in_part(variable, saved):
    value = np.array(variable.numpy())
    common = tuple(map(slice, np.minimum(value.shape, saved.shape)))
    value[common] = saved[common]
    return value
"""
"""The function that the code of `Form.PART` calls."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What turns a saved value into one of the same meaning, in the form of the program.

    `dtype` is the new one of a cast, "" for any other conversion.
    """

    form: Form
    gates: int = 0
    dtype: str = ""

    @property
    def words(self) -> str:
        """What happens to the value."""
        return _WORDS[self.form]

    @property
    def is_cast(self) -> bool:
        """Whether only the dtype is another, which the call converts by itself."""
        return self.form is Form.CAST

    @property
    def keeps_order(self) -> bool:
        """Whether the elements remain in their order: only the shape is another."""
        return self.form in (Form.HEADS, Form.ROWS)

    def code(self, value: str) -> str:
        """Return the code for a value's expression; it may name `variable`, and NumPy as `np`."""
        return self.form.value.format(value=value, gates=self.gates)

    def of(self, value: Array, shape: tuple[int, ...], own: Callable[[], Array]) -> Array:
        """Return a value in the other form, of this shape; `own` is the value of the program."""
        import numpy as np

        if self.form is Form.CAST:
            from ckpt_viz.formats.arrays.tensors import numpy_dtype

            return value.astype(numpy_dtype(self.dtype) or value.dtype)
        if self.form is Form.PART:
            whole = np.array(own())
            common = tuple(map(slice, np.minimum(whole.shape, value.shape)))
            whole[common] = value[common]
            return whole
        if self.form is Form.SUM:
            return np.sum(np.split(value, 2), axis=0, dtype=value.dtype)
        if self.keeps_order:
            return value.reshape(shape)
        of_gates = np.hsplit(value, self.gates)
        if self.form is Form.RECURRENT:
            return np.hstack([gate.T for gate in of_gates])
        return np.hstack([gate.T.reshape(gate.shape, order="F") for gate in of_gates])


def conversion_of(saved: Graph, live: Graph, pair: Pair) -> Conversion | None:
    """Return how the value of a pair changes its form; None if it has the same form.

    A conversion to `Form.NONE` is that of values which no rule converts.
    """
    if pair.evidence is Evidence.RESHAPED:
        return Conversion(Form.HEADS)
    slot, live_slot = saved.nodes[pair.node].slot, live.nodes[pair.obj].slot
    is_slot = slot is not None and live_slot is not None
    variables = (slot.variable, live_slot.variable) if slot and live_slot else pair[:2]
    conversion = _of_recurrent(saved, live, *variables)
    # The sum of two slots is not the slot of the sum.
    is_exact = conversion is None or not (is_slot and conversion.form is Form.SUM)
    return conversion if is_exact else Conversion(Form.NONE)


def cast_of(saved: Graph, live: Graph, node: int, obj: int) -> Conversion | None:
    """Return the cast that Keras does when it loads a value; None if it does none.

    Keras assigns what it reads, so floating-point numbers get the dtype of their variable.
    """
    attributes = saved.nodes[node].attributes, live.nodes[obj].attributes
    if any(len(own) != 1 for own in attributes):
        return None
    was, now = (own[0] for own in attributes)
    dtypes = str(was.dtype), str(now.dtype)
    if was.shape != now.shape or was.dtype == now.dtype:
        return None
    is_number = all(dtype.startswith(("float", "bfloat")) for dtype in dtypes)
    return Conversion(Form.CAST, dtype=dtypes[1]) if is_number else None


def may_convert(live: Graph) -> bool:
    """Return whether a program has layers whose values may have had another form."""
    return any(node.type_name in _GATES for node in live.nodes)


def _of_recurrent(saved: Graph, live: Graph, node: int, obj: int) -> Conversion | None:
    """Return the conversion of a variable of a layer whose saved bias is one of cuDNN."""
    holders = saved.tree.parents[node], live.tree.parents[obj]
    gates = _GATES.get(live.nodes[holders[1]].type_name or "") if min(holders) >= 0 else None
    if gates is None:
        return None
    shapes, live_shapes = _shapes(saved, holders[0]), _shapes(live, holders[1])
    recurrent = shapes.get(_RECURRENT)
    if recurrent is None or len(recurrent) != 2 or recurrent[1] != gates * recurrent[0]:
        return None
    if shapes.get(_BIAS) != (2 * recurrent[1],):
        return None
    wanted = (recurrent[1],) if gates == _GATES["LSTM"] else (2, recurrent[1])
    name = _public(saved, node)
    if live_shapes.get(_BIAS) != wanted or shapes.get(_KERNEL) != live_shapes.get(_KERNEL):
        return Conversion(Form.NONE)
    of_bias = Form.SUM if gates == _GATES["LSTM"] else Form.ROWS
    forms = {_KERNEL: Form.INPUT, _RECURRENT: Form.RECURRENT, _BIAS: of_bias}
    return Conversion(forms[name], gates) if name in forms else None


def _public(graph: Graph, node: int) -> str:
    return graph.tree.labels[node].removeprefix("_")


def _shapes(graph: Graph, holder: int) -> dict[str, tuple[int, ...] | None]:
    """Return the shapes of the variables of a layer, by name."""
    shapes: dict[str, tuple[int, ...] | None] = {}
    for child in graph.nodes[holder].children:
        node: Node = graph.nodes[child.node_id]
        if len(node.attributes) == 1:
            shapes[child.local_name.removeprefix("_")] = node.attributes[0].shape
    return shapes
