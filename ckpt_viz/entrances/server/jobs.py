"""The jobs of a reading process, and the graphs that it keeps to answer questions."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ckpt_viz.entrances.server import graphs, histories
from ckpt_viz.entrances.server.history_wire import Stopped, Wire
from ckpt_viz.entrances.server.messages import QUICK_BYTES, Asked, Job, Limits, Look
from ckpt_viz.entrances.server.refusals import Reason, RefusedRequest, refusal_of
from ckpt_viz.errors import ReadLimitError
from ckpt_viz.graphs.render.payload import VERSION

Answer = tuple[dict[str, Any], bytes]

_QUICK_NODES = 10_000  # a quick job writes files of at most this many nodes
_LARGE = 64 << 10  # bytes; Tornado would compress them while all other requests wait


class Jobs:
    """One per process."""

    def __init__(self) -> None:
        self._pages: dict[str, graphs.Page | histories.HistoryPage] = {}

    def pages(self) -> list[str]:
        """Return the kept graphs."""
        return list(self._pages)

    def keep_only(self, names: Iterable[str]) -> None:
        """Drop all graphs but these."""
        self._pages = {name: self._pages[name] for name in names if name in self._pages}

    def do(self, header: Mapping[str, Any], wire: Wire) -> Answer:
        """Do a job; send the reason if it is refused, or report that it is a long one.

        The parts of an answer go through the wire, and the last one is returned.
        """
        job, limits = Job.of_data(header["job"]), Limits(**header["limits"])
        try:
            return self._done(job, limits, wire, is_quick=header["is_quick"])
        except Stopped as stopped:
            return {"reason": Reason.TOO_SLOW.value, "message": str(stopped)}, b""
        except Exception as error:
            if isinstance(error, ReadLimitError) and error.limit < limits.most_read:
                return {"needs": error.needs}, b""
            refusal = refusal_of(error)
            if refusal is None:
                raise
            return {"reason": refusal.reason.value, "message": refusal.message}, b""

    def _done(self, job: Job, limits: Limits, wire: Wire, *, is_quick: bool) -> Answer:
        if job.ask == "about":
            return {}, json.dumps({"version": job.version, "format": VERSION}).encode()
        assert job.asked is not None
        most_read = min(limits.most_read, QUICK_BYTES) if is_quick else limits.most_read
        if job.ask == "list":
            return {}, graphs.list_json(job.asked, limits.most_read)
        if job.ask == "look":
            look = self._look(job.asked, job.version, most_read)
            return {"index_bytes": look.index_bytes}, look.etag.encode()
        if job.asked.what == "history":
            return self._of_history(job, limits, wire, most_read)
        page = self._page(job, most_read)
        if job.ask == "graph":
            body = graphs.graph_json(page, job.etag, job.version, limits.most_answer)
        else:
            assert job.question is not None
            is_long = job.question.get("ask") == "file" and page.node_count > _QUICK_NODES
            if is_quick and is_long:
                return {"needs": page.byte_count}, b""
            body = graphs.answer_json(
                page, job.asked, job.question, job.state, limits.most_answer, most_read
            )
        return _packed(job, {"nodes": page.node_count, "bytes": page.byte_count}, body)

    def _of_history(self, job: Job, limits: Limits, wire: Wire, most_read: int) -> Answer:
        """Send a history, or answer a question about it; keep it."""
        asked, name = job.asked, job.page
        assert asked is not None
        assert name is not None
        page = self._history(asked, name)
        if job.ask == "history":
            page, body = histories.send_history(
                asked, job.version, limits, wire, packs=job.packs, earlier=page
            )
        else:
            assert job.question is not None
            limits = replace(limits, most_read=most_read)
            if name not in self._pages:
                look = self._look(asked, job.version, most_read)
                if look.etag != job.etag:
                    raise RefusedRequest(
                        Reason.CHANGED,
                        f"{asked.path}: the checkpoints have changed since the history was read; "
                        "read it again",
                    )
                page = histories.opened_history(asked, limits, wire, page)
            assert page is not None
            self._keep_history(asked, name, page)
            body = histories.answer_json(page, asked, job.question, limits, wire)
        if page is None:
            return {}, body
        self._keep_history(asked, name, page)
        header: dict[str, Any] = {"nodes": page.node_count, "bytes": page.byte_count}
        return _packed(job, header, body) if job.ask == "answer" else (header, body)

    def _history(self, asked: Asked, name: str) -> histories.HistoryPage | None:
        """Return what was read of a directory's history, now or before its files changed."""
        names = [name, *filter(asked.has_page, self._pages)]
        pages = [self._pages[key] for key in names if key in self._pages]
        return next((page for page in pages if isinstance(page, histories.HistoryPage)), None)

    def _keep_history(self, asked: Asked, name: str, page: histories.HistoryPage) -> None:
        others = {key: kept for key, kept in self._pages.items() if not asked.has_page(key)}
        self._pages = {**others, name: page}

    def _look(self, asked: Asked, version: str, most_read: int) -> Look:
        look = histories.look_at_history if asked.what == "history" else graphs.look_at
        return look(asked, version, most_read)

    def _page(self, job: Job, most_read: int) -> graphs.Page:
        assert job.asked is not None
        assert job.page is not None
        page = self._pages.get(job.page)
        if not isinstance(page, graphs.Page):
            page = self._pages[job.page] = self._read(job.asked, most_read)
        return page

    def _read(self, asked: Asked, most_read: int) -> graphs.Page:
        return graphs.read_page(asked, most_read)


def _packed(job: Job, header: dict[str, Any], body: bytes) -> Answer:
    """Return an answer, compressed if it is large and the client accepts that."""
    if job.packs and len(body) > _LARGE:
        return {**header, "is_packed": True}, gzip.compress(body, compresslevel=1, mtime=0)
    return {**header, "is_packed": False}, body
