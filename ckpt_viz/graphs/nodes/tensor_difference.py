"""How the stored tensors of two nodes differ, in few words."""

from __future__ import annotations

from ckpt_viz.graphs.nodes.nodes import Attribute, Node
from ckpt_viz.ground.text import shape_words


def tensor_difference(a: Attribute, b: Attribute) -> str:
    """Return two tensors in few words: `float32 8×10 ≠ 8×12`, `float32 8 ≠ int64 8`."""
    dtypes = (a.dtype or "", b.dtype or "" if a.dtype != b.dtype else "")
    shapes = (shape_words(a.shape), shape_words(b.shape))
    left, right = (" ".join(filter(None, parts)) for parts in zip(dtypes, shapes, strict=True))
    return f"{left} ≠ {right}"


def first_difference(a: Node, b: Node) -> str:
    """Return the first known difference of dtypes or shapes of two nodes; "" for none."""
    of_b = {attribute.name: attribute for attribute in b.attributes}
    for left in a.attributes:
        right = of_b.get(left.name, left)
        kinds = (left.dtype, right.dtype), (left.shape, right.shape)
        if any(None not in both and both[0] != both[1] for both in kinds):
            return tensor_difference(left, right)
    return ""
