"""Errors about files that are something else than expected; `file_kinds` tells what they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ckpt_viz.errors import CkptVizError, FormatError
from ckpt_viz.formats.storage.files import open_file


@contextmanager
def named_if_other(path: str, expected: str) -> Iterator[None]:
    """Raise FormatError that names what a file is, where reading it as `expected` fails.

    A file of unknown kind, or one that seems to be as expected but damaged, keeps its error.
    """
    try:
        yield
    except FormatError as error:
        from ckpt_viz.formats.kinds.file_kinds import kind_of  # a sound file needs none of it

        kind = None
        with suppress(CkptVizError), open_file(path) as file:
            kind = kind_of(file)
        if kind is None or kind.is_part:
            raise
        said = f"{path}: {kind.what}, expected {expected}; {kind.advice}"
        raise FormatError(said, file=path, fault=f"{kind.what}; {kind.advice}") from error
