"""The one reader of stored bytes: ranges of files, and folds that say what becomes of them.

A fold has an identity, a step and a join: a checksum, statistics, how numbers change over time. A
request is cut into pieces. Any process reads any of them, in any order, and keeps a few MiB of a
piece in memory. What became of them joins in their order, so that the result does not depend on
which worker was faster.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeVar

from ckpt_viz.errors import CkptVizError
from ckpt_viz.files.values.running import OnRead, ignored, in_flight_of, results
from ckpt_viz.formats.bundles.entries import StoredRange
from ckpt_viz.formats.storage import confinement
from ckpt_viz.formats.storage.files import File, is_remote, open_file

Key = TypeVar("Key", bound=Hashable)

REMOTE_BYTES = 1 << 26  # 64 MiB of a remote file at a time; a multiple of the size of every element
_GAP_BYTES = 1 << 12  # between ranges of a remote file, read, too: one request is faster than two
_MOST_RESULT_BYTES = 1 << 24  # of a task: those of small tensors are larger than the tensors


class Span(NamedTuple):
    """Bytes of a stored range: `size` bytes, from its byte `begin` on."""

    stored: StoredRange
    begin: int
    size: int

    @property
    def place(self) -> tuple[str, int]:
        """The file, and where the bytes begin in it."""
        return self.stored.path, self.stored.offset + self.begin

    @property
    def end(self) -> int:
        """Where the bytes end in the file."""
        return self.stored.offset + self.begin + self.size

    @property
    def is_last(self) -> bool:
        """Whether the range ends here."""
        return self.begin + self.size == self.stored.size


class FoldState(Protocol):
    """What became of the bytes of a piece up to now."""

    def take(self, time: int, chunks: Iterator[bytes]) -> None:
        """Take the bytes of a time; raise CkptVizError if they are damaged or cannot be read."""

    def fail(self, time: int, error: CkptVizError) -> None:
        """Take the reason why there are none."""

    def result(self) -> Any:
        """Return what became of all."""


class Once:
    """What became of bytes of a single time: what a function makes of them, or of an error."""

    def __init__(
        self, of: Callable[[Iterator[bytes]], Any], failed: Callable[[CkptVizError], Any]
    ) -> None:
        self._of, self._failed = of, failed
        self._result: Any = None

    def take(self, time: int, chunks: Iterator[bytes]) -> None:
        """Take the bytes."""
        self._result = self._of(chunks)

    def fail(self, time: int, error: CkptVizError) -> None:
        """Take the reason why there are none."""
        self._result = self._failed(error)

    def result(self) -> Any:
        """Return what became of them."""
        return self._result


class ByteFold(Protocol):
    """What becomes of bytes. `at_once` is how many it takes at a time, of a file on this machine.

    A process pickles it. The result of a piece may be a text: the reason why there is none.
    """

    @property
    def at_once(self) -> int:
        """The most bytes of a chunk."""

    def begin(self, piece: Piece) -> FoldState:
        """Return what becomes of no bytes yet."""

    def joined(self, before: Any, now: Any, piece: Piece) -> Any:
        """Return the results of the pieces before, None for the first, and of a piece together."""

    def result_bytes(self, piece: Piece) -> int:
        """Return what the result may take."""


class Piece(NamedTuple):
    """A piece of a request: bytes at each time, None where they are those of the time before.

    `number` counts the pieces of the request, and `first` the bytes of those before this one.
    """

    fold: ByteFold
    at: tuple[Span | None, ...]
    number: int = 0
    first: int = 0

    @property
    def spans(self) -> list[Span]:
        """The bytes to read, of one time at least."""
        return [*filter(None, self.at)]

    @property
    def size(self) -> int:
        """The number of bytes to read."""
        return sum([span.size for span in self.spans])


def cut(fold: ByteFold, at: Sequence[Sequence[StoredRange] | None], most: int) -> Iterator[Piece]:
    """Yield pieces of at most so many bytes of ranges; one even of a range without bytes.

    `at` has the ranges at each time; there are as many of each size at all times.
    """
    number = first = 0
    for place, stored in enumerate(next(ranges for ranges in at if ranges is not None)):
        for begin in range(0, max(stored.size, 1), most):
            size = min(most, stored.size - begin)
            spans = [None if ranges is None else Span(ranges[place], begin, size) for ranges in at]
            yield Piece(fold, tuple(spans), number, first)
            number += 1
            first += size


def in_memory(fold: ByteFold, at: Sequence[StoredRange | None]) -> Request:
    """Return the request for a tensor that is no ranges of files: see `Request.fold_in_memory`."""
    spans = [None if stored is None else Span(stored, 0, 0) for stored in at]
    return Request([Piece(fold, tuple(spans))])


class Request:
    """The pieces of a tensor, and what became of the first ones together.

    Each result joins by one assignment. So an interrupted program can go on with it.
    """

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self.pieces = tuple(pieces)
        self._joined: tuple[int, Any] = 0, None
        self._waiting: dict[int, Any] = {}  # of pieces that others before them lack

    @property
    def value(self) -> Any:
        """What became of all pieces that joined; a text says why there is nothing."""
        return self._joined[1]

    @property
    def is_done(self) -> bool:
        """Whether all pieces joined, or one shows that the tensor cannot be read."""
        return self._joined[0] == len(self.pieces) or isinstance(self.value, str)

    @property
    def bytes_read(self) -> int:
        """How many bytes of it were read."""
        numbers = chain(range(self._joined[0]), self._waiting)
        return sum(self.pieces[number].size for number in numbers)

    def missing(self) -> list[Piece]:
        """Return what is still needed."""
        rest = self.pieces[self._joined[0] :] if not self.is_done else ()
        return [piece for piece in rest if piece.number not in self._waiting]

    def add(self, piece: Piece, result: Any) -> None:
        """Add what became of a piece."""
        self._waiting[piece.number] = result
        while not self.is_done and self._joined[0] in self._waiting:
            number, before = self._joined
            piece = self.pieces[number]
            joined = piece.fold.joined(before, self._waiting[number], piece)
            self._joined = number + 1, joined
            del self._waiting[number]

    def fold_in_memory(self, values: Sequence[Callable[[], bytes]]) -> None:
        """Fold the only piece, of the bytes that functions return: one for each time."""
        (piece,) = self.pieces
        state = piece.fold.begin(piece)
        for time, span in enumerate(piece.at):
            if span is not None:
                try:
                    state.take(time, iter([values[time]()]))
                except CkptVizError as error:
                    state.fail(time, error)
        self.add(piece, state.result())


def folded(
    requests: Mapping[Key, Request],
    together: Callable[[str], int],
    *,
    executor: Executor | None = None,
    on_read: OnRead = ignored,
) -> Iterator[Key]:
    """Read what requests miss, each byte once; yield the key of each as soon as it is done.

    Pieces that are near to each other are read in one task, if they have at most `together(path)`
    bytes at a time. If this is closed or interrupted, the requests have what was read. What
    `on_read` raises ends the reading, too: without an executor, after each file of a task.
    Within a confinement the executor has nothing to do: it does not confine what its workers read.
    """
    left = dict(requests)
    del requests  # what is done takes memory until the caller drops it
    executor = executor if confinement.current() is None else None
    tasks = list(_tasks(left, together))
    for key in [key for key, request in left.items() if request.is_done]:
        del left[key]
        yield key
    answers = results(
        partial(run, on_read=on_read) if executor is None else run,
        tasks,
        executor=executor,
        on_done=None if executor is None else lambda task: on_read(task.size),
        in_flight=in_flight_of(sum(task.result_bytes for task in tasks) / max(len(tasks), 1)),
    )
    with closing(answers):  # type: ignore[type-var]
        for task, of_pieces in answers:
            for key, piece, result in zip(task.keys, task.pieces, of_pieces, strict=True):
                request = left.get(key)
                if request is not None:
                    request.add(piece, result)
                    if request.is_done:
                        del left[key], request
                        yield key


# --- tasks


class Task(NamedTuple):
    """Pieces that a process reads in one go; they have as many times.

    `keys` are those of their requests.
    """

    pieces: tuple[Piece, ...]
    keys: tuple[Any, ...]

    @property
    def size(self) -> int:
        """The number of bytes to read."""
        return sum(piece.size for piece in self.pieces)

    @property
    def result_bytes(self) -> int:
        """What the results may take."""
        return sum(piece.fold.result_bytes(piece) for piece in self.pieces)


def _tasks(requests: Mapping[Any, Request], together: Callable[[str], int]) -> Iterator[Task]:
    """Yield the tasks that read what is missing, in the order of the first files."""
    missing = [(piece, key) for key, request in requests.items() for piece in request.missing()]
    missing.sort(key=lambda entry: entry[0].spans[0].place, reverse=True)
    pieces: list[Piece] = []
    keys: list[Any] = []
    path, before, size, result_bytes = "", 0, 0, 0
    while missing:  # they become fewer, since there may be a million
        piece, key = missing.pop()
        spans = piece.spans
        in_file, offset = spans[0].place
        largest = max([span.size for span in spans])
        is_near = not is_remote(in_file) or (in_file == path and 0 <= offset - before <= _GAP_BYTES)
        of_result = piece.fold.result_bytes(piece)
        is_small = size + largest <= together(in_file)
        if pieces and not (is_near and is_small and result_bytes + of_result <= _MOST_RESULT_BYTES):
            yield Task(tuple(pieces), tuple(keys))
            pieces, keys, size, result_bytes = [], [], 0, 0
        pieces.append(piece)
        keys.append(key)
        path, before, size = in_file, spans[0].end, size + largest
        result_bytes += of_result
    if pieces:
        yield Task(tuple(pieces), tuple(keys))


def run(task: Task, on_read: OnRead = ignored) -> tuple[Any, ...]:
    """Return what became of each piece of a task; it raises no CkptVizError.

    `on_read` gets the bytes that were read of each time; what it raises ends the reading.
    """
    states = [piece.fold.begin(piece) for piece in task.pieces]
    for time in range(len(task.pieces[0].at)):
        spans = [
            (span, piece.fold.at_once, state)
            for piece, state in zip(task.pieces, states, strict=True)
            if (span := piece.at[time]) is not None
        ]
        spans.sort(key=lambda entry: entry[0].place)
        _read(spans, time)
        on_read(sum(span.size for span, _, _ in spans))
    return tuple([state.result() for state in states])


def _read(spans: Sequence[tuple[Span, int, FoldState]], time: int) -> None:
    """Let each fold take its bytes; those that touch are read at once."""
    ends: dict[str, int] = {}
    for span, _, _ in spans:
        ends[span.stored.path] = max(ends.get(span.stored.path, 0), span.end)
    with ExitStack() as stack:
        files: dict[str, File] = {}
        window: _ForwardReader | None = None
        for number, (span, at_once, state) in enumerate(spans):
            path, offset = span.place
            try:
                if path not in files:
                    files[path] = stack.enter_context(open_file(path, end=ends[path]))
                    window = None
                if window is None or not window.has_begun(offset):
                    most = REMOTE_BYTES if is_remote(path) else at_once
                    window = _ForwardReader(files[path], offset, _end_of_run(spans, number), most)
                state.take(time, window.chunks(offset, span.end))
            except CkptVizError as error:
                state.fail(time, error)


def _end_of_run(spans: Sequence[tuple[Span, int, FoldState]], number: int) -> int:
    """Return where the bytes end that touch those of a span, or nearly do in a remote file."""
    path, _ = spans[number][0].place
    gap = _GAP_BYTES if is_remote(path) else 0
    end = spans[number][0].end
    for other in range(number + 1, len(spans)):
        span = spans[other][0]
        if span.stored.path != path or span.place[1] - end > gap:
            break
        end = max(end, span.end)
    return end


class _ForwardReader:
    """Reads a file forward, from `begin` to `end`; has at most so many bytes at a time."""

    def __init__(self, file: File, begin: int, end: int, most: int) -> None:
        self._file, self._end, self._most = file, end, most
        self._data, self._base = b"", begin

    def has_begun(self, offset: int) -> bool:
        return offset < self._end

    def chunks(self, place: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from a place in the file on."""
        while place < end:
            if not self._base <= place < self._base + len(self._data):
                self._base = place
                is_large = end - place >= self._most // 8 and not is_remote(self._file.path)
                until = end if is_large else self._end  # a large range alone: none of it is copied
                self._data = self._file.read(place, min(self._most, until - place))
            until = min(end, self._base + len(self._data))
            yield self._data[place - self._base : until - self._base]
            place = until
