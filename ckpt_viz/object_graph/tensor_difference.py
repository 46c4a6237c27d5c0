"""How the stored tensors of two nodes differ, in few words."""

from __future__ import annotations

from ckpt_viz.object_graph.nodes import Attribute, Node
from ckpt_viz.text import shape_words


def tensor_difference(a: Attribute, b: Attribute) -> str:
    """Return two tensors in few words: `float32 8×10 ≠ 8×12`, `float32 8 ≠ int64 8`."""
    dtypes = (a.dtype or "", b.dtype or "" if a.dtype != b.dtype else "")
    shapes = (shape_words(a.shape), shape_words(b.shape))
    left, right = (" ".join(filter(None, parts)) for parts in zip(dtypes, shapes, strict=True))
    return f"{left} ≠ {right}"


def other_tensors(node: Node, other: Node) -> str:
    """Return the tensors of `other` in few words if they differ from those of the node, else "".

    A dtype is among the words only if it differs, too.
    """
    of_node = {attribute.name: attribute for attribute in node.attributes}
    words = [_words(a, of_node.get(a.name, a)) for a in other.attributes]
    own = [_words(of_node.get(a.name, a), of_node.get(a.name, a)) for a in other.attributes]
    return ", ".join(words) if words != own and all(words) else ""


def _words(attribute: Attribute, beside: Attribute) -> str:
    dtype = attribute.dtype if attribute.dtype != beside.dtype and beside.dtype else None
    return " ".join(filter(None, (dtype, shape_words(attribute.shape))))


def first_difference(a: Node, b: Node) -> str:
    """Return the first known difference of dtypes or shapes of two nodes; "" for none."""
    of_b = {attribute.name: attribute for attribute in b.attributes}
    for left in a.attributes:
        right = of_b.get(left.name, left)
        kinds = (left.dtype, right.dtype), (left.shape, right.shape)
        if any(None not in both and both[0] != both[1] for both in kinds):
            return tensor_difference(left, right)
    return ""
