"""A server in a separate process: what it loads, and how much it reads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from tornado.testing import bind_unused_port

from benchmarks.bytes_read import write_sparse
from benchmarks.server_load import processes_of
from ckpt_viz.entrances.server.graphs import look_at, read_page
from ckpt_viz.entrances.server.messages import Asked
from tests.hostile.seeds import seeds
from tests.hostile.use import copy_of
from tests.support.processes import bytes_read
from tests.support.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parents[2]
_HEAVY = ("tensorflow", "keras", "numpy", "google.protobuf", "ckpt_viz.api", "ckpt_viz.formats")
# Adds one endpoint: which modules are there.
_SPY = """
import json, sys
from jupyter_server.base.handlers import APIHandler
from tornado.web import authenticated

class Modules(APIHandler):
    @authenticated
    def get(self):
        self.finish(json.dumps(sorted(sys.modules)))

def _jupyter_server_extension_points():
    return [{"module": "spy"}]

def _load_jupyter_server_extension(serverapp):
    serverapp.web_app.add_handlers(".*$", [(r"/user/me/modules", Modules)])
"""


class Server:
    """A Jupyter Server that is running."""

    def __init__(self, url: str, log: Path, pid: int) -> None:
        self._url = url
        self.log = log
        self.pid = pid

    def get(self, address: str, **query: object) -> Any:
        encoded = urlencode(
            {k: v if isinstance(v, str) else json.dumps(v) for k, v in query.items()}
        )
        request = Request(
            f"{self._url}{address}?{encoded}", headers={"Authorization": "token secret"}
        )
        with urlopen(request, timeout=PATIENCE) as response:
            return json.load(response)


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    root, spy, log = tmp_path / "root", tmp_path / "spy", tmp_path / "log"
    root.mkdir()
    spy.mkdir()
    copy_of(seeds()["adam"].files, root)
    copy_of(seeds()["state"].files, root / "state")
    (spy / "spy.py").write_text(_SPY)
    socket, port = bind_unused_port()
    socket.close()
    enabled = {"ckpt_viz": True, "spy": True}
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "jupyter_server_config.json").write_text(
        json.dumps({"ServerApp": {"jpserver_extensions": enabled}})
    )
    with log.open("w") as output:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root"),
                f"--ServerApp.root_dir={root}",
                f"--ServerApp.port={port}",
                "--ServerApp.base_url=/user/me/",
                "--IdentityProvider.token=secret",
            ],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(map(str, (spy, ROOT))),
                "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
                "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
            },
            cwd=tmp_path,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            server = Server(f"http://127.0.0.1:{port}/user/me/", log, process.pid)
            _wait_for(server, process)
            yield server
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _wait_for(server: Server, process: subprocess.Popen[bytes]) -> None:
    def is_there() -> bool:
        assert process.poll() is None, server.log.read_text()
        try:
            server.get("api")
        except URLError:
            return False
        return True

    wait_until(is_there, "the server")


def test_server_loads_little_at_its_start_and_later(server: Server) -> None:
    at_start = server.get("modules")
    assert "ckpt_viz" in at_start, server.log.read_text()
    own = {"ckpt_viz.api", "ckpt_viz.formats"}  # `import ckpt_viz` has them, and they are light
    assert [name for name in _HEAVY if name in at_start and name not in own] == []
    assert "ckpt_viz.entrances.jupyter.shown" not in at_start
    api = "ckpt-viz/api/v1"
    server.get(f"{api}/version")
    assert server.get(f"{api}/graph", path="ckpt-1")["title"] == "ckpt-1"
    server.get(f"{api}/graph", path="state", against="ckpt-1")
    for question in (
        {"ask": "values", "node": 1},
        {"ask": "accessor", "node": 1},
        *({"ask": "file", "format": kind} for kind in ("svg", "dot", "json", "html")),
    ):
        server.get(f"{api}/answer", path="ckpt-1", question=question)
        server.get(f"{api}/answer", path="state", against="ckpt-1", question=question)
    after = server.get("modules")
    # What reads are other processes.
    assert [name for name in _HEAVY if name in after and name not in own] == []
    assert "ckpt_viz.entrances.jupyter.shown" not in after
    log = server.log.read_text()
    assert "Traceback" not in log, log


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for processes")
def test_processes_that_read_end_with_the_server(server: Server) -> None:
    server.get("ckpt-viz/api/v1/graph", path="ckpt-1")
    _, *reading = processes_of(server.pid)
    assert reading
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not any(_is_running(pid) for pid in reading), f"the end of {reading}")


def _is_running(pid: int) -> bool:
    try:  # one that has ended may wait for whoever adopted it
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux what was read")
def test_server_reads_the_index_and_the_graph_of_a_huge_checkpoint(tmp_path: Path) -> None:
    graph_bytes = write_sparse(str(tmp_path / "ckpt"), 500, 16 << 20)  # 8 GB, all holes
    index_bytes = (tmp_path / "ckpt.index").stat().st_size
    asked = Asked(str(tmp_path), False, "ckpt", None)
    read_page(asked, 1 << 30)  # what the first one imports is not of the checkpoint
    before, own = bytes_read(os.getpid()), -bytes_read(os.getpid()) + bytes_read(os.getpid())
    look_at(asked, "1", 1 << 30)
    page = read_page(asked, 1 << 30)
    assert bytes_read(os.getpid()) - before - 3 * own <= index_bytes + graph_bytes + (64 << 10)
    assert len(page.shown.graph.nodes) == 501
