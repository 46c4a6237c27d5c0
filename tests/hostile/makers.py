"""One maker per attack: it writes files into a directory and returns the path to open.

Each has an expected result: the beginning of the output of `use` for the path, as a regular
expression. `limits` counts the work, and ends what never ends.
"""

from __future__ import annotations

import gzip
import itertools
import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple, TypeVar

import cramjam

from ckpt_viz.formats.storage.sstable import read_table
from tests.hostile.seeds import seeds
from tests.hostile.use import PROGRAM, copy_of
from tests.support import tables
from tests.support.amounts import size as size_of_tier
from tests.support.restore_code import CODE_NAMES
from tests.support.tables import (
    FLOAT32,
    STRING,
    Tensor,
    bundle_entry,
    field,
    floats,
    handle,
    header,
    shape,
    slice_key,
    slice_proto,
    string,
    varint,
)

LARGE = 100_000  # the full size of most attacks
_SMALL = 40  # work is counted at this size and at twice that size
_DEEP = 70  # so for chains: names of more than 64 steps are cut
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE = "VARIABLE_VALUE"
NASTY = (
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    "<<b>html</b>>",
    "a\"b'c`d",
    "a\\",
    "\\N\\G\\l",
    "a\nb\r\nc\td",
    "a/b",
    "a.b..S/.ATTRIBUTES",
    "..",
    "",
    " ",
    "\x1b[2J\x1b[31mred\x07",
    "\x9b31m",
    "\x00",
    "\u202eevil\u2066",
    "\u2028\u2029\u0085",
    "\ufeff\u200b",
    "(root)",
    "constructor",
    "__proto__",
    "%s{0}$HOME",
    "'s state 'm' for (root)",
    "\U0010ffff",
)

_Item = TypeVar("_Item")
Make = Callable[[Path], str]


@dataclass(frozen=True)
class Attack:
    """Files, which `write` writes, and what opening them says, as a regular expression.

    Both may depend on a size: `size` in this tier, and `small` where work is counted.
    """

    write: Callable[[Path, int], str]
    answer: Callable[[int], str]
    size: int = 0
    small: int = 0

    def of(self, size: int) -> Attack:
        return replace(self, size=size)

    def make(self, directory: Path) -> str:
        """Write the files and return the path to open."""
        return self.write(directory, self.size)

    @property
    def said(self) -> str:
        return self.answer(self.size)


ATTACKS: dict[str, Attack] = {}


def add(name: str, make: Make, said: str) -> None:
    """Register an attack that has no size."""
    ATTACKS[name] = Attack(lambda directory, size: make(directory), lambda size: said)


def attack(said: str) -> Callable[[Make], Make]:
    """Register a maker under its name."""

    def register(make: Make) -> Make:
        add(make.__name__, make, said)
        return make

    return register


_OfSize = Callable[[Path, int], str]
_Said = str | Callable[[int], str]


def sized(said: _Said, full: int = LARGE, small: int = _SMALL) -> Callable[[_OfSize], _OfSize]:
    """Register a maker of an attack of any size; `full` is that of an exhaustive run."""

    def register(make: _OfSize) -> _OfSize:
        answer = said if callable(said) else lambda size: said
        ATTACKS[make.__name__] = Attack(make, answer, size_of_tier(2 * small, full), small)
        return make

    return register


def graph_of(more: int = 0) -> Callable[[int], str]:
    """Return the answer that counts as many nodes as the size, and some more."""
    return lambda size: rf"graph of {size + more} nodes"


# --- files that are none


@attack(r"CheckpointNotFoundError: .*ckpt: no such checkpoint")
def nothing_there(directory: Path) -> str:
    return str(directory / "ckpt")


@attack(r"FormatError: .*ckpt\.index: an empty file, expected the index")
def empty_index(directory: Path) -> str:
    return _index(directory, b"")


@attack(r"CheckpointNotFoundError: .*ckpt: no such checkpoint")
def index_is_a_directory(directory: Path) -> str:
    (directory / "ckpt.index").mkdir()
    return str(directory / "ckpt")


@attack(r"CheckpointNotFoundError: .*ckpt: no such checkpoint")
def index_is_a_named_pipe(directory: Path) -> str:
    os.mkfifo(directory / "ckpt.index")
    return str(directory / "ckpt")


@attack(r"graph of 1 nodes, 1 marked: the object graph is missing: .*no such file")
def shard_is_a_named_pipe(directory: Path) -> str:
    path = tables.write_bundle(directory / "ckpt", {GRAPH: string(_proto([_node()]))})
    (directory / "ckpt.data-00000-of-00001").unlink()
    os.mkfifo(directory / "ckpt.data-00000-of-00001")
    return path


@attack(r"CheckpointNotFoundError: .*: no such checkpoint; expected a file \S*$")
def indices_are_pipes_and_links_to_devices(directory: Path) -> str:
    for name in ("ckpt-1", "ckpt-2", "ckp"):
        os.mkfifo(directory / f"{name}.index")
    (directory / "ckpt-3.index").symlink_to("/dev/zero")
    return str(directory / "ckpt-1")


@attack(r"CheckpointNotFoundError: .*: a directory without a checkpoint")
def state_file_is_a_named_pipe(directory: Path) -> str:
    os.mkfifo(directory / "checkpoint")
    return str(directory)


@attack(r"CkptVizError: .*ckpt\.index: cannot be read: Too many levels of symbolic links")
def index_is_a_loop_of_links(directory: Path) -> str:
    (directory / "ckpt.index").symlink_to("ckpt.index")
    return str(directory / "ckpt")


@attack(r"CheckpointNotFoundError: .*a\\x00b: no such checkpoint")
def path_has_a_nul(directory: Path) -> str:
    return str(directory / "a\0b")


