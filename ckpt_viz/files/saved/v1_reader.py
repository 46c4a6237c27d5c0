"""Checkpoints of the V1 format: one table in a file without suffix, or a table per shard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ckpt_viz.files.saved.location import META, Files, FormatReader, Location
from ckpt_viz.files.saved.saved_access import graph_at, names_beginning
from ckpt_viz.files.saved.writers import of_checkpoint
from ckpt_viz.formats.storage.files import File, is_file, is_readable_file, join, open_file
from ckpt_viz.formats.storage.sstable import ends_like_a_table
from ckpt_viz.graphs.nodes.nodes import ROOT
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.object_graph.provenance import Format

if TYPE_CHECKING:  # imported when a file of the format is met
    from ckpt_viz.formats.bundles.saver_v1 import SaverV1

# A shard's path, or the path of all shards as `Saver.save` returns it.
_SHARD = re.compile(r"(.*)-([0-9]{5}|\?{5})-of-([0-9]{5})", re.DOTALL)
_MOST_LOOKED_AT = 8  # shards: a hostile `checkpoint` file may name thousands of checkpoints


def prefix_of_shard(path: str) -> str:
    """Return the prefix of a shard as TensorFlow writes it; any other path unchanged.

    >>> prefix_of_shard("ckpt-1-00000-of-00002"), prefix_of_shard("ckpt-1")
    ('ckpt-1-?????-of-00002', 'ckpt-1')
    """
    shard = _SHARD.fullmatch(path)
    return path if shard is None else f"{shard[1]}-?????-of-{shard[3]}"


def _is_at(prefix: str) -> bool:
    shard = _SHARD.fullmatch(prefix)
    if shard is None or is_readable_file(prefix):
        return is_readable_file(prefix)
    numbers = range(min(int(shard[3]), _MOST_LOOKED_AT))
    return any(is_readable_file(f"{shard[1]}-{number:05}-of-{shard[3]}") for number in numbers)


def _in_file(path: str) -> Location | None:
    with open_file(path) as file:
        if not ends_like_a_table(file):
            return None
    shard = _SHARD.fullmatch(path)
    if shard is None:
        return Location(path, path, V1, meta=_meta_of(path))
    prefix = prefix_of_shard(path)
    resolved = f"{path} is a shard of the checkpoint {prefix}"
    return Location(path, prefix, V1, meta=_meta_of(shard[1]), resolved=resolved)


def in_shards(path: str, directory: str, names: list[str]) -> Location | None:
    """Return the checkpoint of a path that names shards but no file; None if there is none.

    `names` are the names in the path's directory.
    """
    shard = _SHARD.fullmatch(path)
    beginning = path if shard is None else shard[1]
    prefixes = set(map(prefix_of_shard, shards_of(beginning, directory, names)))
    meta = _meta_of(beginning) if prefixes else None
    if shard is not None:
        prefix = prefix_of_shard(path)
        return Location(path, prefix, V1, meta=meta) if prefix in prefixes else None
    if len(prefixes) == 1:
        (prefix,) = prefixes
        resolved = f"{path} is saved in shards; its prefix is {prefix}"
        return Location(path, prefix, V1, meta=meta, resolved=resolved)
    return Location(path, path, V1, meta=meta) if prefixes else None  # the reader asks which


def shards_of(prefix: str, directory: str, names: list[str]) -> list[str]:
    """Return the paths of the shards of a prefix, among the names in its directory."""
    paths = (join(directory, name) for name in names)
    return [path for path in paths if (shard := _SHARD.fullmatch(path)) and shard[1] == prefix]


def _meta_of(prefix: str) -> str | None:
    return prefix + META if is_file(prefix + META) else None


def _files_of(location: Location) -> Files:
    begins = f"{location.prefix.partition('-?????-of-')[0]}-"
    return Files(None, (location.prefix, *names_beginning(begins)))


def _holds(file: File) -> bool:
    from ckpt_viz.formats.bundles.saver_v1 import holds_contents

    return holds_contents(file)


def _read(location: Location, meta: str | None) -> Graph:
    from ckpt_viz.files.saved.name_based import read_name_based
    from ckpt_viz.files.saved.variable_facts import facts_of
    from ckpt_viz.formats.bundles.saver_v1 import open_saver_v1

    stored = open_saver_v1(location.prefix)
    facts, notes = facts_of(location, meta)
    nodes = read_name_based(stored, facts, place=location.prefix)
    if stored.missing:
        nodes = (nodes[ROOT]._replace(error=_missing(stored)), *nodes[1:])
    writer = of_checkpoint(location.meta, is_by_names=True)
    return graph_at(location, stored, nodes, Format.NAME_BASED_V1, notes, writer=writer)


def _missing(stored: SaverV1) -> str:
    count = len(stored.missing)
    return (
        f"{count} shard{'s are' if count > 1 else ' is'} missing, {stored.missing[0]} first; the "
        "variables in them are not shown"
    )


V1 = FormatReader("V1", _is_at, _holds, _in_file, _files_of, _read)
