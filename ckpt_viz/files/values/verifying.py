"""Every stored byte of a checkpoint against its checksum: which tensors are damaged.

The checksums of the index are tested when it is opened. Numbers have one checksum for a tensor or
for a slice of it; strings and variants also have some inside. In a V1 file, each block of its table
has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from ckpt_viz.errors import CkptVizError, FormatError, GoneError, SourceError, UnsupportedError
from ckpt_viz.files.values.running import bar, in_flight_of, results
from ckpt_viz.files.values.stretches import (
    PIECE_BYTES,
    Range,
    Stretch,
    checksums_in,
    checksums_of,
    clusters_of,
    stretches_of,
)
from ckpt_viz.formats.arrays.dtypes import ByteOrder
from ckpt_viz.formats.bundles.bundle import Bundle
from ckpt_viz.formats.bundles.entries import CheckedRange, described, raised_for
from ckpt_viz.formats.bundles.saver_v1 import SaverV1
from ckpt_viz.formats.bundles.stored_bytes import UndecodedVariantError, VarintError, checksum_for
from ckpt_viz.formats.storage.files import file_size, open_file
from ckpt_viz.formats.storage.sstable import brief, mask_crc32c
from ckpt_viz.formats.storage.zip_archive import BAD_ZIP, Member, every_member, member_of
from ckpt_viz.graphs.nodes.nodes import Fault
from ckpt_viz.graphs.object_graph.graph import Graph, Origin

DATA_LOSS = "DataLossError"
_COPY_AGAIN = "copy the checkpoint again, or restore another one"
_ENCODED = ("string", "variant")
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


class Encoded(NamedTuple):
    """A task: a range of strings or variants, which is read in pieces from its beginning on."""

    path: str
    offset: int
    size: int
    dtype: str
    shape: tuple[int, ...]
    byte_order: ByteOrder

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.size


@dataclass
class _Work:
    """What to test: ranges of numbers and of encoded values by key, with masked checksums.

    `faults` and `untested` are the keys about which the index alone decides.
    """

    plain: list[tuple[str, Range, int]] = field(default_factory=list)
    encoded: list[tuple[str, Encoded, int]] = field(default_factory=list)
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
    nbytes = 0
    with _shown(f"verify {graph.title}", file_size(weights.path) or 0, progress=progress) as shown:
        for name, opened in members:
            try:
                tested = opened()
                nbytes += tested.size
                tested.test(shown)
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
            _add_range(work, key, stored, bundle.byte_order)
    _leave_out_overlaps(work)
    return work


def _add_range(work: _Work, key: str, stored: CheckedRange, byte_order: ByteOrder) -> None:
    where = stored.path, stored.offset, stored.size
    if stored.shape is None or checksum_for(stored.dtype, stored.shape, byte_order) is None:
        work.untested[key] = (
            f"{stored.path}: {brief(key)} is {described(stored)}; this version does not know "
            "what its checksum covers"
        )
    elif stored.dtype in _ENCODED:
        task = Encoded(*where, stored.dtype, stored.shape, byte_order)
        work.encoded.append((key, task, stored.crc32c))
    else:
        work.plain.append((key, Range(*where), stored.crc32c))


def _leave_out_overlaps(work: _Work) -> None:
    """Keep of encoded values that overlap only the first: reading all could take forever.

    TensorFlow writes none that share bytes.
    """
    kept: set[Encoded] = set()
    ends: dict[str, int] = {}
    for task in sorted({task for _, task, _ in work.encoded}):
        if task.offset >= ends.get(task.path, 0):
            kept.add(task)
            ends[task.path] = task.offset + task.size
    for key, task, _ in work.encoded:
        if task not in kept:
            work.untested[key] = (
                f"{task.path}: {brief(key)} at offset {task.offset} shares bytes with another "
                "tensor of strings or variants, which TensorFlow never writes"
            )
    work.encoded = [entry for entry in work.encoded if entry[1] in kept]


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
            work.plain.append((key, Range(path, block.offset, block.size), block.crc32c))
    return work


# --- the test


def _test(work: _Work, title: str, executor: Executor | None, *, progress: bool) -> int:
    """Add what is wrong with the bytes to the faults; return the number of tested bytes."""
    clusters = list(clusters_of(span for _, span, _ in work.plain))
    tasks: list[Stretch | Encoded] = [*stretches_of(clusters)]
    tasks += sorted({task for _, task, _ in work.encoded})
    parts: dict[tuple[str, int], int | str] = {}
    encoded: dict[Encoded, int | Fault] = {}
    total = sum(task.nbytes for task in tasks)
    with _shown(f"verify {title}", total, progress=progress) as shown:
        answers = results(
            _run,
            tasks,
            executor=executor,
            on_done=lambda task: shown(task.nbytes),
            in_flight=in_flight_of(_RESULT_BYTES),
        )
        with closing(answers):  # type: ignore[type-var]
            for task, result in answers:
                if isinstance(task, Encoded):
                    assert isinstance(result, (int, Fault))
                    encoded[task] = result
                    continue
                assert not isinstance(result, (int, Fault))
                starts = [(task.path, start) for start, _ in task.parts]
                if isinstance(result, str):
                    parts.update(dict.fromkeys(starts, result))
                else:
                    parts.update(zip(starts, result, strict=True))
    crcs_of = checksums_of(clusters, parts)
    for key, span, expected in work.plain:
        _compare(work, key, span, crcs_of.get(span, 0), expected)
    for key, task, expected in work.encoded:
        _compare(work, key, task, encoded[task], expected)
    return total


@contextmanager
def _shown(title: str, total: int, *, progress: bool) -> Iterator[Callable[[int], object]]:
    """Show a bar of bytes while something runs; yield what counts bytes that are read."""
    if not progress:
        yield lambda nbytes: None
        return
    shown = bar(title, total)
    try:
        yield shown.update
    finally:
        shown.close()


def _compare(
    work: _Work, key: str, place: Range | Encoded, result: int | str | Fault, expected: int
) -> None:
    if key in work.faults:
        return
    if isinstance(result, Fault):
        work.faults[key] = result._replace(why=f"{result.why}; {_COPY_AGAIN}")
    elif isinstance(result, str):
        work.faults[key] = Fault(f"{result}; {_COPY_AGAIN}", work.raises)
    elif mask_crc32c(result) != expected:
        work.faults[key] = Fault(
            f"{place.path}: {brief(key)} at offset {place.offset}: the masked crc32c of "
            f"{place.size} bytes is 0x{mask_crc32c(result):08x}, expected 0x{expected:08x}; "
            f"{_COPY_AGAIN}",
            work.raises,
        )


def _run(task: Stretch | Encoded) -> tuple[int, ...] | int | str | Fault:
    """Return the checksums that a task asks for, not masked, or why there are none."""
    return checksum_of(task) if isinstance(task, Encoded) else checksums_in(task)


def checksum_of(task: Encoded) -> int | Fault:
    """Return the crc32c of strings or variants, not masked; or the fault in their bytes."""
    place = f"{task.path}: {task.dtype} at offset {task.offset}"
    checksum = checksum_for(task.dtype, task.shape, task.byte_order)
    assert checksum is not None
    try:
        with open_file(task.path, end=task.offset + task.size) as file:
            for start in range(0, task.size, PIECE_BYTES):
                size = min(PIECE_BYTES, task.size - start)
                checksum.extend(file.read(task.offset + start, size), place)
        checksum.finish(place)
    except VarintError as error:
        return Fault(str(error), "OutOfRangeError")
    except UndecodedVariantError as error:
        return Fault(str(error), "InternalError")
    except GoneError as error:
        return Fault(str(error), "NotFoundError")
    except CkptVizError as error:
        return Fault(str(error))
    return checksum.value
