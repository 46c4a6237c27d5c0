"""How much memory a copy of values may take."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ckpt_viz.errors import ReadLimitError

_ALWAYS_THERE = 64 << 20  # bytes; below that, asking how much there is takes longer than a copy
_UNKNOWN = 1 << 30  # bytes available, if the system does not say
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
    ),
)


def available_bytes() -> int:
    """Return the memory that is free for this process now, in bytes, also in a container."""
    available = [_of_system()]
    for most, used in _GROUPS:
        limit, taken = _number(most), _number(used)
        if limit is not None and taken is not None:
            available.append(max(0, limit - taken))
    return min(available)


def _of_system() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        pass
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):  # free ones; on macOS only all
        with suppress(AttributeError, OSError, ValueError):
            return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    return _UNKNOWN


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):  # not this kind of group; "max"
        return None


@dataclass
class Budget:
    """The bytes that a copy may take; None is half of the available memory.

    `title` names what is copied. `copy` is what needs the bytes, `advice` what to do instead. A
    copy that `takes_all` may take all of the available memory.
    """

    title: str
    limit: int | None
    copy: str = "a snapshot"
    advice: str = (
        "pass a higher `limit` in bytes, or take a snapshot of a part, such as the model without "
        "its optimizer"
    )
    takes_all: bool = False
    _copied: int = field(default=0, init=False)
    _allowed: int | None = field(default=None, init=False)

    def expect(self, nbytes: int) -> None:
        """Refuse a copy of this size in all; nothing is copied yet."""
        self._check(nbytes)

    def add(self, nbytes: int) -> None:
        """Count what was copied; refuse when it is more than allowed."""
        self._copied += nbytes
        self._check(self._copied)

    def _check(self, nbytes: int) -> None:
        if self.limit is None and nbytes <= _ALWAYS_THERE:
            return
        if self._allowed is None:
            self._allowed = self._most()
        if nbytes > self._allowed:
            share = "the available memory" if self.takes_all else "half of the available memory"
            bound = share if self.limit is None else "the limit"
            raise ReadLimitError(
                f"{self.title}: {self.copy} needs {nbytes:,} bytes or more, expected at most "
                f"{self._allowed:,}, {bound}; {self.advice}",
                self._allowed,
                nbytes,
            )

    def _most(self) -> int:
        if self.limit is not None:
            return self.limit
        return available_bytes() // (1 if self.takes_all else 2)
