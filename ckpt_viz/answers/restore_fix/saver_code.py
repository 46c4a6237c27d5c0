"""Python code for a restore by names: a Saver with a dict, and values that no Saver can read.

Its free names are `path`, the checkpoint's prefix, `session` unless the variables are eager, and
the checked Saver where a variable is not among the global variables of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ckpt_viz.answers.dry_runs.outcome import SaversProgram
from ckpt_viz.answers.restore_fix.code import comments
from ckpt_viz.answers.restore_fix.left_out import LeftOut
from ckpt_viz.answers.restore_fix.names_in_code import NamedPlace, dict_in_code
from ckpt_viz.graphs.nodes.nodes import Attribute, Slice
from ckpt_viz.ground.expressions import quoted
from ckpt_viz.ground.text import printable
from ckpt_viz.live.sessions.saver import SaversVariable
from ckpt_viz.matching.correspondence.of_savers import Joined, NamesMapping
from ckpt_viz.matching.correspondence.pairs import Pair

_CAST = (
    "for place, (variable, value) in enumerate(values):",
    "    dtype = tf.as_dtype(variable.dtype).base_dtype.as_numpy_dtype",
    "    cast = np.asarray(value, dtype)",
    "    assert cast.dtype.kind not in 'iu' or (cast == value).all(), variable",
    "    values[place] = variable, cast",
)
_OF_COLLECTION = "variables = {{v.op.name: v for v in tf.compat.v1.global_variables()}}"


@dataclass(frozen=True)
class _Source:
    """Where code finds the variables: `code` makes `variables`, whose keys are `keys`, if any."""

    code: str
    expressions: Mapping[int, tuple[NamedPlace, ...]]
    keys: frozenset[str] = frozenset()
    is_of_saver: bool = False


@dataclass(frozen=True)
class SaverCode:
    """The code of a fix.

    Attributes:
        mapping: Where the values belong.
        program: What is known of the program.
        is_plain: Whether the checked Saver restores all that the fix would restore.
    """

    mapping: NamesMapping
    program: SaversProgram
    is_plain: bool

    @cached_property
    def variables(self) -> Mapping[int, tuple[SaversVariable, ...]]:
        """The variables by live node, or their partitions; a file in their place names them."""
        if self.mapping.live.source is not None:
            return self.program.variables
        nodes = enumerate(self.mapping.live.nodes)
        return {obj: (*_in_file(n.attributes[0]),) for obj, n in nodes if n.attributes}

    def reaches(self, obj: int) -> bool:
        """Return whether code has an expression for a variable."""
        return obj in self._source.expressions

    @property
    def needs_saver(self) -> bool:
        """Whether the code names the checked Saver."""
        is_live = self.mapping.live.source is not None
        return is_live and (self.is_plain or self._source.is_of_saver)

    def text(self, sure: Sequence[Pair], left: LeftOut, saver: str, path: str, reader: str) -> str:
        """Return the code for these pairs; the comments name what is left."""
        if self.is_plain:
            own = saver if self.mapping.live.source is not None else "tf.compat.v1.train.Saver()"
            lines = [f"{own}.restore({self._session}, {path})"]
            imports = [] if own == saver else ["import tensorflow as tf", ""]
        else:
            lines, values = self._restoring(sure, saver, path, reader)
            imports = [*(["import numpy as np"] if values else []), "import tensorflow as tf", ""]
        if self.program.graph is not None and not self.program.graph.is_default:
            lines = ["with session.graph.as_default():", *(f"    {line}" for line in lines)]
        return "\n".join([*imports, *lines, *self._comments(left)]) + "\n"

    @property
    def _session(self) -> str:
        return "None" if self.program.is_eager else "session"

    @cached_property
    def _source(self) -> _Source:
        """The graph's collection if it has all variables, else the Saver's own list."""
        sources = [source for source in (self._of_collection(), self._of_list()) if source]
        most = max((len(source.expressions) for source in sources), default=0)
        return next((s for s in sources if len(s.expressions) == most), _Source("", {}))

    def _of_collection(self) -> _Source | None:
        graph, variables = self.program.graph, self.variables
        names = {part.name for parts in variables.values() for part in parts}
        if graph is None and self.mapping.live.source is not None:
            return None
        keys = frozenset(names) if graph is None else graph.in_global
        expressions = {
            obj: tuple(NamedPlace("", f"variables[{quoted(p.name)}]", p.name) for p in parts)
            for obj, parts in variables.items()
            if all(part.name in keys for part in parts)
        }
        return _Source(_OF_COLLECTION, expressions, keys)

    def _of_list(self) -> _Source | None:
        listed = self.program.listed
        if listed is None:
            return None
        expressions = {
            obj: tuple(NamedPlace("", part.place, part.key) for part in parts)
            for obj, parts in self.variables.items()
            if all(part.place for part in parts)
        }
        code = f"variables = {listed.code}"
        return _Source(code, expressions, listed.keys or frozenset(), is_of_saver=True)

    def _restoring(
        self, sure: Sequence[Pair], saver: str, path: str, reader: str
    ) -> tuple[list[str], bool]:
        """Return the lines that restore, and whether some values are assigned one by one."""
        by_saver = [pair for pair in sure if self._is_read_by_saver(pair)]
        read = {*by_saver}
        others = {pair.obj: pair.node for pair in sure if pair not in read}
        values = [line for obj, node in others.items() for line in self._values(obj, node)]
        lines = [self._source.code.format(saver)]
        if by_saver:
            first, *more = dict_in_code(map(self._named, by_saver), self._source.keys)
            lines += [f"names = {first}", *more]
        if values:
            lines += [f"reader = {reader}", "values = [", *(f"    {v}," for v in values), "]"]
            lines += _CAST
        if by_saver:
            lines.append(f"tf.compat.v1.train.Saver(names).restore({self._session}, {path})")
        if values:
            assign = "assign(value)" if self.program.is_eager else "load(value, session)"
            lines += ["for variable, value in values:", f"    variable.{assign}"]
        return lines, bool(values)

    def _is_read_by_saver(self, pair: Pair) -> bool:
        """Return whether a new Saver can read a value: whole, of its dtype, under any name."""
        saved, live = self._attribute(pair.node), self.mapping.live.nodes[pair.obj].attributes[0]
        graph = self.program.graph
        return (
            pair.obj not in self.mapping.joined
            and saved.dtype == live.dtype
            and not (graph is not None and graph.is_finalized)
            and all(part.is_by_name for part in self.variables[pair.obj])
        )

    def _attribute(self, node: int) -> Attribute:
        return self.mapping.saved.nodes[node].attributes[0]

    def _named(self, pair: Pair) -> NamedPlace:
        name, parts = self._attribute(pair.node).checkpoint_key, self._source.expressions[pair.obj]
        if len(parts) == 1 and not self._is_partitioned(pair.obj):
            return parts[0]._replace(name=name)
        return NamedPlace(name, f"[{', '.join(part.expression for part in parts)}]")

    def _is_partitioned(self, obj: int) -> bool:
        return bool(self.mapping.live.nodes[obj].attributes[0].slices)

    def _values(self, obj: int, node: int) -> Iterator[str]:
        """Yield the variable, or each partition of it, with the expression for its value."""
        joined = self.mapping.joined.get(obj, Joined((node,), 0))
        value, parts = self._joined(joined), self._source.expressions[obj]
        slices = self.mapping.live.nodes[obj].attributes[0].slices
        if len(parts) < 2 or len(slices) != len(parts):
            yield f"({parts[0].expression}, {value})"
            return
        for part, piece in zip(parts, slices, strict=True):
            yield f"({part.expression}, {value}{_index_of(piece)})"

    def _joined(self, joined: Joined) -> str:
        names = [self._attribute(node).checkpoint_key for node in joined.nodes]
        if len(names) == 1:
            value = f"reader.get_tensor({quoted(names[0])})"
        else:
            value = f"np.concatenate([{_reads(names)}], axis={joined.axis})"
        if joined.stop is None:
            return value
        return f"{value}[{':, ' * joined.axis}{joined.start}:{joined.stop}]"

    def _comments(self, left: LeftOut) -> Iterator[str]:
        live = self.mapping.live
        if live.source is None:
            yield "# The variables are those of the program that saved this file:"
            yield f"#   {printable(live.title)}"
        yield from comments(left)


def _in_file(value: Attribute) -> Iterator[SaversVariable]:
    """Yield the variables that a file in place of a program has under a name."""
    if not value.slices:
        yield SaversVariable(value.full_name)
    for number, part in enumerate(value.slices):
        yield SaversVariable(part.variable or f"{value.full_name}/part_{number}")


def _reads(names: Sequence[str]) -> str:
    """Return the items of a list of tensors; parts in their order are a comprehension."""
    beginning = names[0].removesuffix("0")
    if len(names) > 2 and list(names) == [f"{beginning}{n}" for n in range(len(names))]:
        return f"reader.get_tensor({quoted(beginning)} + str(i)) for i in range({len(names)})"
    return ", ".join(f"reader.get_tensor({quoted(name)})" for name in names)


def _index_of(piece: Slice) -> str:
    bounds = zip(piece.start, piece.shape, strict=True)
    return f"[{', '.join(f'{start}:{start + size}' for start, size in bounds)}]"
