"""Which of several equal parts belong together, judged by their names.

`dec` and `dec_net` share a word; `generator` begins with `gen`. Letters that agree by chance prove
nothing, nor do the numbers with which Keras makes names unique. The name of the holder proves
nothing either, unless all parts have the same name in it: an encoder's cell and a decoder's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

Path = Sequence[str]

BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
_SHORTEST_PREFIX = 3  # letters: `dec` of `decoder`
_SHORTEST_SUFFIX = 5  # `encoder` of `autoencoder`, but not `ema` of `schema`
_MAX_LENGTH = 200  # characters of a name
_MAX_TOGETHER = 1024  # pairs that are compared

# A word of one name, and the word of the other name that contains it.
_Link = tuple[str, str]


def paired_by_name(left: Sequence[Path], right: Sequence[Path]) -> dict[int, int]:
    """Return, by place in `left`, the place in `right` that its name belongs to.

    A pair counts if its words tell more than those of every competing pair, seen from both sides.
    Then the function compares the rest again. It leaves out pairs that the names do not decide.

    >>> paired_by_name([("parts", "enc"), ("parts", "dec")], [("dec_net",), ("enc_net",)])
    {0: 1, 1: 0}
    >>> paired_by_name([("model",), ("ema",)], [("ema_model",), ("net",)])
    {}
    """
    if len(left) * len(right) > _MAX_TOGETHER:
        return {}
    depth = _depth_of_own_names(left, right)
    left_words, right_words = ([_words(path, depth) for path in paths] for paths in (left, right))
    links = [[_links(a, b) for b in right_words] for a in left_words]
    pairs: dict[int, int] = {}
    rows, columns = set(range(len(left))), set(range(len(right)))
    while chosen := [
        (i, j)
        for i in sorted(rows)
        for j in sorted(columns)
        if _tells_most(links[i][j], (links[i][k] for k in columns if k != j), _of_left)
        and _tells_most(links[i][j], (links[k][j] for k in rows if k != i), _of_right)
    ]:
        pairs.update(chosen)
        rows.difference_update(i for i, _ in chosen)
        columns.difference_update(j for _, j in chosen)
    return dict(sorted(pairs.items()))


def _tells_most(
    links: frozenset[_Link], others: Iterable[frozenset[_Link]], side: Callable[[_Link], str]
) -> bool:
    """Return whether one side's linked words here exceed those of each other case."""
    words = set(map(side, links))
    return bool(words) and all(words > set(map(side, other)) for other in others)


def _of_left(link: _Link) -> str:
    return link[0]


def _of_right(link: _Link) -> str:
    return link[1]


def _depth_of_own_names(left: Sequence[Path], right: Sequence[Path]) -> int:
    """Return the place, from the end of the paths, of the names that differ within a side.

    >>> _depth_of_own_names([("enc", "cell"), ("dec", "cell")], [("cell",), ("old", "cell")])
    2
    """
    depth = 1
    while len(left) + len(right) > 2 and all(
        len({_name_at(path, depth) for path in paths} - {""}) == 1 for paths in (left, right)
    ):
        depth += 1
    return depth


def _words(path: Path, depth: int) -> frozenset[str]:
    """Return the words of a path's own name, and the whole name, prefixed with `=`."""
    return frozenset(_words_in(_name_at(path, depth)[:_MAX_LENGTH]))


def _name_at(path: Path, depth: int) -> str:
    return path[-depth] if depth <= len(path) else ""


def _words_in(name: str) -> Iterator[str]:
    words = [word.casefold() for word in BETWEEN_WORDS.split(name) if word]
    letters = [word for word in words if not word.isdecimal()]
    yield from letters
    if letters and len(letters) == len(words):
        yield f"={'_'.join(words)}"


def _links(left: frozenset[str], right: frozenset[str]) -> frozenset[_Link]:
    return frozenset((a, b) for a in left for b in right if _belong_together(a, b))


def _belong_together(a: str, b: str) -> bool:
    if a == b:
        return True
    short, long = sorted((a, b), key=len)
    return (
        short.isalpha()
        and long.isalpha()
        and (
            (len(short) >= _SHORTEST_PREFIX and long.startswith(short))
            or (len(short) >= _SHORTEST_SUFFIX and long.endswith(short))
        )
    )
