"""Every stored byte of a checkpoint against its checksum: which tensors are damaged.

The checksums of the index are tested when it is opened. Numbers have one checksum for a tensor or
for a slice of it; strings and variants also have some inside. In a V1 file, each block of its table
has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import NamedTuple

from ckpt_viz.errors import FormatError, SourceError, UnsupportedError
from ckpt_viz.files.values.range_checksums import crcs_of, is_encoded
from ckpt_viz.files.values.running import bar, progress_of, silent
from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.bundles.entries import StoredRange, described, raised_for
from ckpt_viz.formats.bundles.saver_v1 import SaverV1
from ckpt_viz.formats.bundles.stored_bytes import checksum_for
from ckpt_viz.formats.storage.files import file_size
from ckpt_viz.formats.storage.sstable import brief, mask_crc32c
from ckpt_viz.formats.storage.zip_archive import BAD_ZIP, Member, every_member, member_of
from ckpt_viz.graphs.nodes.nodes import Fault
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Origin

DATA_LOSS = "DataLossError"
_COPY_AGAIN = "copy the checkpoint again, or restore another one"


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
    begin = bar if progress else silent
    with progress_of(title, file_size(weights.path) or 0, begin) as on_read:
        for name, opened in members:
            try:
                tested = opened()
                nbytes += tested.size
                tested.test(on_read)
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
        what, shape = ("", ()) if not is_encoded(stored) else (stored.dtype, stored.shape)
        where = stored.path, stored.offset, stored.size, None
        untitled = StoredRange(*where, what, what, shape, stored.byte_order)
        work.ranges.append((key, untitled, stored.crc32c))


def _leave_out_overlaps(work: _Work) -> None:
    """Keep of encoded values that overlap only the first: reading all could take forever.

    TensorFlow writes none that share bytes.
    """
    kept: set[StoredRange] = set()
    ends: dict[str, int] = {}
    for stored in sorted({stored for _, stored, _ in work.ranges if is_encoded(stored)}):
        if stored.offset >= ends.get(stored.path, 0):
            kept.add(stored)
            ends[stored.path] = stored.offset + stored.size
    ranges, work.ranges = work.ranges, []
    for key, stored, crc32c in ranges:
        if not is_encoded(stored) or stored in kept:
            work.ranges.append((key, stored, crc32c))
        else:
            work.untested[key] = (
                f"{stored.path}: {brief(key)} at offset {stored.offset} shares bytes with another "
                "tensor of strings or variants, which TensorFlow never writes"
            )


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
    ranges = {stored for _, stored, _ in work.ranges}
    begin = bar if progress else silent
    crcs, nbytes = crcs_of(ranges, f"verify {title}", executor=executor, begin=begin)
    for key, stored, expected in work.ranges:
        _compare(work, key, stored, expected, crcs.get(stored, 0))
    return nbytes


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
