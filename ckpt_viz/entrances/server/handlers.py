"""The HTTP endpoints of docs/server.md: permissions, questions and answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from http.client import responses
from typing import Any, TypeVar

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado.web import Finish, HTTPError, authenticated

from ckpt_viz.entrances.server import processes
from ckpt_viz.entrances.server.messages import Asked, Frame, Job, Look, continued
from ckpt_viz.entrances.server.options import CkptViz
from ckpt_viz.entrances.server.paths import asked_of
from ckpt_viz.entrances.server.refusals import (
    FAILED,
    STATUS,
    Reason,
    RefusedRequest,
    line_of,
    reason_of_status,
    refusal_of,
)
from ckpt_viz.entrances.server.workers import Workers

API = "ckpt-viz/api/v1"
_MAX_QUESTION = 16_384  # characters, also for the state
_MAX_ETAG = 100
_RETRY_SECONDS = 2

_T = TypeVar("_T")


class _Handler(APIHandler):
    """Requires a user who may read contents, for every verb, and refuses in JSON."""

    auth_resource = "contents"

    def initialize(self, workers: Workers, version: str, seconds: float) -> None:
        self._workers, self._version, self._seconds = workers, version, seconds
        self._is_gone = False
        self._sent: list[bytes] = []  # the parts of a history
        self._waiting: asyncio.Future[Any] | None = None

    def on_connection_close(self) -> None:
        """Stop waiting: the client has disconnected."""
        super().on_connection_close()
        self._is_gone = True
        if self._waiting is not None:
            self._waiting.cancel()

    async def _unless_gone(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return the result of a coroutine; raise Finish if the client disconnects first."""
        if self._is_gone:
            work.close()
            raise Finish
        waiting: asyncio.Future[_T] = asyncio.ensure_future(work)
        self._waiting = waiting
        try:
            return await waiting
        except asyncio.CancelledError:
            if self._is_gone:
                raise Finish from None
            raise
        finally:
            self._waiting = None

    async def _done(
        self, ask: str, asked: Asked | None = None, look: Look | None = None, **more: Any
    ) -> Frame:
        """Return the answer of a job; raise Finish if the client disconnects first."""
        job = Job(ask, self._version, asked, *(look or ()), **more)
        return await self._unless_gone(self._workers.run(job))

    async def _look(self, asked: Asked) -> Look:
        """Return the ETag of a graph and the size of its indexes; read almost nothing."""
        answer = await self._done("look", asked)
        return Look(answer.body.decode(), answer.header["index_bytes"])

    def compute_etag(self) -> str | None:
        return None  # Tornado would compute one from the whole body

    @authenticated
    @authorized("read")  # type: ignore[untyped-decorator, unused-ignore]
    async def post(self) -> None:
        raise HTTPError(405)

    get = head = put = patch = delete = options = post  # type: ignore[assignment, unused-ignore]

    async def _asked(self) -> Asked:
        path = self._parameter("path")
        if path is None:
            raise RefusedRequest(
                Reason.BAD_REQUEST, "expected a parameter `path`: a checkpoint's path"
            )
        return await asked_of(self.contents_manager, path, self._parameter("against"))

    def _parameter(self, name: str, most: int | None = None) -> str | None:
        """Return a URL parameter unchanged: Tornado's own method drops control characters."""
        values = self.request.query_arguments.get(name, [])
        if len(values) > 1:
            raise RefusedRequest(
                Reason.BAD_REQUEST, f"found {len(values)} parameters {name}, expected 1"
            )
        if most is not None and values and len(values[0]) > most:
            raise RefusedRequest(
                Reason.TOO_LARGE, f"{name}: has {len(values[0])} bytes, expected at most {most}"
            )
        try:
            return values[0].decode() if values else None
        except UnicodeDecodeError as error:
            raise RefusedRequest(Reason.BAD_REQUEST, f"{name}: expected UTF-8: {error}") from error

    @property
    def _packs(self) -> bool:
        return "gzip" in self.request.headers.get("Accept-Encoding", "")

    async def _send(self, answer: Frame) -> None:
        """Send an answer; disconnect a client that does not take it."""
        if answer.header.get("is_packed"):
            self.set_header("Content-Encoding", "gzip")
        with self._workers.sending(len(answer.body)):
            sent = asyncio.ensure_future(self.finish(answer.body))
            done, _ = await asyncio.wait({sent}, timeout=self._seconds)
            if not done:
                sent.cancel()
                self.request.connection.stream.close()  # type: ignore[union-attr, attr-defined, unused-ignore]
            elif not sent.cancelled():
                sent.exception()  # the error of a client that has disconnected meanwhile

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        if not isinstance(value, Exception) or refusal_of(value) is None:
            super().log_exception(typ, value, tb)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Send the reason in JSON; details of unexpected errors go to the log only."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        refusal = refusal_of(error) if isinstance(error, Exception) else None
        if refusal is None:
            refusal = _of_http(status_code, error)
            self.set_status(status_code)
        else:
            self.set_status(STATUS[refusal.reason])
        self.clear_header("Etag")
        self.set_header("Cache-Control", "no-store")
        if refusal.reason is Reason.BUSY:
            self.set_header("Retry-After", str(_RETRY_SECONDS))
        self.finish(json.dumps({"message": refusal.message, "reason": refusal.reason.value}))


def _of_http(status: int, error: object) -> RefusedRequest:
    message = getattr(error, "log_message", None) if isinstance(error, HTTPError) else None
    if status >= 500:
        message = FAILED
    return RefusedRequest(reason_of_status(status), message or responses.get(status, "No answer"))


class VersionHandler(_Handler):
    """Answers with the versions of the package and of the payload."""

    @authenticated
    @authorized
    async def get(self) -> None:
        """Answer `GET version`."""
        await self._send(await self._done("about"))


