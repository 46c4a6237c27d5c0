"""Reads the values of a graph's tensors, and yields their rows as they finish."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ckpt_viz.errors import CkptVizError, FormatError, UnsupportedError
from ckpt_viz.files.values.folds import LOCAL_BYTES, Statistics, filled, measure_array
from ckpt_viz.files.values.ranges import REMOTE_BYTES, Request, cut, folded
from ckpt_viz.files.values.row import Lengths, ValueRow
from ckpt_viz.files.values.running import Begin, OnRead, progress_of, silent
from ckpt_viz.formats.arrays.dtypes import tensor_bytes
from ckpt_viz.formats.arrays.tensors import Array, encode, numpy_dtype
from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.bundles.entries import StoredRange
from ckpt_viz.formats.bundles.stored_bytes import checksum_for
from ckpt_viz.formats.bundles.stored_ranges import Claims, stored_ranges
from ckpt_viz.formats.storage.files import is_remote
from ckpt_viz.formats.storage.zip_archive import member_of
from ckpt_viz.graphs.nodes.keys import part_in_words
from ckpt_viz.graphs.nodes.nodes import Attribute
from ckpt_viz.graphs.nodes.printed_names import readable_name, readable_place
from ckpt_viz.graphs.object_graph.graph import Graph

_MOST_BYTES = 1 << 44  # 16 TiB in all: a file with a hole may claim any size, and takes no space
_MOST_AT_ONCE = 1 << 26  # 64 MiB, which take about 0.1 s
_MOST_FROM_AFAR = 1 << 22  # 4 MiB
_MOST_WHOLE_BYTES = 1 << 30  # 1 GiB: a tensor of the V1 format, which is read at once


@dataclass
class Memo:
    """What earlier calls have read of a checkpoint's file: finished rows, and begun ones.

    Live objects have none, because their values change.
    """

    rows: dict[str, ValueRow] = field(default_factory=dict)
    begun: dict[str, Request] = field(default_factory=dict)


class Tensor(NamedTuple):
    """A stored tensor to be read; its row has no statistics yet."""

    row: ValueRow
    attribute: Attribute


def tensors_of(graph: Graph, where: str | None = None) -> tuple[Tensor, ...]:
    """Return the tensors of a graph in the order of the outline; `where` is a search query.

    An attribute that the source has no tensor for is one, too: its row has the error. Raises
    QueryError.
    """
    from ckpt_viz.graphs.search.evaluate import find

    chosen = None if where is None else set(find(graph, where))
    by_key: dict[str, Tensor] = {}
    for node_id in graph.tree.preorder():
        if chosen is None or node_id in chosen:
            for tensor in _of_node(graph, node_id, by_key):
                by_key[tensor.row.key] = tensor
    return tuple(by_key.values())


def rows_as_read(
    graph: Graph,
    tensors: Iterable[Tensor],
    memo: Memo,
    *,
    executor: Executor | None = None,
    begin: Begin,
) -> Generator[ValueRow, None, None]:
    """Yield the row of each tensor when it is finished, in any order.

    `begin` starts a progress bar. If the iterator is closed or interrupted, `memo` has what was
    read, and the next call goes on from there.
    """
    left = []
    for tensor in tensors:
        if tensor.row.key in memo.rows:
            yield memo.rows[tensor.row.key]
        else:
            left.append(tensor)
    archived = member_of(graph.stored_in) if left else None
    total = sum(tensor.row.nbytes or 0 for tensor in left)
    total += archived.untested_bytes if archived is not None else 0
    with progress_of("values", total, begin) as on_read:
        if archived is not None:
            with suppress(CkptVizError):  # the row of each tensor has the error
                archived.test(on_read)
        if isinstance(graph.stored_in, Bundle):
            yield from _of_bundle(graph.stored_in, left, memo, executor, on_read)
        else:
            yield from _one_by_one(graph, left, memo, on_read)


def row_at_once(graph: Graph, attribute: Attribute, memo: Memo) -> ValueRow | None:
    """Return the statistics of an attribute's tensor; None if it has several, or takes long."""
    key, *others = graph.tensor_keys(attribute.checkpoint_key) or (attribute.checkpoint_key,)
    blank = ValueRow(key, "", "", 0, None, None, None)
    row = memo.rows.get(key) or _described(blank, graph, attribute)
    is_afar = graph.provenance is not None and is_remote(graph.provenance.prefix)
    most = _MOST_FROM_AFAR if is_afar else _MOST_AT_ONCE
    archived = member_of(graph.stored_in)
    nbytes = (row.nbytes or 0) + (archived.untested_bytes if archived is not None else 0)
    if others or (key not in memo.rows and nbytes > most):
        return None
    return next(rows_as_read(graph, [Tensor(row, attribute)], memo, begin=silent))


