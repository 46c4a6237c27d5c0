"""Answers requests: looks whether files changed, reads graphs once, keeps a few of them."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from ckpt_viz.server.options import CkptViz
from ckpt_viz.server.paths import Asked
from ckpt_viz.server.refusals import Reason, Refusal
from ckpt_viz.server.workers import Workers

if TYPE_CHECKING:  # imports the reader and numpy: the first request does, in a thread
    from ckpt_viz.server.graphs import Page

_LOOKERS = 4

_Key = tuple[Asked, str]


class Service:
    """One per server; its coroutines run in the server's event loop."""

    def __init__(self, options: CkptViz, version: str) -> None:
        self.version = version  # of this package
        self._options = options
        self._pages = Pages(options.max_kept_graphs, options.max_kept_nodes)
        # Who only looks whether something changed does not wait for those that read.
        self._looking = Workers("looks", _LOOKERS, 2 * options.max_waiting)
        self._reading = Workers("reads", options.max_reads, options.max_waiting)

    async def about(self) -> bytes:
        """Return the versions of the package and of the payload, as JSON."""
        return await self._looking.run("about", partial(_about, self.version))

    async def etag(self, asked: Asked) -> str:
        """Return the ETag of a graph, having read next to nothing."""
        job = partial(_etag, asked, self.version, self._options.max_read_bytes)
        return await self._looking.run(asked, job)

    async def graph(self, asked: Asked, etag: str) -> bytes:
        """Return a graph as JSON."""
        page = await self._page(asked, etag)
        job = partial(_graph_json, page, etag, self.version, self._options.max_answer_bytes)
        return await self._reading.run(("graph", asked, etag), job)

    async def answer(
        self,
        asked: Asked,
        etag: str,
        question: Mapping[str, Any],
        state: Mapping[str, Any] | None,
    ) -> bytes:
        """Return the answer to a question about a graph as JSON."""
        page = await self._page(asked, etag)
        options = self._options
        limits = options.max_answer_bytes, options.max_read_bytes
        job = partial(_answer_json, page, asked, question, state, *limits)
        key = ("answer", asked, etag, json.dumps([question, state], sort_keys=True))
        return await self._reading.run(key, job)

    async def packed(self, body: bytes) -> bytes:
        """Return a body gzip-compressed, having done that in a thread."""
        return await self._reading.run(("packed", id(body)), partial(_packed, body))

    async def _page(self, asked: Asked, etag: str) -> Page:
        kept = self._pages.get((asked, etag))
        if kept is not None:
            return kept
        job = partial(_page, asked, self._options.max_read_bytes)
        page = await self._reading.run(("read", asked, etag), job)
        self._pages.keep((asked, etag), page)
        return page


class Pages:
    """The graphs that were asked for last, bounded in number and in nodes.

    The latest is kept, however many nodes it has: else each question would read it again.
    """

    def __init__(self, most: int, most_nodes: int) -> None:
        self._most = most
        self._most_nodes = most_nodes
        self._pages: OrderedDict[_Key, Page] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, key: _Key) -> Page | None:
        """Return a graph that is kept, and keep it longer."""
        with self._lock:
            if key in self._pages:
                self._pages.move_to_end(key)
            return self._pages.get(key)

    def keep(self, key: _Key, page: Page) -> None:
        """Keep a graph, and drop what was read of the same files before, and the oldest."""
        with self._lock:
            for old in [old for old in self._pages if old[0] == key[0]]:
                del self._pages[old]
            self._pages[key] = page
            while len(self._pages) > 1 and (
                len(self._pages) > self._most
                or sum(one.node_count for one in self._pages.values()) > self._most_nodes
            ):
                self._pages.popitem(last=False)


def parsed(text: str, name: str) -> dict[str, Any]:
    """Return the JSON object that a parameter holds; Refusal for anything else."""
    try:
        data = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Refusal(Reason.BAD_REQUEST, f"{name}: expected JSON: {error}") from error
    if not isinstance(data, dict):
        raise Refusal(Reason.BAD_REQUEST, f"{name}: expected a JSON object, found {text:.100}")
    return data


def _no_number(name: str) -> None:
    raise ValueError(f"found {name}, which is not in JSON")


# --- what runs in threads


def _about(version: str) -> bytes:
    from ckpt_viz.render.payload import VERSION

    return json.dumps({"version": version, "format": VERSION}).encode()


def _etag(asked: Asked, version: str, most_bytes: int) -> str:
    from ckpt_viz.server import graphs

    return graphs.etag_of(asked, version, most_bytes)


def _page(asked: Asked, most_bytes: int) -> Page:
    from ckpt_viz.server import graphs

    return graphs.read_page(asked, most_bytes)


def _graph_json(page: Page, etag: str, version: str, most_bytes: int) -> bytes:
    from ckpt_viz.server import graphs

    return graphs.graph_json(page, etag, version, most_bytes)


def _answer_json(page: Page, asked: Asked, *arguments: Any) -> bytes:
    from ckpt_viz.server import graphs

    return graphs.answer_json(page, asked, *arguments)


def _packed(body: bytes) -> bytes:
    import gzip

    return gzip.compress(body, compresslevel=1, mtime=0)
