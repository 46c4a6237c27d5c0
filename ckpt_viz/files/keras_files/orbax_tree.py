"""The trees of an Orbax checkpoint, opened: names from their JSON, and values from their arrays.

Orbax writes each tree into a directory, with `_METADATA`: the paths of all leaves. Texts are in
`_strings.json`, arrays in files that `orbax_arrays` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ckpt_viz.errors import (
    CkptVizError,
    FormatError,
    NoSuchTensorError,
    UnsupportedError,
)
from ckpt_viz.files.keras_files.bounded_json import mapping_in
from ckpt_viz.files.keras_files.drafts import MOST_NODES
from ckpt_viz.files.keras_files.orbax_arrays import (
    OrbaxAllowance,
    OrbaxArrays,
    arrays_in,
    excesses,
)
from ckpt_viz.formats.arrays.dtypes import is_float
from ckpt_viz.formats.orbax.orbax_names import METADATA
from ckpt_viz.formats.orbax.zarr import ZarrArray
from ckpt_viz.formats.storage.files import is_file, join, open_file
from ckpt_viz.formats.storage.sstable import brief
from ckpt_viz.formats.storage.unpacking import Allowance

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

OF_KERAS = "pytree"
"""The name of the tree in which Keras saves a model."""
TRAINED, OTHERS = "trainable_variables", "non_trainable_variables"
OPTIMIZER, METRICS = "optimizer_variables", "metrics_variables"
STRINGS = "_strings.json"
_LEAVES = "tree_metadata"
_MOST_JSON = 64 << 20  # bytes
_MOST_STEPS = 64  # of a path
_MOST_NAME = 4096  # characters of a path
_TEXT, _NUMBER = "string", "scalar"
_NOTHING = ("None", "Dict", "List", "Tuple", "NamedTuple", "Empty")
_OTHER_READER = "restore it with orbax-checkpoint, which reads them with tensorstore"


class TreeLeaf(NamedTuple):
    """A leaf of a tree: its path, and Orbax' word for its type, such as `jax.Array`."""

    path: tuple[str, ...]
    kind: str

    @property
    def name(self) -> str:
        """The name under which Orbax stores it."""
        return ".".join(self.path)

    @property
    def has_value(self) -> bool:
        """Whether it is more than an empty container."""
        return self.kind not in _NOTHING


class StoredLeaf(NamedTuple):
    """The value of a leaf as its file describes it; None for what the file does not tell."""

    dtype: str | None
    shape: tuple[int, ...] | None
    size: int | None


@dataclass(frozen=True)
class OrbaxTree:
    """One tree of a checkpoint, opened.

    `error` says why its arrays cannot be read at all: their names are known nevertheless.
    """

    directory: str
    leaves: Mapping[str, TreeLeaf]
    texts: Mapping[str, Any] = field(repr=False)
    error: str | None
    _arrays: OrbaxArrays | None = field(repr=False)
    _described: Mapping[str, ZarrArray | str] = field(repr=False)
    _excesses: Mapping[str, str] = field(repr=False)

    def stored(self, name: str) -> StoredLeaf:
        """Return what the files say of the value of a leaf."""
        if self.leaves[name].kind == _TEXT:
            return StoredLeaf("string", (), None)
        array = self._described.get(name)
        if not isinstance(array, ZarrArray):
            return StoredLeaf(None, None, None)
        return StoredLeaf(array.dtype, array.shape, array.size)

    def why_unreadable(self, name: str) -> str | None:
        """Return why a value cannot be read, None if it may be readable; read nothing."""
        if self.leaves[name].kind == _TEXT:
            return None if isinstance(self.texts.get(name), str) else f"{STRINGS} lacks the text"
        if self._arrays is None:
            return self.error
        array = self._described.get(name)
        if array is None:
            return f"{self.directory} has no array of this name; {_OTHER_READER}"
        if isinstance(array, str):
            return array
        return self._arrays.why_unreadable(name) or array.fault or self._excesses.get(name)

    def read(self, name: str) -> Array:
        """Return the value of a leaf."""
        place = f"{self.directory}: {brief(name)}"
        why = self.why_unreadable(name)
        if why is not None:
            raise UnsupportedError(f"{place}: {why}")
        if self.leaves[name].kind == _TEXT:
            import numpy as np

            return np.array(self.texts[name].encode("utf-8", "surrogatepass"), object)
        array = self._described[name]
        assert isinstance(array, ZarrArray) and self._arrays is not None
        return self._arrays.read(name, array, place)