def _of_node(graph: Graph, node_id: int, known: Mapping[str, Tensor]) -> Iterator[Tensor]:
    """Yield the tensors of a node that no node before it has: a forged graph repeats keys."""
    attributes = graph.nodes[node_id].attributes
    by_key = {attribute.checkpoint_key: attribute for attribute in reversed(attributes)}
    keys = {
        key: attribute
        for own_key, attribute in reversed(by_key.items())
        for key in graph.tensor_keys(own_key) or (own_key,)
    }
    new = [(key, attribute) for key, attribute in keys.items() if key not in known]
    if not new:
        return
    name, place = readable_name(graph, node_id), readable_place(graph, node_id)
    for key, attribute in new:
        part = part_in_words(key) if len(keys) > 1 else ""
        blank = ValueRow(key, name, f"{place}{part}", node_id, None, None, None)
        yield Tensor(_described(blank, graph, attribute), attribute)


def _described(row: ValueRow, graph: Graph, attribute: Attribute) -> ValueRow:
    """Return the row with the tensor's kind and size, or with an error if there is no tensor."""
    stored = graph.stored(row.key)
    if stored is None:
        why = attribute.error or f"{graph.title}: there is no tensor {row.key!r}"
        return replace(row, error=why)
    nbytes = None if stored.dtype is None else tensor_bytes(stored.dtype, stored.shape)
    if isinstance(graph.stored_in, Bundle):
        nbytes = graph.stored_in.entries[row.key].size
    elif nbytes is None and row.key == attribute.checkpoint_key:
        nbytes = attribute.nbytes
    return replace(row, dtype=stored.dtype, shape=stored.shape, nbytes=nbytes)


# --- tensors of a bundle, in parts


def _of_bundle(
    bundle: Bundle,
    tensors: Iterable[Tensor],
    memo: Memo,
    executor: Executor | None,
    on_read: OnRead,
) -> Iterator[ValueRow]:
    budget, claims = _MOST_BYTES, Claims()
    rows: dict[str, ValueRow] = {}
    for row, _ in tensors:
        note = _why_opaque(row)
        try:
            if row.key not in memo.begun:
                ranges = _ranges(bundle, row, budget, claims, is_opaque=note is not None)
                if not ranges:
                    yield replace(row, note=note)
                    continue
                memo.begun[row.key] = Request(cut(Statistics(), [ranges], _part_bytes(row)))
        except CkptVizError as error:
            yield replace(row, error=row.error or str(error))
            continue
        budget -= row.nbytes or 0
        rows[row.key] = row if note is None else replace(row, note=note)
    begun = {key: memo.begun[key] for key in rows}
    reading = folded(begun, _together, executor=executor, on_read=on_read)
    del begun  # what was read of it takes memory
    for key in reading:
        yield _finished(rows[key], memo)


