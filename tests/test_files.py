from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from ckpt_viz.errors import CkptVizError, FormatError, GoneError, UnsupportedError
from ckpt_viz.formats.bundles.bundle import open_bundle
from ckpt_viz.formats.storage import files
from ckpt_viz.formats.storage.file_systems import local_errors
from tests.support.tables import floats, string, write_bundle

DATA = bytes(range(100))


class CountingFileSystem(MemoryFileSystem):  # type: ignore[misc, unused-ignore]
    """Files in memory; remembers which bytes were asked for."""

    protocol = "counting"
    store: dict[str, Any] = {}  # noqa: RUF012
    pseudo_dirs = [""]  # noqa: RUF012
    asked: list[tuple[str, int, int]] = []  # noqa: RUF012

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.partition("://")[2] if "://" in path else path

    def cat_file(self, path: str, start: int, end: int, **options: Any) -> Any:
        self.asked.append((path, start, end))
        return super().cat_file(path, start=start, end=end, **options)


class FailingFileSystem(CountingFileSystem):
    """Raises whatever it was told to."""

    protocol = "failing"
    error: Exception = OSError()

    def info(self, path: str, **_: Any) -> Any:
        raise self.error

    def ls(self, path: str, detail: bool = True, **_: Any) -> Any:
        raise self.error


@pytest.fixture(autouse=True, scope="module")
def file_systems() -> None:
    for kind in (CountingFileSystem, FailingFileSystem):
        fsspec.register_implementation(kind.protocol, kind, clobber=True)


