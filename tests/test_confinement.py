"""Under confinement, no file elsewhere is opened, listed or described."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ckpt_viz.errors import CkptVizError, OutsideError, UnsupportedError
from ckpt_viz.formats.storage import confinement, files
from ckpt_viz.formats.storage.confinement import confined_to

OPENING: list[Callable[[str], object]] = [
    files.open_file,
    files.is_file,
    files.is_directory,
    files.file_size,
    files.file_stamp,
    files.list_directory,
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory with a file, and beside it one with a secret."""
    root = tmp_path / "root"
    for directory in ("root", "root/.hidden", "root_of_others", "root/sub"):
        (tmp_path / directory).mkdir()
    for path in ("root/file", "root/.hidden/file", "root/.dot", "root_of_others/secret"):
        (tmp_path / path).write_text("12345")
    (root / "to_file").symlink_to("sub/../file")
    (root / "to_secret").symlink_to("../root_of_others/secret")
    (root / "to_others").symlink_to(tmp_path / "root_of_others")
    (root / "to_nothing").symlink_to("../nothing")
    (root / "to_hidden").symlink_to(".hidden")
    return root


@pytest.mark.parametrize("ask", OPENING)
@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../root_of_others/secret",
        "sub/../../root_of_others/secret",
        "to_secret",
        "to_others",
        "to_others/secret",
        "to_others/../root_of_others/secret",
        "to_nothing",
        "/",
        "/etc/passwd",
    ],
)
def test_what_lies_outside_is_refused(ask: Callable[[str], object], path: str, root: Path) -> None:
    for given in (path, str(root / path)):
        with confined_to(str(root)) as scope, pytest.raises(OutsideError):
            ask(given)
        assert len(scope.refused) == 1


@pytest.mark.parametrize("ask", [one for one in OPENING if one is not files.file_stamp])
def test_other_machines_are_not_asked(ask: Callable[[str], object], root: Path) -> None:
    with confined_to(str(root)), pytest.raises(OutsideError, match="another machine"):
        ask("memory://ckpt")


@pytest.mark.parametrize("path", [".dot", ".hidden/file", "to_hidden/file", "sub/../.dot"])
def test_what_is_hidden_is_not_there(path: str, root: Path) -> None:
    for given in (path, str(root / path)):
        with confined_to(str(root)) as scope:
            assert not files.is_file(given)
            assert not files.is_readable_file(given)
            assert files.file_stamp(given) is None
            with pytest.raises(FileNotFoundError):
                files.open_file(given)
        assert scope.refused == []
        with confined_to(str(root), shows_hidden=True):
            assert files.is_file(given)


def test_what_lies_inside_is_read_by_paths_from_the_root(root: Path) -> None:
    with confined_to(str(root)) as scope:
        for path in ("file", "./file", "to_file", "sub/../file", str(root / "file")):
            assert files.is_readable_file(path)
            with files.open_file(path) as file:
                assert (file.path, file.read(0, 5)) == (path, b"12345")
        names = ["file", "sub", "to_file", "to_hidden", "to_nothing", "to_others", "to_secret"]
        assert files.list_directory(".") == files.list_directory(str(root)) == names
        assert not files.may_be_read("to_secret")
        assert not files.is_readable_file("to_secret")
        assert not files.may_be_read("memory://ckpt")
        assert not files.is_file("a\0b")
    assert scope.refused == []
    assert confinement.current() is None


def test_root_of_the_file_system_may_be_the_root(root: Path) -> None:
    with confined_to("/"):
        assert files.is_file(str(root / "file"))
        assert files.is_file(str(root / "to_secret"))


# --- what is swapped while one looks

_CALLS = ("lstat", "open", "readlink", "scandir", "stat")
_MOST_CALLS = 12


