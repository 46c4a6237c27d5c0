"""The lines in which a history goes to the server, and what ends its reading."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from ckpt_viz.entrances.server.graphs import json_bytes
from ckpt_viz.entrances.server.messages import Asked
from ckpt_viz.entrances.server.refusals import Reason, RefusedRequest
from ckpt_viz.formats.storage.confinement import Confinement
from ckpt_viz.ground.text import size_words


class Wire(Protocol):
    """The way to the server while a job runs."""

    def send(self, part: bytes) -> None:
        """Send a part of the answer."""

    @property
    def stopped(self) -> str | None:
        """Why the job has to end now, in a sentence; None if it may go on."""


class Stopped(Exception):
    """The reading has to end; the message says why."""


class HistoryLines:
    """Sends lines of JSON in parts, compressed together as one stream of gzip or not."""

    def __init__(self, asked: Asked, wire: Wire, most_bytes: int, *, packs: bool) -> None:
        self._asked, self._wire, self._most_bytes = asked, wire, most_bytes
        self._pack = zlib.compressobj(1, wbits=31) if packs else None
        self._sent = 0
        self.title = asked.path

    @property
    def is_begun(self) -> bool:
        """Whether anything was sent."""
        return self._sent > 0

    def send(self, *lines: Mapping[str, Any]) -> None:
        """Send lines; raise RefusedRequest if the answer becomes too large."""
        before = None if self._pack is None else self._pack.copy()
        data = self._packed(lines)
        if self._sent + len(data) > self._most_bytes:
            self._pack = before  # what is not sent must not be in the stream
            raise RefusedRequest(
                Reason.TOO_LARGE,
                f"{self.title}: the history has more than the {self._most_bytes} bytes that this "
                "server sends at most. Open it in a kernel, or set c.CkptViz.max_answer_bytes in "
                "jupyter_server_config.py",
            )
        self._sent += len(data)
        self._wire.send(data)

    def send_last(self, line: Mapping[str, Any]) -> None:
        """Send a line, however many bytes were sent before."""
        self._wire.send(self._packed([line]))

    def finished(self) -> bytes:
        """Return the end of the stream."""
        return b"" if self._pack is None else self._pack.flush(zlib.Z_FINISH)

    def _packed(self, lines: Sequence[Mapping[str, Any]]) -> bytes:
        text = b"".join(json_bytes(line) + b"\n" for line in lines)
        data = without_root(self._asked, text)
        if self._pack is None:
            return data
        return self._pack.compress(data) + self._pack.flush(zlib.Z_SYNC_FLUSH)


class ReadingWatch:
    """Counts the bytes that are read; ends the reading if it has to end."""

    def __init__(self, wire: Wire, scope: Confinement) -> None:
        self.read = 0
        self.on_read: Callable[[], object] | None = None
        self._wire, self._scope = wire, scope

    def update(self, n: int, /) -> None:
        """Count bytes; raise Stopped if the client has gone or the limit is reached."""
        if self._scope.over_limit is not None:  # some of these bytes were not read
            raise Stopped(_too_much(self._scope.over_limit.limit))
        self.read += n
        if self._wire.stopped is not None:
            raise Stopped(self._wire.stopped)
        if self.on_read is not None:
            self.on_read()


def _too_much(limit: int) -> str:
    return (
        f"one request may read {size_words(limit)}: read on, open the history in a kernel, or set "
        "c.CkptViz.max_read_bytes in jupyter_server_config.py"
    )


@contextmanager
def saying_limit(scope: Confinement) -> Iterator[None]:
    """Raise ReadLimitError in place of Stopped if that is the reason."""
    try:
        yield
    except Stopped:
        if scope.over_limit is not None:
            raise scope.over_limit from None
        raise


def without_root(asked: Asked, text: bytes) -> bytes:
    """Return JSON whose sentences do not tell where the server's root is."""
    for root in (asked.root, os.path.realpath(asked.root)):
        text = text.replace(json.dumps(root + os.sep)[1:-1].encode(), b"")
    return text