def open_trees(directories: Mapping[str, str]) -> dict[str, OrbaxTree]:
    """Open the trees of a checkpoint, by name; see `_open_tree`."""
    allowance = OrbaxAllowance(Allowance(0), Allowance(0))
    return {name: _open_tree(directory, allowance) for name, directory in directories.items()}


def _open_tree(directory: str, allowance: OrbaxAllowance) -> OrbaxTree:
    """Open the tree in a directory; read its JSON and the descriptions of its arrays, no value.

    Raises GoneError, FormatError or UnsupportedError for its JSON. If its arrays cannot be read,
    the tree has an `error`.
    """
    path = join(directory, METADATA)
    leaves = {leaf.name: leaf for leaf in _leaves(path, read_json(path))}
    texts: Mapping[str, Any] = {}
    if any(leaf.kind == _TEXT for leaf in leaves.values()):
        texts = strings_in(directory)
    names = [name for name, leaf in leaves.items() if leaf.has_value and leaf.kind != _TEXT]
    arrays: OrbaxArrays | None = None
    described: Mapping[str, ZarrArray | str] = {}
    too_large: Mapping[str, str] = {}
    error = None
    try:
        arrays = arrays_in(directory, allowance.nodes)
        described = arrays.described(names)
        too_large = excesses(arrays, described, allowance.values)
    except CkptVizError as raised:
        arrays, error = None, f"{raised}; {_OTHER_READER}"
    return OrbaxTree(directory, leaves, texts, error, arrays, described, too_large)


def read_json(path: str) -> Mapping[str, Any]:
    """Return the JSON object in a file; raise UnsupportedError if it is too large."""
    with open_file(path) as file:
        if file.size > _MOST_JSON:
            raise UnsupportedError(
                f"{path}: has {file.size} bytes, expected at most {_MOST_JSON}; {_OTHER_READER}"
            )
        return mapping_in(path, file.read(0, file.size))


def strings_in(directory: str) -> Mapping[str, Any]:
    """Return the texts of a tree by name; none if they cannot be read."""
    path = join(directory, STRINGS)
    return read_json(path) if is_file(path) else {}


def _leaves(path: str, metadata: Mapping[str, Any]) -> Iterator[TreeLeaf]:
    entries = metadata.get(_LEAVES)
    if not isinstance(entries, Mapping):
        raise FormatError(f"{path}: found no {_LEAVES}, expected the paths of all values")
    if len(entries) > MOST_NODES:
        raise UnsupportedError(
            f"{path}: has {len(entries)} values, expected at most {MOST_NODES}; {_OTHER_READER}"
        )
    names: set[str] = set()
    for key, entry in entries.items():
        leaf = _leaf(f"{path}: {brief(key)}", entry)
        if leaf.name in names:
            raise FormatError(f"{path}: two values have the name {brief(leaf.name)}, expected one")
        names.add(leaf.name)
        yield leaf


def _leaf(place: str, entry: Any) -> TreeLeaf:
    words = entry if isinstance(entry, Mapping) else {}
    steps, value = words.get("key_metadata"), words.get("value_metadata")
    if not isinstance(steps, list) or not isinstance(value, Mapping):
        raise FormatError(f"{place}: found no key_metadata or value_metadata, expected both")
    if len(steps) > _MOST_STEPS:
        raise UnsupportedError(
            f"{place}: is {len(steps)} steps deep, expected at most {_MOST_STEPS}"
        )
    path = tuple(_step(place, step) for step in steps)
    if sum(map(len, path)) > _MOST_NAME:
        raise UnsupportedError(f"{place}: expected a path of at most {_MOST_NAME} characters")
    kind = value.get("value_type")
    return TreeLeaf(path, kind if isinstance(kind, str) else "")