@pytest.fixture(params=["local", "file", "memory"])
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A directory with a file `ckpt-1.index` of 100 bytes and a directory `sub`."""
    if request.param == "memory":
        memory = fsspec.filesystem("memory")
        memory.pipe("/run/ckpt-1.index", DATA)
        memory.pipe("/run/sub/file", b"")
        yield "memory://run"
        memory.rm("/run", recursive=True)
        return
    (tmp_path / "ckpt-1.index").write_bytes(DATA)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "file").touch()
    yield str(tmp_path) if request.param == "local" else f"file://{tmp_path}"


# --- wherever the file is


def test_ranges_of_a_file_are_read(directory: str) -> None:
    path = files.join(directory, "ckpt-1.index")
    with files.open_file(path) as file:
        assert (file.path, file.size) == (path, 100)
        assert file.read(10, 5) == DATA[10:15]
        assert file.read(0, 100) == DATA
        assert file.read(100, 0) == b""


@pytest.mark.parametrize("offset_and_size", [(99, 2), (-1, 1), (0, -1), (0, 1 << 62)])
def test_range_past_the_end_is_refused(directory: str, offset_and_size: tuple[int, int]) -> None:
    offset, size = offset_and_size
    path = files.join(directory, "ckpt-1.index")
    with files.open_file(path) as file, pytest.raises(FormatError) as caught:
        file.read(offset, size)
    assert str(caught.value) == (
        f"{path}: has 100 bytes, expected bytes {offset} to {offset + size}"
    )


def test_kind_of_file_at_a_path_is_known(directory: str) -> None:
    told = {
        name: (files.is_file(path), files.is_directory(path), files.file_size(path))
        for name in ("ckpt-1.index", "sub", "absent")
        for path in [files.join(directory, name)]
    }
    assert told == {
        "ckpt-1.index": (True, False, 100),
        "sub": (False, True, None),
        "absent": (False, False, None),
    }


def test_names_in_a_directory_are_listed(directory: str) -> None:
    assert files.list_directory(directory) == ["ckpt-1.index", "sub"]
    assert files.list_directory(files.join(directory, "sub")) == ["file"]


@pytest.mark.parametrize("name", ["absent", "ckpt-1.index"])
def test_only_directories_are_listed(directory: str, name: str) -> None:
    with pytest.raises(FileNotFoundError):
        files.list_directory(files.join(directory, name))


def test_giant_directory_is_refused(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_NAMES", 1)
    with pytest.raises(UnsupportedError) as caught:
        files.list_directory(directory)
    assert str(caught.value) == (
        f"{directory}: has more than 1 names; expected the prefix of a checkpoint in it, or for a "
        "history, a list of prefixes"
    )


def test_missing_file_is_named_by_its_path(directory: str) -> None:
    path = files.join(directory, "absent")
    with pytest.raises(GoneError) as caught:
        files.open_file(path)
    assert (
        str(caught.value) == f"{path}: this file has disappeared; check the path, then read again"
    )


def test_a_file_that_another_machine_removed_has_disappeared() -> None:
    with pytest.raises(GoneError), local_errors("ckpt-1.index"):
        raise OSError(errno.ESTALE, "Stale file handle")


def test_directory_is_not_opened(directory: str) -> None:
    with pytest.raises(CkptVizError, match="sub: cannot be read: not a regular file"):
        files.open_file(files.join(directory, "sub"))


def test_splitting_undoes_joining(directory: str) -> None:
    for name in ("ckpt-1", "", "ü-1"):
        assert files.split(files.join(directory, name)) == (directory, name)


def test_bundle_is_read_from_anywhere(directory: str, tmp_path: Path) -> None:
    local = write_bundle(tmp_path / "bundle", {"s": string(b"graph"), "w": floats(1.0, 2.0)})
    prefix = files.join(directory, "bundle")
    if directory.startswith("memory"):
        for suffix in (".index", ".data-00000-of-00001"):
            fsspec.filesystem("memory").pipe(prefix + suffix, Path(local + suffix).read_bytes())
    bundle = open_bundle(prefix)
    assert bundle.read("w").tolist() == [1, 2]
    assert bundle.why_unreadable("w") is None


# --- local


def test_path_that_cannot_be_is_missing(tmp_path: Path) -> None:
    for path in (f"{tmp_path}/a\0b", f"{__file__}/below", "", "\ud800"):
        assert not files.is_file(path)
        with pytest.raises(FileNotFoundError):
            files.open_file(path)


def test_current_directory_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").touch()
    monkeypatch.chdir(tmp_path)
    assert files.list_directory(files.split("here")[0]) == ["here"]


def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert not files.is_file(f"{tmp_path}/pipe")
    with pytest.raises(CkptVizError, match="pipe: cannot be read: not a regular file"):
        files.open_file(f"{tmp_path}/pipe")


def test_what_the_system_refuses_is_our_error(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    path = f"{tmp_path}/loop"
    for ask in (files.open_file, files.is_file, files.list_directory):
        with pytest.raises(CkptVizError) as caught:
            ask(path)
        assert str(caught.value) == (
            f"{path}: cannot be read: Too many levels of symbolic links; try again, or open a copy"
        )


def test_file_that_shrinks_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(DATA)
    with files.open_file(str(path)) as file:
        os.truncate(path, 50)
        with pytest.raises(CkptVizError, match="found 10 bytes at offset 40, expected 30; the"):
            file.read(40, 30)


# --- remote


def test_only_what_is_asked_for_is_fetched(tmp_path: Path) -> None:
    tensors = {f"layer-{n}": floats(*[n] * 10_000) for n in range(10)}
    local = write_bundle(tmp_path / "b", tensors)
    memory = CountingFileSystem()
    for suffix in (".index", ".data-00000-of-00001"):
        memory.pipe(f"/b{suffix}", Path(local + suffix).read_bytes())
    memory.asked.clear()
    bundle = open_bundle("counting://b")
    index_bytes = os.path.getsize(f"{local}.index")
    assert memory.asked == [("/b.index", 0, index_bytes)]
    assert bundle.read("layer-7")[-1] == 7
    assert [bundle.why_unreadable(key) for key in tensors] == [None] * 10
    assert memory.asked[1:] == [("/b.data-00000-of-00001", 7 * 40_000, 8 * 40_000)]


def test_a_known_end_saves_the_request_for_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = CountingFileSystem()
    memory.pipe("/known", DATA)
    monkeypatch.setattr(CountingFileSystem, "info", lambda *_: pytest.fail("asked for the size"))
    with files.open_file("counting://known", end=50) as file:
        assert file.read(40, 10) == DATA[40:50]
        with pytest.raises(FormatError, match="has 50 bytes, expected bytes 40 to 51"):
            file.read(40, 11)
    with (
        files.open_file("counting://known", end=150) as file,
        pytest.raises(CkptVizError, match="found 10 bytes at offset 90, expected 60"),
    ):
        file.read(90, 60)
    with files.open_file("counting://gone", end=50) as file, pytest.raises(FileNotFoundError):
        file.read(0, 50)


def test_sizes_of_many_remote_files_are_asked_for_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = CountingFileSystem()
    paths = [f"counting://many/{number}" for number in range(40)]
    for number, path in enumerate(paths):
        memory.pipe(path.removeprefix("counting:/"), bytes(number))
    together = threading.Barrier(8, timeout=30)
    info = CountingFileSystem.info

    def wait_for_others(self: CountingFileSystem, path: str, **options: Any) -> Any:
        together.wait()
        return info(self, path, **options)

    monkeypatch.setattr(CountingFileSystem, "info", wait_for_others)
    assert files.file_sizes(paths) == list(range(40))


def test_sizes_of_many_files_tell_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12")
    assert files.file_sizes([str(tmp_path / name) for name in "ab"]) == [2, None]
    (error,) = files.file_sizes(["nosuch://x"])
    assert isinstance(error, UnsupportedError)


@pytest.mark.parametrize(
    "error",
    [PermissionError("403, Forbidden"), TimeoutError("no answer"), RuntimeError("no credentials")],
)
def test_whatever_a_file_system_raises_names_the_path(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FailingFileSystem, "error", error)
    for ask in (files.open_file, files.is_file, files.file_size, files.list_directory):
        with pytest.raises(CkptVizError) as caught:
            ask("failing://bucket/ckpt-1")
        assert str(caught.value).startswith(f"failing://bucket/ckpt-1: cannot be read: {error}; ")
    for found in files.file_sizes(["failing://bucket/a", "failing://bucket/b"]):
        assert isinstance(found, CkptVizError)


def test_error_without_words_is_named_by_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FailingFileSystem, "error", TimeoutError())
    with pytest.raises(CkptVizError, match="ckpt-1: cannot be read: TimeoutError"):
        files.is_file("failing://bucket/ckpt-1")


def test_server_that_ignores_ranges_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = CountingFileSystem()
    memory.pipe("/whole", DATA)
    monkeypatch.setattr(CountingFileSystem, "cat_file", lambda *_, **__: DATA)
    with (
        files.open_file("counting://whole") as file,
        pytest.raises(CkptVizError, match="found 100 bytes at offset 1, expected 2; the file"),
    ):
        file.read(1, 2)


def test_unknown_scheme_is_unsupported() -> None:
    with pytest.raises(UnsupportedError, match="nosuch://x: Protocol not known: nosuch"):
        files.is_file("nosuch://x")


def test_missing_library_of_a_protocol_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(UnsupportedError) as caught:
        files.is_file("gs://bucket/ckpt-1")
    assert str(caught.value) == (
        "gs://bucket/ckpt-1: reading from there needs gcsfs "
        "(Please install gcsfs to access Google Storage); pip install gcsfs"
    )


def test_missing_fsspec_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(UnsupportedError) as caught:
        files.is_file("gs://bucket/ckpt-1")
    assert str(caught.value) == (
        'gs://bucket/ckpt-1: reading from there needs fsspec; pip install "ckpt-viz[remote]"'
    )


def test_local_paths_import_no_fsspec() -> None:
    program = """
import sys
import threading
from ckpt_viz.formats.bundles import bundle, saver_v1
from ckpt_viz.formats.storage import files
assert files.is_file(sys.argv[1])
assert {"fsspec", "ml_dtypes", "tensorflow"}.isdisjoint(sys.modules)
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program, __file__], env=environment, check=True)