class CheckpointsHandler(_Handler):
    """Answers with the names of the checkpoints in a directory, by their content."""

    @authenticated
    @authorized
    async def get(self) -> None:
        """Answer `GET checkpoints`."""
        # A file browser asks whenever a program writes files.
        self._track_activity = False
        asked = await self._asked()
        self.set_header("Cache-Control", "no-store")
        await self._send(await self._done("list", asked))


class HistoryHandler(_Handler):
    """Answers with the history of a directory's checkpoints, and with questions about it."""

    @authenticated
    @authorized
    async def get(self) -> None:
        """Answer `GET history`: lines of JSON while it is read, or the answer to a question."""
        asked = replace(await self._asked(), what="history")
        question = self._parameter("question", _MAX_QUESTION)
        self.set_header("Cache-Control", "no-store")
        if question is not None:
            await self._answer(asked, parsed(question, "question"))
            return
        look = await self._look(asked)
        self.set_header("Etag", look.etag)
        try:
            await self._unless_gone(self._history(asked, look))
        except (RefusedRequest, RuntimeError) as error:  # its process has ended, for example
            if not self._sent:
                raise
            self.log.error("%s", error)
            refusal = refusal_of(error) or RefusedRequest(Reason.FAILED, FAILED)
            line = json.dumps(line_of(refusal)).encode() + b"\n"
            self.write(await asyncio.to_thread(continued, self._sent, line, packs=self._packs))
        self.finish()

    async def _history(self, asked: Asked, look: Look) -> None:
        """Pass on the history of a directory's checkpoints while it is read, as lines of JSON."""
        job = Job("history", self._version, asked, *look, packs=self._packs)
        last = await self._workers.run(job, self._pass_on)
        await self._pass_on(last.body)

    async def _answer(self, asked: Asked, question: Mapping[str, Any]) -> None:
        etag = self._parameter("etag", _MAX_ETAG)
        if etag is None:
            look = await self._look(asked)
        else:
            look = Look('"{}"'.format(etag.removeprefix("W/").strip('"')), 0)
        answer = await self._done("answer", asked, look, question=question, packs=self._packs)
        await self._send(answer)

    @authenticated
    @authorized
    async def head(self) -> None:
        """Answer `HEAD history`: only the ETag, to notice new checkpoints."""
        self._track_activity = False
        asked = replace(await self._asked(), what="history")
        look = await self._look(asked)
        self.set_header("Etag", look.etag)
        self.set_header("Cache-Control", "no-store")
        self.finish()

    async def _pass_on(self, part: bytes) -> None:
        """Send a part; disconnect a client that does not take it."""
        if not self._headers_written:
            self.set_header("Content-Type", "application/x-ndjson")
            if self._packs:
                self.set_header("Content-Encoding", "gzip")
        self.write(part)
        self._sent.append(part)
        with self._workers.sending(len(part)):
            try:
                await asyncio.wait_for(self.flush(), self._seconds)
            except asyncio.TimeoutError:
                self.request.connection.stream.close()  # type: ignore[union-attr, attr-defined, unused-ignore]
                raise Finish from None


class GraphHandler(_Handler):
    """Answers with the graph of a checkpoint, or the difference of two."""

    @authenticated
    @authorized
    async def get(self) -> None:
        """Answer `GET graph`."""
        asked = await self._asked()
        look = await self._look(asked)
        if not self._is_known(look.etag):
            await self._send(await self._done("graph", asked, look, packs=self._packs))

    @authenticated
    @authorized
    async def head(self) -> None:
        """Answer `HEAD graph`: only the ETag."""
        # Polling by a page does not show that a person is working.
        self._track_activity = False
        asked = await self._asked()
        look = await self._look(asked)
        if not self._is_known(look.etag):
            self.finish()

    def _is_known(self, etag: str) -> bool:
        """Send the ETag; return whether that is enough, because the browser has this graph."""
        self.set_header("Etag", etag)
        self.set_header("Cache-Control", "private, no-cache")
        if not self.check_etag_header():
            return False
        self.set_status(304)
        self.finish()
        return True


class AnswerHandler(_Handler):
    """Answers questions of an open explorer: values, files."""

    @authenticated
    @authorized
    async def get(self) -> None:
        """Answer `GET answer`."""
        question, state = (self._parameter(name, _MAX_QUESTION) for name in ("question", "state"))
        if question is None:
            raise RefusedRequest(
                Reason.BAD_REQUEST, "expected a parameter `question`: a JSON object"
            )
        asked_for = parsed(question, "question")
        traits = None if state is None else parsed(state, "state")
        asked = await self._asked()
        look = await self._look(asked)
        expected = self._parameter("etag")
        if expected is not None and expected.strip('"') != look.etag.strip('"'):
            raise RefusedRequest(
                Reason.CHANGED,
                f"{asked.path}: the files have changed since the graph was read; load it again",
            )
        self.set_header("Cache-Control", "no-store")
        more = {"question": asked_for, "state": traits, "packs": self._packs}
        await self._send(await self._done("answer", asked, look, **more))


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


def handlers_below(
    base_url: str, options: CkptViz, version: str
) -> list[tuple[str, type[_Handler], Any]]:
    """Return the endpoints' addresses and handlers, as Tornado takes them; all share the jobs."""
    workers = Workers(processes.PROCESSES, options)
    shared = {"workers": workers, "version": version, "seconds": options.max_seconds}
    endpoints = (
        ("version", VersionHandler),
        ("checkpoints", CheckpointsHandler),
        ("history", HistoryHandler),
        ("graph", GraphHandler),
        ("answer", AnswerHandler),
    )
    return [(url_path_join(base_url, API, name), handler, shared) for name, handler in endpoints]
