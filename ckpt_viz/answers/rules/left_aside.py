"""Data of preprocessing layers and static tables, such as vocabularies; no checkpoint holds them.

If the vocabulary differs, words take other rows of an embedding, and every assert passes. The file
does not show that, except where the number of rows does not fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ckpt_viz.answers.dry_runs.finding import Explained, Finding
from ckpt_viz.answers.evidence.case import Case
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.ground.text import count, listed
from ckpt_viz.live.objects import facts
from ckpt_viz.live.objects.keras_calls import takes_directly
from ckpt_viz.live.objects.left_aside import VOCABULARY, Aside, aside_of, asides_of
from ckpt_viz.matching.changes.kind import Kind

_MAX_APART = 3  # notes of one kind; more become a single note
_WEIGHTS = "idf_weights"  # of the words, in the mode tf_idf
_EMBEDDINGS = ("embeddings", "_embeddings")  # of Keras 2 and Keras 3


def left_aside(case: Case, explained: Explained) -> Iterator[Finding]:
    """Find data that the program must bring itself, and vocabularies that do not fit."""
    asides = asides_of([case.live_side.object(obj) for obj in range(len(case.live.nodes))])
    notes: dict[str, dict[int, Aside]] = {}
    for obj, aside in asides.items():
        if obj not in case.trace.holders:
            continue
        misfit = _misfit(case, obj, aside)
        if misfit is not None:
            yield misfit
        else:
            notes.setdefault(aside.what, {})[obj] = aside
    for data, asides in notes.items():
        apart = [[obj] for obj in asides] if len(asides) <= _MAX_APART else [list(asides)]
        for objects in apart:
            yield _note(case, data, {obj: asides[obj] for obj in objects})


def _note(case: Case, data: str, asides: Mapping[int, Aside]) -> Finding:
    called = [f"{_called(case, obj, aside)}{_size(aside)}" for obj, aside in asides.items()]
    if len(asides) > 1:
        called = [
            f"{case.live_side.place(obj)}{_entries(aside.size)}" for obj, aside in asides.items()
        ]
    is_of_keras = facts.is_of_keras(case.live_side.object(next(iter(asides))))
    so = (
        "a different one changes word indices, and no assert fails"
        if data == VOCABULARY
        else "the restore keeps those of the program"
    )
    return case.run.finding(
        Severity.INFO,
        Kind.NOT_TRACKED,
        f"No checkpoint holds the {data} of {listed(called)}: {so}.",
        f"Load the {data} of the saved program from a file, or adapt() to the same data; "
        f"Keras' save() stores the {data}."
        if is_of_keras
        else "Make the table from the data of the saved program.",
        nodes=[case.trace.holders[obj][0] for obj in asides],
        objects=asides,
    )


def _misfit(case: Case, obj: int, aside: Aside) -> Finding | None:
    """Find an embedding whose rows belong to another vocabulary than a layer's."""
    if aside.size is None:
        return None
    for rows in _rows(case, obj, aside):
        weights, saved = rows.of, rows.saved
        if not (
            aside.contradicts(saved, rows.live) or (rows.is_alone and aside.leaves_rows(saved))
        ):
            continue
        had = "had" if saved < aside.size else "probably had"
        had = had if rows.is_known else "may have had"
        return case.run.finding(
            Severity.WARNING,
            Kind.NOT_TRACKED,
            f"The vocabulary of {_called(case, obj, aside)} has {aside.size:,} entries, but "
            f"{case.live_side.place(weights)} was saved with {saved:,} rows: the saved program "
            f"{had} another vocabulary.",
            "Give the layer the vocabulary of the saved program; no checkpoint holds one, but "
            "Keras' save() stores it.",
            nodes=case.trace.holders[obj][:1],
            objects=(obj, weights),
        )
    return None


class _Rows(NamedTuple):
    """A variable or layer with a row for each entry: its saved rows, and those it has now.

    `is_known` says that the layer surely takes the indices, `is_alone` that it takes no others.
    """

    of: int
    saved: int
    live: int | None
    is_known: bool = True
    is_alone: bool = False


def _rows(case: Case, obj: int, aside: Aside) -> Iterator[_Rows]:
    """Yield what has a row for each entry of a vocabulary."""
    calls = case.live.calls
    is_known = any(obj in call for call in calls)
    for embedding in _embeddings_after(case, obj) if aside.is_index else ():
        saved = _saved_rows(case, embedding, _EMBEDDINGS)
        sources = {call.producer for call in calls if call.consumer == embedding}
        live = facts.rows_of(case.live_side.object(embedding))
        if saved is not None:
            yield _Rows(embedding, saved, live, is_known, sources == {obj})
    inner = case.live_side.child(obj, "_lookup_layer")
    lookup = obj if inner is None else inner
    saved, weights = _saved_rows(case, lookup, (_WEIGHTS,)), case.live_side.child(lookup, _WEIGHTS)
    if saved is not None and weights is not None:
        yield _Rows(weights, saved, aside.limit if saved == aside.limit else aside.size)


def _called(case: Case, obj: int, aside: Aside) -> str:
    name = case.live.nodes[obj].own_name
    return f"this {aside.kind}" if name is None else f"the {aside.kind} {name!r}"


def _size(aside: Aside) -> str:
    if aside.size is None or aside.words in (None, aside.size):
        return _entries(aside.size)
    return f" ({count(aside.words, 'word')} of {aside.size:,} entries)"


def _entries(size: int | None) -> str:
    return "" if size is None else f" ({count(size, 'entry', 'entries')})"


def _embeddings_after(case: Case, obj: int) -> list[int]:
    """Return the embeddings that take a layer's indices, by the calls that Keras remembers.

    Where Keras remembers none, the only embedding beside the only lookup layer of an object counts.
    """
    producer = case.live_side.object(obj)
    called = {layer for call in case.live.calls for layer in call}
    if obj in called:
        return [
            call.consumer
            for call in case.live.calls
            if call.producer == obj
            and _is_embedding(case, call.consumer)
            and takes_directly(case.live_side.object(call.consumer), producer)
        ]
    for node in case.live.nodes:
        beside = {child.node_id for child in node.children}
        if obj not in beside:
            continue
        embeddings = [layer for layer in beside if _is_embedding(case, layer)]
        lookups = [layer for layer in beside if _makes_indices(case, layer)]
        if len(embeddings) == len(lookups) == 1 and not called.intersection(embeddings):
            return embeddings
    return []


def _is_embedding(case: Case, obj: int) -> bool:
    return facts.is_embedding(case.live_side.object(obj))


def _makes_indices(case: Case, obj: int) -> bool:
    aside = aside_of(case.live_side.object(obj))
    return aside is not None and aside.is_index


def _saved_rows(case: Case, obj: int, names: Iterable[str]) -> int | None:
    """Return the length of the first of these variables that was saved for an object."""
    for node in case.trace.holders.get(obj, ()):
        for name in names:
            child = case.saved_side.child(node, name)
            attributes = case.saved.nodes[child].attributes if child is not None else ()
            if attributes and attributes[0].shape:
                return attributes[0].shape[0]
    return None
