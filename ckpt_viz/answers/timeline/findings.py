"""What people look for in a training: each finding names its first checkpoint.

`rules` and `explosions` have the rules, and docs/history.md their thresholds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from ckpt_viz.answers.timeline import explosions, rules
from ckpt_viz.answers.timeline.cells import HistoryRow
from ckpt_viz.answers.timeline.evidence import HistoryEvidence, Symptom
from ckpt_viz.answers.timeline.rules import Rule
from ckpt_viz.answers.timeline.sources import Checkpoint
from ckpt_viz.formats.bundles.lost_files import lost_files
from ckpt_viz.ground.text import count, listed, percent, printable

OUTLIER_FACTOR = 2.0
"""Ratio to the median distance of all above which a member is an outlier."""


class HistoryKind(str, Enum):
    """What a finding of a history is about, causes before what follows from them.

    >>> findings = cv.history("ckpts", progress=False).findings
    >>> [finding.name for finding in findings if finding.kind is cv.HistoryKind.NAN]
    []
    """

    DAMAGED = "damaged"
    OUTLIER = "outlier"
    OPTIMIZER_RESET = "optimizer_reset"
    STALE_OPTIMIZER = "stale_optimizer"
    REINITIALISED = "reinitialised"
    EXPLODING_GRADIENTS = "exploding_gradients"
    EXPLODING = "exploding"
    VANISHING = "vanishing"
    ZEROED = "zeroed"
    SATURATED = "saturated"
    INF = "inf"
    NAN = "nan"
    DEAD = "dead"
    UNTRAINED = "untrained"
    FROZEN = "frozen"


NOTES = (HistoryKind.DEAD, HistoryKind.UNTRAINED, HistoryKind.FROZEN)
"""The kinds that may be intended: no alarms."""


@dataclass(frozen=True)
class HistoryFinding:
    """One thing to know of some variables.

    >>> finding = cv.history("ckpts", progress=False).findings[0]
    >>> finding.kind, finding.name
    (<HistoryKind.FROZEN: 'frozen'>, 'net.head.b')

    Attributes:
        kind: What it is.
        name: The first variable's place; all are in `names`.
        first: The number of the first checkpoint concerned.
        why: One sentence, with the numbers.
        names: The places of all variables that it is about.
    """

    kind: HistoryKind
    name: str
    first: int
    why: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return printable(self.why)


def findings_of(
    checkpoints: Sequence[Checkpoint], rows: Sequence[HistoryRow]
) -> tuple[HistoryFinding, ...]:
    """Return the findings: alarms before notes, the earliest first, then causes first.

    Variables with the same finding at the same checkpoint are one finding.
    """
    return _findings(HistoryEvidence(checkpoints, rows), list(HistoryKind))


def findings_of_members(
    checkpoints: Sequence[Checkpoint],
    rows: Sequence[HistoryRow],
    distances: Sequence[Sequence[float]],
) -> tuple[HistoryFinding, ...]:
    """Return the findings of checkpoints without an order."""
    case = HistoryEvidence(checkpoints, rows)
    kinds = (HistoryKind.NAN, HistoryKind.INF, HistoryKind.DAMAGED, HistoryKind.SATURATED)
    return (*_outliers(case, distances), *_findings(case, kinds))


def is_alarm(finding: HistoryFinding) -> bool:
    """Return whether a finding tells of a defect, not of what may be intended."""
    return finding.kind not in NOTES


def _outliers(
    case: HistoryEvidence, distances: Sequence[Sequence[float]]
) -> Iterator[HistoryFinding]:
    """Find members that are farther from the others than these are from each other."""
    opened = [i for i, checkpoint in enumerate(case.checkpoints) if checkpoint.graph is not None]
    if len(opened) < 3:
        return
    own = {i: median([distances[i][j] for j in opened if j != i]) for i in opened}
    usual = median(own.values())
    for i, distance in own.items():
        if distance > OUTLIER_FACTOR * usual:
            title = case.title(i)
            yield HistoryFinding(
                HistoryKind.OUTLIER,
                title,
                i,
                f"{title} is an outlier: its distance to the others is {percent(distance)} of the "
                f"norm, more than {OUTLIER_FACTOR:g} times the usual {percent(usual)}.",
                (title,),
            )


def _findings(case: HistoryEvidence, kinds: Sequence[HistoryKind]) -> tuple[HistoryFinding, ...]:
    findings: list[HistoryFinding] = []
    for kind in HistoryKind:
        if kind not in kinds or kind not in _RULES:
            continue
        rule, say = _RULES[kind]
        groups: dict[int, list[Symptom]] = {}
        for symptom in rule(case):
            groups.setdefault(symptom.time, []).append(symptom)
        for time, symptoms in groups.items():
            names = tuple(symptom.row.place for symptom in symptoms)
            findings.append(HistoryFinding(kind, names[0], time, say(case, time, symptoms), names))
    return tuple(sorted(findings, key=lambda finding: (not is_alarm(finding), finding.first)))


# --- sentences


_Say = Callable[[HistoryEvidence, int, Sequence[Symptom]], str]


def _says(sentence: str, more: _Say = lambda case, time, symptoms: "") -> _Say:
    """Return what says a sentence.

    It may have `{variables}`, their names; `{norms}`, the first name and how its norm changed;
    `{at}`; the first `{detail}`; and `{more}`.
    """

    def say(case: HistoryEvidence, time: int, symptoms: Sequence[Symptom]) -> str:
        names, number = listed([symptom.row.place for symptom in symptoms]), len(symptoms) - 1
        variables = names if not number else f"{count(len(symptoms), 'variable')}: {names}"
        rest = f", and {count(number, 'more variable')} did the same" if number else ""
        first, _, detail = symptoms[0]
        norms = f"the norm of {first.place} went {detail}{rest}"
        parts = {"variables": variables, "norms": norms, "at": case.title(time), "detail": detail}
        return sentence.format(**parts, more=more(case, time, symptoms))

    return say


def _why(case: HistoryEvidence, time: int, symptoms: Sequence[Symptom]) -> str:
    """Return which files are lost, or else the first error."""
    graph = case.checkpoints[time].graph
    lost = lost_files(graph.stored_in) if graph is not None else ()
    return " ".join(map(str, lost)) or symptoms[0].detail


def _rate(case: HistoryEvidence, time: int, symptoms: Sequence[Symptom]) -> str:
    """Return whether the learning rate rose."""
    rates = case.rate_before_and_at(time)
    if rates is None or rates[1] < explosions.EXPLODED * rates[0]:
        return ""
    return f" The learning rate rose from {rates[0]:.3g} to {rates[1]:.3g} before."


def _slots(case: HistoryEvidence, time: int, symptoms: Sequence[Symptom]) -> str:
    """Return whether optimizers keep state for the variables, if they do for any."""
    if not case.slots or any(case.slots_of(symptom.row) for symptom in symptoms):
        return ""
    return f" No optimizer has slot variables for {'it' if len(symptoms) == 1 else 'them'}."


_RULES: dict[HistoryKind, tuple[Rule, _Say]] = {
    HistoryKind.NAN: (
        rules.not_finite("nan"),
        _says("NaN first in {at}, {variables} ({detail}).{more}", _rate),
    ),
    HistoryKind.INF: (
        rules.not_finite("inf"),
        _says("Infinity first in {at}, {variables} ({detail}).{more}", _rate),
    ),
    HistoryKind.DAMAGED: (
        rules.damaged,
        _says("{at} cannot be read for {variables}: {more}", _why),
    ),
    HistoryKind.OPTIMIZER_RESET: (
        rules.reset,
        _says(
            "The optimizer started again by {at}: {variables} went {detail}. The program did not "
            "restore it, or made a new one."
        ),
    ),
    HistoryKind.STALE_OPTIMIZER: (
        rules.stale,
        _says("The model changed by {at} without a step of {variables}: {detail}."),
    ),
    HistoryKind.REINITIALISED: (
        rules.reinitialised,
        _says(
            "New values in {at}, {variables}: they have little in common with those before, as "
            "after making the layer again."
        ),
    ),
    HistoryKind.EXPLODING_GRADIENTS: (
        explosions.gradients_exploding,
        _says("Gradients exploded by {at}: {norms}.{more}", _rate),
    ),
    HistoryKind.EXPLODING: (
        explosions.exploding,
        _says("Weights exploded by {at}: {norms}.{more}", _rate),
    ),
    HistoryKind.VANISHING: (
        rules.vanishing,
        _says("Weights vanished by {at}: {norms}."),
    ),
    HistoryKind.ZEROED: (
        rules.zeroed,
        _says("Whole columns became zero by {at}, {variables} ({detail})."),
    ),
    HistoryKind.SATURATED: (
        rules.saturated,
        _says("Values are at the limits of their dtype from {at} on, {variables} ({detail})."),
    ),
    HistoryKind.DEAD: (
        rules.dead,
        _says("Units never change or are zero, {variables} ({detail})."),
    ),
    HistoryKind.UNTRAINED: (
        rules.untrained,
        _says("All elements are {detail} at every save, {variables}; other variables change."),
    ),
    HistoryKind.FROZEN: (
        rules.frozen,
        _says("Unchanged since {at}, {variables}; other variables change.{more}", _slots),
    ),
}
