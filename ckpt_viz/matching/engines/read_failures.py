"""Which tensors a variable takes, and what reading the others raises."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ckpt_viz.graphs.nodes.nodes import Stored
from ckpt_viz.ground.text import shape_words
from ckpt_viz.matching.engines.trace import Cause, Failure, Read


def fits(accepted: Iterable[int | None] | None, shape: tuple[int, ...] | None) -> bool:
    """Return whether a variable takes a value of this shape (`TensorShape.is_compatible_with`).

    >>> fits((None, 2), (5, 2)), fits((2,), (2, 1)), fits(None, (7,))
    (True, False, True)
    """
    if accepted is None or shape is None:
        return True
    wanted = tuple(accepted)
    return wanted == shape or (
        len(wanted) == len(shape)
        and all(a is None or a == b for a, b in zip(wanted, shape, strict=True))
    )


def kernel_dtype(name: str | None) -> str:
    """Return a dtype as TensorFlow's kernels print it.

    >>> kernel_dtype("float64"), kernel_dtype("int64")
    ('double', 'int64')
    """
    return {"float16": "half", "float32": "float", "float64": "double"}.get(name or "", name or "")


def wrong_dtype(read: Read, stored: Stored) -> Failure:
    """Return what reading a tensor of another dtype raises."""
    return Failure(
        Cause.DTYPE,
        "InvalidArgumentError",
        f"tensor_name = {read.key}; expected dtype {kernel_dtype(read.dtype)} does not equal "
        f"original dtype {kernel_dtype(stored.dtype)}",
        actual=stored.dtype or "",
        expected=read.dtype or "",
    )


def wrong_shape(
    refused_by: str,
    message: str,
    stored: Iterable[int | None] | None,
    accepted: Iterable[int | None] | None,
) -> Failure:
    """Return the failure of a value whose shape its variable does not accept.

    TensorFlow's message spells shapes in several ways, `actual` and `expected` as all our texts.
    """
    actual, expected = (
        shape_words(None if shape is None else tuple(shape), unknown="unknown")
        for shape in (stored, accepted)
    )
    return Failure(Cause.SHAPE, refused_by, message, actual=actual, expected=expected)


def tensor_shape(shape: Iterable[int | None] | None) -> str:
    """Return a shape as `str(TensorShape)` spells it in TensorFlow's messages.

    >>> tensor_shape((None, 2)), tensor_shape(None)
    ('(None, 2)', '<unknown>')
    """
    return "<unknown>" if shape is None else str(tuple(shape))


def two_names(first: str, second: str) -> Failure:
    """Return what restoring one variable under two names raises."""
    return Failure(
        Cause.TWO_NAMES,
        "ValueError",
        f"The same saveable will be restored with two names: {second}",
        actual=first,
        expected=second,
    )


def of_reader(failure: Failure) -> Failure:
    """Return the failure of a read as `CheckpointReader.get_tensor` raises it."""
    return replace(failure, type="IndexError" if failure.type == "OutOfRangeError" else "OpError")


def wrong_slice(read: Read, stored: Stored) -> Failure:
    """Return what reading a slice raises if the tensor does not have the full shape."""
    actual, wanted = (",".join(map(str, shape or ())) for shape in (stored.shape, read.full_shape))
    message = (
        f"tensor_name = {read.key}; shape in shape_and_slice spec [{wanted}] does not match the "
        f"shape stored in checkpoint: [{actual}]"
    )
    return wrong_shape("InvalidArgumentError", message, stored.shape or (), read.full_shape)