@attack(r"CheckpointNotFoundError: .*no such checkpoint; expected a file")
def path_is_too_long(directory: Path) -> str:
    return str(directory / ("a" * 300))


@attack(r"UnsupportedError: .*ckpt\.index: has \d+ bytes, expected at most")
def index_of_a_terabyte(directory: Path) -> str:
    return _index(directory, b"", size=1 << 40)


@attack(r"FormatError: .*ckpt\.index: a file of zeros .*, expected the index")
def index_of_zeros_just_small_enough(directory: Path) -> str:
    return _index(directory, b"", size=(1 << 28))


@attack(r"FormatError: .*ckpt\.index: block at offset 0: masked crc32c")
def index_of_one_giant_block(directory: Path) -> str:
    size = (1 << 26) - 48
    path = directory / "ckpt.index"
    with path.open("wb") as file:
        file.truncate(size)
        file.seek(size)
        file.write(tables.footer(handle(0, size - 5)))
    return str(directory / "ckpt")


@attack(r"FormatError: .*ckpt\.index: .*cut short or damaged")
def index_cut_short(directory: Path) -> str:
    path = _graph(directory, [_node()])
    index = Path(f"{path}.index")
    index.write_bytes(index.read_bytes()[:-10])
    return path


# --- tables


@attack(r"FormatError: .*ckpt\.index: .*varint at byte \d+ does not end")
def varints_that_never_end(directory: Path) -> str:
    return _index(directory, tables.table_of_blocks([tables.block(b"\xff" * 1000)]))


@attack(r"FormatError: .*ckpt\.index: footer: the varint")
def footer_varint_that_never_ends(directory: Path) -> str:
    return _index(directory, b"\xff" * 40 + tables.MAGIC)


@attack(r"FormatError: .*ckpt\.index: block at offset \d+: ends at \d+, expected at most")
def block_past_the_file(directory: Path) -> str:
    return _index(directory, tables.table_of_blocks([_block({})], [handle(0, (1 << 64) - 1)]))


@sized(r"FormatError: .*ckpt\.index: block at offset 0: overlaps the one before it", LARGE)
def one_block_again_and_again(directory: Path, size: int) -> str:
    block = _block({b"k%d" % n: b"" for n in range(50)})
    return _index(directory, tables.table_of_blocks([block], [handle(0, len(block))] * size))


@attack(r"FormatError: .*ckpt\.index: .*its keys have more than 16 times")
def keys_that_grow_out_of_nothing(directory: Path) -> str:
    # Each repeats a key of 1 MB and adds a byte: 4 bytes for a million.
    long = 1 << 20
    entries = tables.entry(0, b"", header()) + tables.entry(0, b"k" * long, bundle_entry())
    entries += b"".join(tables.entry(long + n, b"k", b"") for n in range(10_000))
    return _index(directory, tables.table_of_blocks([tables.block(entries)]))


@attack(r"FormatError: .*ckpt\.index: .*takes \d+ bytes when unpacked, expected at most")
def decompression_bomb_that_lies(directory: Path) -> str:
    bomb = varint(1 << 40) + b"\x00\x00"
    return _index(directory, tables.table_of_blocks([bomb], block_type=1))


@attack(r"FormatError: .*ckpt\.index: .*restart points")
def decompression_bomb(directory: Path) -> str:
    bomb = bytes(cramjam.snappy.compress_raw(b"\x00" * (60 << 20)))
    return _index(directory, tables.table_of_blocks([bomb], block_type=1))


@attack(r"FormatError: .*ckpt\.index: header: num_shards is 0")
def many_decompression_bombs(directory: Path) -> str:
    bomb = bytes(cramjam.snappy.compress_raw(tables.block(b"\x00" * (30 << 20))))
    return _index(directory, tables.table_of_blocks([bomb] * 20, block_type=1))


@sized(graph_of(1), 3_000)
def keys_out_of_snappy_out_of_nothing(directory: Path, size: int) -> str:
    # 16 times the block's bytes in keys, 20 times the file's in blocks.
    entries = tables.entry(0, b"", header())
    for n in range(size):
        key = b"k%05d" % n + b"k" * 4000
        entries += tables.entry(0, key, bundle_entry())
    bomb = bytes(cramjam.snappy.compress_raw(tables.block(entries)))
    return _index(directory, tables.table_of_blocks([bomb], block_type=1))


@attack(r"FormatError: .*ckpt\.index: .*comes after")
def keys_that_decrease(directory: Path) -> str:
    rows = [(b"", header()), (b"b", bundle_entry()), (b"a", bundle_entry())]
    return tables.write_index(directory / "ckpt", rows)


# --- bundles


@attack(r"graph of 5 nodes, \d+ marked: .*of-2147483647: no such file")
def two_billion_shards(directory: Path) -> str:
    rows = {b"": header(0x7FFFFFFF), GRAPH.encode(): bundle_entry(STRING, shard=2_000_000_000)}
    rows |= {f"a/b/{n}/.ATTRIBUTES/{VALUE}".encode(): bundle_entry(shard=n) for n in range(2)}
    return tables.write_index(directory / "ckpt", sorted(rows.items()))


@sized(lambda n: rf"graph of {n + 1} nodes, {n + 1} marked: the object graph is missing", 10_000)
def every_tensor_in_a_shard_of_its_own(directory: Path, size: int) -> str:
    rows = {b"": header(LARGE + 1), GRAPH.encode(): bundle_entry(STRING, size=1)}
    for n in range(size):
        rows[f"{n}/.ATTRIBUTES/{VALUE}".encode()] = bundle_entry(shard=n + 1)
    return tables.write_index(directory / "ckpt", sorted(rows.items()))


@attack(r"FormatError: .*ckpt\.index: header: num_shards is -1, expected at least 1")
def shards_less_than_none(directory: Path) -> str:
    return tables.write_index(directory / "ckpt", [(b"", header(-1))])


