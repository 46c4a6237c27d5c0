"""Weights in shards: `x.weights.json` lists the groups of `x_00000.weights.h5` and its siblings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ckpt_viz.errors import (
    CheckpointNotFoundError,
    FormatError,
    NoSuchTensorError,
    UnsupportedError,
)
from ckpt_viz.files.keras_files.weights_layout import VARIABLES
from ckpt_viz.formats.bundles.lost_files import LostFiles, missing_shards
from ckpt_viz.formats.hdf5_files.hdf5 import Hdf5, open_hdf5
from ckpt_viz.formats.hdf5_files.hdf5_walk import Dataset
from ckpt_viz.formats.storage.files import is_file, join, open_file, split

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

_MOST_SHARDS = 1_000
_MOST_KEPT_OPEN = 100
_MOST_OBJECTS = 600_000


def shard_paths(path: str, weight_map: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the paths of all shards that a list names; raise FormatError for names elsewhere."""
    names: dict[str, None] = {}
    for shards in weight_map.values():
        for name in shards if isinstance(shards, list) else [shards]:
            if not isinstance(name, str) or split(name)[0] or name in ("", ".", ".."):
                raise FormatError(
                    f"{path}: found {name!r:.300} as a shard, expected a file in the same directory"
                )
            names[name] = None
    if len(names) > _MOST_SHARDS:
        raise FormatError(f"{path}: names {len(names)} shards, expected at most {_MOST_SHARDS}")
    return tuple(join(split(path)[0], name) for name in names)


class Shards:
    """The shards of one file of weights, as if they were one HDF5 file.

    `missing` are the paths of shards that should exist and do not. `lost` has the path of such a
    shard by the path of each object with values there, "" for the model itself, and whether it is
    the first one of the object.
    """

    def __init__(self, path: str, weight_map: Mapping[str, Any]) -> None:
        self.path = path
        paths = shard_paths(path, weight_map)
        self.missing = tuple(shard for shard in paths if not is_file(shard))
        if len(self.missing) == len(paths):
            raise CheckpointNotFoundError(
                f"{path}: found none of the {len(paths)} shards, expected {paths[0]}"
                if paths
                else f"{path}: names no shards, expected at least one"
            )
        self.lost: dict[str, tuple[str, bool]] = {}
        for group, names in weight_map.items():
            own = shard_paths(path, {group: names})
            lost = next((shard for shard in own if shard in self.missing), None)
            if lost is not None:
                owner = group.strip("/").removesuffix(VARIABLES).rstrip("/")
                self.lost[owner] = lost, lost == own[0]
        self._shards: list[Hdf5] = []
        objects = 0
        for shard in paths:
            if shard not in self.missing:
                self._shards.append(_open(shard))
                objects += len(self._shards[-1].groups) + len(self._shards[-1].entries)
            if objects > _MOST_OBJECTS:
                raise UnsupportedError(
                    f"{path}: its shards have more than {_MOST_OBJECTS} objects, expected fewer"
                )
        self.groups = {
            group: shard.groups[group] for shard in self._shards for group in shard.groups
        }
        self._holders = {key: shard for shard in self._shards for key in shard.entries}
        self._entries = {key: shard.entries[key] for key, shard in self._holders.items()}

    def lost_files(self) -> tuple[LostFiles, ...]:
        """Return which shards are missing, and the groups whose values they hold."""
        if not self.missing:
            return ()
        groups = tuple(group or "the model itself" for group in self.lost)
        return (missing_shards(self.missing, groups, len(self._entries)),)

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep the first shards open while attributes are read."""
        with ExitStack() as stack:
            for shard in self._shards[:_MOST_KEPT_OPEN]:
                stack.enter_context(shard.kept_open())
            yield

    @property
    def entries(self) -> Mapping[str, Dataset]:
        """The data sets of all shards by path."""
        return self._entries

    def text(self, group: str, name: str, /) -> str | None:
        """Return an attribute that is a text, from the first shard that has it."""
        texts = (shard.text(group, name) for shard in self._shards if group in shard.groups)
        return next((text for text in texts if text is not None), None)

    def texts(self, group: str, name: str, /) -> list[str] | None:
        """Return an attribute that is a list of texts, from the first shard that has it."""
        lists = (shard.texts(group, name) for shard in self._shards if group in shard.groups)
        return next((texts for texts in lists if texts is not None), None)

    def read(self, key: str, /) -> Array:
        """Return the value of a data set."""
        return self._holder(key).read(key)

    def shard_of(self, key: str, /) -> str:
        """Return the path of the shard that holds a data set."""
        return self._holder(key).path

    def why_unreadable(self, key: str, /) -> str | None:
        """Return why a data set cannot be read, None if it may be readable."""
        return self._holder(key).why_unreadable(key)

    def fingerprint(self, key: str, /) -> None:
        """Return None: this format has no checksum for a value."""

    def _holder(self, key: str) -> Hdf5:
        if key not in self._holders:
            raise NoSuchTensorError(f"{self.path}: no data set {key!r}")
        return self._holders[key]


def _open(path: str) -> Hdf5:
    return open_hdf5(path, lambda: open_file(path))
