"""The restore that an explorer runs in the kernel at the press of a button, and its undoing."""

from __future__ import annotations

from collections.abc import Mapping

from ckpt_viz.answers.dry_runs.dry_run import prefix_of
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.answers.restore_fix.fix import RestoreFix
from ckpt_viz.entrances.jupyter.kernel_run import (
    expression_for,
    kernel_shell,
    package_of,
    variable_of,
)
from ckpt_viz.entrances.jupyter.shown import COUNTERS, VALUES_BEFORE, Shown
from ckpt_viz.errors import SourceError
from ckpt_viz.graphs.nodes.nodes import SAVE_COUNTER
from ckpt_viz.graphs.nodes.printed_names import ROOT_NAME, without_root
from ckpt_viz.ground.expressions import quoted
from ckpt_viz.ground.text import count, listed
from ckpt_viz.live.objects.counters import counters_of
from ckpt_viz.live.objects.live_source import read_live
from ckpt_viz.live.sources.snapshot import Snapshot

_MOST_LEFT = 5
RUN_AGAIN = "Run the cell again: its table shows where each value would go now."
_COUNTER = f"{ROOT_NAME}.{SAVE_COUNTER}"  # the first save makes it


def restored(shown: Shown) -> str:
    """Restore what the fix restores, all values or none; return what it did, in a sentence.

    A program may have been trained or saved since the check, as long as each value goes where the
    table shows; the first call refuses then, and the second restores. A snapshot of all values
    before that stays for `undone`.

    Raises:
        SourceError: The fix would do something else since the program or the file has changed, the
            program was trained or saved since the check, or values cannot be copied. No value has
            changed.
        CkptVizError: As `RestoreFix.apply` raises it.
    """
    check = shown.check.again()
    fix = check.fix(guesses=shown.accepted)
    difference = _difference(shown.check.fix(guesses=shown.accepted), fix)
    if difference:
        raise SourceError(f"{difference} {RUN_AGAIN}")
    moved = _moved(shown, counters_of(check.live))
    if moved:
        raise SourceError(
            f"The program was restored, trained or saved since this check: {moved}. "
            "Press again to put the saved values in place of its own."
        )
    held = Snapshot(check.live.source)
    fix.apply()
    shown.__dict__[VALUES_BEFORE] = held
    _note_counters(shown)
    number, values = len(fix.pairs), count(fix.table.in_program, "value")
    kept = fix.table.in_program - number
    if not kept:
        return f"Restored all {values}."
    keep = "keeps its" if kept == 1 else "keep their"
    return f"Restored {number} of {values}. {kept} {keep} own."


def _moved(shown: Shown, now: Mapping[str, int]) -> str:
    """Return which counters have moved since they were last looked at; "" for none.

    A restore would undo the training that they count, and the next save replace its file.
    """
    known: Mapping[str, int] = shown.__dict__.get(COUNTERS, {})
    moved = [name for name in now if now[name] != known.get(name, 0)]
    shown.__dict__[COUNTERS] = {**known, **now}
    steps = [f"{without_root(name)} {known.get(name, 0):,} → {now[name]:,}" for name in moved]
    return listed(steps)


def _note_counters(shown: Shown) -> None:
    shown.__dict__[COUNTERS] = counters_of(read_live(shown.check.live.source))


def _difference(before: RestoreFix[RestoreCheck], now: RestoreFix[RestoreCheck]) -> str:
    """Return how a fix differs from the one that is shown, in a sentence; "" if it does not."""
    had, has = ({*fix.pairs.values(), *fix.missing} - {_COUNTER} for fix in (before, now))
    new, gone = sorted(has - had), sorted(had - has)
    for names, state in ((new, "new"), (gone, "gone")):
        if names:
            said = listed([without_root(name) for name in names], most=_MOST_LEFT)
            verb = "is" if len(names) == 1 else "are"
            return f"The program has changed since this check: {said} {verb} {state}."
    are_same = before.pairs == now.pairs and before.unused == now.unused
    return "" if are_same else "The program or the file has changed since this check."


def undone(shown: Shown) -> str:
    """Put back the values from before the restore; return what it did, in a sentence.

    Raises:
        SourceError: There was no restore, or the program was trained or saved since. The second
            call puts them back all the same.
    """
    held: Snapshot | None = shown.__dict__.get(VALUES_BEFORE)
    if held is None:
        raise SourceError("The kernel holds no values from before a restore.")
    moved = _moved(shown, counters_of(read_live(shown.check.live.source)))
    if moved:
        raise SourceError(
            f"The program was trained or saved since the restore: {moved}. "
            "Press again to put back the values from before it."
        )
    result = held.restore()
    del shown.__dict__[VALUES_BEFORE]
    _note_counters(shown)
    names = [without_root(left.name) for left in result.left]
    more = f" Without {listed(names, most=_MOST_LEFT)}." if names else ""
    return f"Put back the values from before the restore.{more}"


def short_code(check: RestoreCheck, guesses: tuple[str, ...]) -> str:
    """Return the code of the fix with ckpt-viz, in the names of the notebook."""
    shell = kernel_shell()
    name = None if shell is None else variable_of(shell, check)
    imports = ""
    if name is None:
        source = None if shell is None else expression_for(shell, check.live.source)
        imports, package = package_of(shell)
        saved = check.saved
        path = "path" if saved is None or saved.is_unwritten else repr(prefix_of(saved))
        name = f"{package}.check({source or 'ckpt'}, {path})"
    taken = f"guesses=[{', '.join(map(quoted, guesses))}]" if guesses else ""
    return f"{imports}{name}.fix({taken}).apply()"