@attack(r"graph of 1 nodes, 1 marked: the object graph is missing: .*has 0 bytes, expected")
def offset_past_the_file(directory: Path) -> str:
    return _entry(directory, bundle_entry(STRING, offset=(1 << 63) - 1, size=1))


@attack(r"FormatError: .*ckpt\.index: entry .*offset")
def negative_offset(directory: Path) -> str:
    return _entry(directory, bundle_entry(STRING, offset=-1, size=1))


@attack(r"FormatError: .*ckpt\.index: entry .*shape is")
def shape_that_overflows(directory: Path) -> str:
    return _entry(directory, bundle_entry(FLOAT32, shape(1 << 40, 1 << 40)))


@attack(r"FormatError: .*ckpt\.index: entry .*has 100000 dimensions")
def shape_of_too_many_dimensions(directory: Path) -> str:
    return _entry(directory, bundle_entry(FLOAT32, shape(*[1] * LARGE)))


@attack(r"FormatError: .*ckpt\.index: entry .*shape is")
def shape_of_wide_numbers(directory: Path) -> str:
    return _entry(directory, bundle_entry(FLOAT32, shape(*[(1 << 63) - 1] * 254)))


@attack(r"graph of 2 nodes, a value: UnsupportedError|graph of 2 nodes")
def shape_of_a_zero_beside_giants(directory: Path) -> str:
    giants = shape(*[(1 << 63) - 1] * 200, 0)
    return _variables(directory, {"a": tables.raw(FLOAT32, giants, b"")})


@attack(r"UnsupportedError: .*_CHECKPOINTABLE_OBJECT_GRAPH.*expected at most")
def object_graph_of_a_terabyte(directory: Path) -> str:
    size = 1 << 40
    with (directory / "ckpt.data-00000-of-00001").open("wb") as file:
        file.truncate(size)
    return _entry(directory, bundle_entry(STRING, size=size), data=False)


