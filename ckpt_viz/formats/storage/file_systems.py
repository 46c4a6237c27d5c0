"""The file systems of fsspec, which is imported for a path with a scheme alone."""

from __future__ import annotations

import os
from typing import Any

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.formats.storage import confinement
from ckpt_viz.formats.storage.file_errors import gone, remote_errors

_MODULE_OF_FSSPEC = {"gs": "gcsfs", "gcs": "gcsfs", "s3": "s3fs", "az": "adlfs", "abfs": "adlfs"}


def file_system_of(path: str) -> tuple[Any, str]:
    """Return fsspec's file system for a path, and the path inside it."""
    confinement.check_remote(path)
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise UnsupportedError(
            f'{path}: reading from there needs fsspec; pip install "ckpt-viz[remote]"'
        ) from error
    scheme = path.partition("://")[0]
    try:
        file_system, inside = url_to_fs(path)
    except ImportError as error:
        package = _MODULE_OF_FSSPEC.get(scheme, error.name or f"fsspec's support of {scheme}")
        raise UnsupportedError(
            f"{path}: reading from there needs {package} ({error}); pip install {package}"
        ) from error
    except ValueError as error:
        raise UnsupportedError(f"{path}: {error}") from error
    return file_system, str(inside)


def remote_kind(path: str) -> tuple[str, int | None]:
    """Return whether a path is a "file", a "directory" or "other", and its size if known."""
    with remote_errors(path):
        file_system, inside = file_system_of(path)
        # A program may have saved since the directory was listed, perhaps by other code.
        file_system.invalidate_cache(os.path.dirname(inside))
        info = file_system.info(inside)
        kind = info["type"] if info["type"] in ("file", "directory") else "other"
        return kind, info.get("size")


def remote_kinds_in(path: str) -> dict[str, str]:
    """Return the names in a directory, each with its kind."""
    with remote_errors(path):
        file_system, inside = file_system_of(path)
        file_system.invalidate_cache(inside)  # a program may have saved since the last time
        listed = file_system.ls(inside, detail=True)
        kinds = {str(entry["name"]).rstrip("/"): entry["type"] for entry in listed}
        inside = inside.rstrip("/")
        if list(kinds) == [inside]:  # fsspec lists a file as a directory that contains itself
            raise gone(path)
        kinds.pop(inside, None)  # buckets may hold an object with the directory's own name
        return {path.rpartition("/")[2]: kind for path, kind in kinds.items()}
