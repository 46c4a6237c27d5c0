"""Data that preprocessing layers and static tables hold, and no checkpoint does.

Reads attributes of the objects; runs no code of theirs, and no operation on a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ckpt_viz.graphs.nodes.nodes import NotSaved
from ckpt_viz.live.objects import facts
from ckpt_viz.live.objects.containers import items_of
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names.packages import TENSORFLOW_AND_KERAS, package_of
from ckpt_viz.live.tensorflow_names.shadows import instance_dict

VOCABULARY = "vocabulary"
_SLACK = 2  # programs that count the special entries themselves make an embedding this much larger


@dataclass(frozen=True, slots=True)
class Aside:
    """Data that only the program holds: what they are, and the class of the object with them.

    `size` counts the entries, for a vocabulary with the special ones; None if that needs code to
    run. `words` counts those without the special ones. `limit` is the largest size that the layer
    allows. `is_index` says that the layer makes indices of rows.
    """

    what: str
    kind: str
    size: int | None = None
    words: int | None = None
    limit: int | None = None
    is_index: bool = False

    def contradicts(self, saved_rows: int, live_rows: int | None) -> bool:
        """Return whether saved rows belong to a vocabulary of another size.

        That is so if there are fewer rows than entries. If the live rows follow the vocabulary, the
        saved ones have followed theirs.

        >>> words = Aside("vocabulary", "StringLookup", size=5)
        >>> words.contradicts(4, 4), words.contradicts(5, 5), words.contradicts(8, 8)
        (True, False, False)
        >>> words.contradicts(7, 5), words.contradicts(7, 9)
        (True, False)
        """
        if self.size is None:
            return False
        follows = live_rows is not None and self.size <= live_rows <= self.size + _SLACK
        return saved_rows < self.size or (follows and saved_rows != live_rows)

    def leaves_rows(self, rows: int) -> bool:
        """Return whether rows are left over that look as if they were counted for more entries.

        Programs choose round numbers, or the largest size that the layer allows.

        >>> words = Aside("vocabulary", "StringLookup", size=5)
        >>> words.leaves_rows(7), words.leaves_rows(9), words.leaves_rows(10), words.leaves_rows(64)
        (False, True, False, False)
        """
        is_round = rows % 10 == 0 or rows & (rows - 1) == 0
        return (
            self.size is not None
            and rows > max(self.size, self.limit or 0) + _SLACK
            and not is_round
        )


def aside_of(obj: object) -> Aside | None:
    """Return the data of an object that no checkpoint holds; None if it has none, or none yet."""
    cls: Any = type(obj)
    read = _reader_of(cls)
    return read(cls.__name__, instance_dict(obj)) if read is not None else None


def asides_of(objects: Sequence[object]) -> dict[int, Aside]:
    """Return the data of objects, by node id.

    The program knows the layer around a lookup layer or table, so that alone is named.
    """
    classes: dict[type, bool] = {
        cls: _reader_of(cls) is not None for cls in set(map(type, objects))
    }
    known = [(i, obj) for i, obj in enumerate(objects) if classes[type(obj)]]
    inner = {id(part) for _, obj in known for part in _inner_parts(obj)}
    asides = ((i, aside_of(obj)) for i, obj in known if id(obj) not in inner)
    return {i: aside for i, aside in asides if aside is not None}


def not_saved_of(objects: Sequence[object]) -> Mapping[int, NotSaved]:
    """Return what of their data a save leaves out, by node id."""
    return {
        i: NotSaved(aside.what, aside.kind, 1, is_lost=False)
        for i, aside in asides_of(objects).items()
    }


def _inner_parts(obj: object) -> list[object]:
    own = instance_dict(obj)
    return [own[name] for name in ("_lookup_layer", "lookup_table", "_table") if name in own]


def _vocabulary(kind: str, own: Mapping[str, Any]) -> Aside | None:
    """Return the vocabulary of a lookup layer that has these attributes.

    Keras notes the size when it gets a vocabulary; in a graph, that is a tensor.
    """
    if facts.is_without_vocabulary(own):
        return None
    noted, limit, outside = (
        own.get(name) for name in ("_frozen_vocab_size", "max_tokens", "num_oov_indices")
    )
    is_int = own.get("output_mode") == "int"
    size = noted if type(noted) is int else None
    special = (outside if type(outside) is int else 0) + (
        is_int and own.get("mask_token") is not None
    )
    return Aside(
        VOCABULARY,
        kind,
        size,
        size - special if size is not None else None,
        limit if type(limit) is int else None,
        is_int and not own.get("invert"),
    )


def _text(kind: str, own: Mapping[str, Any]) -> Aside | None:
    return _vocabulary(kind, instance_dict(own.get("_lookup_layer")))


def _boundaries(kind: str, own: Mapping[str, Any]) -> Aside | None:
    """Return the boundaries of a Discretization; Keras 2 saves from what it learned them."""
    boundaries = items_of(own.get("bin_boundaries"))
    is_learned = own.get("input_bin_boundaries") is None
    if not boundaries or (is_learned and tf_private.is_variable(own.get("summary"))):
        return None
    return Aside("boundaries", kind, len(boundaries))


def _statistics(kind: str, own: Mapping[str, Any]) -> Aside | None:
    return Aside("mean and variance", kind) if own.get("input_mean") is not None else None


def _entries(kind: str, own: Mapping[str, Any]) -> Aside:
    """Return the entries of a static table; those in a file have no known number."""
    shape = getattr(instance_dict(own.get("_initializer")).get("_keys"), "shape", None)
    known = tf_private.full_shape(shape) if shape is not None else None
    return Aside("entries", kind, known[0] if known else None)


_Reader = Callable[[str, Mapping[str, Any]], Aside | None]
_READERS: Mapping[str, _Reader] = {
    "IndexLookup": _vocabulary,
    "TextVectorization": _text,
    "Discretization": _boundaries,
    "Normalization": _statistics,
    "StaticHashTable": _entries,
    "StaticVocabularyTable": _entries,
}


@lru_cache(maxsize=1024)
def _reader_of(cls: type) -> _Reader | None:
    names = (base.__name__ for base in cls.__mro__ if package_of(base) in TENSORFLOW_AND_KERAS)
    return next((_READERS[name] for name in names if name in _READERS), None)