@attack(
    r"graph of 2 nodes, a value: .*00001: 1099511627776 bytes at offset 0 do not fit into memory"
)
def tensor_of_a_terabyte(directory: Path) -> str:
    size = 1 << 40
    path = _variables(directory, {"a": floats(1.0)})
    rows = [
        (b"", header()),
        (GRAPH.encode(), bundle_entry(STRING, size=0)),
        (f"a/.ATTRIBUTES/{VALUE}".encode(), bundle_entry(FLOAT32, shape(size // 4), size=size)),
    ]
    with (directory / "ckpt.data-00000-of-00001").open("r+b") as file:
        file.truncate(size)
    proto = string(_proto([_node([(1, "a")]), _node(values=["a"])]))
    with (directory / "ckpt.data-00000-of-00001").open("r+b") as file:
        file.write(proto.data)
    crc = tables.masked_crc32c(proto.checked)
    rows[1] = (rows[1][0], bundle_entry(STRING, size=len(proto.data), crc32c=crc))
    tables.write_index(directory / "ckpt", rows)
    return path


@attack(r"VarintError: .*ckpt.data-00000-of-00001: .*more than 64 bits")
def string_lengths_that_never_end(directory: Path) -> str:
    data = b"\xff" * 100
    (directory / "ckpt.data-00000-of-00001").write_bytes(data)
    return _entry(directory, bundle_entry(STRING, size=len(data)), data=False)


@attack(r"FormatError: .*ckpt.data-00000-of-00001: .*their lengths say")
def string_of_an_exabyte(directory: Path) -> str:
    fixed = (1 << 60).to_bytes(8, "little")
    data = varint(1 << 60) + tables.masked_crc32c(fixed).to_bytes(4, "little") + b"\0" * 16
    (directory / "ckpt.data-00000-of-00001").write_bytes(data)
    return _entry(directory, bundle_entry(STRING, size=len(data)), data=False)


@attack(r"graph of 1 nodes, 1 marked: the object graph is missing: its slices have")
def object_graph_in_slices(directory: Path) -> str:
    one = slice_proto()
    return _entry(directory, bundle_entry(STRING, slices=[one, one]))


@attack(r"FormatError: .*expected a string scalar")
def object_graph_of_floats(directory: Path) -> str:
    return _entry(directory, bundle_entry(FLOAT32, shape(1)))


@attack(r"(UnsupportedError|FormatError): .*ckpt\.index: entry .*slices")
def long_name_with_many_slices(directory: Path) -> str:
    # Each slice has a key of its own, with the name in it: 2 bytes for a million.
    name = b"w" * (1 << 20)
    rows = [(b"", header()), (name, bundle_entry(slices=[b""] * LARGE))]
    return tables.write_index(directory / "ckpt", rows)


@attack(r"graph of 2 nodes, a value: .*share bytes")
def slices_that_overlap(directory: Path) -> str:
    extents = [((n, 1),) for n in range(4)]
    rows = {b"": header(), b"w": bundle_entry(FLOAT32, shape(4), slices=map_slices(extents))}
    for one in extents:
        rows[slice_key(b"w", *one)] = bundle_entry(FLOAT32, shape(1), offset=0, size=4)
    (directory / "ckpt.data-00000-of-00001").write_bytes(b"\0" * 4)
    return tables.write_index(directory / "ckpt", sorted(rows.items()))


def map_slices(extents: Iterable[tables.Extents]) -> list[bytes]:
    return [slice_proto(*one) for one in extents]


@sized(graph_of(1), 1_000)
def entries_that_overlap(directory: Path, size: int) -> str:
    data = b"\0" * (1 << 20)
    (directory / "ckpt.data-00000-of-00001").write_bytes(data)
    crc = tables.masked_crc32c(data)
    rows = {b"": header()}
    for n in range(size):
        rows[b"v%d" % n] = bundle_entry(FLOAT32, shape(len(data) // 4), size=len(data), crc32c=crc)
    return tables.write_index(directory / "ckpt", sorted(rows.items()))


# --- object graphs


_Nodes = Callable[[int], Iterable[bytes]]
_ALL = graph_of()


def _of_nodes(name: str, nodes: _Nodes, said: _Said = _ALL, *, small: int = _SMALL) -> None:
    """Register a graph of any number of nodes; the answer counts them, unless it is `said`."""

    def make(directory: Path, size: int) -> str:
        return _graph(directory, nodes(size))

    make.__name__ = name
    sized(said, small=small)(make)


def _of_these_nodes(said: str, name: str, nodes: Callable[[], Iterable[bytes]]) -> None:
    add(name, lambda directory: _graph(directory, nodes()), said)


def chain(
    count: int, *extra: tuple[int, str], name: str = "next", values: str = ""
) -> Iterable[bytes]:
    """Nodes that each lead to the next, and by further edges to the same few."""
    for n in range(count - 1):
        yield _node([(n + 1, name), *extra], values=values)
    yield _node(values=values)


def _cycle(count: int) -> Iterable[bytes]:
    return [_node([((n + 1) % count, "next")]) for n in range(count)]


def _star(count: int) -> Iterable[bytes]:
    return [_node([(n, str(n)) for n in range(1, count)]), *[_node()] * (count - 1)]


SHAPES: Mapping[str, _Nodes] = {
    "chain": chain,
    "cycle": _cycle,
    "star": _star,
}
for _name, _shape in SHAPES.items():
    _of_nodes(_name, _shape, small=_DEEP)


def of_shape(name: str, count: int, directory: Path) -> str:
    """Write a graph of one of the shapes with so many nodes."""
    return _graph(directory, SHAPES[name](count))


for _name, _nodes in {
    "chain_with_an_edge_to_the_root_from_everywhere": lambda n: chain(n, (0, "root")),
    "chain_with_an_edge_to_the_end_from_everywhere": lambda n: chain(n, (n - 1, "z")),
    "chain_of_values": lambda n: chain(n, values="v"),
    "chain_of_bookkeeping": lambda n: chain(n, name="_tracked"),
    "chain_of_optimizers": lambda n: chain(n, name="_variables"),
}.items():
    _of_nodes(_name, _nodes, small=_DEEP)
_of_nodes(
    "star_of_values",
    lambda n: [_node([(k, str(k)) for k in range(1, n)]), *[_node(values="v")] * (n - 1)],
)


class Small(NamedTuple):
    """A graph of a few nodes by its edges, the nodes with a value, and its slots.

    A slot is its optimizer, its variable and itself.
    """

    size: int
    edges: tuple[tuple[int, int], ...] = ()
    values: tuple[int, ...] = ()
    slots: tuple[tuple[int, int, int], ...] = ()

    def nodes(self) -> list[bytes]:
        return [
            _node(
                [(to, f"to{to}") for start, to in self.edges if start == node],
                values=["v"] * (node in self.values),
                slots=[
                    (variable, "m", slot) for owner, variable, slot in self.slots if owner == node
                ],
            )
            for node in range(self.size)
        ]

    def write(self, directory: Path) -> str:
        return _graph(directory, self.nodes())


# Islands that only edges from themselves lead to, circles, and slots in the place of variables.
ISLANDS: Mapping[str, Small] = {
    "value_with_an_edge_from_itself": Small(2, ((1, 1),), (1,)),
    "values_with_edges_from_themselves": Small(2, ((0, 0), (1, 1)), (0, 1), ((0, 0, 0),)),
    "circle_of_two_values": Small(3, ((1, 2), (2, 1)), (1, 2)),
    "circle_of_three_values": Small(4, ((1, 2), (2, 3), (3, 1)), (1, 2, 3)),
    "slot_of_itself": Small(2, ((1, 1),), (1,), ((1, 1, 1),)),
    "slot_of_a_slot_of_it": Small(3, ((1, 2), (2, 1)), (1, 2), ((0, 1, 2), (0, 2, 1))),
    "variable_below_its_own_slot": Small(3, ((0, 2), (1, 2), (2, 1)), (1, 2), ((0, 1, 2),)),
    "slot_by_its_declaration_alone": Small(3, ((0, 1),), (1, 2), ((2, 1, 2),)),
    "root_that_is_a_slot_of_an_island": Small(2, (), (0, 1), ((1, 1, 0),)),
}


def every_small(size: int) -> Iterator[Small]:
    """Yield all graphs of so many nodes: all edges, all values, and no slot or any."""
    ids = range(size)
    edges, slots = list(product(ids, ids)), [(), *((one,) for one in product(ids, ids, ids))]
    for chosen in _subsets(edges):
        for values in _subsets(ids):
            yield from (Small(size, chosen, values, slot) for slot in slots)


def any_small(chooser: random.Random, size: int) -> Small:
    """Return one of those, with up to two slots."""
    ids = range(size)
    edges = [edge for edge in product(ids, ids) if chooser.random() < 0.4]
    slots = chooser.sample(list(product(ids, ids, ids)), chooser.choice((0, 1, 1, 2)))
    values = [node for node in ids if chooser.random() < 0.7]
    return Small(size, tuple(edges), tuple(values), tuple(slots))


def _subsets(items: Iterable[_Item]) -> Iterator[tuple[_Item, ...]]:
    every = list(items)
    return itertools.chain.from_iterable(
        combinations(every, size) for size in range(len(every) + 1)
    )


for _name, _small in ISLANDS.items():
    add(_name, _small.write, r"graph of [234] nodes")

_of_nodes(
    "star_of_one_name", lambda n: [_node([(k, "x") for k in range(1, n)])] + [_node()] * (n - 1)
)
_of_nodes("edges_of_one_name", lambda n: [_node([(1, "x")] * n), _node()], r"graph of 2 nodes")
_of_nodes("edges_to_itself", lambda n: [_node([(0, "self")] * n)], r"graph of 1 nodes")
_of_nodes("nodes_that_nothing_leads_to", lambda n: [_node()] * n)
_of_nodes(
    "chain_in_a_chain_of_short_cuts",  # the cheapest path to a node is found last
    lambda n: (
        [_node([(k + 1, "next"), (min(k + 2, n), "_short"), (k // 2, "back")]) for k in range(n)]
        + [_node()]
    ),
    graph_of(1),
    small=2 * _DEEP,
)
_of_nodes(
    "slots_of_one_optimizer",
    lambda n: [
        _node([(1, "v")], slots=[(1, str(k), k) for k in range(2, n + 2)]),
        *[_node(values=["v"])] * (n + 1),
    ],
    graph_of(2),
)
_of_nodes(
    "slots_at_the_end_of_a_chain",
    lambda n: [
        _node([(1, "next")], slots=[(n // 2, "m", k) for k in range(n // 2 + 1, n)]),
        *[_node([(k + 1, "next")]) for k in range(1, n // 2)],
        *[_node(values=["v"]) for _ in range(n // 2, n)],
    ],
    small=2 * _DEEP,
)
_of_nodes(
    "slots_of_slots",
    lambda n: [
        _node([(1, "v")], slots=[(k, "m", k + 1) for k in range(1, n - 1)]),
        *[_node(values=["v"])] * (n - 1),
    ],
    small=_DEEP,
)
_of_nodes(
    "slots_of_slots_in_a_circle",
    lambda n: [
        _node(slots=[(k, "m", k % (n - 1) + 1) for k in range(1, n)]),
        *[_node(values=["v"])] * (n - 1),
    ],
)
_of_nodes(
    "slots_by_the_hundred_thousand_for_one_variable",
    lambda n: [_node([(1, "v")], slots=[(1, str(k), 1) for k in range(n)]), _node(values=["v"])],
    r"graph of 2 nodes",
)
_of_nodes(
    "attributes_without_end",
    lambda n: [_node([(1, "x")]), _node(values=[""] * n)],
    r"graph of 2 nodes",
)
_of_these_nodes(
    r"graph of 2 nodes",
    "slots_of_itself_and_the_root",
    lambda: [
        _node([(1, "v")], slots=[(1, "m", 1), (0, "n", 1), (1, "o", 0), (0, "p", 0)]),
        _node(values=["v"]),
    ],
)
_of_these_nodes(
    r"graph of 1 nodes", "root_is_its_own_slot", lambda: [_node(values=["r"], slots=[(0, "m", 0)])]
)
_of_these_nodes(
    r"FormatError: .*node 0, child 'x': found node id -1, expected 0 to 0",
    "negative_node_id",
    lambda: [_node([(-1, "x")])],
)
_of_these_nodes(
    r"FormatError: .*node 0, slot 'm': found node id 7, expected 0 to 1",
    "slot_of_a_variable_that_is_not_there",
    lambda: [_node(slots=[(7, "m", 1)]), _node(values=["v"])],
)
_of_these_nodes(r"FormatError: .*found no nodes", "no_nodes", lambda: [])
_of_these_nodes(
    r"FormatError: .*child 'xxx.*found node id 7",
    "giant_name_in_a_message",
    lambda: [_node([(7, "x" * (1 << 20))])],
)
_of_nodes(
    "names_of_a_megabyte",
    lambda n: (
        [_node([(1, "x" * (1 << 20))]), _node([(k, str(k)) for k in range(2, n + 1)] * 2)]
        + [_node([(0, "up"), (1, "over")])] * (n - 1)
    ),
    graph_of(1),
)
_of_these_nodes(
    rf"graph of {len(NASTY) + 1} nodes",
    "nasty_names",
    lambda: [
        _node([(n, name) for n, name in enumerate(NASTY, 1)], slots=[(1, NASTY[0], 2)]),
        *[
            _node([(0, name)], values=[name], slots=[(n, name, n)])
            for n, name in enumerate(NASTY, 1)
        ],
    ],
)


@attack(rf"graph of {len(CODE_NAMES) + 2} nodes")
def names_that_are_code(directory: Path) -> str:
    """The file of a program as well, `use.PROGRAM`, which has other names for the same values."""
    plain = [f"plain{number}" for number in range(len(CODE_NAMES))]
    for name, names in ((PROGRAM, plain), ("ckpt", CODE_NAMES)):
        inner = [(n, local) for n, local in enumerate(names, 2)]
        keys = [f"net/{number}" for number in range(len(names))]
        nodes = [_node([(1, "net")]), _node(inner), *(_node(values=[key]) for key in keys)]
        stored = {
            f"{key}/.ATTRIBUTES/{VALUE}": floats(*range(number + 1))
            for number, key in enumerate(keys)
        }
        tables.write_bundle(directory / name, {GRAPH: string(_proto(nodes)), **stored})
    return str(directory / "ckpt")


@attack(r"FormatError: .*are not a TrackableObjectGraph")
def names_that_are_not_utf8(directory: Path) -> str:
    surrogate = field(1, field(1, field(1, 0) + field(2, b"\xed\xa0\x80")))
    return tables.write_bundle(directory / "ckpt", {GRAPH: string(surrogate)})


@attack(r"FormatError: .*are not a TrackableObjectGraph")
def messages_nested_without_end(directory: Path) -> str:
    groups = varint(15 << 3 | 3) * LARGE
    return tables.write_bundle(directory / "ckpt", {GRAPH: string(groups)})


@sized(r"graph of 2 nodes", 20_000)
def every_attribute_means_many_entries(directory: Path, size: int) -> str:
    # 256 entries begin with "t", and all attributes have that as their key.
    nodes = [_node([(1, "x")]), _node(attributes=[(str(n), "", "t") for n in range(size)])]
    rows = {f"t{n:03}": floats(1.0) for n in range(256)}
    return tables.write_bundle(directory / "ckpt", {GRAPH: string(_proto(nodes)), **rows})


@attack(r"graph of 1 nodes, 1 marked: the object graph is missing|UnsupportedError")
def key_of_a_million_steps_without_object_graph(directory: Path) -> str:
    rows = {b"": header(), GRAPH.encode(): bundle_entry(STRING, size=1)}
    rows[b"a/" * (1 << 20) + f".ATTRIBUTES/{VALUE}".encode()] = bundle_entry()
    return tables.write_index(directory / "ckpt", sorted(rows.items()))


# --- name-based


@sized(graph_of(1), small=_DEEP)
def name_of_many_scopes(directory: Path, size: int) -> str:
    return tables.write_bundle(directory / "ckpt", {"/".join(["a"] * size): floats(1.0)})


@attack(r"UnsupportedError: .*scopes")
def name_of_two_million_scopes(directory: Path) -> str:
    return tables.write_bundle(directory / "ckpt", {"/" * (1 << 21): floats(1.0)})


@sized(r"(UnsupportedError: .*scopes|graph of)", 500, 50)
def names_of_many_scopes_that_share_them(directory: Path, size: int) -> str:
    stem = "a/" * size_of_tier(200, 20_000)
    return tables.write_bundle(
        directory / "ckpt", {f"{stem}{n:04}": floats(1.0) for n in range(size)}
    )


@sized(lambda n: rf"graph of {2 * n + 2} nodes", 1_000)
def scopes_with_names_of_a_megabyte(directory: Path, size: int) -> str:
    rows = {b"": header()}
    for n in range(size):
        rows[b"x" * (1 << 15) + b"/%04d/Adam" % n] = bundle_entry(FLOAT32, shape(1))
    return tables.write_index(directory / "ckpt", sorted(rows.items()))


@attack(r"graph of \d+ nodes")
def nasty_tensor_names(directory: Path) -> str:
    tensors = {name: floats(1.0) for name in NASTY if name and not name.startswith("\0")}
    raw = {name.encode(): tensor for name, tensor in tensors.items()} | {b"\xff\xfe": floats(2.0)}
    return tables.write_rows(directory / "ckpt", raw, {})


@attack(r"graph of \d+ nodes")
def dots_that_would_leave_the_directory(directory: Path) -> str:
    return tables.write_bundle(
        directory / "ckpt", {"../../../etc/passwd": floats(1.0), "/etc/passwd": floats(1.0)}
    )


# --- V1 files


def _v1(directory: Path, contents: bytes, rows: Mapping[bytes, bytes] | None = None) -> str:
    table = tables.table(sorted({b"": contents, **(rows or {})}.items()))
    (directory / "v1").write_bytes(table)
    return str(directory / "v1")


@attack(r"(UnsupportedError|FormatError): .*v1: .*slices")
def v1_long_name_with_many_slices(directory: Path) -> str:
    meta = tables.slice_meta(b"w" * (1 << 20), FLOAT32, b"", *[()] * LARGE)
    return _v1(directory, tables.contents(meta))


@attack(r"graph of 2 nodes, a value: .*v1: row .*w.*: has 0 values, expected 1152921504606846976")
def v1_tensor_that_claims_an_exabyte(directory: Path) -> str:
    whole = ((0, -1),)
    meta = tables.slice_meta(b"w", FLOAT32, shape(1 << 60), whole)
    rows = {slice_key(b"w", *whole): tables.saved_slice(b"")}
    return _v1(directory, tables.contents(meta), rows)


@attack(r"CheckpointNotFoundError|FormatError|graph")
def v1_shards_without_end(directory: Path) -> str:
    path = Path(_v1(directory, tables.contents()))
    path.rename(directory / "v1-00000-of-99999")
    return str(directory / "v1")


@attack(r"FormatError: .*v1: .*restart points")
def v1_decompression_bomb(directory: Path) -> str:
    bomb = bytes(cramjam.snappy.compress_raw(b"\x00" * (60 << 20)))
    (directory / "v1").write_bytes(tables.table_of_blocks([bomb], block_type=1))
    return str(directory / "v1")


@attack(r"CheckpointNotFoundError: .*: a directory without a checkpoint")
def directory_of_decompression_bombs(directory: Path) -> str:
    bomb = bytes(cramjam.snappy.compress_raw(tables.block(b"\x00" * (16 << 20))))
    table = tables.table_of_blocks([bomb], block_type=1)
    for number in range(8):
        (directory / f"ckpt-{number}").write_bytes(table)
    return str(directory)


@attack(r"CheckpointNotFoundError: .*: a directory without a checkpoint; .*ckpt\.tar\.gz is a tar")
def directory_of_an_archive_that_is_a_bomb(directory: Path) -> str:
    (directory / "ckpt.tar.gz").write_bytes(gzip.compress(bytes(60 << 20)))
    return str(directory)


# --- what lies beside a checkpoint


def _state(directory: Path, text: bytes) -> str:
    (directory / "checkpoint").write_bytes(text)
    tables.write_bundle(directory / "ckpt-1", {GRAPH: string(_proto([_node()]))})
    return str(directory)


@attack(r"UnsupportedError: .*checkpoint: has \d+ bytes, expected at most")
def state_of_ten_megabytes(directory: Path) -> str:
    return _state(directory, b'all_model_checkpoint_paths: "ckpt-1"\n' * 270_000)


@sized(r"graph of 1 nodes", 60_000)
def state_as_large_as_may_be(directory: Path, size: int) -> str:
    lines = b'model_checkpoint_path: "ckpt-1"\n' + b'all_model_checkpoint_paths: "a"\n' * size
    return _state(directory, lines)


@sized(r"graph of 1 nodes", 10_000)
def state_of_shards_elsewhere(directory: Path, size: int) -> str:
    paths = [b"/gone/%d/c-?????-of-99999" % n for n in range(size)]
    paths += [rb"C:\\\\gone\\\\%d-?????-of-99999" % n for n in range(size)]
    lines = b"".join(b'all_model_checkpoint_paths: "%s"\n' % path for path in paths)
    return _state(directory, b'model_checkpoint_path: "ckpt-1"\n' + lines)


@sized(lambda n: rf"FormatError: .*checkpoint: names a path of {n} characters", 1_000_000, 5_000)
def state_of_backslashes(directory: Path, size: int) -> str:
    # protobuf's own parser takes an hour for a million of these, and for the next
    return _state(directory, b'model_checkpoint_path: "' + b"\\\\" * size + b'"')


@sized(r"FormatError: .*checkpoint: names no model_checkpoint_path", 500_000, 5_000)
def state_on_one_line(directory: Path, size: int) -> str:
    return _state(directory, b"a:1 " * size)


@sized(r"FormatError: .*checkpoint: its \d+ bytes are not a CheckpointState as text", 50_000, 5_000)
def state_nested_without_end(directory: Path, size: int) -> str:
    return _state(directory, b"a {" * size)


@attack(r"FormatError: .*checkpoint: its \d+ bytes are not a CheckpointState as text")
def state_of_bytes(directory: Path) -> str:
    return _state(directory, bytes(range(256)) * 10)


@attack(r"FormatError: .*checkpoint: names a path of 200000 characters, expected at most 4096")
def state_with_a_giant_path(directory: Path) -> str:
    return _state(directory, b'model_checkpoint_path: "' + b"a" * 200_000 + b'"')


@attack(r"CheckpointNotFoundError: .*checkpoint: names ")
def state_with_a_path_of_control_characters(directory: Path) -> str:
    return _state(directory, rb'model_checkpoint_path: "\000\033[31m\n\r"')


@attack(r"CheckpointNotFoundError: .*checkpoint: names 1 checkpoint, and it does not")
def state_that_names_a_server(directory: Path) -> str:
    return _state(directory, b'model_checkpoint_path: "http://127.0.0.1:9/ckpt"')


@attack(r"graph of 1 nodes")
def state_with_giant_numbers(directory: Path) -> str:
    times = b"all_model_checkpoint_timestamps: 1e308\n" + b"last_preserved_timestamp: nan\n"
    return _state(
        directory,
        b'model_checkpoint_path: "ckpt-1"\nall_model_checkpoint_paths: "ckpt-1"\n' + times,
    )


def _with_file(seed: str, name: str, data: bytes) -> Make:
    def make(directory: Path) -> str:
        files, opened, _ = seeds()[seed]
        copy_of({**files, name: data}, directory)
        return str(directory / opened)

    return make


def _keras_metadata(*metadata: str) -> bytes:
    return b"".join(
        field(1, field(2, n) + field(5, text.encode())) for n, text in enumerate(metadata)
    )


_NESTED = '{"class_name": "A", "config": ' + '{"a":' * LARGE + "1" + "}" * LARGE + "}"
_PARTS_OF_A_SAVED_MODEL: dict[str, tuple[str, bytes]] = {
    "json_nested_without_end": ("keras_metadata.pb", _keras_metadata(_NESTED)),
    # Read may be deeper than written: both have their own limit on nesting.
    "json_nested_to_every_depth": (
        "keras_metadata.pb",
        _keras_metadata(
            *(
                '{"class_name": "A", "config": ' + '{"a":' * n + "1" + "}" * n + "}"
                for n in range(900, 1010)
            )
        ),
    ),
    "json_of_giant_numbers": (
        "keras_metadata.pb",
        _keras_metadata('{"config": {"a": ' + "9" * LARGE + "}}", '{"config": {"a": 1e999}}'),
    ),
    "json_of_other_kinds": (
        "keras_metadata.pb",
        _keras_metadata("[]", "1", '"a"', '{"class_name": 1, "config": []}', "{"),
    ),
    "class_name_with_escapes": (
        "keras_metadata.pb",
        _keras_metadata(*['{"class_name": "\\u001b[2J\\n<b>\\ud800\\"", "config": {}}'] * 5),
    ),
    "class_name_of_a_megabyte": (
        "keras_metadata.pb",
        _keras_metadata(*['{"class_name": "' + "x" * (1 << 20) + '"}'] * 9),
    ),
    "keras_metadata_of_bytes": ("keras_metadata.pb", b"\xff" * 1000),
    "saved_model_of_bytes": ("saved_model.pb", b"\xff" * 1000),
    "saved_model_of_zeros": ("saved_model.pb", b"\0" * (1 << 20)),
    "saved_model_of_many_small_graphs": (
        "saved_model.pb",
        field(2, field(1, b"") * 90_000) * 10,
    ),
    "saved_model_of_many_fields": ("saved_model.pb", field(1, 0) * size_of_tier(1 << 16, 1 << 20)),
    "saved_model_cut_in_an_endless_field": ("saved_model.pb", varint(2 << 3 | 2) + varint(1 << 62)),
}
for _name, (_file, _data) in _PARTS_OF_A_SAVED_MODEL.items():
    add(_name, _with_file("saved_model", _file, _data), r"graph of \d+ nodes")

_VARIABLE = field(1, b"dense/kernel:0") + field(7, 1)
_METAS: dict[str, bytes] = {
    "meta_graph_of_bytes": b"\xff" * 1000,
    "meta_graph_of_many_fields": field(3, 0) * size_of_tier(1 << 16, 1 << 20),
    "meta_graph_that_lists_one_variable_again_and_again": field(
        4, field(1, b"variables") + field(2, field(2, field(1, _VARIABLE) * LARGE))
    ),
    "meta_graph_of_many_collections": b"".join(
        field(4, field(1, b"%d" % n) + field(2, field(1, field(1, b"dense/kernel:0"))))
        for n in range(size_of_tier(5_000, 50_000))
    ),
    "meta_graph_of_slices_of_other_ranks": field(
        4,
        field(1, b"variables")
        + field(2, field(2, field(1, field(1, b"a") + field(4, field(2, 1) + field(3, 1))))),
    ),
}
for _name, _data in _METAS.items():
    add(_name, _with_file("name_based", "model.meta", _data), r"graph of \d+ nodes")


# --- keys that the object graph does not have


def _series_with(key: bytes | None) -> Make:
    """Return a maker of two saves of variables; the second has another key, or none, for `v`."""

    def make(directory: Path) -> str:
        path = ""
        for number in (1, 2):
            tensors = {name: floats(number, 2.0) for name in ("u", "v", "w")}
            path = _variables(directory, tensors, name=f"ckpt-{number}")
        index = Path(f"{path}.index")
        rows = dict(read_table(index.read_bytes(), path))
        entry = rows.pop(f"v/.ATTRIBUTES/{VALUE}".encode())
        rows |= {} if key is None else {key: entry}
        index.write_bytes(tables.table(sorted(rows.items())))
        return path

    return make


for _name, _key in {
    "key_that_is_gone": None,
    "key_with_a_byte_more": f"v/.ATTRIBUTES/{VALUE}x".encode(),
    "key_with_a_part_more": f"v/.ATTRIBUTES/{VALUE}/0".encode(),
    "key_with_another_byte": f"v/.ATTRIBUTFS/{VALUE}".encode(),
    "key_that_is_no_text": f"v/.ATTRIBUTES/{VALUE}".encode() + b"\xff",
}.items():
    add(
        _name,
        _series_with(_key),
        r"graph of 4 nodes, 1 marked: .*ckpt-2\.index: lacks the entry 'v/",
    )


# --- the pieces


def _index(directory: Path, data: bytes, *, size: int | None = None) -> str:
    with (directory / "ckpt.index").open("wb") as file:
        file.write(data)
        if size is not None:
            file.truncate(size)
    return str(directory / "ckpt")


def _block(rows: Mapping[bytes, bytes]) -> bytes:
    return tables.block(b"".join(tables.entry(0, *row) for row in rows.items()))


def _entry(directory: Path, entry: bytes, *, data: bool = True) -> str:
    """Write a bundle whose object graph has this entry."""
    if data:
        (directory / "ckpt.data-00000-of-00001").write_bytes(b"")
    return tables.write_index(directory / "ckpt", [(b"", header()), (GRAPH.encode(), entry)])


def _variables(directory: Path, tensors: Mapping[str, Tensor], *, name: str = "ckpt") -> str:
    """Write a root with these variables."""
    root = _node([(n, one) for n, one in enumerate(tensors, 1)])
    stored = {f"{one}/.ATTRIBUTES/{VALUE}": tensor for one, tensor in tensors.items()}
    nodes = [root, *(_node(values=[one]) for one in tensors)]
    return tables.write_bundle(directory / name, {GRAPH: string(_proto(nodes)), **stored})


def _graph(directory: Path, nodes: Iterable[bytes]) -> str:
    """Write a bundle with this object graph, and one variable at the keys `v` and `r`."""
    tensors = {f"{name}/.ATTRIBUTES/{VALUE}": floats(1.0) for name in "vr"}
    return tables.write_bundle(directory / "ckpt", {GRAPH: string(_proto(nodes)), **tensors})


def _proto(nodes: Iterable[bytes]) -> bytes:
    return b"".join(field(1, node) for node in nodes)


def _node(
    children: Iterable[tuple[int, str]] = (),
    *,
    values: Iterable[str] = (),
    attributes: Iterable[tuple[str, str, str]] = (),
    slots: Iterable[tuple[int, str, int]] = (),
) -> bytes:
    """A TrackableObject; `values` are the object keys of its VARIABLE_VALUEs."""
    all_of_them = [*attributes, *((VALUE, "", f"{key}/.ATTRIBUTES/{VALUE}") for key in values)]
    return b"".join(
        [
            *(field(1, field(1, n) + field(2, name.encode())) for n, name in children),
            *(
                field(2, field(1, name.encode()) + field(2, full.encode()) + field(3, key.encode()))
                for name, full, key in all_of_them
            ),
            *(
                field(3, field(1, variable) + field(2, name.encode()) + field(3, slot))
                for variable, name, slot in slots
            ),
        ]
    )


# --- files of other programs


def _other(directory: Path, data: bytes) -> str:
    (directory / "model").write_bytes(data)
    return str(directory / "model")


@sized(r"UnsupportedError: .*a web page", 60_000)
def page_with_a_title_of_spaces(directory: Path, size: int) -> str:
    return _other(directory, b"<html><title>" + b" " * size)


@sized(r"UnsupportedError: .*a web page", 10_000)
def page_of_titles(directory: Path, size: int) -> str:
    return _other(directory, b"<html>" + b"<title" * size)


@sized(r"UnsupportedError: .*a JSON file", 10_000)
def json_of_keys(directory: Path, size: int) -> str:
    return _other(directory, b"{" + b'"a":{' * size)


@sized(r"UnsupportedError: .*a Python pickle", 60_000)
def pickle_of_many_operations(directory: Path, size: int) -> str:
    return _other(directory, b"\x80\x04" + b"(" * size + b".")


@attack(r"UnsupportedError: .*a TensorFlow Lite model")
def lite_model_of_offsets_elsewhere(directory: Path) -> str:
    return _other(directory, b"\x10\0\0\0TFL3" + b"\xff" * 200)
