"""A check with a changed program in an explorer: what a page asks for, and what it shows of that.

A page sends all edits with each question, so that the kernel and the page cannot disagree. The
nodes of an edit are those of the picture that the edits before it have made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ckpt_viz.edits.named_edit import KINDS, NamedEdit
from ckpt_viz.errors import SourceError
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


class _Edit(NamedTuple):
    """An edit as the page asks for it, by nodes of the picture."""

    kind: str
    node: int
    to: str
    other: int


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
        "before": _result(program.before),
        "now": _result(program),
        "first": program.first_difference(program.before),
        "node": program.edited,
    }


def _result(program: ChangedProgram) -> dict[str, Any]:
    return {"method": program.check.method, **program.result._asdict()}


def _after(shown: Shown, check: RestoreCheck, edits: list[_Edit], source: str) -> ChangedProgram:
    """Return the program after some edits; those that were asked for last are known."""
    known: list[tuple[_Edit | None, ChangedProgram]] = shown.__dict__.setdefault(_KEPT, [])
    if not known or known[0][1].source != source:
        known[:] = [(None, ChangedProgram.of(check, source))]
    for at, edit in enumerate(edits, 1):
        if at < len(known) and known[at][0] == edit:
            continue
        program = _applied(known[at - 1][1], edit)
        known[at:] = [(edit, program)]
    return known[len(edits)][1]


def _supposing(shown: Shown, program: ChangedProgram, what_if: WhatIf) -> ChangedProgram:
    """Return the program under other conditions; those that were asked for last are known."""
    known: tuple[ChangedProgram, ChangedProgram] | None = shown.__dict__.get(_SUPPOSED)
    if known is None or known[0] is not program or known[1].what_if != what_if:
        known = shown.__dict__[_SUPPOSED] = (program, program.supposing(what_if))
    return known[1]


def _applied(program: ChangedProgram, edit: _Edit) -> ChangedProgram:
    if edit.kind == _BUILD:
        return program.built()
    size = len(program.graph.nodes)
    if edit.node < size:
        other = edit.other if edit.other < size else _saved_node(program, edit.other)
        return program.after(NamedEdit(edit.kind, edit.node, edit.to, other))
    node = _saved_node(program, edit.node)
    if edit.kind != "insert":
        name = program.check.overlay.names.place(edit.node)
        raise SourceError(f"Only the checkpoint has {name}. Insert it into the program first.")
    return program.with_saved(node)


def _saved_node(program: ChangedProgram, place: int) -> int:
    """Return the node of the checkpoint that is at a place of the picture."""
    for node, at in program.check.saved_places.items():
        if at == place:
            return node
    raise SourceError(f"found node id {place}, expected one of the picture")


# --- questions come from a browser


def _edits_in(changes: object) -> list[_Edit]:
    if not isinstance(changes, dict):
        raise SourceError(f"found changes {changes!r:.80}, expected an object")
    edits = changes.get("edits", [])
    if not isinstance(edits, list) or len(edits) > _MOST_EDITS:
        raise SourceError(f"found edits {edits!r:.80}, expected a list of at most {_MOST_EDITS}")
    return [_edit_in(edit) for edit in edits]


def _edit_in(edit: object) -> _Edit:
    if isinstance(edit, Mapping):
        kind, to = edit.get("kind"), edit.get("to", "")
        node, other = edit.get("node", 0), edit.get("other", 0)
        is_kind = kind in (*KINDS, _BUILD)
        is_name = isinstance(to, str) and len(to) <= _MOST_CHARACTERS
        if is_kind and is_name and type(node) is type(other) is int and min(node, other) >= 0:
            return _Edit(str(kind), node, to, other)
    raise SourceError(
        f"found the edit {edit!r:.200}, expected a kind, nodes of the picture, and a name of at "
        f"most {_MOST_CHARACTERS} characters"
    )


def _what_if_in(changes: Any) -> WhatIf:
    method = changes.get("method")
    if method not in (None, READ, RESTORE):
        raise SourceError(f"found method {method!r:.40}, expected 'restore' or 'read'")
    return WhatIf(method, changes.get("partial") is True, changes.get("reordered") is True)
