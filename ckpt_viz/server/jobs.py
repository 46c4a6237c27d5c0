"""The jobs of a reading process, and the graphs that it keeps to answer questions."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from typing import Any

from ckpt_viz.errors import ReadLimitError
from ckpt_viz.render.payload import VERSION
from ckpt_viz.server import graphs, histories
from ckpt_viz.server.messages import QUICK_BYTES, Asked, Job, Limits, Look
from ckpt_viz.server.refusals import refusal_of

Answer = tuple[dict[str, Any], bytes]

_QUICK_NODES = 10_000  # a quick job writes files of at most this many nodes
_LARGE = 64 << 10  # bytes; Tornado would compress them while all other requests wait


class Jobs:
    """One per process."""

    def __init__(self) -> None:
        self._pages: dict[str, graphs.Page] = {}

    def pages(self) -> list[str]:
        """Return the kept graphs."""
        return list(self._pages)

    def keep_only(self, names: Iterable[str]) -> None:
        """Drop all graphs but these."""
        self._pages = {name: self._pages[name] for name in names if name in self._pages}

    def do(self, header: Mapping[str, Any]) -> Answer:
        """Do a job; send the reason if it is refused, or report that it is a long one."""
        job, limits = Job.of_data(header["job"]), Limits(**header["limits"])
        try:
            return self._done(job, limits, is_quick=header["is_quick"])
        except Exception as error:
            if isinstance(error, ReadLimitError) and error.limit < limits.most_read:
                return {"needs": error.needs}, b""
            refusal = refusal_of(error)
            if refusal is None:
                raise
            return {"reason": refusal.reason.value, "message": refusal.message}, b""

    def _done(self, job: Job, limits: Limits, *, is_quick: bool) -> Answer:
        if job.ask == "about":
            return {}, json.dumps({"version": job.version, "format": VERSION}).encode()
        assert job.asked is not None
        most_read = min(limits.most_read, QUICK_BYTES) if is_quick else limits.most_read
        if job.ask == "list":
            return {}, graphs.list_json(job.asked, limits.most_read)
        if job.ask == "history":
            return {}, histories.history_json(job.asked, job.version, limits.most_answer, most_read)
        if job.ask == "look":
            look = self._look(job.asked, job.version, most_read)
            return {"index_bytes": look.index_bytes}, look.etag.encode()
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
        header = {"nodes": page.node_count, "bytes": page.byte_count, "is_packed": False}
        if job.packs and len(body) > _LARGE:
            header["is_packed"], body = True, gzip.compress(body, compresslevel=1, mtime=0)
        return header, body

    def _look(self, asked: Asked, version: str, most_read: int) -> Look:
        return graphs.look_at(asked, version, most_read)

    def _page(self, job: Job, most_read: int) -> graphs.Page:
        assert job.asked is not None
        assert job.page is not None
        if job.page not in self._pages:
            self._pages[job.page] = self._read(job.asked, most_read)
        return self._pages[job.page]

    def _read(self, asked: Asked, most_read: int) -> graphs.Page:
        return graphs.read_page(asked, most_read)
