"""Texts of TensorFlow, pasted where a query is expected: what names a node in them.

labextension/src/search/pasted.ts is the same in the front end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ckpt_viz.search.syntax import BLANKS

MAX_NAMES = 100
_BLANK = f"[{BLANKS}]"
_QUOTES = "'\"`\\[({<"
# A name or a key that stands alone, not behind a field: `(root).model`, but not `under:(root)`.
_ROOT = re.compile(rf"(?:^|{_BLANK}|[{_QUOTES}])\(root\)")
_KEY = re.compile(rf"(?:^|{_BLANK}|[{_QUOTES}])[^:{BLANKS}]*/\.ATTRIBUTES/")
# What TensorFlow says of a value by the full name of its variable.
_SENTENCES = tuple(
    re.compile(sentence, re.ASCII)
    for sentence in (
        r"\bKey ([^\n]{1,1000}?) not found in checkpoint",
        r"\bTensor name \"([^\"]{1,1000})\" not found",
        r"\bvariable with shape \([0-9, ]{0,200}\) and name ([^ ]{1,1000})",
        r"\btensor_name = ([^ ;]{1,1000}); expected dtype",
        r"\bVariable '([^']{1,1000})'",
        r"\bVariable path=([^ ,>]{1,1000})",
    )
)
_SHAPE = re.compile(r"\bshape[ =]\(([0-9, ]{0,200})\)", re.ASCII)
_OUTPUT = re.compile(r":[0-9]+\Z")
_ENDS = re.compile(rf"\Z|[{BLANKS}:,;'\"`\])}}>]|\.(?:\Z|{_BLANK})")


def is_pasted(text: str) -> bool:
    """Return whether a text is TensorFlow's, not a query."""
    signs = (_ROOT, _KEY, *_SENTENCES)
    return any(sign.search(text) for sign in signs)


@dataclass(frozen=True, slots=True)
class Named:
    """What may name a node in a text: where `(root)` stands, words, full names, shapes.

    `words` are what may be a checkpoint key.
    """

    roots: tuple[int, ...]
    words: frozenset[str]
    full_names: frozenset[str]
    shapes: frozenset[tuple[int, ...]]


def named(text: str) -> Named:
    """Return what a text of TensorFlow names."""
    sentences = [match[1] for sentence in _SENTENCES for match in sentence.finditer(text)]
    return Named(
        tuple([match.start() for match in re.finditer(r"\(root\)", text)][:MAX_NAMES]),
        frozenset([word.strip("'\"`,;()[]{}<>") for word in re.split(f"{_BLANK}+", text)]),
        frozenset(without_output(name.removesuffix(".")) for name in sentences),
        frozenset(
            tuple([int(size) for size in match[1].split(",") if size.strip()])
            for match in _SHAPE.finditer(text)
        ),
    )


def ends_at(text: str, place: int) -> bool:
    """Return whether a name can end at a place: `(root).a` is none in `(root).a.b`."""
    return _ENDS.match(text, place) is not None


def without_output(name: str) -> str:
    """Return the name of a variable without the output of its tensor.

    >>> without_output("dense/kernel:0")
    'dense/kernel'
    """
    return _OUTPUT.sub("", name)
