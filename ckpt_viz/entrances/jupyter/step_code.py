"""The code that opens an explorer of a notebook at a step of its restore."""

from __future__ import annotations

from typing import Any

from ckpt_viz.answers.dry_runs.dry_run import prefix_of
from ckpt_viz.answers.graph_diff.diff_result import GraphDiff
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.entrances.jupyter.answers import Answer
from ckpt_viz.entrances.jupyter.kernel_run import kernel_shell, package_of, variable_of

_NOT_FOUND = (
    "No variable of the notebook holds this explorer. Write explorer = in front of the call that "
    "shows it, and run the cell again."
)


def with_link(answered: Answer) -> Answer:
    """Return the answer to a question for steps; it says if code can lead to one of them."""
    data, buffers = answered
    return ({**data, "link": "code"} if kernel_shell() is not None else data), buffers


def code_of_step(explorer: object, comparison: RestoreCheck | GraphDiff | None, at: Any) -> Answer:
    """Return the code that opens an explorer at a step, by the names that the notebook has."""
    shell = kernel_shell()
    if shell is None or not isinstance(comparison, RestoreCheck):
        return {"error": "Only the explorer of a check in a notebook has code for its steps."}, []
    if type(at) is not int or not 0 <= at < len(comparison.steps):
        expected = f"expected one below {len(comparison.steps)}"
        return {"error": f"found step {at!r:.40}, {expected}"}, []
    name = variable_of(shell, explorer)
    if name is not None:
        return {"text": f"{name}.step = {at + 1}"}, []
    call = _call(shell, comparison)
    if call is None:
        return {"error": _NOT_FOUND}, []
    return {"text": f"{call}\nexplorer.step = {at + 1}\nexplorer"}, []


def _call(shell: Any, check: RestoreCheck) -> str | None:
    """Return the call that shows a check again; None if no variable leads to it."""
    shown = variable_of(shell, check) or _sides(shell, check)
    if shown is None:
        return None
    first, package = package_of(shell)
    return f"{first}explorer = {package}.show({shown})"


def _sides(shell: Any, check: RestoreCheck) -> str | None:
    live = None if check.live.source is None else variable_of(shell, check.live.source)
    if live is None or check.saved is None or check.saved.is_unwritten:
        return None
    return f"{live}, against={prefix_of(check.saved)!r}"
