"""Everything that a check tells: its findings, and those that they explain."""

from __future__ import annotations

from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.restore_check.check_result import RestoreCheck


def told(check: RestoreCheck) -> list[Finding]:
    """Return the findings of a check, each before those that it explains."""
    return [one for finding in check.findings for one in finding.all()]
