"""Whether a sentence that users read is plain English: short, and without phrases that obscure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MOST_WORDS = 25
_BANNED = (
    r"as it stands",
    r"is told",
    r"mends?\b",
    r"no assert tells",
    r"nobody",
    r"none of which",
    r"of which none",
    r"says? so\b",
    r"stands?\b",
    r"wants?\b",
    r"without a word",
)
# What counts as one word: code and names, paths of the object graph, shapes, and slots of these.
_CODE = re.compile(
    r"`[^`]*`"
    r"|the state '[^']*' of \S+"
    r"|\(root\)[^\s',;:]*(?:'s state '[^']*' for [^\s,;:]+)?"
    r"|(?<!\w)'[^']*'"
    r"|\w[\w.]*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[\w.()]*"
    r"|[(\[][\d, ?]*[)\]]"
)


def words_in(sentence: str, quoted: Iterable[str] = ()) -> int:
    """Return the number of words; code, a name and a text that is `quoted` are one each.

    >>> words_in("Call tf.train.Checkpoint(model=live.model).restore(path), or wait.")
    4
    >>> words_in("The state 'm' of (root).v has shape (2, 3).")
    8
    """
    for text in sorted(quoted, key=len, reverse=True):
        sentence = sentence.replace(text, "quote") if text else sentence
    return len(_CODE.sub("name", sentence).split())


def faults_in(sentence: str, quoted: Iterable[str] = ()) -> Iterator[str]:
    """Yield what makes a sentence hard to read."""
    number = words_in(sentence, quoted)
    if number > MOST_WORDS:
        yield f"{number} words, expected at most {MOST_WORDS}: {sentence}"
    for phrase in _BANNED:
        if re.search(rf"\b{phrase}", _CODE.sub("name", sentence), re.IGNORECASE):
            yield f"{phrase!r} in: {sentence}"
