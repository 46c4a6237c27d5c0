"""How the outputs of a check spell shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ckpt_viz.restore_check.check_result import RestoreCheck
from tests.support.told import told

# Behind a letter or a bracket a tuple is an argument or an index, so code.
_SIZE = r"(?:\d+|None|\?)"
_PYTHONS_SHAPE = re.compile(
    rf"(?<![\w()\[\].])(?:\({_SIZE}?,[\d, ?None]*\)|\[[\d, ?]*\]|<unknown>)"
)


def pythons_shapes_in(text: str, quoted: Iterable[str] = ()) -> list[str]:
    """Return the shapes of a text that are spelled as in Python; not those of a `quoted` message.

    >>> pythons_shapes_in("It has shape (3, 2), not (None, 2) or [2].")
    ['(3, 2)', '(None, 2)', '[2]']
    >>> pythons_shapes_in("It has 3×2: tf.zeros((3, 2)), a['b'][0].", ["(1,) fails"])
    []
    """
    for message in sorted(quoted, key=len, reverse=True):
        text = text.replace(message, "quote")
    return _PYTHONS_SHAPE.findall(text)


def misspelled_shapes(check: RestoreCheck) -> list[str]:
    """Return the sentences and the details of rows that spell a shape as in Python."""
    quoted = list(quoted_in(check))
    return [text for text in _texts(check) if pythons_shapes_in(text, quoted)]


def quoted_in(check: RestoreCheck) -> Iterator[str]:
    """Yield what TensorFlow and the objects' own code say, which a finding may quote."""
    steps = [step.failure for step in check.trace if step.failure is not None]
    messages = [failure.message for failure in steps]
    messages += [node.error for node in check.live.nodes if node.error is not None]
    messages += [check.raises.message] if check.raises is not None else []
    sentences = [one for text in messages for one in re.split(r"\. |\n", text)]
    yield from (one.removesuffix(".") for one in (*messages, *sentences) if one)


def _texts(check: RestoreCheck) -> Iterator[str]:
    for finding in told(check):
        yield from (finding.why, str(finding.remedy))
    for mark in check.overlay.marks:
        yield mark.detail