def _step(place: str, step: Any) -> str:
    key = step.get("key") if isinstance(step, Mapping) else None
    if not isinstance(key, (str, int)):
        raise FormatError(f"{place}: found the key {key!r:.100}, expected a text or a number")
    return str(key).encode("utf-8", "backslashreplace").decode()  # JSON may have half characters


class OrbaxFiles:
    """The trees of one checkpoint, by the names of their directories, as one source of values.

    The key of a value is its name; of several trees, the name follows that of the tree.
    """

    def __init__(self, path: str, trees: Mapping[str, OrbaxTree]) -> None:
        self.path = path
        self.trees = trees
        self._places = {
            self.key(item, name): (tree, name)
            for item, tree in trees.items()
            for name, leaf in tree.leaves.items()
            if leaf.has_value
        }
        self._entries = {key: self._stored(*place) for key, place in self._places.items()}

    @cached_property
    def are_of_keras(self) -> bool:
        """Whether Keras has saved them: there is one tree, and it has only kinds of variables."""
        tree = self.trees.get(OF_KERAS)
        if tree is None or len(self.trees) > 1:
            return False
        kinds = {leaf.path[0] for leaf in tree.leaves.values() if leaf.path}
        is_known = kinds <= {TRAINED, OTHERS, OPTIMIZER, METRICS}
        return is_known and not kinds.isdisjoint((TRAINED, OTHERS))

    def key(self, item: str, name: str) -> str:
        """Return the key of a value in a tree."""
        return name if len(self.trees) == 1 else f"{item}/{name}"

    @property
    def entries(self) -> Mapping[str, StoredLeaf]:
        """What the files say of each value, by key."""
        return self._entries

    def read(self, key: str, /) -> Array:
        """Return a value."""
        tree, name = self._place(key)
        value = tree.read(name)
        return value.astype("float32") if self._was_single(tree, name) else value

    def why_unreadable(self, key: str, /) -> str | None:
        """Return why a value cannot be read, None if it may be readable."""
        tree, name = self._place(key)
        return tree.why_unreadable(name)

    def fingerprint(self, key: str, /) -> None:
        """Return None: this reader compares no checksums of this format."""

    def _stored(self, tree: OrbaxTree, name: str) -> StoredLeaf:
        """Return what the files say of a value, and what they mean."""
        stored = tree.stored(name)
        return StoredLeaf("float32", (), 4) if self._was_single(tree, name) else stored

    def _was_single(self, tree: OrbaxTree, name: str) -> bool:
        """Return whether a number of Python was a variable of float32.

        Keras saves a scalar variable as such a number, which Orbax stores as float64. The variable
        had the dtype of rates and metrics, which is float32 unless all weights are float64.
        """
        is_number = self.are_of_keras and tree.leaves[name].kind == _NUMBER
        stored = tree.stored(name)
        return is_number and stored[:2] == ("float64", ()) and not self._has_double_weights

    @cached_property
    def _has_double_weights(self) -> bool:
        dtypes = {
            tree.stored(name).dtype
            for tree in self.trees.values()
            for name, leaf in tree.leaves.items()
            if leaf.path[:1] in ((TRAINED,), (OTHERS,)) and leaf.kind != _NUMBER
        }
        return {dtype for dtype in dtypes if is_float(dtype)} == {"float64"}

    def _place(self, key: str) -> tuple[OrbaxTree, str]:
        if key not in self._places:
            raise NoSuchTensorError(f"{self.path}: there is no value {brief(key)}")
        return self._places[key]