def _swap_before(call: int, swap: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have something happen right before the n-th call of the operating system from now on."""
    left = [call]

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def and_then(*arguments: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] == -1:
                swap()
            return real(*arguments, **named)

        return and_then

    for name in _CALLS:
        monkeypatch.setattr(os, name, counted(getattr(os, name)))


def _link(at: Path, to: Path, gone: Path) -> None:
    at.rename(gone)
    at.symlink_to(to)


def _size_when_open(path: str) -> int:
    with files.open_file(path) as file:
        return file.size


@pytest.mark.parametrize("call", range(_MOST_CALLS))
@pytest.mark.parametrize(
    ("swapped", "secret"),
    [("sub", ""), ("sub/deep", "deep"), ("sub/deep/file", "deep/file")],
)
def test_link_that_appears_at_any_moment_leads_nowhere(
    swapped: str, secret: str, call: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = root.parent / "root_of_others"
    for directory, named, content in (
        (root / "sub", "own", "12345"),
        (others, "others", "1234567"),
    ):
        (directory / "deep").mkdir()
        (directory / "deep" / named).touch()
        (directory / "deep/file").write_text(content)
    gone = root.parent / "gone"
    swap = partial(_link, root / swapped, others / secret, gone)
    asked: list[Callable[[], object]] = [
        lambda: files.list_directory("sub/deep"),
        lambda: files.file_size("sub/deep/file"),
        lambda: (files.file_stamp("sub/deep/file") or [None])[0],
        lambda: files.is_file("sub/deep/others"),
        lambda: _size_when_open("sub/deep/file"),
    ]
    for ask in asked:
        with monkeypatch.context() as patched, confined_to(str(root)):
            _swap_before(call, swap, patched)
            try:
                found = ask()
            except (CkptVizError, FileNotFoundError):
                found = None
        assert found in (["file", "own"], 5, False, None)
        if (root / swapped).is_symlink():
            (root / swapped).unlink()
            gone.rename(root / swapped)


@pytest.mark.parametrize("call", range(_MOST_CALLS))
@pytest.mark.parametrize("is_confined", [True, False])
def test_pipe_that_appears_at_any_moment_is_not_waited_for(
    is_confined: bool, call: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swap() -> None:
        (root / "file").unlink()
        os.mkfifo(root / "file")

    ended = threading.Event()

    def let_go() -> None:  # of who waits after all, so that the test ends
        if not ended.wait(2) and (root / "file").is_fifo():
            os.close(os.open(root / "file", os.O_RDWR))
            waited.append(call)

    waited: list[int] = []
    helper = threading.Thread(target=let_go)
    helper.start()
    scope = confined_to(str(root)) if is_confined else nullcontext()
    with monkeypatch.context() as patched, scope:
        _swap_before(call, swap, patched)
        try:
            with files.open_file(str(root / "file")) as file:
                assert file.size == 5
        except CkptVizError as error:
            assert "not a regular file" in str(error)
    ended.set()
    helper.join()
    assert waited == []


def test_descriptors_are_closed(root: Path) -> None:
    def descriptors() -> set[str]:
        return set(os.listdir("/dev/fd"))

    before = descriptors()
    with confined_to(str(root)):
        for path in ("file", "sub", "sub/nothing/deeper", "nothing", ".", "to_file"):
            for ask in OPENING:
                with suppress(CkptVizError, FileNotFoundError):
                    found = ask(path)
                    if isinstance(found, files.File):
                        found.close()
    assert descriptors() == before


def test_bytes_that_are_read_are_counted(root: Path) -> None:
    with confined_to(str(root), most_bytes=8), files.open_file("file") as file:
        file.read(0, 5)
        with pytest.raises(
            UnsupportedError, match="needs 4 bytes, expected at most 3, the rest of the 8"
        ):
            file.read(1, 4)
        assert file.read(2, 3) == b"345"


def test_threads_are_confined_in_a_copy_of_the_context(root: Path) -> None:
    found: list[bool] = []

    def look() -> None:
        found.append(files.may_be_read("/etc/passwd"))

    with confined_to(str(root)):
        for target in (look, lambda: contextvars.copy_context().run(look)):
            target()
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(look,))
        thread.start()
        thread.join()
    assert found == [False] * 3
