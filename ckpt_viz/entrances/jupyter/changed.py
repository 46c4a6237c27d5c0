"""A check with a changed program in an explorer: what a page asks for, and what it shows of that.

A page sends all edits with each question, so that the kernel and the page cannot disagree. The
nodes of an edit are those of the picture that the edits before it have made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ckpt_viz.answers.restore_check.changed_program import AS_IT_IS, ChangedProgram, WhatIf
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.entrances.jupyter.shown import Shown
from ckpt_viz.errors import EditError, NoSuchNodeError, SourceError
from ckpt_viz.graphs.edits.edited_access import places_before
from ckpt_viz.live.restoring.restore_target import READ, RESTORE
from ckpt_viz.live.sources.pictured import ObjectGraph

# What is shown keeps the programs that were asked for last in these places.
_KEPT, _SUPPOSED = "_changed_programs", "_supposed_program"
_MOST_EDITS = 200
_MOST_CHARACTERS = 200  # of a name
_NAME, _INSERT, _BUILD, _DROP = "name", "insert", "build", "drop"
_BY = {"up": -1, "down": 1}  # how far an item of a list goes


class _Edit(NamedTuple):
    """An edit as the page asks for it, by nodes of a picture.

    That is the picture after so many edits, under these conditions: the next edit may come before
    the page has the picture after the last one.
    """

    kind: str
    node: int  # of a "drop" the place of the edit that it takes back
    to: str
    was: str  # what `to` is in place of
    after: int
    what_if: WhatIf


class ProgramAfter(NamedTuple):
    """A program after some edits.

    `keys` tells each of its nodes from all others, whatever edits are before or after. `kept` has
    the places of the edits that have made it.
    """

    program: ChangedProgram
    keys: Sequence[object]
    kept: tuple[int, ...] = ()

    @classmethod
    def of(cls, program: ChangedProgram) -> ProgramAfter:
        """Return a program before all edits."""
        return cls(program, range(len(program.graph.nodes)))

    def after(self, place: int, program: ChangedProgram) -> ProgramAfter:
        """Return the program that the edit at a place has made of this one."""
        size, before = len(self.keys), places_before(program.graph)
        added = sum(node >= size for node in before)
        keys = [self.keys[n] if n < size else (place, n - size, added) for n in before]
        return ProgramAfter(program, keys, (*self.kept, place))


def changed_of(shown: Shown, changes: object, source: str | None) -> ProgramAfter:
    """Return the program of a check after the changes that a page asks for.

    `source` is the expression for the program in code. Raises SourceError for changes that are
    malformed, and EditError for those that do not fit the program.
    """
    if not isinstance(shown.comparison, RestoreCheck):
        raise SourceError(f"{shown.graph.title}: only the check of a restore has a program")
    edits, what_if = _edits_in(changes), _what_if_in(changes)
    made = _after(shown, shown.comparison, edits, source or "ckpt")
    if what_if == AS_IT_IS:
        return made
    return made._replace(program=_supposing(shown, made.program, what_if))


def shown_changed(shown: Shown, program: ChangedProgram) -> Shown:
    """Return what an explorer shows of the check with a changed program."""
    overlay = program.check.overlay
    graph = ObjectGraph.of(overlay.graph)
    return replace(shown, graph=graph, overlay=overlay, comparison=program.check)


def described(made: ProgramAfter) -> dict[str, Any]:
    """Return the edits, the result before and now, and the first step that differs, as data.

    docs/explorer.md has the format.
    """
    program = made.program
    lines = zip(program.lines, made.kept, strict=True)
    return {
        "edits": [{**line._asdict(), "place": place} for line, place in lines],
        "before": program.before.result._asdict(),
        "now": program.result._asdict(),
        "first": program.first_difference(program.before),
        "node": program.edited,
    }


def _after(shown: Shown, check: RestoreCheck, edits: list[_Edit], source: str) -> ProgramAfter:
    """Return the program after some edits; those that were asked for last are known."""
    known: list[tuple[_Edit | None, ProgramAfter]] = shown.__dict__.setdefault(_KEPT, [])
    if not known or known[0][1].program.source != source:
        known[:] = [(None, ProgramAfter.of(ChangedProgram.of(check, source)))]
    for at, edit in enumerate(edits, 1):
        if at < len(known) and known[at][0] == edit:
            continue
        made = [each for _, each in known[:at]]
        known[at:] = [(edit, _next(made, edit, edits))]
    return known[len(edits)][1]


def _supposing(shown: Shown, program: ChangedProgram, what_if: WhatIf) -> ChangedProgram:
    """Return the program under other conditions; those that were asked for last are known."""
    known: tuple[ChangedProgram, ChangedProgram] | None = shown.__dict__.get(_SUPPOSED)
    if known is None or known[0] is not program or known[1].what_if != what_if:
        known = shown.__dict__[_SUPPOSED] = (program, program.supposing(what_if))
    return known[1]


def _next(made: Sequence[ProgramAfter], edit: _Edit, edits: Sequence[_Edit]) -> ProgramAfter:
    """Return the program after an edit more; `made` are those after 0, 1, 2… edits."""
    if edit.kind == _DROP:
        return _without(made, edit.node, edits)
    return made[-1].after(len(made) - 1, _applied(made[edit.after], made[-1], edit))


def _without(made: Sequence[ProgramAfter], gone: int, edits: Sequence[_Edit]) -> ProgramAfter:
    """Return the program that all edits but one make."""
    last, kept = made[0], made[-1].kept
    if gone not in kept:
        raise SourceError(f"found edit {gone}, expected one of {kept}")
    for place in kept:
        if place != gone:
            edit = edits[place]
            try:
                last = last.after(place, _applied(made[edit.after], last, edit))
            except (EditError, NoSuchNodeError) as error:
                later = made[-1].program.lines[kept.index(place)].text
                sentence = f"Remove the edit {later!r} first. Alone, it fails: {error}"
                raise EditError(sentence) from error
    return last._replace(program=replace(last.program, edited=None))


def _applied(pictured: ProgramAfter, last: ProgramAfter, edit: _Edit) -> ChangedProgram:
    """Return the last program after an edit that someone made in a picture."""
    program = last.program
    if edit.kind == _BUILD:
        return program.built()
    if edit.node >= len(pictured.program.graph.nodes):
        return _with_saved(pictured.program, program, edit)
    part = _part(pictured, last, edit.node)
    if edit.kind in _BY:
        return program.moved(part, _BY[edit.kind])
    if edit.kind == _INSERT:
        return program.with_copy(part)
    return program.named(part, edit.to, edit.was)


def _part(pictured: ProgramAfter, last: ProgramAfter, node: int) -> int:
    """Return the node that a node of a picture is in the last program."""
    key = pictured.keys[node]
    if key not in last.keys:
        name = pictured.program.graph.names.place(node)
        raise EditError(f"{last.program.graph.title}: {name} is gone; select another part")
    return last.keys.index(key)


def _with_saved(pictured: ChangedProgram, last: ChangedProgram, edit: _Edit) -> ChangedProgram:
    """Return the program with a part that only the checkpoint has, under the name that it has."""
    node = pictured.supposing(edit.what_if).saved_node_at(edit.node)
    if node is None:
        raise SourceError(f"found node id {edit.node}, expected one of the picture")
    place, own = pictured.saved.names.place(node), pictured.saved.tree.labels[node]
    if edit.kind not in (_NAME, _INSERT):
        raise SourceError(f"Only the checkpoint has {place}. Insert it into the program first.")
    typed = edit.to.strip()
    if edit.kind == _NAME and typed != own and not f".{place}".endswith(f".{typed}"):
        raise EditError(f"found {edit.to!r}, expected {own!r}: only the checkpoint has {place}")
    return last.with_saved(node)


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
        kind, to, was = edit.get("kind"), edit.get("to", ""), edit.get("was", "")
        numbers = edit.get("node", 0), edit.get("after", before)
        is_kind = kind in (_NAME, _INSERT, _BUILD, _DROP, *_BY)
        are_names = all(isinstance(t, str) and len(t) <= _MOST_CHARACTERS for t in (to, was))
        are_numbers = all(type(number) is int and number >= 0 for number in numbers)
        if is_kind and are_names and are_numbers and numbers[1] <= before:
            node, after = numbers
            return _Edit(str(kind), node, to, was, after, _what_if_in(edit))
    raise SourceError(
        f"found the edit {edit!r:.200}, expected a kind, nodes of the picture, and names of at "
        f"most {_MOST_CHARACTERS} characters"
    )


def _what_if_in(changes: Any) -> WhatIf:
    method = changes.get("method")
    if method not in (None, READ, RESTORE):
        raise SourceError(f"found method {method!r:.40}, expected 'restore' or 'read'")
    return WhatIf(method, changes.get("partial") is True, changes.get("reordered") is True)
