"""What findings promise of a fix, and whether the fix keeps it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ckpt_viz.object_graph.graph import Graph
from ckpt_viz.restore_check.check_result import RestoreCheck
from ckpt_viz.restore_check.finding import Finding
from tests.support.told import told

_FIX = re.compile(
    r"(the rest with )?check\.fix\((guesses=True)?\)(?!\.code)(?: takes (\d+) guess)?"
)
_SLOTS = re.compile(r"also restores (\d+) slot variable")


def unkept(check: RestoreCheck) -> Iterator[str]:
    """Yield the remedies that name a fix that lacks their values, or has fewer of them."""
    for finding in told(check):
        if not all(
            _is_kept(check, finding, *one.groups()) for one in _FIX.finditer(finding.remedy)
        ):
            yield f"{finding.kind.value} {finding.saved}: {finding.remedy}"


def _is_kept(
    check: RestoreCheck, finding: Finding, rest: str | None, guesses: str | None, number: str | None
) -> bool:
    fix = check.fix(guesses=guesses is not None)
    own = _keys_below(check, finding)
    restored = fix.pairs.keys() if rest or own is None else fix.pairs.keys() & own
    if number is not None:
        return len(restored & check.fix().guesses.keys()) == int(number)
    slots = _SLOTS.search(finding.remedy)
    if slots is not None and check.saved is not None:
        nodes = [check.saved.nodes[node] for node in finding.nodes]
        keys = {a.checkpoint_key for one in nodes if one.slot is not None for a in one.attributes}
        if len(keys & restored) != int(slots[1]):
            return False
    return bool(restored)


def _keys_below(check: RestoreCheck, finding: Finding) -> set[str] | None:
    """Return the keys of a finding's nodes and those below; None if there are none to ask for."""
    if check.saved is None or not finding.nodes:
        return None
    graph: Graph = check.saved
    waiting, seen = list(finding.nodes), set[int]()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += [child.node_id for child in graph.nodes[node].children]
    return {a.checkpoint_key for node in seen for a in graph.nodes[node].attributes} or None
