"""The arrays of one of Orbax' trees: in an OCDBT store, or with a directory for each array."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ckpt_viz.errors import CkptVizError, FormatError, GoneError, UnsupportedError
from ckpt_viz.files.keras_files.bounded_json import mapping_in
from ckpt_viz.formats.orbax.ocdbt import InFile, Ocdbt, open_ocdbt
from ckpt_viz.formats.orbax.orbax_names import MANIFEST
from ckpt_viz.formats.orbax.zarr import DESCRIPTIONS, ZarrArray, zarr_array
from ckpt_viz.formats.storage.files import file_sizes, is_file, join, open_file
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.formats.storage.unpacking import Allowance

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

_MOST_DESCRIPTION = 64 << 10  # bytes; usual ones have 500
_MOST_LOOKED_AT = 1_000  # files of an array, to learn how much is stored
_MOST_IN_ALL = 1_000_000
_OTHER_READER = "read it with tensorstore, which Orbax installs"
_UNMERGED = "ocdbt.process_"


class OrbaxAllowance(NamedTuple):
    """What all trees of a checkpoint may unpack to together: their nodes, and their values."""

    nodes: Allowance
    values: Allowance


class OrbaxArrays(Protocol):
    """Where the arrays of a tree are; each has a name, such as `params.dense.kernel`."""

    def described(self, names: Iterable[str]) -> dict[str, ZarrArray | str]:
        """Return each array, or why it cannot be described; none for a name without an array."""

    def stored_bytes(self, arrays: Mapping[str, ZarrArray]) -> int:
        """Return how many bytes the files of these arrays have."""

    def why_unreadable(self, name: str) -> str | None:
        """Return which file of an array is missing, None if none is; read nothing."""

    def read(self, name: str, array: ZarrArray, place: str) -> Array:
        """Return the value of an array."""


def arrays_in(directory: str, allowance: Allowance) -> OrbaxArrays:
    """Return the arrays of the tree in a directory; raise CkptVizError if they cannot be read."""
    if is_file(join(directory, MANIFEST)):
        return StoredArrays(open_ocdbt(directory, allowance))
    unmerged = f"{_UNMERGED}0"
    if is_file(join(join(directory, unmerged), MANIFEST)):
        raise FormatError(
            f"{directory}: found {unmerged}, but no {MANIFEST}: its save has not ended; open "
            "another step"
        )
    return ArrayDirectories(directory)


def excesses(
    arrays: OrbaxArrays, described: Mapping[str, ZarrArray | str], allowance: Allowance
) -> dict[str, str]:
    """Return why arrays cannot be read: those beyond what the files may unpack to."""
    sound = {
        name: array
        for name, array in described.items()
        if isinstance(array, ZarrArray) and array.fault is None
    }
    if sum(array.cost for array in sound.values()) > allowance.left:
        allowance.store(arrays.stored_bytes(sound))
    too_large = {}
    for name, array in sound.items():
        try:
            allowance.spend(array.cost)
        except UnsupportedError as error:
            too_large[name] = f"{error}; {_OTHER_READER}"
    return too_large


class StoredArrays:
    """Arrays in an OCDBT store."""

    def __init__(self, store: Ocdbt) -> None:
        self._store = store
        self._keys = sorted(store.entries)
        self._is_there = cache(is_file)

    def described(self, names: Iterable[str]) -> dict[str, ZarrArray | str]:
        """Return each array, or why it cannot be described; read those that are close together."""
        there = {}
        for name in names:
            for version, description in DESCRIPTIONS.items():
                key = _key(name, description)
                if key in self._store.entries:
                    there[name] = version, key
        small = self._store.get_small([key for _, key in there.values()], _MOST_DESCRIPTION)
        too_large = f"its description has more than {_MOST_DESCRIPTION} bytes"
        known: dict[bytes, ZarrArray | str] = {}  # the same words describe many arrays
        arrays: dict[str, ZarrArray | str] = {}
        for name, (version, key) in there.items():
            words = small.get(key)
            if words is None:
                arrays[name] = too_large
                continue
            if words not in known:
                known[words] = _array(words, version, name)
            arrays[name] = known[words]
        return arrays

    def stored_bytes(self, arrays: Mapping[str, ZarrArray]) -> int:
        """Return how many bytes the files of the store have."""
        return self._store.stored_bytes

    def why_unreadable(self, name: str) -> str | None:
        """Return which file of an array is missing, None if none is; read nothing."""
        keys = self._parts(name)
        paths = {
            value.path for key in keys if isinstance(value := self._store.entries[key], InFile)
        }
        missing = next((path for path in sorted(paths) if not self._is_there(path)), None)
        return None if missing is None else f"the data file {missing} is missing"

    def read(self, name: str, array: ZarrArray, place: str) -> Array:
        """Return the value of an array."""
        return array.read(lambda key, most: self._store.get(_key(name, key), most), place)

    def _parts(self, name: str) -> list[bytes]:
        """Return the keys of an array, with that of its description."""
        first = bisect_left(self._keys, _key(name, ""))
        end = bisect_left(self._keys, name.encode("utf-8", "surrogatepass") + b"0")  # after "/"
        return self._keys[first:end]


def _key(name: str, part: str) -> bytes:
    return f"{name}/{part}".encode("utf-8", "surrogatepass")


class ArrayDirectories:
    """Arrays with a directory for each, as Orbax writes them with `use_ocdbt=False`."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def described(self, names: Iterable[str]) -> dict[str, ZarrArray | str]:
        """Return each array, or why it cannot be described."""
        arrays: dict[str, ZarrArray | str] = {}
        for name in names:
            for version, description in DESCRIPTIONS.items():
                data = self._file(name, description, _MOST_DESCRIPTION)
                if data is not None:
                    arrays[name] = _array(data, version, name)
                    break
        return arrays

    def stored_bytes(self, arrays: Mapping[str, ZarrArray]) -> int:
        """Return how many bytes the files of these arrays have, of many files only the first."""
        paths = (
            path
            for name, array in arrays.items()
            for key in islice(array.keys, _MOST_LOOKED_AT)
            if (path := self._path(name, key)) is not None
        )
        sizes = file_sizes(list(islice(paths, _MOST_IN_ALL)))
        return sum(size for size in sizes if isinstance(size, int))

    def why_unreadable(self, name: str) -> str | None:
        """Return None: a chunk that is not stored has the value that fills."""
        return None

    def read(self, name: str, array: ZarrArray, place: str) -> Array:
        """Return the value of an array."""
        return array.read(lambda key, most: self._file(name, key, most), place)

    def _path(self, name: str, part: str) -> str | None:
        """Return the path of a file of an array, None if it leads to another directory."""
        place = f"{name}/{part}"
        is_strange = any(sign in place for sign in "\0\\:")
        if is_strange or any(step in ("", ".", "..") for step in place.split("/")):
            return None
        return join(self._directory, place)

    def _file(self, name: str, part: str, most: int) -> bytes | None:
        """Return the bytes of a file of an array, None if there is none."""
        path = self._path(name, part)
        if path is None:
            return None
        try:
            with open_file(path) as file:
                if file.size > most:
                    raise FormatError(f"{path}: has {file.size} bytes, expected at most {most}")
                return file.read(0, file.size)
        except GoneError:
            return None


def _array(data: bytes, version: int, name: str) -> ZarrArray | str:
    try:
        return zarr_array(mapping_in(f"the description of {brief(name)}", data), version)
    except CkptVizError as error:
        return str(error)
