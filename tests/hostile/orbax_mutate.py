"""Damages Orbax checkpoints where the checksums of their stores do not show it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache

import cramjam

from ckpt_viz.formats.orbax.ocdbt import open_ocdbt
from ckpt_viz.formats.storage.unpacking import Allowance
from tests.hostile.keras_mutate import json_changed
from tests.hostile.makers import NASTY
from tests.hostile.seeds import DIRECTORY
from tests.support import ocdbt
from tests.support.tables import varint

_MANIFEST = "manifest.ocdbt"
_STORES = {
    "manifest.ocdbt": ("orbax_tree",),
    "0/pytree/manifest.ocdbt": ("orbax_jax/0/pytree", "orbax_keras/0/pytree"),
    "1/pytree/manifest.ocdbt": ("orbax_keras/1/pytree",),
}
_NUMBERS = (0, 1, 2, 7, 127, 128, 1 << 20, (1 << 32) - 1, 1 << 63, (1 << 64) - 1)
_HEADER, _FOOTER = 14, 4


def texts(chooser: random.Random, files: dict[str, bytes]) -> None:
    """Change the JSON of a tree, or of the configuration in one of its texts."""
    names = ("_METADATA", "_strings.json", "_CHECKPOINT_METADATA", "zarr.json")
    paths = sorted(path for path in files if path.endswith(names))
    if not paths:
        return
    path = chooser.choice(paths)
    if path.endswith("_strings.json"):
        files[path] = _in_text(chooser, files[path])
    else:
        files[path] = json_changed(chooser, files[path])


def _in_text(chooser: random.Random, data: bytes) -> bytes:
    try:
        words = json.loads(data)
        inner = words["config"].encode()
    except (ValueError, KeyError, TypeError, AttributeError):
        return json_changed(chooser, data)
    return json.dumps({**words, "config": json_changed(chooser, inner).decode()}).encode()


def store(chooser: random.Random, files: dict[str, bytes]) -> None:
    """Change keys, values or numbers of a store, which gets right checksums."""
    paths = sorted(path for path in files if path in _STORES)
    if not paths:
        return
    path = chooser.choice(paths)
    entries = dict(_entries(chooser.choice(_STORES[path])))
    for _ in range(chooser.choice((0, 1, 1, 3))):
        chooser.choice(_CHANGES)(chooser, entries)
    node = ocdbt.leaf(entries)
    if chooser.random() < 0.4:
        node = _reframed(chooser, node, ocdbt.NODE_MAGIC)
    manifest = ocdbt.manifest(0, len(node), keys=len(entries))
    if chooser.random() < 0.2:
        manifest = _reframed(chooser, manifest, ocdbt.MANIFEST_MAGIC)
    files[path] = manifest
    files[path.removesuffix(_MANIFEST) + ocdbt.DATA] = node


@cache
def _entries(directory: str) -> dict[bytes, bytes | tuple[int, int]]:
    opened = open_ocdbt(str(DIRECTORY / directory), Allowance(0))
    return {key: opened.get(key, 1 << 20) or b"" for key in opened.entries}


def _reframed(chooser: random.Random, data: bytes, magic: int) -> bytes:
    """Return a node with other bytes in its body, and a right header and checksum."""
    body = bytearray(cramjam.zstd.decompress(data[_HEADER:-_FOOTER]))
    at = chooser.randrange(len(body))
    body[at : at + chooser.choice((0, 1, 1))] = varint(chooser.choice(_NUMBERS))
    return ocdbt.framed(magic, bytes(body), packs=chooser.random() < 0.5)


_Entries = dict[bytes, bytes | tuple[int, int]]


def _change_value(chooser: random.Random, entries: _Entries) -> None:
    if entries:
        key = chooser.choice(sorted(entries))
        value = entries[key]
        if isinstance(value, bytes) and value.startswith(b"{"):
            entries[key] = json_changed(chooser, value)
        elif isinstance(value, bytes):
            entries[key] = value[: chooser.randint(0, len(value))]


def _rename(chooser: random.Random, entries: _Entries) -> None:
    if entries:
        name = chooser.choice(NASTY).encode("utf-8", "surrogatepass")
        entries[name + b"/zarr.json"] = entries.pop(chooser.choice(sorted(entries)))


def _move_out(chooser: random.Random, entries: _Entries) -> None:
    if entries:
        numbers = chooser.choice(_NUMBERS), chooser.choice(_NUMBERS)
        entries[chooser.choice(sorted(entries))] = numbers


def _drop(chooser: random.Random, entries: _Entries) -> None:
    if entries:
        del entries[chooser.choice(sorted(entries))]


_CHANGES: tuple[Callable[[random.Random, _Entries], None], ...] = (
    _change_value,
    _change_value,
    _change_value,
    _rename,
    _move_out,
    _drop,
)
