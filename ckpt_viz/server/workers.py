"""Threads for what takes long, so that the server answers others meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ckpt_viz.server.refusals import Reason, Refusal

_T = TypeVar("_T")


class Workers:
    """A few threads, and a bounded number of jobs that run or wait.

    Who asks for a job that is there already waits for that one.
    """

    def __init__(self, name: str, threads: int, most_jobs: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"ckpt-viz-{name}")
        self._most_jobs = most_jobs
        self._jobs: dict[Hashable, asyncio.Future[Any]] = {}

    async def run(self, key: Hashable, job: Callable[[], _T]) -> _T:
        """Return what a job returns, or raise what it raises; equal keys are the same job.

        Raises Refusal where too many are waiting.
        """
        future: asyncio.Future[_T] | None = self._jobs.get(key)
        if future is None:
            if len(self._jobs) >= self._most_jobs:
                raise Refusal(
                    Reason.BUSY,
                    f"{len(self._jobs)} other checkpoints are being read; try again in a moment",
                )
            future = asyncio.get_running_loop().run_in_executor(self._pool, job)
            self._jobs[key] = future
            future.add_done_callback(lambda _: self._jobs.pop(key, None))
        # Others may wait for it when this request is given up.
        return await asyncio.shield(future)
