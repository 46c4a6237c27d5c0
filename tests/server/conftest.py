"""A Jupyter Server with the extension, in the test's own process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

# Not as a plugin of all tests: the hooks are for those of this directory.
from pytest_jupyter.jupyter_server import *  # noqa: F403
from tornado.httpclient import HTTPClientError, HTTPResponse

from ckpt_viz.entrances.server import processes
from ckpt_viz.entrances.server.processes import Processes
from tests.hostile.seeds import DIRECTORY
from tests.support.tables import floats, write_bundle
from tests.support.waiting import PATIENCE

BASE_URL = "/user/me/"


class Reply(NamedTuple):
    """What came back: the status, the JSON or None, the headers."""

    status: int
    json: Any
    headers: Mapping[str, str]


Ask = Callable[..., Awaitable[Reply]]


def pytest_itemcollected(item: pytest.Item) -> None:  # of those below this directory
    item.add_marker("slow")  # each starts a server


@pytest.fixture  # type: ignore[no-redef, unused-ignore]
def jp_base_url() -> str:
    return BASE_URL


@pytest.fixture
def options() -> dict[str, Any]:
    """What `c.CkptViz` has."""
    return {}


@pytest.fixture  # type: ignore[no-redef, unused-ignore]
def jp_server_config(
    options: dict[str, Any],
) -> dict[str, Any]:
    return {
        "ServerApp": {"jpserver_extensions": {"ckpt_viz": True}},
        "CkptViz": options,
    }


@pytest.fixture
def root(jp_root_dir: Path) -> Path:
    """The server's root directory."""
    return jp_root_dir


@pytest.fixture
def send(jp_serverapp: Any, http_server_client: Any, jp_auth_header: dict[str, str]) -> Ask:
    """Sends a request with this URL below the API, escaped or not."""

    async def send(url: str, method: str = "GET", **headers: str) -> Reply:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            response: HTTPResponse = await http_server_client.fetch(
                f"{BASE_URL}ckpt-viz/api/v1/{url}",
                method=method,
                headers={**jp_auth_header, **given},
                body=b"" if method in ("POST", "PUT", "PATCH") else None,
                allow_nonstandard_methods=True,
                request_timeout=PATIENCE,
            )
        except HTTPClientError as error:
            assert error.response is not None
            response = error.response
        reply: Any
        if response.headers.get("Content-Type") == "application/x-ndjson":
            reply = [json.loads(line) for line in response.body.splitlines()]
        else:
            reply = json.loads(response.body) if response.body else None
        return Reply(response.code, reply, response.headers)

    return send


@pytest.fixture
def ask(send: Ask) -> Ask:
    """Asks an endpoint, with parameters that are escaped."""

    async def ask(
        endpoint: str, *, headers: Mapping[str, str] | None = None, **query: Any
    ) -> Reply:
        method = query.pop("method", "GET")
        for name in ("question", "state"):
            if name in query and not isinstance(query[name], str):
                query[name] = json.dumps(query[name])
        return await send(f"{endpoint}?{urlencode(query)}", method, **(headers or {}))

    return ask


class Line(NamedTuple):
    """What a process logged: "large", "began" or "ended", the path, its number."""

    what: str
    path: str
    pid: int


class Slow:
    """Processes that read, each of which waits until it may: tests.server.slow_jobs."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.processes = Processes("tests.server.slow_jobs")

    def let_go(self) -> None:
        (self._directory / "go").touch()

    def stop(self) -> None:
        (self._directory / "go").unlink()

    def are_long(self) -> None:
        """Have all graphs be large ones, but for that of `small`, which does not wait."""
        (self._directory / "long").touch()

    @property
    def log(self) -> list[Line]:
        log = self._directory / "log"
        words = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
        return [Line(what, path, int(pid)) for what, path, pid in words]

    @property
    def began(self) -> list[str]:
        return self.paths("began")

    def paths(self, what: str) -> list[str]:
        return [line.path for line in self.log if line.what == what]

    @property
    def most_at_once(self) -> int:
        steps = {"large": 0, "began": 1, "ended": -1}
        return max(accumulate(steps[line.what] for line in self.log))


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, root: Path, tmp_path: Path) -> Iterator[Slow]:
    shutil.copytree(DIRECTORY, root, dirs_exist_ok=True)
    write_bundle(root / "small", {"a": floats(1.0)})
    (tmp_path / "slow").mkdir()
    monkeypatch.setenv("SLOW_JOBS", str(tmp_path / "slow"))
    reader = Slow(tmp_path / "slow")
    monkeypatch.setattr(processes, "PROCESSES", reader.processes)
    yield reader
    reader.let_go()
    reader.processes.close()
