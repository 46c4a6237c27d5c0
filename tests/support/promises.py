"""What findings promise of a fix, and whether the fix keeps it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.graphs.overlay.remedy import Fix, HowFixed, PartialFix
from tests.support.told import told


def unkept(check: RestoreCheck) -> Iterator[str]:
    """Yield the remedies that name a fix with other values than they promise."""
    for finding in told(check):
        if not _is_kept(check, finding):
            yield f"{finding.kind.value} {finding.saved}: {finding.remedy!r}"


def _is_kept(check: RestoreCheck, finding: Finding) -> bool:
    match finding.remedy:
        case Fix() as promised:
            return _has_its_values(check, finding, promised)
        case PartialFix(takes_guesses=guesses):
            return bool(check.fix(guesses).pairs)
        case _:
            return True


def _has_its_values(check: RestoreCheck, finding: Finding, promised: Fix) -> bool:
    """Return whether the fix has as many values and guesses as promised: of the finding, or all."""
    fix = check.fix()
    if promised.how is HowFixed.BY_NAMES:
        return (len(fix.pairs), len(fix.guesses)) == (promised.values, promised.guesses)
    values = _nodes_of(check, finding, fix.pairs)
    if promised.how is HowFixed.AS_STATE:
        assert check.saved is not None
        nodes = check.saved.nodes
        return sum(nodes[node].slot is not None for node in values) == promised.values
    guesses = _nodes_of(check, finding, fix.guesses)
    if guesses:
        guesses &= _nodes_of(check, finding, check.fix(guesses=True).pairs)
    return (len(values), len(guesses)) == (promised.values, promised.guesses)


def _nodes_of(check: RestoreCheck, finding: Finding, keys: Collection[str]) -> set[int]:
    """Return the saved nodes of a finding that have one of these keys."""
    assert check.saved is not None
    attributes = {node: check.saved.nodes[node].attributes for node in finding.nodes}
    return {node for node, own in attributes.items() if any(a.checkpoint_key in keys for a in own)}
