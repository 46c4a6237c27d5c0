"""Values of checkpoints in S3, read by the worker processes of a Dask cluster.

The S3 server is moto's, a real one on this machine. What it was asked for says what was read.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ckpt_viz as cv
from ckpt_viz.formats.arrays.tensors import Array
from tests.support import tables
from tests.support.s3_server import Request, S3Server, s3_server
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from distributed import Client, LocalCluster, Worker

pytestmark = pytest.mark.slow
SHARDS, IN_SHARD = 24, 3
LARGE = 66 << 20  # bytes: two pieces of a table of values, five of a verification
STEPS = (1, 2, 3)


def write_shards(prefix: Path, shards: Sequence[Mapping[str, Array]]) -> None:
    """Write a name-based checkpoint with these tensors in each shard."""
    rows = {b"": tables.header(len(shards))}
    for number, arrays in enumerate(shards):
        data = b""
        for name, array in arrays.items():
            stored = array.tobytes()
            rows[name.encode()] = tables.bundle_entry(
                dims=tables.shape(*array.shape),
                shard=number,
                offset=len(data),
                size=len(stored),
                crc32c=tables.masked_crc32c(stored),
            )
            data += stored
        Path(f"{prefix}.data-{number:05d}-of-{len(shards):05d}").write_bytes(data)
    tables.write_index(prefix, sorted(rows.items()))


def arrays_of(step: int) -> list[dict[str, Array]]:
    """The tensors of each shard; those of even shards are the same at all steps."""
    shards = []
    for shard in range(SHARDS):
        rng = np.random.default_rng((shard, step * (shard % 2)))
        shards.append(
            {
                f"layer{shard:02d}_{part}": rng.normal(size=(50, 40 + part)).astype(np.float32)
                for part in range(IN_SHARD)
            }
        )
    return shards


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints of a training, in 24 shards each, and one with a large tensor."""
    directory = tmp_path_factory.mktemp("run")
    for step in STEPS:
        write_shards(directory / f"ckpt-{step}", arrays_of(step))
    large = np.random.default_rng(0).normal(size=LARGE // 4).astype(np.float32)
    write_shards(directory / "large", [{"a": large[:999], "large": large}])
    return directory


@pytest.fixture(scope="module")
def started(run: Path) -> Iterator[tuple[S3Server, LocalCluster]]:
    from distributed import LocalCluster

    with (
        s3_server() as server,
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs="CRITICAL",
        ) as cluster,
    ):
        server.upload(run, "run")
        yield server, cluster


@pytest.fixture
def server(started: tuple[S3Server, LocalCluster]) -> S3Server:
    found, _ = started
    found.gate.set()
    found.forget()
    return found


@pytest.fixture
def cluster(started: tuple[S3Server, LocalCluster]) -> LocalCluster:
    return started[1]


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def values(path: object, **options: Any) -> tuple[Any, ...]:
    return tuple(cv.graph(path).values(progress=False, **options))


def times_read(requests: Sequence[Request]) -> Counter[tuple[str, int]]:
    """How often each stretch of a file was read; a range that begins or ends cuts the file."""
    found: Counter[tuple[str, int]] = Counter()
    for path in {one.path for one in requests}:
        spans = [(one.start or 0, one.end or 0) for one in requests if one.path == path]
        cuts = sorted({place for span in spans for place in span})
        for start, end in spans:
            found.update((path, cut) for cut in cuts if start <= cut < end)
    return found


def total(requests: Sequence[Request]) -> int:
    return sum((one.end or 0) - (one.start or 0) for one in requests)


def data_bytes(run: Path, pattern: str = "ckpt-1.data-*") -> int:
    return sum(path.stat().st_size for path in run.glob(pattern))


