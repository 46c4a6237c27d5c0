"""Whether a sentence that users read is plain English: short, and without obscure phrases."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator

MOST_WORDS = 25
_END = re.compile(r"(?<=[.?]) (?=[A-Z])")
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
# In comments and docstrings also these; the documents may use the words in another sense.
BANNED_IN_CODE = (
    r"anew\b",
    r"looks? on\b",
    r"of which (?:each|most|one|some)\b",
    r"such as are\b",
    r"with another\b",
)
# In what users read also these: each made readers read a sentence twice.
BANNED_IN_MESSAGES = (
    r"any more\b",
    r"anew\b",
    r"by the new places\b",
    r"calls? for a look\b",
    r"cross.?wired\b",
    r"items? [\w ,]{1,20} (?:was|were)\b",
    r"names? (?:do(?:es)? not )?tells?\b",
    r"no row here\b",
    r"nothing takes\b",
    r"one level (?:less|more)\b",
    r"speaks? (?:against|for)\b",
    r"told\b",
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


def words_in(sentence: str) -> int:
    """Return the number of words; code and a name are one each.

    >>> words_in("Call tf.train.Checkpoint(model=live.model).restore(path), or wait.")
    4
    >>> words_in("The state 'm' of (root).v has shape (2, 3).")
    8
    """
    return len(_CODE.sub("name", sentence).split())


def faults_in(text: str, quoted: Iterable[str] = ()) -> Iterator[str]:
    """Yield what makes a sentence, or a few of them, hard to read."""
    for sentence in sentences_in(text, quoted):
        number = words_in(sentence)
        if number > MOST_WORDS:
            yield f"{number} words, expected at most {MOST_WORDS}: {sentence}"
    yield from obscure_phrases_in(text)


def sentences_in(text: str, quoted: Iterable[str] = ()) -> list[str]:
    """Return the sentences of a text; what is `quoted` is a part of one.

    >>> sentences_in("Item 1 is new. The items after it moved.")
    ['Item 1 is new.', 'The items after it moved.']
    >>> sentences_in("ValueError: No. Never.", ["No. Never"])
    ['ValueError: Quote.']
    """
    for quote in sorted(quoted, key=len, reverse=True):
        text = text.replace(quote, "Quote") if quote else text
    return _END.split(text)


def obscure_phrases_in(text: str, more: Iterable[str] = ()) -> Iterator[str]:
    """Yield each banned phrase in a text of any length; `more` adds patterns to the list."""
    plain = _CODE.sub("name", text)
    for phrase in (*_BANNED, *more):
        if re.search(rf"\b{phrase}", plain, re.IGNORECASE):
            yield f"{phrase!r} in: {text}"


def messages(source: str) -> Iterator[tuple[int, str]]:
    r"""Yield line and text of each string that documents nothing; what fills a gap is one word.

    >>> list(messages('"A module."\nx = f"item {n} was" + "new"'))
    [(2, 'item X was'), (2, 'new')]
    """
    parts: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                parts.add(node.value)
            case ast.JoinedStr(values=values):
                parts.update(values)
                texts = (p.value if isinstance(p, ast.Constant) else "X" for p in values)
                yield node.lineno, "".join(map(str, texts))
            case ast.Constant(value=str(text)) if node not in parts:
                yield node.lineno, text


def comments_and_docstrings(source: str) -> Iterator[tuple[int, str]]:
    r"""Yield first line and text of each docstring, and of each run of comments, on one line.

    A string on its own after an assignment documents it, so it counts as a docstring.

    >>> list(comments_and_docstrings("x = 1  # One.\n# Two\n# lines.\n"))
    [(1, 'One.'), (2, 'Two lines.')]
    """
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, " ".join(text.split())
    runs: list[tuple[int, list[str]]] = []
    end = -1  # the line of a comment that the next one may continue
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line, is_alone = token.start[0], token.line.lstrip().startswith("#")
            if not (is_alone and line == end + 1):
                runs.append((line, []))
            runs[-1][1].append(token.string.lstrip("# "))
            end = line if is_alone else -1
    for line, parts in runs:
        yield line, " ".join(parts)
