"""The behaviour of Jupyter's server while clients request forty large graphs at once.

Forty connections each request a checkpoint of 60,000 nodes. Meanwhile a separate program requests
`/api` and a graph of five nodes. It adds up the memory of the server and of the processes that the
server has started (Linux only). Then forty clients request graphs again, and hang up after two
seconds. Prints the answers, their times, and the peak of the memory.

    python -m benchmarks.server_load [--requests 40] [--nodes 60000] [--seconds 60]
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPClientError
from tornado.testing import bind_unused_port

from ckpt_viz.formats.arrays.protos import TrackableObjectGraph
from tests.support import tables

TOKEN = "secret"
_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
_PAUSE = 0.05  # seconds between two questions of the program beside


def write_layers(prefix: str, count: int) -> None:
    """Write a checkpoint of this many nodes: layers of a kernel and a bias."""
    graph: Any = TrackableObjectGraph()
    root = graph.nodes.add()
    tensors: dict[str, tables.Tensor] = {}
    for number in range((count - 1) // 3):
        root.children.add(node_id=1 + 3 * number, local_name=f"layer_{number}")
        layer = graph.nodes.add()
        for place, name in enumerate(("kernel", "bias")):
            layer.children.add(node_id=2 + 3 * number + place, local_name=name)
            key = f"layer_{number}/{name}/.ATTRIBUTES/VARIABLE_VALUE"
            graph.nodes.add().attributes.add(
                name="VARIABLE_VALUE", full_name=f"layer_{number}/{name}", checkpoint_key=key
            )
            tensors[key] = tables.floats(float(number))
    tensors[_GRAPH_KEY] = tables.string(graph.SerializeToString())
    tables.write_bundle(prefix, tensors)


@contextmanager
def running_server(root: Path, config: Path) -> Iterator[tuple[str, int]]:
    """Run a server with the extension; yield its address and the number of its process."""
    socket, port = bind_unused_port()
    socket.close()
    config.mkdir()
    enabled = {"ServerApp": {"jpserver_extensions": {"ckpt_viz.entrances.server.extension": True}}}
    (config / "jupyter_server_config.json").write_text(json.dumps(enabled))
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root"),
            f"--ServerApp.root_dir={root}",
            f"--ServerApp.port={port}",
            f"--IdentityProvider.token={TOKEN}",
        ],
        env={**os.environ, "JUPYTER_CONFIG_DIR": str(config), "JUPYTER_RUNTIME_DIR": str(config)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        asyncio.run(_answering(url))
        yield url, process.pid
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            print("the server did not end within 10 s")
            process.kill()
            process.wait()


async def _answering(url: str) -> None:
    for _ in range(300):
        with suppress(OSError, HTTPClientError):
            await AsyncHTTPClient().fetch(f"{url}/api")
            return
        await asyncio.sleep(0.1)
    raise SystemExit("the server did not start")


async def _asked(client: AsyncHTTPClient, url: str, seconds: float) -> tuple[int, float, int]:
    """Return the status (599: none came in time), the seconds, and the bytes."""
    began = time.monotonic()
    try:
        response = await client.fetch(
            url,
            headers={"Authorization": f"token {TOKEN}"},
            request_timeout=seconds,
            raise_error=False,
        )
    except (OSError, HTTPClientError):
        return 599, time.monotonic() - began, 0
    if response.code == 503:
        assert "Retry-After" in response.headers
    return response.code, time.monotonic() - began, len(response.body or b"")


def _graph(url: str, path: str) -> str:
    return f"{url}/ckpt-viz/api/v1/graph?path={path}"


# --- the program beside


def probe(url: str, pid: int) -> None:
    """Ask until the input ends; print the measurements as JSON."""
    print(json.dumps(asyncio.run(_probed(url, pid))))


async def _probed(url: str, pid: int) -> dict[str, list[float]]:
    client = AsyncHTTPClient(force_instance=True)
    seen: dict[str, list[float]] = {
        name: [] for name in ("api", "api refused", "small", "small refused", "memory")
    }
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

    async def repeat(name: str, address: str, pause: float) -> None:
        while not ended.done():
            status, seconds, _ = await _asked(client, address, 120)
            seen[name if status == 200 else f"{name} refused"].append(seconds)
            await asyncio.sleep(pause)

    async def weigh() -> None:
        while not ended.done():
            seen["memory"].append(sum(map(_resident, processes_of(pid))) / 1e6)
            await asyncio.sleep(_PAUSE)

    await asyncio.gather(
        repeat("api", f"{url}/api", _PAUSE), repeat("small", _graph(url, "small"), 1.0), weigh()
    )
    return seen


def processes_of(pid: int) -> list[int]:
    """Return a process and all that it started, directly or not."""
    found = [pid]
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                found += processes_of(int(child))
    return found


def _resident(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _worked(pid: int) -> float:
    """Return the seconds that the processors have worked for a process and its children."""
    ticks = 0
    for one in processes_of(pid):
        with suppress(OSError):
            words = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


# --- the load


async def _load(url: str, requests: int, seconds: float) -> list[tuple[int, float, int]]:
    client = AsyncHTTPClient(force_instance=True, max_clients=requests)
    return await asyncio.gather(
        *(_asked(client, _graph(url, f"large-{number}"), seconds) for number in range(requests))
    )


async def _hang_up(url: str, requests: int) -> None:
    """Ask as a browser does whose tab closes after two seconds."""
    writers = []
    for number in range(requests):
        _, writer = await asyncio.open_connection(*url.removeprefix("http://").split(":"))
        lines = (
            f"GET {_graph('', f'large-{number}')} HTTP/1.1",
            "Host: localhost",
            f"Authorization: token {TOKEN}",
        )
        writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        writers.append(writer)
    await asyncio.sleep(2)
    for writer in writers:
        writer.close()
        await writer.wait_closed()


def main() -> None:
    """Write the checkpoints, start the server, ask, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=40)
    parser.add_argument("--nodes", type=int, default=60_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--probe", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.probe:
        probe(options.probe[0], int(options.probe[1]))
        return
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory, "root")
        root.mkdir()
        write_layers(str(root / "small"), 5)
        write_layers(str(root / "large-0"), options.nodes)
        for number in range(1, options.requests):
            for suffix in (".index", ".data-00000-of-00001"):
                shutil.copy(root / f"large-0{suffix}", root / f"large-{number}{suffix}")
        with running_server(root, Path(directory, "config")) as (url, pid):
            beside = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.server_load", "--probe", url, str(pid)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            time.sleep(3)
            answers = asyncio.run(_load(url, options.requests, options.seconds))
            seen = json.loads(beside.communicate()[0])
            asyncio.run(_hang_up(url, options.requests))
            time.sleep(2)
            before = _worked(pid)
            time.sleep(5)
            still_working = _worked(pid) - before
    _print(answers, seen)
    print(f"hung up after 2 s: in the seconds 2 to 7 after that {still_working:.1f} s of work")


def _print(answers: list[tuple[int, float, int]], seen: dict[str, list[float]]) -> None:
    for status, count in sorted(collections.Counter(one[0] for one in answers).items()):
        times = [seconds for code, seconds, _ in answers if code == status]
        print(f"{count} of {len(answers)} answered {status}, in {min(times):.2f} to ", end="")
        print(f"{max(times):.2f} s")
    for name in ("api", "api refused", "small", "small refused"):
        times = [1000 * one for one in seen[name]]
        if not times:
            continue
        cuts = statistics.quantiles(times, n=100) if len(times) > 1 else times * 99
        print(
            f"{name}: {len(times)} times, median {cuts[49]:.0f} ms, 99th percentile "
            f"{cuts[98]:.0f} ms, at most {max(times):.0f} ms"
        )
    print(f"memory of the server and its processes: at most {max(seen['memory']):.0f} MB")


if __name__ == "__main__":
    main()