def in_thread(function: Callable[[], Any]) -> Callable[[], Any]:
    """Begin a function in a thread; return what waits for its result."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()), daemon=True)
    thread.start()

    def result() -> Any:
        thread.join(60)
        return found[0]

    return result


def test_a_cluster_finds_what_this_process_finds_and_reads_each_byte_once(
    run: Path, server: S3Server, client: Client
) -> None:
    found = values("s3://run/ckpt-1", executor=client.get_executor())
    assert found == values(run / "ckpt-1")
    assert len(found) == SHARDS * IN_SHARD
    ranges = server.ranges()
    assert set(times_read(ranges).values()) == {1}
    assert total(ranges) == data_bytes(run)
    asked = Counter((one.method, one.path.rpartition(".")[2][:5]) for one in server.requests)
    # Once for the size of each shard, and once for its three tensors, which touch.
    assert (asked["HEAD", "data-"], asked["GET", "data-"]) == (SHARDS, SHARDS)
    assert asked["GET", "index"] == 1


def test_a_query_reads_the_bytes_of_its_tensors_alone(server: S3Server, client: Client) -> None:
    (row,) = values("s3://run/ckpt-1", where="layer07_1", executor=client.get_executor())
    (read,) = server.ranges()
    assert read == Request("GET", "/run/ckpt-1.data-00007-of-00024", 8000, 8000 + 50 * 41 * 4)
    assert row.count == 50 * 41


def test_the_workers_share_a_large_tensor(run: Path, server: S3Server, client: Client) -> None:
    found = values("s3://run/large", executor=client.get_executor())
    assert found == values(run / "large")
    pieces = server.ranges()
    assert [one.start for one in pieces] == [0, 999 * 4, 999 * 4 + (1 << 26)]
    assert total(pieces) == data_bytes(run, "large.data-*")
    server.forget()
    assert cv.graph("s3://run/large").verify(executor=client.get_executor(), progress=False) == ()
    assert set(times_read(server.ranges()).values()) == {1}
    assert total(server.ranges()) == data_bytes(run, "large.data-*")


def test_verification_names_a_damaged_shard_and_reads_each_byte_once(
    tmp_path: Path, server: S3Server, client: Client
) -> None:
    write_shards(tmp_path / "bad", arrays_of(1))
    shard = tmp_path / "bad.data-00005-of-00024"
    stored = bytearray(shard.read_bytes())
    stored[8001] ^= 1
    shard.write_bytes(stored)
    server.upload(tmp_path, "damaged")
    graph = cv.graph("s3://damaged/bad")
    server.forget()
    (damaged,) = graph.verify(executor=client.get_executor(), progress=False)
    assert damaged.key == "layer05_1"
    assert set(times_read(server.ranges()).values()) == {1}
    assert len(server.requests) == SHARDS  # the sizes are known since the graph was opened


def test_a_history_reads_what_changed_once(run: Path, server: S3Server, client: Client) -> None:
    names = [f"ckpt-{step}" for step in STEPS]
    executor = client.get_executor()
    remote = cv.history([f"s3://run/{one}" for one in names], executor=executor, progress=False)
    local = cv.history([run / one for one in names], progress=False)
    assert remote.rows == local.rows
    assert remote.findings == local.findings
    ranges = server.ranges()
    assert set(times_read(ranges).values()) == {1}
    odd = range(SHARDS)[1::2]
    changed = {f"/run/{one}.data-{shard:05d}-of-00024" for one in names for shard in odd}
    read = {one.path for one in ranges}
    assert changed <= read
    # Of what is equal by its checksums, the smallest tensors are read once, to look for NaNs.
    rest = [one for one in ranges if one.path not in changed]
    assert total(rest) <= data_bytes(run, "ckpt-*.data-*") / 200


def test_a_worker_that_is_killed_loses_nothing(
    run: Path, server: S3Server, cluster: LocalCluster, client: Client
) -> None:
    graph = cv.graph("s3://run/ckpt-1")
    server.forget()
    server.gate.clear()
    found = in_thread(lambda: tuple(graph.values(executor=client.get_executor(), progress=False)))
    wait_until(lambda: len(server.ranges()) >= 2, "both workers read")
    begun = server.ranges()
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    server.gate.set()
    assert found() == values(run / "ckpt-1")
    again = {one for one, times in Counter(server.ranges()).items() if times > 1}
    assert again <= set(begun)  # what the worker had begun, and nothing else
    assert total(sorted(set(server.ranges()))) == data_bytes(run)


def _tasks_left(dask_worker: Worker) -> int:
    return len(dask_worker.state.tasks)


def test_an_interruption_cancels_what_has_not_begun_and_the_next_call_goes_on(
    run: Path, server: S3Server, client: Client
) -> None:
    graph = cv.graph("s3://run/ckpt-1")
    server.forget()
    server.gate.clear()

    def interrupt() -> None:
        wait_until(lambda: len(server.ranges()) >= 2, "both workers read")
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        graph.values(executor=client.get_executor(), progress=False)
    thread.join()
    # Dask cancels on its own threads. Before it has, the workers would go on behind the gate.
    wait_until(
        lambda: not any(client.processing().values()), "the scheduler has cancelled all tasks"
    )
    begun = len(server.ranges())
    server.gate.set()
    wait_until(lambda: not any(client.run(_tasks_left).values()), "the workers have nothing to do")
    assert len(server.ranges()) <= begun + 2 < SHARDS
    assert tuple(graph.values(executor=client.get_executor(), progress=False)) == values(
        run / "ckpt-1"
    )


def test_a_client_that_is_closed_leaves_the_rest_to_this_process(
    run: Path, server: S3Server, cluster: LocalCluster
) -> None:
    from distributed import Client

    graph = cv.graph("s3://run/ckpt-1")
    server.forget()
    server.gate.clear()
    client = Client(cluster)

    def close() -> None:
        wait_until(lambda: len(server.ranges()) >= 2, "both workers read")
        client.close()
        server.gate.set()

    closed = in_thread(close)
    with pytest.warns(RuntimeWarning, match="the executor lost a task"):
        found = tuple(graph.values(executor=client.get_executor(), progress=False))
    closed()
    assert found == values(run / "ckpt-1")


def test_the_example_of_the_documents_runs(run: Path, server: S3Server, tmp_path: Path) -> None:
    for path in run.glob("ckpt-*"):
        server.put("run", f"example/{path.name}", path.read_bytes())
    document = Path(__file__).parents[2] / "docs" / "past_one_machine.md"
    _, block = document.read_text().split("```python\n")
    program = tmp_path / "example.py"
    program.write_text(block.split("```")[0].replace("s3://bucket/run", "s3://run/example"))
    # The other way to name a server, which the document has, too.
    environment = {**os.environ, "FSSPEC_S3_ENDPOINT_URL": server.url}
    del environment["AWS_ENDPOINT_URL_S3"]
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    assert "layer07_1" in done.stdout
    assert "ckpt-3" in done.stdout
    assert len(server.ranges("example/ckpt-3.data-")) >= SHARDS


def test_a_checkpoint_that_was_saved_after_a_listing_is_found(
    tmp_path: Path, server: S3Server
) -> None:
    for step in (1, 2):
        (tmp_path / str(step)).mkdir()
        write_shards(tmp_path / str(step) / f"ckpt-{step}", arrays_of(step)[:1])
    address = server.upload(tmp_path / "1", "growing")
    assert cv.graph(address).title.endswith("ckpt-1")
    server.upload(tmp_path / "2", "growing")
    assert cv.graph(f"{address}/ckpt-2").title.endswith("ckpt-2")


def test_a_shard_that_shrinks_or_goes_after_opening_is_an_error_of_its_tensors(
    tmp_path: Path, server: S3Server
) -> None:
    write_shards(tmp_path / "ckpt", arrays_of(1)[:3])
    address = server.upload(tmp_path, "shrinking")
    graph = cv.graph(f"{address}/ckpt")
    server.put("shrinking", "ckpt.data-00000-of-00003", b"short")
    server.delete("shrinking", "ckpt.data-00001-of-00003")
    errors = [row.error or "" for row in graph.values(progress=False)]
    assert all("ckpt.data-00000-of-00003: " in one for one in errors[:3])
    assert all("ckpt.data-00001-of-00003: this file has disappeared" in one for one in errors[3:6])
    assert errors[6:] == [""] * 3
