"""What tests build from the sources is made once for each state of these."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import frontend
from tests.support.once import ROOT, keep_made, key_of


class Build:
    """A build that copies its sources, and counts how often it has run."""

    def __init__(self, directory: Path) -> None:
        self.sources, self._kept = directory / "sources", directory / "kept"
        self.sources.mkdir()
        self.runs = 0
        self.fails = False

    def __call__(self) -> dict[str, str]:
        key = key_of(self.sources.iterdir(), "a tool 1.0", root=self.sources)
        place = keep_made("copy", key, self._make, self._kept)
        return {path.name: path.read_text() for path in place.iterdir()}

    def _make(self, place: Path) -> None:
        self.runs += 1
        for path in sorted(self.sources.iterdir()):
            (place / path.name).write_text(path.read_text())
            if self.fails:
                raise KeyboardInterrupt

    @property
    def kept(self) -> int:
        return sum(path.is_dir() for path in self._kept.iterdir())


@pytest.fixture
def build(tmp_path: Path) -> Build:
    build = Build(tmp_path)
    (build.sources / "a").write_text("1")
    (build.sources / "b").write_text("2")
    return build


def test_unchanged_sources_are_not_built_again(build: Build) -> None:
    first = build()
    (build.sources / "a").write_text("1")  # the same text with a new time
    assert build() == first == {"a": "1", "b": "2"}
    assert build.runs == 1


def _change(sources: Path) -> None:
    (sources / "a").write_text("3")


def _add(sources: Path) -> None:
    (sources / "c").write_text("")


def _remove(sources: Path) -> None:
    (sources / "a").unlink()


def _rename(sources: Path) -> None:
    (sources / "a").rename(sources / "c")


def _exchange(sources: Path) -> None:
    (sources / "a").write_text("2")
    (sources / "b").write_text("1")


@pytest.mark.parametrize("edit", [_change, _add, _remove, _rename, _exchange])
def test_changed_sources_are_built_again_and_the_old_build_goes(
    build: Build, edit: Callable[[Path], None]
) -> None:
    build()
    edit(build.sources)
    assert build() == {path.name: path.read_text() for path in build.sources.iterdir()}
    assert build.runs == 2
    assert build.kept == 1


def test_an_interrupted_build_leaves_nothing_that_counts(build: Build) -> None:
    build.fails = True
    with pytest.raises(KeyboardInterrupt):
        build()
    build.fails = False
    (build.sources / "a").rename(build.sources / "z")
    (build.sources / "z").rename(build.sources / "a")
    assert build() == {"a": "1", "b": "2"}
    assert build.runs == 2


def test_other_tools_and_other_names_have_builds_of_their_own(tmp_path: Path) -> None:
    assert key_of([], "esbuild 1") != key_of([], "esbuild 2")
    for name, key in (("page", "00"), ("page-of-a-kind", "00"), ("page", "01")):
        keep_made(name, key, lambda place: None, tmp_path)
    kept = {path.name for path in tmp_path.iterdir() if path.is_dir()}
    assert kept == {"page-01", "page-of-a-kind-00"}


_IMPORT = re.compile(r"""(?:from|import) ?\(?["'](\.{1,2}/[^"']+\.(?:json|py|css))["']""")


def test_a_change_of_any_file_that_the_front_end_imports_builds_it_again() -> None:
    read = set(frontend.source_files())
    imported = {
        (path.parent / name).resolve()
        for path in read
        if path.suffix in (".ts", ".tsx") and {"site", "errors"}.isdisjoint(path.parts)
        for name in _IMPORT.findall(path.read_text("utf-8"))
    }
    assert {path.name for path in imported} >= {"palette.json", "live_objects.py", "package.json"}
    assert {path.relative_to(ROOT).as_posix() for path in imported - read} == set()
