"""Damages good checkpoints, both blindly and in ways that a checksum does not detect."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

from ckpt_viz.errors import CkptVizError
from ckpt_viz.formats.arrays import protos
from ckpt_viz.formats.storage.sstable import read_table
from tests.hostile import keras_mutate, orbax_mutate
from tests.hostile.makers import GRAPH, NASTY
from tests.hostile.seeds import HEALTHY, Seed, seeds
from tests.support import tables
from tests.support.restore_code import CODE_NAMES

Files = dict[str, bytes]
Mutation = Callable[[random.Random, Files], None]

_NUMBERS = (
    *(0, 1, 2, 3, 7, 9, 20, 21, 33, 99, 255, 256, 1000, -1, -2),
    *((1 << 31) - 1, 1 << 31, -(1 << 31), (1 << 32) - 1, 1 << 40, (1 << 63) - 1, -(1 << 63)),
)
_INT32 = tuple(number for number in _NUMBERS if -(1 << 31) <= number < 1 << 31)


def mutated(chooser: random.Random) -> Seed:
    """Return the files of one of the seeds, damaged, and which path to open."""
    name = chooser.choice(sorted(seeds()))
    files, opened, _ = seeds()[name]
    files = dict(files)
    for _ in range(chooser.choice((1, 1, 1, 2, 4))):
        chooser.choice(_MUTATIONS)(chooser, files)
    return Seed(files, opened, chooser.choice((name, HEALTHY)))


# --- bytes


def _any_file(chooser: random.Random, files: Files) -> None:
    if files:
        name = chooser.choice(sorted(files))
        files[name] = _damaged(chooser, files[name])


def _damaged(chooser: random.Random, data: bytes) -> bytes:
    """Return bytes with some of them changed, left out, repeated or put in between."""
    start = chooser.randint(0, len(data))
    end = min(len(data), start + chooser.choice((0, 1, 1, 2, 4, 8, 100)))
    kind = chooser.randrange(8)
    if kind == 0:
        return data[:start]
    if kind == 1:
        return data + chooser.choice((b"\0", b"\xff" * 100, data))
    if kind == 2:
        return data[:start] + data[end:]
    if kind == 3:
        return data[:end] + data[start:end] * chooser.choice((1, 2, 100)) + data[end:]
    if kind == 4:
        return data[:start] + tables.varint(chooser.choice(_NUMBERS)) + data[end:]
    if kind == 5:
        return data[:start] + chooser.choice(NASTY).encode() + data[end:]
    if kind == 6:
        return (
            data[:start] + bytes([chooser.randrange(256) for _ in range(end - start)]) + data[end:]
        )
    return (
        data[:start] + bytes([b ^ 1 << chooser.randrange(8) for b in data[start:end]]) + data[end:]
    )


def _missing_or_another(chooser: random.Random, files: Files) -> None:
    if files:
        name, other = chooser.choice(sorted(files)), chooser.choice(sorted(files))
        if name == other or chooser.random() < 0.5:
            del files[name]
        else:
            files[name] = files[other]


# --- tables


def _is_table(name: str, data: bytes) -> bool:
    return data.endswith(tables.MAGIC)


def _rows(files: Files, name: str) -> list[tuple[bytes, bytes]]:
    return list(read_table(files[name], name))


def _with_rows(chooser: random.Random, files: Files) -> tuple[str, list[tuple[bytes, bytes]]]:
    """Return the name of a file that is a table, and its rows; "" where there is none left."""
    names = sorted(name for name, data in files.items() if _is_table(name, data))
    name = chooser.choice(names) if names else ""
    try:
        rows = _rows(files, name) if name else []
    except CkptVizError:  # damaged before
        rows = []
    return (name, rows) if rows else ("", [])


def _row_bytes(chooser: random.Random, files: Files) -> None:
    name, rows = _with_rows(chooser, files)
    if name:
        at = chooser.randrange(len(rows))
        key, value = rows[at]
        if chooser.random() < 0.3:
            key = _damaged(chooser, key)
        else:
            value = _damaged(chooser, value)
        rows[at] = key, value
        kind = chooser.randrange(4)
        if kind:
            rows = sorted(dict(rows).items())
        files[name] = tables.table(
            rows, snappy=kind == 1, rows_per_block=chooser.choice((1, 2, 1000))
        )


def _table_structure(chooser: random.Random, files: Files) -> None:
    """Damage blocks and handles under right checksums."""
    name, rows = _with_rows(chooser, files)
    if name:
        entries = b"".join(tables.entry(0, *row) for row in rows)
        payload = tables.block(entries)
        handles = [tables.handle(0, len(payload))]
        kind = chooser.randrange(4)
        if kind == 0:
            payload = _damaged(chooser, payload)
            handles = [tables.handle(0, len(payload))]
        elif kind == 1:
            handles = [_damaged(chooser, handles[0])]
        elif kind == 2:
            payload = tables.block(entries, [chooser.choice(_INT32) & 0xFFFFFFFF] * 3)
        else:
            handles *= 2
        block_type = chooser.choice((0, 0, 0, 1, 2))
        files[name] = tables.table_of_blocks([payload], handles, block_type=block_type)


def _entry(chooser: random.Random, files: Files) -> None:
    """Change what an index says of one tensor."""
    name, rows = _with_rows(chooser, files)
    if not name.endswith(".index") or len(rows) < 2:
        return
    at = chooser.randrange(1, len(rows))
    try:
        entry = protos.parse(protos.BundleEntryProto, rows[at][1], name)
    except CkptVizError:
        return
    kind = chooser.randrange(6)
    if kind == 0:
        entry.dtype = chooser.choice((*range(34), *_INT32))
    elif kind == 1:
        dims = [chooser.choice(_NUMBERS) for _ in range(chooser.choice((0, 1, 2, 3, 65, 300)))]
        entry.shape = tables.shape(*dims) + (tables.field(3, 1) if chooser.random() < 0.2 else b"")
    elif kind == 2:
        entry.shard_id = chooser.choice(_INT32)
    elif kind == 3:
        entry.offset = chooser.choice(_NUMBERS)
    elif kind == 4:
        entry.size = chooser.choice((entry.size + 1, entry.size - 1, *_NUMBERS[:-1]))
    else:
        one = entry.slices.add()
        for _ in range(chooser.randrange(3)):
            extent = one.extent.add(start=chooser.choice(_NUMBERS))
            if chooser.random() < 0.7:
                extent.length = chooser.choice(_NUMBERS)
    rows[at] = rows[at][0], entry.SerializeToString()
    files[name] = tables.table(rows)


def _header(chooser: random.Random, files: Files) -> None:
    name, rows = _with_rows(chooser, files)
    if name.endswith(".index"):
        header = tables.header(
            chooser.choice(_INT32),
            endianness=chooser.choice((0, 1, 2, -1)),
            min_consumer=chooser.choice((0, 1, 2, -1)),
        )
        files[name] = tables.table([(rows[0][0], header), *rows[1:]])


# --- the object graph


def _object_graph(chooser: random.Random, files: Files) -> None:
    name, _ = _with_rows(chooser, files)

    def changed(proto: Any) -> bytes:
        for _ in range(chooser.choice((1, 1, 2, 5))):
            _change_graph(chooser, proto)
        serialized: bytes = proto.SerializeToString()
        return _damaged_message(chooser, serialized) if chooser.random() < 0.3 else serialized

    if name:
        with suppress(CkptVizError):  # damaged before
            change_object_graph(files, name, changed)


def change_object_graph(files: Files, name: str, changed: Callable[[Any], bytes]) -> None:
    """Change the object graph of an index, if it has one; store it with its size and checksum."""
    entries = dict(_rows(files, name))
    data_name = re.sub(r"\.index$", ".data-00000-of-00001", name)
    if GRAPH.encode() not in entries or data_name not in files:
        return
    stored = protos.parse(protos.BundleEntryProto, entries[GRAPH.encode()], name)
    string = files[data_name][max(0, stored.offset) :][: max(0, stored.size)]
    # The graph begins after its length, a varint, and 4 bytes of checksum.
    after = next((at for at, byte in enumerate(string) if byte < 0x80), 0) + 5
    proto = protos.parse(protos.TrackableObjectGraph, string[after:], name)
    tensor = tables.string(changed(proto))
    entries[GRAPH.encode()] = tables.bundle_entry(
        tables.STRING,
        offset=len(files[data_name]),
        size=len(tensor.data),
        crc32c=tables.masked_crc32c(tensor.checked),
    )
    files[data_name] += tensor.data
    files[name] = tables.table(sorted(entries.items()))


def _change_graph(chooser: random.Random, proto: Any) -> None:
    count = len(proto.nodes)
    if not count:
        return
    ids = (*range(count), *range(count), *range(count), -1, count, (1 << 31) - 1)
    node = proto.nodes[chooser.randrange(count)]
    name = chooser.choice((*NASTY, *CODE_NAMES, *_KERAS_NAMES))
    kind = chooser.randrange(11)
    if kind == 0:
        node.children.add(node_id=chooser.choice(ids), local_name=name)
    elif kind == 1 and node.children:
        chooser.choice(node.children).node_id = chooser.choice(ids)
    elif kind == 2 and node.children:
        chooser.choice(node.children).local_name = name
    elif kind == 3:
        node.slot_variables.add(
            original_variable_node_id=chooser.choice(ids),
            slot_name=name,
            slot_variable_node_id=chooser.choice(ids),
        )
    elif kind == 4:
        other = proto.nodes[chooser.randrange(count)]
        if other.attributes:
            node.attributes.add().CopyFrom(chooser.choice(other.attributes))
        else:
            node.attributes.add(name=name, full_name=name, checkpoint_key=name)
    elif kind == 5 and node.attributes:
        field = chooser.choice(("name", "full_name", "checkpoint_key"))
        setattr(chooser.choice(node.attributes), field, name)
    elif kind == 6:
        copy = proto.nodes.add()
        copy.CopyFrom(node)
    elif kind == 7:
        node.CopyFrom(proto.nodes[chooser.randrange(count)])
    elif kind == 8:
        node.Clear()
    elif kind == 9:
        tie_slots(chooser, proto)
    elif kind == 10:
        _make_island(chooser, proto)


def _make_island(chooser: random.Random, proto: Any) -> None:
    """Let only edges from each other, or from itself, lead to some nodes."""
    island = chooser.sample(range(len(proto.nodes)), min(len(proto.nodes), chooser.randint(1, 3)))
    for node in proto.nodes:
        kept = [child for child in node.children if child.node_id not in island]
        del node.children[:]
        node.children.extend(kept)
    for node_id, following in zip(island, [*island[1:], island[0]], strict=True):
        proto.nodes[node_id].children.add(node_id=following, local_name="to")


def tie_slots(chooser: random.Random, proto: Any) -> None:
    """Declare slots of slots, in circles or in a row, and slots that are optimizers."""
    slots = [(n, slot) for n, node in enumerate(proto.nodes) for slot in node.slot_variables]
    if not slots:
        return
    optimizer, slot = chooser.choice(slots)
    _, other = chooser.choice(slots)
    kind = chooser.randrange(8)
    if kind == 0:  # its own slot
        slot.original_variable_node_id = slot.slot_variable_node_id
    elif kind == 1:
        slot.slot_variable_node_id = slot.original_variable_node_id
    elif kind == 2:
        slot.original_variable_node_id = other.slot_variable_node_id
    elif kind == 3:
        slot.slot_variable_node_id = optimizer
    elif kind == 4:
        slot.original_variable_node_id = optimizer
    elif kind == 5:  # every slot that of another, in circles
        ids = [one.slot_variable_node_id for _, one in slots]
        chooser.shuffle(ids)
        for (_, one), variable in zip(slots, ids, strict=True):
            one.original_variable_node_id = variable
    elif kind == 6:  # each the slot of the one before
        for (_, one), (_, following) in pairwise(slots):
            following.original_variable_node_id = one.slot_variable_node_id
    else:  # of two optimizers, one of which may be a slot itself
        chooser.choice(proto.nodes).slot_variables.add().CopyFrom(slot)


_KERAS_NAMES = (
    *(
        "_variables",
        "_trainable_variables",
        "_iterations",
        "iterations",
        "_momentums",
        "_velocities",
    ),
    *("_r", "_c", "_v", "momentums", "base_optimizer", "loss_scale", "beta1_power", "beta2_power"),
    *("iter", "decay", "learning_rate", "_tracked", "variables", "0", "1", "2", "VARIABLE_VALUE"),
)


# --- messages of any kind


def _messages(chooser: random.Random, files: Files) -> None:
    names = sorted(name for name in files if name.endswith((".pb", ".meta")))
    if names:
        name = chooser.choice(names)
        files[name] = _damaged_message(chooser, files[name])


def _damaged_message(chooser: random.Random, data: bytes, depth: int = 0) -> bytes:
    """Return a message with one of its fields changed, and the lengths around it made right."""
    fields = list(_fields(data))
    if not fields or sum(map(len, fields)) != len(data):
        return _damaged(chooser, data)
    at = chooser.randrange(len(fields))
    field = fields[at]
    tag_end = _varint_end(field, 0)
    kind = chooser.randrange(8)
    if field[0] & 7 == 2 and depth < 12 and kind < 5:
        inner = field[_varint_end(field, tag_end) :]
        inner = _damaged_message(chooser, inner, depth + 1)
        fields[at] = field[:tag_end] + tables.varint(len(inner)) + inner
    elif kind == 5:
        del fields[at]
    elif kind == 6:
        fields.insert(at, chooser.choice(fields) * chooser.choice((1, 2, 300)))
    elif field[0] & 7 == 0:
        fields[at] = field[:tag_end] + tables.varint(chooser.choice(_NUMBERS))
    else:
        fields[at] = _damaged(chooser, field)
    return b"".join(fields)


def _fields(data: bytes) -> Iterator[bytes]:
    """Yield the fields of a message, as long as it is one."""
    position = 0
    while position < len(data):
        after = _varint_end(data, position)
        wire_type = data[position] & 7
        if wire_type == 0:
            end = _varint_end(data, after)
        elif wire_type == 2:
            length = 0
            end = _varint_end(data, after)
            for shift, byte in enumerate(data[after:end]):
                length |= (byte & 0x7F) << 7 * shift
            end += length
        elif wire_type in (1, 5):
            end = after + (8 if wire_type == 1 else 4)
        else:
            return
        if end > len(data):
            return
        yield data[position:end]
        position = end


def _varint_end(data: bytes, position: int) -> int:
    while position < len(data) and data[position] >= 0x80:
        position += 1
    return position + 1


# --- text


def _state(chooser: random.Random, files: Files) -> None:
    if "checkpoint" not in files or chooser.random() < 0.05:
        files["checkpoint"] = b'model_checkpoint_path: "model"\n'
    lines = files["checkpoint"].split(b"\n")
    at = chooser.randrange(len(lines))
    kind = chooser.randrange(5)
    if kind == 0:
        name = chooser.choice((*NASTY, "../x", "/no/ckpt", "gs://b/c", "file:///etc/passwd"))
        lines[at] = b'model_checkpoint_path: "%b"' % name.encode()
    elif kind == 1:
        lines[at] = _damaged(chooser, lines[at])
    elif kind == 2:
        lines.insert(at, chooser.choice(lines))
    elif kind == 3:
        lines[at] = b"x { " + lines[at] + chooser.choice((b"", b"}"))
    else:
        lines[at] = b"all_model_checkpoint_timestamps: " + chooser.choice(
            (b"nan", b"-inf", b"1e400", b"-1", b"0x10", b"")
        )
    files["checkpoint"] = b"\n".join(lines)


_MUTATIONS: tuple[Mutation, ...] = (
    _any_file,
    _missing_or_another,
    _row_bytes,
    _row_bytes,
    _table_structure,
    _entry,
    _entry,
    _header,
    _object_graph,
    _object_graph,
    _object_graph,
    _messages,
    _messages,
    _state,
    keras_mutate.archive,
    keras_mutate.shards,
    keras_mutate.hdf5,
    orbax_mutate.texts,
    orbax_mutate.store,
)
