"""What the code of a fix makes: `tf.train.Checkpoint` of live objects, under saved names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ckpt_viz.answers.short_code.comprehensions import loops
from ckpt_viz.answers.short_code.loops import KeyedExpression, in_dictionary
from ckpt_viz.answers.short_code.objects_in_code import expression_of
from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.ground.expressions import ROOT_ARGUMENT, argument, is_taken, item, quoted

_HELD = "parts"
_CALL = "tf.train.Checkpoint("
_LAST = chr(0x10FFFF)  # after the names of keywords
_WIDTH = 80
_INDENT = 4
MOST_LEVELS = 50  # Python reads no expression with more than 200 open brackets


@dataclass(frozen=True)
class Skeleton:
    """A `tf.train.Checkpoint` that a program would create.

    `root` is the live object that becomes its root, if any. `children` maps local names to live
    objects and checkpoints of the same kind.
    """

    root: int | None = None
    children: Mapping[str, int | Skeleton] = field(default_factory=dict)


def can_be_made(skeleton: Skeleton) -> bool:
    """Return whether some code makes the checkpoint, whatever the names of its parts are.

    A dictionary has parts of any name. But the keywords beside a root share the checkpoint with
    its methods, and only an attribute can be called `root`.
    """
    taken = set(filter(is_taken, skeleton.children))
    if skeleton.root is not None and taken:
        return False
    has_one_way = ROOT_ARGUMENT not in taken or taken == {ROOT_ARGUMENT}
    return has_one_way and _depth(skeleton) <= MOST_LEVELS


def _depth(skeleton: Skeleton) -> int:
    depth, level = 0, [skeleton]
    while level:
        depth += 1
        level = [c for part in level for c in part.children.values() if isinstance(c, Skeleton)]
    return depth


def making(skeleton: Skeleton, live: Graph, source: str, name: str) -> list[str]:
    """Return the lines of code that make a checkpoint with a name."""
    parts = dict(skeleton.children)
    late = parts.pop(ROOT_ARGUMENT, None)
    made = to_code(Skeleton(skeleton.root, parts), live, source, width=_WIDTH)
    lines = [f"{name} = {made}"]
    if late is not None:
        value = _text(_part(late, live, source), 0, _WIDTH)
        lines.append(f"{name}.{ROOT_ARGUMENT} = {value}")
    return lines


def to_code(skeleton: Skeleton, live: Graph, source: str = "live", width: int | None = None) -> str:
    """Return the Python expression that makes a checkpoint.

    In it, `source` is the expression for the checked object. The expression is on one line, or has
    a line for each part if that is wider than `width`. Raises SourceError if there is no such
    expression.
    """
    return _text(_checkpoint(skeleton, live, source), 0, width)


class _Item(NamedTuple):
    """A part of an expression, after its keyword, its key or `**`."""

    before: str
    value: str | _Made
    name: str = ""  # none for a root, which comes first


@dataclass(frozen=True)
class _Made:
    """An expression of parts: a call or a dictionary."""

    opening: str
    parts: tuple[_Item, ...]
    closing: str


def _checkpoint(skeleton: Skeleton, live: Graph, source: str) -> _Made:
    """Return the call that makes a checkpoint with methods."""
    if not can_be_made(skeleton) or ROOT_ARGUMENT in skeleton.children:
        taken = ", ".join(map(quoted, filter(is_taken, skeleton.children)))
        raise SourceError(f"no tf.train.Checkpoint can be made with parts of the names {taken}")
    parts = {name: _part(child, live, source) for name, child in skeleton.children.items()}
    if any(map(is_taken, parts)):
        # The keyword's dictionary becomes an object that TensorFlow tracks: the new root.
        held = _Made(_CALL, (_Item(f"{_HELD}=", _items(parts)),), f").{_HELD}")
        return _Made(_CALL, (_Item("", held),), ")")
    made = [] if skeleton.root is None else [_Item("", expression_of(live, skeleton.root, source))]
    made += [_Item(word, code, name) for name, code in parts.items() if (word := argument(name))]
    others = {name: code for name, code in parts.items() if not argument(name)}
    made += [_Item("**", _items(others), _LAST)] if others else []
    return _Made(_CALL, tuple(made), ")")


def _part(part: int | Skeleton, live: Graph, source: str) -> str | _Made:
    if not isinstance(part, Skeleton):
        return expression_of(live, part, source)
    if part.root is None and not all(map(argument, part.children)):
        # TensorFlow tracks dictionaries as they are.
        return _items({name: _part(child, live, source) for name, child in part.children.items()})
    return _checkpoint(part, live, source)


def _items(parts: Mapping[str, str | _Made]) -> str | _Made:
    """Return a dictionary; what follows a rule is a comprehension."""
    in_order = sorted(parts.items(), key=lambda part: _natural(part[0]))
    items = [_Item(item(name), code, name) for name, code in in_order if isinstance(code, _Made)]
    for loop in loops(
        KeyedExpression(code, name) for name, code in in_order if isinstance(code, str)
    ):
        first = loop.placed[0]
        if loop.clause:
            items.append(_Item("**", in_dictionary(loop), first.text))
        else:
            items.append(_Item(item(first.text), first.expression, first.text))
    if len(items) == 1 and items[0].before == "**":
        return items[0].value
    return _Made("{", tuple(sorted(items, key=lambda part: _natural(part.name))), "}")


def _text(made: str | _Made, depth: int, width: int | None) -> str:
    """Return the code, on several lines with its parts by name if one line is too wide."""
    if isinstance(made, str):
        return made if width is None else made.replace("\n", "\n" + " " * _INDENT * depth)
    one_line = ", ".join(part.before + _text(part.value, 0, None) for part in made.parts)
    one_line = f"{made.opening}{one_line}{made.closing}"
    if width is None or len(one_line) + _INDENT * depth <= width:
        return one_line
    indent = "\n" + " " * _INDENT * depth
    inner = indent + " " * _INDENT
    parts = sorted(made.parts, key=lambda part: _natural(part.name))
    lines = (f"{inner}{part.before}{_text(part.value, depth + 1, width)}," for part in parts)
    return f"{made.opening}{''.join(lines)}{indent}{made.closing}"


def _natural(name: str) -> tuple[bool, int, str]:
    is_number = name.isascii() and name.isdecimal()
    return (is_number, len(name) if is_number else 0, name)