def _ranges(
    bundle: Bundle, row: ValueRow, budget: int, claims: Claims, *, is_opaque: bool
) -> tuple[StoredRange, ...]:
    """Return what is to be read of a tensor; raise CkptVizError if it cannot be read.

    Of a tensor without statistics, only the checksum is tested, if that is known.
    """
    if row.error is not None:
        raise UnsupportedError(row.error)
    if is_opaque:
        entry, reason = bundle.entries[row.key], bundle.why_unreadable(row.key)
        if reason is not None:
            raise FormatError(f"{bundle.index}: {row.key}: {reason}")
        is_known = entry.shape is not None and not entry.slices and entry.size <= _MOST_WHOLE_BYTES
        ranges = bundle.checked_ranges(row.key) if is_known else ()
        if not is_known or checksum_for(entry.dtype, entry.shape or (), bundle.byte_order) is None:
            return ()
    else:
        ranges = stored_ranges(bundle, row.key)
    claims.add(ranges)
    if (row.nbytes or 0) > budget:
        raise UnsupportedError(
            f"{bundle.prefix}: {row.key}: has {row.nbytes} bytes, expected at most {budget} more; "
            "choose fewer tensors by a search query"
        )
    return ranges


def _part_bytes(row: ValueRow) -> int:
    """Return how many bytes a process may read on its own; strings are read from the beginning."""
    is_plain = row.dtype is not None and tensor_bytes(row.dtype, row.shape) is not None
    return REMOTE_BYTES if is_plain else sys.maxsize


def _together(path: str) -> int:
    return REMOTE_BYTES if is_remote(path) else LOCAL_BYTES


def _why_opaque(row: ValueRow) -> str | None:
    """Return why a healthy tensor has no statistics, None if it has some."""
    if row.error is not None or row.dtype == "string":
        return None
    if row.dtype in ("variant", "resource"):
        return f"only TensorFlow decodes a {row.dtype}"
    if row.shape is None:
        return "its rank is unknown"
    return _why_no_numbers(row.dtype or "")


def _why_no_numbers(dtype: str) -> str | None:
    return f"numpy has no dtype for {dtype}" if numpy_dtype(dtype) is None else None


def _finished(row: ValueRow, memo: Memo) -> ValueRow:
    """Return a row and remember it; do not remember a failure, which the user may repair."""
    total = memo.begun.pop(row.key).value
    if isinstance(total, str):
        return replace(row, note=None, error=total)
    return memo.rows.setdefault(row.key, filled(row, total.statistics))


# --- other tensors, one at a time


def _one_by_one(
    graph: Graph, tensors: Iterable[Tensor], memo: Memo, on_read: OnRead
) -> Iterator[ValueRow]:
    for row, _ in tensors:
        done = _whole(graph, row)
        on_read(row.nbytes or 0)
        if graph.provenance is not None and done.error is None:
            memo.rows[row.key] = done
        yield done


def _whole(graph: Graph, row: ValueRow) -> ValueRow:
    """Return the row of a tensor whose value is read at once."""
    if row.error is not None:
        return row
    if graph.provenance is not None and (row.nbytes or 0) > _MOST_WHOLE_BYTES:
        why = f"has {row.nbytes} bytes, expected at most {_MOST_WHOLE_BYTES} in this format"
        return replace(row, error=f"{graph.title}: {row.key}: {why}")
    try:
        return _of_array(row, graph.read(row.key), graph.title)
    except UnsupportedError as error:
        return replace(row, note=str(error))
    except CkptVizError as error:
        return replace(row, error=str(error))


def _of_array(row: ValueRow, value: Array, place: str) -> ValueRow:
    if value.dtype.hasobject:
        sizes = list(map(len, value.reshape(-1).tolist()))
        ends = min(sizes, default=None), max(sizes, default=None)
        lengths = Lengths(len(sizes), *ends, sum(sizes))
        return filled(replace(row, shape=value.shape, nbytes=lengths.total), lengths)
    dtype = row.dtype or value.dtype.name
    if (why := _why_no_numbers(dtype)) is not None:
        raise UnsupportedError(f"{place}: {why}")
    stored = encode(value, dtype)
    row = replace(row, dtype=dtype, shape=value.shape, nbytes=stored.nbytes)
    return filled(row, measure_array(stored.data, dtype, place))
