"""A `File` as the file object that other libraries read, with a limit on what they read."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from contextlib import contextmanager

from ckpt_viz.errors import FormatError, UnsupportedError
from ckpt_viz.formats.storage.files import File

_PAGE_BYTES = 4096  # libraries read 8 bytes at a time; each read of a remote file is a request
_MAX_PAGES = 4096


class FileStream(io.RawIOBase):
    """A stream over a file; its position 0 is the file's byte `start`.

    A damaged file may lead a library through the same bytes for ever. So every read counts, also
    of bytes that were read before. A read of more bytes than there are raises FormatError: other
    libraries would take the rest for all of it.
    """

    def __init__(self, file: File, *, reads: int, most: int, refusal: str, start: int = 0) -> None:
        super().__init__()
        self.size = file.size - start
        self.source, self._start, self._position = file, start, 0
        self._reads_left, self._bytes_left, self._refusal = reads, most, refusal
        self._pages: dict[int, bytes] = {}

    def readable(self) -> bool:
        """Return that one may read."""
        return True

    def seekable(self) -> bool:
        """Return that one may seek."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Set the position; it may be behind the end."""
        position = (0, self._position, self.size)[whence] + offset
        if position < 0:
            raise OSError(errno.EINVAL, f"found position {position}, expected at least 0")
        self._position = position
        return position

    def read(self, size: int = -1, /) -> bytes:
        """Return exactly so many bytes, or all to the end for -1."""
        if size < 0:
            size = max(0, self.size - self._position)
        if size > self.size:  # perhaps a number of thousands of digits
            raise FormatError(f"{self.source.path}: has {self.size} bytes, expected more")
        self._spend(size)
        data = self._bytes(self._start + self._position, size)
        self._position += size
        return data

    @contextmanager
    def at_most(self, reads: int, most: int) -> Iterator[None]:
        """Limit what the body reads further."""
        reads, most = min(reads, self._reads_left), min(most, self._bytes_left)
        reads_after, bytes_after = self._reads_left - reads, self._bytes_left - most
        self._reads_left, self._bytes_left = reads, most
        try:
            yield
        finally:
            self._reads_left += reads_after
            self._bytes_left += bytes_after

    def _spend(self, size: int) -> None:
        self._reads_left -= 1
        self._bytes_left -= size
        if self._reads_left < 0 or self._bytes_left < 0:
            raise UnsupportedError(f"{self.source.path}: {self._refusal}")

    def _bytes(self, offset: int, size: int) -> bytes:
        if not 0 < size <= _PAGE_BYTES or offset + size > self.source.size:
            return self.source.read(offset, size)
        first, begin = divmod(offset, _PAGE_BYTES)
        data = self._page(first)[begin : begin + size]
        return data if len(data) == size else data + self._page(first + 1)[: size - len(data)]

    def _page(self, number: int) -> bytes:
        page = self._pages.get(number)
        if page is None:
            if len(self._pages) >= _MAX_PAGES:
                self._pages.clear()
            offset = number * _PAGE_BYTES
            page = self.source.read(offset, min(_PAGE_BYTES, self.source.size - offset))
            self._pages[number] = page
        return page
