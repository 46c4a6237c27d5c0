"""Answers requests: checks whether files changed, and has processes read the graphs."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from ckpt_viz.entrances.server import processes
from ckpt_viz.entrances.server.messages import Asked, Frame, Job, Limits, Look
from ckpt_viz.entrances.server.options import CkptViz
from ckpt_viz.entrances.server.refusals import Reason, RefusedRequest
from ckpt_viz.entrances.server.workers import Bounds, Pages, Workers


class Body(NamedTuple):
    """An answer as it is sent, compressed by gzip or not."""

    data: bytes
    is_packed: bool


class Service:
    """One per server; its coroutines run in the server's event loop."""

    def __init__(self, options: CkptViz, version: str) -> None:
        self.version = version  # of this package
        self.seconds = options.max_seconds
        self._workers = Workers(
            processes.PROCESSES,
            Bounds(
                options.max_reads,
                options.max_waiting,
                options.max_waiting_bytes,
                options.max_seconds,
            ),
            Limits(options.max_read_bytes, options.max_answer_bytes, options.max_memory_bytes),
            Pages(options.max_kept_graphs, options.max_kept_nodes, options.max_kept_bytes),
        )

    async def about(self) -> Body:
        """Return the versions of the package and of the payload, as JSON."""
        return _body(await self._workers.run(Job("about", self.version)))

    async def checkpoints(self, asked: Asked) -> Body:
        """Return the names of the checkpoints in a directory, as JSON."""
        return _body(await self._workers.run(Job("list", self.version, asked)))

    async def history(
        self,
        asked: Asked,
        look: Look,
        on_part: Callable[[bytes], Awaitable[None]],
        *,
        packs: bool,
    ) -> None:
        """Pass on the history of a directory's checkpoints while it is read, as lines of JSON."""
        job = Job("history", self.version, asked, *look, packs=packs)
        last = await self._workers.run(job, on_part)
        await on_part(last.body)

    async def look(self, asked: Asked) -> Look:
        """Return the ETag of a graph and the size of its indexes; read almost nothing."""
        answer = await self._workers.run(Job("look", self.version, asked))
        return Look(answer.body.decode(), answer.header["index_bytes"])

    async def graph(self, asked: Asked, look: Look, *, packs: bool) -> Body:
        """Return a graph as JSON, compressed if it is large and the client accepts that."""
        job = Job("graph", self.version, asked, *look, packs=packs)
        return _body(await self._workers.run(job))

    async def answer(
        self,
        asked: Asked,
        look: Look,
        question: Mapping[str, Any],
        state: Mapping[str, Any] | None,
        *,
        packs: bool,
    ) -> Body:
        """Return the answer to a question about a graph as JSON, compressed likewise."""
        job = Job("answer", self.version, asked, *look, question, state, packs)
        return _body(await self._workers.run(job))

    def sending(self, size: int) -> AbstractContextManager[None]:
        """Count the bytes of an answer while they are sent: too many lead to refusals."""
        return self._workers.sending(size)


def _body(answer: Frame) -> Body:
    return Body(answer.body, bool(answer.header.get("is_packed")))


def parsed(text: str, name: str) -> dict[str, Any]:
    """Return the JSON object in a parameter; raise RefusedRequest for any other text."""
    try:
        data = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise RefusedRequest(Reason.BAD_REQUEST, f"{name}: expected JSON: {error}") from error
    if not isinstance(data, dict):
        raise RefusedRequest(
            Reason.BAD_REQUEST, f"{name}: expected a JSON object, found {text:.100}"
        )
    return data


def _no_number(name: str) -> None:
    raise ValueError(f"found {name}, which is not in JSON")
