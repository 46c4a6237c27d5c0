"""Jobs that record their reads and wait for permission to end; they run in a separate process.

The directory `SLOW_JOBS` has `log`, and `go` when they may end. If it has `long`, all graphs except
that of `small` are long ones, and `small` does not wait. The path `fails` is a bug.
"""

from __future__ import annotations

import os
from pathlib import Path

from ckpt_viz.entrances.server import graphs, jobs
from ckpt_viz.entrances.server.messages import QUICK_BYTES, Asked, Look
from ckpt_viz.errors import ReadLimitError
from tests.support.waiting import wait_until


class Jobs(jobs.Jobs):
    def __init__(self) -> None:
        super().__init__()
        self._directory = Path(os.environ["SLOW_JOBS"])

    def _look(self, asked: Asked, version: str, most_read: int) -> Look:
        if asked.path == "fails":
            raise ZeroDivisionError("secret")
        return super()._look(asked, version, most_read)

    def _read(self, asked: Asked, most_read: int) -> graphs.Page:
        are_long = (self._directory / "long").exists()
        if are_long and asked.path == "small":
            return super()._read(asked, most_read)
        if are_long and most_read <= QUICK_BYTES:
            self._log("large", asked.path)
            raise ReadLimitError(asked.path, limit=most_read, needs=1000)
        self._log("began", asked.path)
        wait_until((self._directory / "go").exists, "permission to end")
        page = super()._read(asked, most_read)
        self._log("ended", asked.path)
        return page

    def _log(self, what: str, path: str) -> None:
        with (self._directory / "log").open("a") as file:
            file.write(f"{what} {path} {os.getpid()}\n")
