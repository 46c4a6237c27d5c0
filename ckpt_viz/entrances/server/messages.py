"""The messages between the server and its reading processes: frames of JSON and bytes.

They use no pickle: a process that has read a hostile file can send back only data.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO, NamedTuple

_SIZES = struct.Struct(">IQ")  # of the JSON and of the bytes after it
QUICK_BYTES = 1 << 20
"""The bytes that a quick job may read: some 9,000 nodes, read in half a second."""


class Look(NamedTuple):
    """The result of a look at files: a value that changes with them, and the size of their indexes.

    Reading the graph takes at least this many bytes.
    """

    etag: str
    index_bytes: int


@dataclass(frozen=True)
class Asked:
    """The subject of a request: a path, and what to compare it with, or None.

    Both are relative to `root`, a directory of this machine, with its separators. `what` is
    "graph", or "history" for that of a directory's checkpoints.
    """

    root: str
    shows_hidden: bool
    path: str
    against: str | None
    what: str = "graph"

    def page(self, etag: str) -> str:
        """Return the key under which the graph of these files is kept."""
        return json.dumps([*asdict(self).values(), etag])

    def has_page(self, name: str) -> bool:
        """Return whether a key is that of these files, now or before they changed."""
        return name.startswith(self.page("").removesuffix('""]'))


@dataclass(frozen=True)
class Job:
    """Something to do: "about", "list", "look", "graph", "history" or "answer".

    "history" is the only one whose answer has parts.
    """

    ask: str
    version: str
    asked: Asked | None = None
    etag: str = ""
    index_bytes: int = 0
    question: Mapping[str, Any] | None = None
    state: Mapping[str, Any] | None = None
    packs: bool = False
    """Whether to compress a large answer with gzip."""

    @property
    def key(self) -> str:
        """Return a key that only equal jobs share."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def page(self) -> str | None:
        """Return the key of the graph that it needs; None if it needs none."""
        return None if self.asked is None or not self.etag else self.asked.page(self.etag)

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Job:
        """Return the job whose data, as `asdict` gives them, these are."""
        asked = data["asked"]
        return cls(**{**data, "asked": None if asked is None else Asked(**asked)})


@dataclass(frozen=True)
class Limits:
    """The number of bytes that a job may read, send and have in memory."""

    most_read: int
    most_answer: int
    most_memory: int


class Frame(NamedTuple):
    """One message."""

    header: dict[str, Any]
    body: bytes = b""


def write_frame(stream: BinaryIO, frame: Frame) -> None:
    """Write a frame; raise OSError if the reader has gone."""
    header = json.dumps(frame.header).encode()
    stream.write(_SIZES.pack(len(header), len(frame.body)) + header)
    stream.write(frame.body)
    stream.flush()


def read_frame(stream: BinaryIO) -> Frame:
    """Return the next frame; raise EOFError at the end."""
    header, body = _SIZES.unpack(_exactly(stream, _SIZES.size))
    return Frame(json.loads(_exactly(stream, header)), _exactly(stream, body))


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise EOFError
    return data


def continued(parts: Sequence[bytes], text: bytes, *, packs: bool) -> bytes:
    """Return how an answer ends with this text if its process has sent only these parts.

    Of a gzip stream these are whole blocks, but its checksum covers everything.

    >>> whole, text = zlib.compressobj(wbits=31), b"a" * 100
    >>> parts = [whole.compress(text) + whole.flush(zlib.Z_SYNC_FLUSH)]
    >>> zlib.decompress(parts[0] + continued(parts, b"b", packs=True), 31) == text + b"b"
    True
    """
    if not packs:
        return text
    sent = zlib.decompressobj(31).decompress(b"".join(parts))
    pack = zlib.compressobj(wbits=-15)
    crc, size = zlib.crc32(text, zlib.crc32(sent)), len(sent) + len(text)
    return pack.compress(text) + pack.flush() + struct.pack("<II", crc, size & 0xFFFFFFFF)
