"""The blocks that the names of layers tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A block up to its number and a separator, as in `block0_attn`, `block_1_expand`, `block4a_dwconv`.
_BLOCK = re.compile(r"(?P<stem>.*?[^\W\d_][_-]?)(?P<number>\d+[a-z]?)_(?=.*[^\d_])", re.DOTALL)
_NUMBERS = re.compile(r"[_-]?\d+")  # Keras numbers names that it makes: softmax, softmax_1
_MAX_NAME = 100  # characters of a name in which we look for a block or a number
MAX_BLOCKS = 8  # blocks in one another


def blocks_in(name: str) -> Iterator[tuple[str, str]]:
    """Yield the blocks to which a layer of this name may belong, outermost first.

    Of each, yield its name up to the number, and its whole name.

    >>> [*blocks_in("conv2_block1_out"), *blocks_in("block0_attn"), *blocks_in("dense_1")]
    [('conv', 'conv2'), ('conv2_block', 'conv2_block1'), ('block', 'block0')]
    """
    name, at = name[:_MAX_NAME], 0
    for _ in range(MAX_BLOCKS):
        if (block := _BLOCK.match(name[at:])) is None:
            return
        yield name[: at + block.end("stem")], name[: at + block.end("number")]
        at += block.end()


def first_block(name: str) -> re.Match[str] | None:
    """Return the outermost block in a name, with its groups `stem` and `number`."""
    return _BLOCK.match(name[:_MAX_NAME])


def without_numbers(name: str) -> str:
    """Return a name without the numbers by which Keras tells names apart."""
    return _NUMBERS.sub("", name)


def follows(before: str, after: str) -> bool:
    """Return whether two names differ in one number alone, and this number counts up.

    >>> follows("block9", "block10"), follows("0_conv", "3_conv"), follows("a1_b1", "a2_b2")
    (True, False, False)
    >>> follows("dense", "dense_1")  # Keras numbers its own names from here
    True
    """
    if after == f"{before}_1":
        return True
    if max(len(before), len(after)) > _MAX_NAME:
        return False
    parts = re.split(r"(\d+)", before), re.split(r"(\d+)", after)
    differing = [(x, y) for x, y in zip(*parts, strict=False) if x != y]
    if len(parts[0]) != len(parts[1]) or len(differing) != 1:
        return False
    (x, y) = differing[0]
    return x.isdecimal() and y.isdecimal() and len(y) < 16 and int(y) == int(x) + 1
