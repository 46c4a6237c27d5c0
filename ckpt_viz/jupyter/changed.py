"""A check with a changed program in an explorer: what a page asks for, and what it shows of that.

A page sends all edits with each question, so that the kernel and the page cannot disagree. The
nodes of an edit are those of the picture that the edits before it have made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ckpt_viz.edits.edited_access import node_after
from ckpt_viz.edits.named_edit import KINDS, NamedEdit
from ckpt_viz.errors import EditError, SourceError
from ckpt_viz.jupyter.shown import Shown
from ckpt_viz.live.restore_target import READ, RESTORE
from ckpt_viz.restore_check.changed_program import AS_IT_IS, ChangedProgram, WhatIf
from ckpt_viz.restore_check.check_result import RestoreCheck
from ckpt_viz.sources.pictured import ObjectGraph

# What is shown keeps the programs that were asked for last in these places.
_KEPT, _SUPPOSED = "_changed_programs", "_supposed_program"
_MOST_EDITS = 200
_MOST_CHARACTERS = 200  # of a name
_BUILD = "build"
_BY = {"up": -1, "down": 1}  # how far an item of a list goes


class _Edit(NamedTuple):
    """An edit as the page asks for it, by nodes of a picture.

    That is the picture after so many edits, under these conditions: the next edit may come before
    the page has the picture after the last one.
    """

    kind: str
    node: int
    to: str
    other: int
    after: int
    what_if: WhatIf


def changed_of(shown: Shown, changes: object, source: str | None) -> ChangedProgram:
    """Return the program of a check after the changes that a page asks for.

    `source` is the expression for the program in code. Raises SourceError for changes that are
    malformed, and EditError for those that do not fit the program.
    """
    if not isinstance(shown.comparison, RestoreCheck):
        raise SourceError(f"{shown.graph.title}: only the check of a restore has a program")
    edits, what_if = _edits_in(changes), _what_if_in(changes)
    program = _after(shown, shown.comparison, edits, source or "ckpt")
    return program if what_if == AS_IT_IS else _supposing(shown, program, what_if)


def shown_changed(shown: Shown, program: ChangedProgram) -> Shown:
    """Return what an explorer shows of the check with a changed program."""
    overlay = program.check.overlay
    graph = ObjectGraph.of(overlay.graph)
    return replace(shown, graph=graph, overlay=overlay, comparison=program.check)


def described(program: ChangedProgram) -> dict[str, Any]:
    """Return the edits, the result before and now, and the first step that differs, as data.

    docs/explorer.md has the format.
    """
    return {
        "edits": [line._asdict() for line in program.lines],
        "before": program.before.result._asdict(),
        "now": program.result._asdict(),
        "first": program.first_difference(program.before),
        "node": program.edited,
    }


def _after(shown: Shown, check: RestoreCheck, edits: list[_Edit], source: str) -> ChangedProgram:
    """Return the program after some edits; those that were asked for last are known."""
    known: list[tuple[_Edit | None, ChangedProgram]] = shown.__dict__.setdefault(_KEPT, [])
    if not known or known[0][1].source != source:
        known[:] = [(None, ChangedProgram.of(check, source))]
    for at, edit in enumerate(edits, 1):
        if at < len(known) and known[at][0] == edit:
            continue
        programs = [program for _, program in known[:at]]
        known[at:] = [(edit, _applied(programs, edit))]
    return known[len(edits)][1]


def _supposing(shown: Shown, program: ChangedProgram, what_if: WhatIf) -> ChangedProgram:
    """Return the program under other conditions; those that were asked for last are known."""
    known: tuple[ChangedProgram, ChangedProgram] | None = shown.__dict__.get(_SUPPOSED)
    if known is None or known[0] is not program or known[1].what_if != what_if:
        known = shown.__dict__[_SUPPOSED] = (program, program.supposing(what_if))
    return known[1]


def _applied(programs: Sequence[ChangedProgram], edit: _Edit) -> ChangedProgram:
    """Return the program after an edit more; `programs` are those after 0, 1, 2… edits."""
    program = programs[-1]
    if edit.kind == _BUILD:
        return program.built()
    pictured = programs[edit.after]
    if edit.kind == "insert" and edit.node >= len(pictured.graph.nodes):
        return program.with_saved(_saved_node(pictured, edit, edit.node))
    part = _part(programs, edit, edit.node)
    if edit.kind in _BY:
        return program.moved(part, _BY[edit.kind])
    other = _part(programs, edit, edit.other)
    return program.after(NamedEdit(edit.kind, part, edit.to, other))


def _part(programs: Sequence[ChangedProgram], edit: _Edit, place: int) -> int:
    """Return the node that is now at a place of the picture in which someone made an edit."""
    pictured = programs[edit.after]
    if place >= len(pictured.graph.nodes):
        name = pictured.saved.names.place(_saved_node(pictured, edit, place))
        raise SourceError(f"Only the checkpoint has {name}. Insert it into the program first.")
    node: int | None = place
    for program in programs[edit.after + 1 :]:
        node = None if node is None else node_after(program.graph, node)
    if node is None:
        name = pictured.graph.names.place(place)
        raise EditError(f"{programs[-1].graph.title}: {name} is gone; select another part")
    return node


def _saved_node(pictured: ChangedProgram, edit: _Edit, place: int) -> int:
    """Return the node of the checkpoint at a place of the picture."""
    node = pictured.supposing(edit.what_if).saved_node_at(place)
    if node is None:
        raise SourceError(f"found node id {place}, expected one of the picture")
    return node


# --- questions come from a browser


def _edits_in(changes: object) -> list[_Edit]:
    if not isinstance(changes, dict):
        raise SourceError(f"found changes {changes!r:.80}, expected an object")
    edits = changes.get("edits", [])
    if not isinstance(edits, list) or len(edits) > _MOST_EDITS:
        raise SourceError(f"found edits {edits!r:.80}, expected a list of at most {_MOST_EDITS}")
    return [_edit_in(edit, before) for before, edit in enumerate(edits)]


def _edit_in(edit: object, before: int) -> _Edit:
    """Return an edit that a page asks for, after as many others as are `before` it."""
    if isinstance(edit, dict):
        kind, to = edit.get("kind"), edit.get("to", "")
        numbers = edit.get("node", 0), edit.get("other", 0), edit.get("after", before)
        is_kind = kind in (*KINDS, *_BY, _BUILD)
        is_name = isinstance(to, str) and len(to) <= _MOST_CHARACTERS
        are_numbers = all(type(number) is int and number >= 0 for number in numbers)
        if is_kind and is_name and are_numbers and numbers[2] <= before:
            node, other, after = numbers
            return _Edit(str(kind), node, to, other, after, _what_if_in(edit))
    raise SourceError(
        f"found the edit {edit!r:.200}, expected a kind, nodes of the picture, and a name of at "
        f"most {_MOST_CHARACTERS} characters"
    )


def _what_if_in(changes: Any) -> WhatIf:
    method = changes.get("method")
    if method not in (None, READ, RESTORE):
        raise SourceError(f"found method {method!r:.40}, expected 'restore' or 'read'")
    return WhatIf(method, changes.get("partial") is True, changes.get("reordered") is True)
