"""The shortest names of parts that a sentence about a file and a program can use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from ckpt_viz.graphs.layers.blocks import blocks_in
from ckpt_viz.graphs.nodes.keras_variables import is_of_every_layer
from ckpt_viz.graphs.nodes.names import is_holder
from ckpt_viz.graphs.nodes.nodes import ROOT, has_value
from ckpt_viz.graphs.nodes.printed_names import THE_ROOT, dotted
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.text import readable

_MOST_STEPS = 50  # names of a path; in a hostile chain it has a hundred thousand
# What people in the trade call parts, whatever the program: "the head", but "lm_head".
_COMMON_WORDS = frozenset({"backbone", "decoder", "encoder", "head", "model", "optimizer"})


@dataclass(frozen=True, slots=True)
class Block:
    """All layers with values of one holder whose names share a prefix; `first` is one of them.

    Or all variables of one block that an optimizer alone holds.
    """

    first: int
    name: str


Part = int | Block


@dataclass(frozen=True)
class Side:
    """The parts of a graph, without slot variables and without private containers."""

    graph: Graph

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[int]]:
        """The parts by their last name."""
        parts = defaultdict[str, list[int]](list)
        for node in self._parts():
            parts[self.graph.names.name(node)].append(node)
        return parts

    @cached_property
    def held(self) -> Mapping[int, Sequence[int]]:
        """The parts by the one whose place theirs continue."""
        parts = defaultdict[int, list[int]](list)
        for node in self._parts():
            parts[self.graph.names.holder(node)].append(node)
        return parts

    @cached_property
    def valued(self) -> frozenset[int]:
        """The nodes with a value at or below them."""
        nodes, parents = self.graph.nodes, self.graph.tree.parents
        valued = {
            node
            for node, data in enumerate(nodes)
            if has_value(data) and (data.slot is None) and node != self.graph.save_counter
        }
        for node in reversed([*self.graph.tree.preorder()]):
            if node in valued and parents[node] >= ROOT:
                valued.add(parents[node])
        return frozenset(valued)

    @cached_property
    def blocks(self) -> Mapping[str, Mapping[int, Sequence[int]]]:
        """By the name of a block and what holds it, its layers with values."""
        blocks = defaultdict[str, dict[int, list[int]]](dict)
        for holder, parts in self.held.items():
            for part in parts:
                for _, block in blocks_in(self.graph.names.name(part)):
                    layers = blocks[block].setdefault(holder, [])
                    if part in self.valued:
                        layers.append(part)
        return blocks

    @cached_property
    def hanging(self) -> Mapping[int, tuple[str, frozenset[int]]]:
        """By variable that an optimizer alone holds, its block, and all variables of this one."""
        hanging = self.graph.hanging
        blocks = defaultdict[str, list[int]](list)
        for variable, name in zip(hanging.variables, hanging.names, strict=True):
            if name.block:
                blocks[name.block].append(variable)
        return {
            variable: (block, frozenset(variables))
            for block, variables in blocks.items()
            for variable in variables
        }

    def named(self, part: int) -> Sequence[int]:
        """Return a part, or what is in it if it is a private container."""
        graph = self.graph
        if part == ROOT or not is_holder(graph.nodes, graph.tree, part):
            return (part,)
        held = [node for node in graph.tree.children[part] if node in self.valued]
        return [inner for node in held for inner in self.named(node)] or (part,)

    def _parts(self) -> Iterator[int]:
        nodes, tree = self.graph.nodes, self.graph.tree
        for node in tree.preorder():
            is_private = is_holder(nodes, tree, node)
            if node != ROOT and nodes[node].slot is None and not is_private:
                yield node


@dataclass(frozen=True)
class ShortNames:
    """The shortest names that mean one part of a file and at most one of a program, or reversed."""

    saved: Side
    live: Side

    @classmethod
    def of(cls, saved: Graph, live: Graph) -> ShortNames:
        """Return the names of the parts of both."""
        return cls(Side(saved), Side(live))

    def was(self, part: Part) -> str:
        """Return what to call a saved part."""
        return self._name(self.saved, self.live, part)

    def now(self, part: Part) -> str:
        """Return what to call a part of the program."""
        return self._name(self.live, self.saved, part)

    def parts(self, side: Side, nodes: Iterable[int]) -> list[Part]:
        """Return nodes of a side, a block in place of its layers if all with values are here."""
        order = [*dict.fromkeys(part for node in nodes for part in side.named(node))]
        within = {*order}
        whole = dict[tuple[str, int], bool]()
        parts = dict[Part, None]()
        for node in order:
            holder = side.graph.names.holder(node)
            part: Part = node
            block, variables = side.hanging.get(node, ("", frozenset()))
            if block and within.issuperset(variables):
                parts[Block(min(variables), block)] = None
                continue
            for stem, block in blocks_in(side.graph.names.name(node)):
                layers = side.blocks.get(block, {}).get(holder, ())
                is_block = len(layers) > 1 and len(self._numbers[stem]) > 1
                if (block, holder) not in whole:
                    whole[block, holder] = is_block and within.issuperset(layers)
                if whole[block, holder]:
                    part = Block(layers[0], block)
                    break
            parts[part] = None
        return [*parts]

    def block_before(self, side: Side, node: int, other: int) -> Part:
        """Return the outermost block of a part that lacks another one, or the part."""
        if node in side.hanging:
            return Block(node, side.hanging[node][0])
        names = side.graph.names
        others = {block for _, block in blocks_in(names.name(other))}
        for stem, block in blocks_in(names.name(node)):
            if block not in others and len(self._numbers[stem]) > 1:
                return Block(node, block)
        return node

    @cached_property
    def _numbers(self) -> Mapping[str, set[str]]:
        """The blocks of either side by their name up to the number."""
        numbers = defaultdict[str, set[str]](set)
        for side in (self.saved, self.live):
            for name in side.by_name:
                for stem, block in blocks_in(name):
                    numbers[stem].add(block)
        return numbers

    @staticmethod
    def _name(side: Side, other: Side, part: Part) -> str:
        """Return the end of a path that is long enough; a number or `kernel` alone is none."""
        if part == ROOT:
            return THE_ROOT
        if isinstance(part, Block):
            holders = [len(each.blocks.get(part.name, ())) for each in (side, other)]
            above = [*side.graph.names.names_up(part.first)][1:] if max(holders) > 1 else []
            return readable(dotted([*reversed(above), part.name]))
        taken: list[str] = []
        name = side.graph.names.name(part)
        if name.isdecimal() and (full_name := _full_name(side.graph, part)):
            return readable(full_name)
        rivals = [
            (each is side, [*islice(each.graph.names.names_up(rival), _MOST_STEPS)])
            for each in (side, other)
            for rival in each.by_name.get(name, ())
        ]
        for name in islice(side.graph.names.names_up(part), _MOST_STEPS):
            taken.append(name)
            rivals = [rival for rival in rivals if rival[1][: len(taken)] == taken]
            others = [place for is_of_side, place in rivals if not is_of_side]
            is_alone = max(len(rivals) - len(others), len(others)) <= 1
            is_vague = name.isdecimal() or is_of_every_layer(name)
            if is_alone and not is_vague and len(taken) not in map(len, others):
                break
        return readable(dotted(reversed(taken)))


def _full_name(graph: Graph, part: int) -> str:
    """Return the end of the name that a program gave a variable of a list; "" if it gave none."""
    attributes = graph.nodes[part].attributes
    names = attributes[0].full_name.split("/") if attributes else []
    return dotted(names[-2:]) if len(names) > 1 else ""


def with_article(name: str) -> str:
    """Return a name, with an article if people use it as a word.

    >>> with_article("head"), with_article("lm_head")
    ('the head', 'lm_head')
    """
    return f"the {name}" if name in _COMMON_WORDS else name
