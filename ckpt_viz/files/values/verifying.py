"""Every stored byte of a checkpoint against its checksum: which tensors are damaged.

The checksums of the index are tested when it is opened. Numbers have one checksum for a tensor or
for a slice of it; strings and variants also have some inside. In a V1 file, each block of its table
has one.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice, pairwise
from operator import itemgetter
from typing import NamedTuple

from ckpt_viz.errors import CkptVizError, FormatError, GoneError, SourceError, UnsupportedError
from ckpt_viz.files.values.ranges import FoldState, Once, Piece, Request, cut, folded
from ckpt_viz.files.values.running import bar, progress_of
from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.bundles.entries import StoredRange, described, raised_for
from ckpt_viz.formats.bundles.saver_v1 import SaverV1
from ckpt_viz.formats.bundles.stored_bytes import UndecodedVariantError, VarintError, checksum_for
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.crc32c import combine, without_beginning
from ckpt_viz.formats.storage.files import file_size
from ckpt_viz.formats.storage.sstable import brief, mask_crc32c
from ckpt_viz.formats.storage.zip_archive import BAD_ZIP, Member, every_member, member_of
from ckpt_viz.graphs.nodes.nodes import Fault
from ckpt_viz.graphs.object_graph.graph import Graph, Origin

DATA_LOSS = "DataLossError"
_COPY_AGAIN = "copy the checkpoint again, or restore another one"
PIECE_BYTES = 1 << 24  # 16 MiB
_RESULT_BYTES = 1 << 10  # of a task: some numbers


@dataclass(frozen=True, slots=True)
class Damaged:
    """A stored tensor whose bytes are missing, or do not match their checksum.

    >>> cv.graph("ckpts/ckpt-3").verify(progress=False)  # an empty tuple: no byte is damaged
    ()

    `key` is its checkpoint key, "" for a whole file of unknown tensors, or the member of an archive
    without tensors. `name` is that of its node, None for a key without a node. `why` is a sentence
    without a full stop: the file, what was found against what was expected, and the next step.
    `raises` is the class of the error that reading the tensor raises in TensorFlow, or in Keras.
    """

    key: str
    name: str | None
    why: str
    raises: str = DATA_LOSS


class Untested(NamedTuple):
    """A stored tensor whose checksum could not be tested, and why not."""

    key: str
    name: str | None
    why: str


class Verification(tuple[Damaged, ...]):
    """The damaged tensors, in the order of the outline; equal to `()` if all tested ones are well.

    `untested` are the tensors about whose bytes it says nothing. `tensors` is the number of those
    that it has tested, and `nbytes` the number of their stored bytes.
    """

    untested: tuple[Untested, ...]
    tensors: int
    nbytes: int

    def __new__(
        cls,
        damaged: Iterable[Damaged] = (),
        untested: tuple[Untested, ...] = (),
        tensors: int = 0,
        nbytes: int = 0,
    ) -> Verification:
        """Return the tuple of the damaged tensors."""
        verification = super().__new__(cls, damaged)
        verification.untested, verification.tensors, verification.nbytes = untested, tensors, nbytes
        return verification


@dataclass
class _Work:
    """What to test: ranges by key, with masked checksums.

    The ranges have no key of their own: several keys may have the same bytes. `faults` and
    `untested` are what the index alone decides.
    """

    ranges: list[tuple[str, StoredRange, int | None]] = field(default_factory=list)
    faults: dict[str, Fault] = field(default_factory=dict)
    untested: dict[str, str] = field(default_factory=dict)
    raises: str = DATA_LOSS


def verify(
    graph: Graph,
    keys: Iterable[str] | None = None,
    *,
    executor: Executor | None = None,
    progress: bool = True,
) -> Verification:
    """Return which tensors of a saved graph are damaged: all of them, or those of some keys.

    All tensors of an archive are in one member with one checksum; without `keys`, the other members
    are tested, too. Raises SourceError for live objects, snapshots and files without checksums.
    """
    stored = graph.stored_in
    weights = member_of(stored)
    if weights is not None and graph.origin is Origin.SAVED:
        return _of_archive(graph, weights, keys, progress=progress)
    if graph.is_of_keras and graph.origin is Origin.SAVED:
        none = (
            "no checksums in this file"
            if graph.written_by == "Keras"
            else "no checksum of each value"
        )
        raise SourceError(
            f"{graph.title}: {graph.written_by} stores {none}, so there is nothing to test; "
            "expected a TensorFlow checkpoint"
        )
    if not isinstance(stored, (Bundle, SaverV1)):
        kind = "values that no file has" if graph.is_unwritten else "live objects"
        first = "write them" if graph.is_unwritten else "save the objects"
        raise SourceError(
            f"{graph.title}: found {kind}, which have no checksums; expected a checkpoint: "
            f"{first}, then verify the graph of that path"
        )
    nodes = nodes_by_key(graph)
    wanted = set(stored.entries) if keys is None else set(keys) & set(stored.entries)
    ordered = [key for key in dict.fromkeys((*nodes, *stored.entries)) if key in wanted]
    work = _of_bundle(stored, ordered) if isinstance(stored, Bundle) else _of_v1(stored, ordered)
    nbytes = _test(work, graph.title, executor, progress=progress)
    faults = ((key, work.faults[key]) for key in ordered if key in work.faults)
    damaged = [
        Damaged(key, _name(graph, nodes, key), fault.why, fault.raises) for key, fault in faults
    ]
    if keys is None and isinstance(stored, SaverV1):
        damaged += [
            Damaged("", None, f"{path}: no such file, expected a shard; {_COPY_AGAIN}")
            for path in stored.missing
        ]
    untested = tuple(
        Untested(key, _name(graph, nodes, key), why) for key, why in work.untested.items()
    )
    return Verification(damaged, untested, len(ordered) - len(untested), nbytes)


def _of_archive(
    graph: Graph, weights: Member, keys: Iterable[str] | None, *, progress: bool
) -> Verification:
    nodes = nodes_by_key(graph)
    wanted = set(graph.stored_in.entries) if keys is None else set(keys)
    ordered = [key for key in dict.fromkeys((*nodes, *graph.stored_in.entries)) if key in wanted]
    members: list[tuple[str, Callable[[], Member]]] = [(weights.name, lambda: weights)]
    if keys is None:
        members += (pair for pair in every_member(weights.path) if pair[0] != weights.name)
    damaged: list[Damaged] = []
    untested: list[Untested] = []
    nbytes, title = 0, f"verify {graph.title}"
    with progress_of(title, file_size(weights.path) or 0, bar if progress else None) as shown:
        count = (lambda nbytes: None) if shown is None else shown.update
        for name, opened in members:
            try:
                tested = opened()
                nbytes += tested.size
                tested.test(count)
            except FormatError as error:
                held = ordered if name == weights.name else [""]
                damaged += [Damaged(k, _name(graph, nodes, k), str(error), BAD_ZIP) for k in held]
            except UnsupportedError as error:
                untested.append(Untested("", None, str(error)))
    return Verification(damaged, tuple(untested), len(ordered), nbytes)


def _name(graph: Graph, nodes: Mapping[str, int], key: str) -> str | None:
    return graph.name(nodes[key]) if key in nodes else None


def nodes_by_key(graph: Graph) -> dict[str, int]:
    """Return the node of each tensor that an object graph names, in the order of the outline."""
    nodes: dict[str, int] = {}
    for node_id in graph.tree.preorder():
        for attribute in graph.nodes[node_id].attributes:
            for key in graph.tensor_keys(attribute.checkpoint_key):
                nodes.setdefault(key, node_id)
    return nodes


# --- what to test


def _of_bundle(bundle: Bundle, keys: Iterable[str]) -> _Work:
    work = _Work()
    for key in keys:
        try:
            ranges = bundle.checked_ranges(key)
        except FormatError as error:
            work.faults[key] = Fault(f"{error}; {_COPY_AGAIN}", raised_for(str(error)))
            continue
        missing = next((stored.missing for stored in ranges if stored.missing is not None), None)
        if missing is not None:
            work.faults[key] = Fault(f"{missing}; {_COPY_AGAIN}", raised_for(missing))
            continue
        for stored in ranges:
            _add_range(work, key, stored)
    _leave_out_overlaps(work)
    return work


def _add_range(work: _Work, key: str, stored: StoredRange) -> None:
    if stored.shape is None or checksum_for(stored.dtype, stored.shape, stored.byte_order) is None:
        work.untested[key] = (
            f"{stored.path}: {brief(key)} is {described(stored)}; this version does not know "
            "what its checksum covers"
        )
    else:
        what, shape = ("", ()) if not _is_encoded(stored) else (stored.dtype, stored.shape)
        where = stored.path, stored.offset, stored.size, None
        untitled = StoredRange(*where, what, what, shape, stored.byte_order)
        work.ranges.append((key, untitled, stored.crc32c))


def _leave_out_overlaps(work: _Work) -> None:
    """Keep of encoded values that overlap only the first: reading all could take forever.

    TensorFlow writes none that share bytes.
    """
    kept: set[StoredRange] = set()
    ends: dict[str, int] = {}
    for stored in sorted({stored for _, stored, _ in work.ranges if _is_encoded(stored)}):
        if stored.offset >= ends.get(stored.path, 0):
            kept.add(stored)
            ends[stored.path] = stored.offset + stored.size
    ranges, work.ranges = work.ranges, []
    for key, stored, crc32c in ranges:
        if not _is_encoded(stored) or stored in kept:
            work.ranges.append((key, stored, crc32c))
        else:
            work.untested[key] = (
                f"{stored.path}: {brief(key)} at offset {stored.offset} shares bytes with another "
                "tensor of strings or variants, which TensorFlow never writes"
            )


def _is_encoded(stored: StoredRange) -> bool:
    """Return whether bytes are read in their order from the first on, to know what they are."""
    return stored.dtype in ("string", "variant")


def _of_v1(stored: SaverV1, keys: Iterable[str]) -> _Work:
    work = _Work(raises="InvalidArgumentError")
    reasons = {key: stored.why_unreadable(key) for key in keys}
    for key, reason in reasons.items():
        if reason is not None:
            why = f"{stored.path}: {brief(key)}: {reason}; {_COPY_AGAIN}"
            work.faults[key] = Fault(why, work.raises)
    for key, path, block in stored.blocks(key for key, why in reasons.items() if why is None):
        if isinstance(block, str):
            work.faults[key] = Fault(f"{block}; {_COPY_AGAIN}", work.raises)
        else:
            where = path, block.offset, block.size, None
            work.ranges.append((key, StoredRange(*where, ""), block.crc32c))
    return work


# --- the test


def _test(work: _Work, title: str, executor: Executor | None, *, progress: bool) -> int:
    """Add what is wrong with the bytes to the faults; return the number of tested bytes."""
    wanted = sorted({stored for _, stored, _ in work.ranges})
    clusters = list(_clusters(each for each in wanted if each.size and not _is_encoded(each)))
    pieces = [piece for cluster in clusters for piece in cluster.pieces]
    pieces += filter(_is_encoded, wanted)
    fold = Crc32c()
    requests = [
        Request(cut(fold, [[piece]], sys.maxsize if piece.dtype else PIECE_BYTES))
        for piece in pieces
    ]
    total = sum(piece.size for piece in pieces)
    with progress_of(f"verify {title}", total, bar if progress else None) as shown:
        by_number = dict(enumerate(requests))
        reading = folded(by_number, lambda _: PIECE_BYTES, executor=executor, shown=shown)
        deque(reading, maxlen=0)
    values = (request.value for request in requests)
    crcs: dict[StoredRange, int | Fault] = {}
    for cluster in clusters:
        crcs.update(cluster.checksums(list(islice(values, len(cluster.pieces)))))
    crcs.update(zip(filter(_is_encoded, wanted), values, strict=True))
    for key, stored, expected in work.ranges:
        _compare(work, key, stored, expected, crcs.get(stored, 0))
    return total


class _Cluster(NamedTuple):
    """Ranges of a file that overlap, and the pieces between all of their beginnings and ends.

    Each piece is read once. So a file whose ranges claim more costs no more than its size.
    """

    ranges: tuple[StoredRange, ...]
    pieces: tuple[StoredRange, ...]

    def checksums(self, crcs: Sequence[int | Fault]) -> Iterator[tuple[StoredRange, int | Fault]]:
        """Yield each range with its crc32c, not masked, or why some of its bytes are unread.

        It follows from those of two beginnings of all bytes; `crcs` are those of the pieces.
        """
        if len(self.pieces) == 1:
            yield self.ranges[0], crcs[0]
            return
        beginnings, crc = {self.pieces[0].offset: 0}, 0
        unread: list[tuple[int, Fault]] = []
        for piece, of_piece in zip(self.pieces, crcs, strict=True):
            if isinstance(of_piece, Fault):
                unread.append((piece.offset, of_piece))
                of_piece = 0
            crc = combine(crc, of_piece, piece.size) if crc else of_piece
            beginnings[piece.offset + piece.size] = crc
        for stored in self.ranges:
            end = stored.offset + stored.size
            place = bisect_left(unread, stored.offset, key=itemgetter(0))
            if place < len(unread) and unread[place][0] < end:
                yield stored, unread[place][1]
                continue
            whole, beginning = beginnings[end], beginnings[stored.offset]
            yield stored, without_beginning(whole, beginning, stored.size) if beginning else whole


def _clusters(ranges: Iterable[StoredRange]) -> Iterator[_Cluster]:
    """Yield sorted, different ranges by overlap."""
    together: list[StoredRange] = []
    end = 0
    for stored in ranges:
        if together and (stored.path != together[0].path or stored.offset >= end):
            yield _cluster(together)
            together = []
        end = max(end, stored.offset + stored.size) if together else stored.offset + stored.size
        together.append(stored)
    if together:
        yield _cluster(together)


def _cluster(ranges: Sequence[StoredRange]) -> _Cluster:
    if len(ranges) == 1:
        return _Cluster(tuple(ranges), tuple(ranges))
    cuts = sorted({place for each in ranges for place in (each.offset, each.offset + each.size)})
    pieces = (
        ranges[0]._replace(offset=begin, size=until - begin) for begin, until in pairwise(cuts)
    )
    return _Cluster(tuple(ranges), tuple(pieces))


class Crc32c:
    """The fold that computes the crc32c of bytes, and tests the checksums inside of them."""

    at_once = 1 << 20  # what fits into a processor's cache is twice as fast

    def begin(self, piece: Piece) -> FoldState:
        """Return what becomes of no bytes yet."""
        stored = piece.spans[0].stored
        return Once(
            lambda chunks: _crc32c(chunks, stored),
            lambda error: Fault(str(error), _raised_by(error) if stored.dtype else ""),
        )

    def joined(self, before: int | Fault | None, now: int | Fault, piece: Piece) -> int | Fault:
        """Return the crc32c of both."""
        if before is None or isinstance(before, Fault):
            return now if before is None else before
        return now if isinstance(now, Fault) else combine(before, now, piece.size)

    def result_bytes(self, piece: Piece) -> int:
        """Return what the crc32c takes."""
        return _RESULT_BYTES


def _crc32c(chunks: Iterator[bytes], stored: StoredRange) -> int:
    if not stored.dtype:
        return reduce(checksums.extend, chunks, 0)
    checksum = checksum_for(stored.dtype, stored.shape or (), stored.byte_order)
    assert checksum is not None
    for data in chunks:
        checksum.extend(data, stored.place)
    checksum.finish(stored.place)
    return checksum.value


def _raised_by(error: CkptVizError) -> str:
    """Return the class of what TensorFlow raises when it decodes a string or a variant."""
    if isinstance(error, VarintError):
        return "OutOfRangeError"
    if isinstance(error, UndecodedVariantError):
        return "InternalError"
    return "NotFoundError" if isinstance(error, GoneError) else DATA_LOSS


def _compare(
    work: _Work, key: str, stored: StoredRange, expected: int | None, result: int | Fault
) -> None:
    if key in work.faults:
        return
    if isinstance(result, Fault):
        work.faults[key] = Fault(f"{result.why}; {_COPY_AGAIN}", result.raises or work.raises)
    elif mask_crc32c(result) != expected:
        work.faults[key] = Fault(
            f"{stored.path}: {brief(key)} at offset {stored.offset}: the masked crc32c of "
            f"{stored.size} bytes is 0x{mask_crc32c(result):08x}, expected "
            f"0x{expected:08x}; {_COPY_AGAIN}",
            work.raises,
        )
