"""Models that were edited after saving: a finding names each wrong value, and no other.

Every variable has its own value. After a real restore, these values show which variable has the
value of another, and whether a finding of the check names it.

Some layers look alike and have only the names that Keras gives them. Then there is a limit to what
a check can find. If a model has as many of them as before, the edited program is the same program.
Then no finding can report that they changed places. If it has more or fewer, a finding must report
that values may have changed places. The same holds for names that no variable in the file has:
without an optimizer, Keras 3 leaves them out in subclassed models. In every other case, the check
must name each wrong value, and must raise no false alarm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ckpt_viz as cv
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.graphs.overlay.overlay import Severity
from ckpt_viz.matching.changes.kind import Kind
from tests.programs.keras_making import Key, Made, make
from tests.programs.keras_programs import RANGES, Edited, becomes, draw_edited
from tests.programs.law import Law
from tests.support import oracle
from tests.support.told import told

CROSSING = {
    Kind.INSERTED,
    Kind.REMOVED,
    Kind.REORDERED,
    Kind.MISPLACED,
    Kind.SWAPPED,
    Kind.UNTIED,
    Kind.VALUE_LOST,
    Kind.NEVER_RESTORED,
}
_ALARMING = {Severity.ERROR, Severity.FAIL, Severity.WARNING}
ASSERTS = ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match")


@dataclass
class Outcome:
    """The result of a pair: the findings, what is wrong, and the mistakes of the check.

    `wrong` are variables with the value of another, `lost` those without any saved value.
    `false_alarms` are findings without a cause, `missed` wrong values without a finding, and
    `unconfirmed` findings whose severity no exception or assert confirms.
    """

    check: RestoreCheck
    wrong: dict[Key, str]
    lost: set[Key]
    raised: str | None
    false_alarms: list[Finding]
    missed: list[Key]
    unconfirmed: list[Finding]


def _fill(made: Made, sign: int) -> None:
    import tensorflow as tf

    keys = sorted(made.variables)
    for number, key in enumerate(keys, start=1):
        variable = made.variables[key]
        variable.assign(tf.fill(variable.shape, tf.cast(sign * number, variable.dtype)))


def _value(variable: Any) -> float:
    return float(variable.numpy().flat[0])


def _judge_pair(example: Edited, directory: Path) -> Sequence[str]:
    """Save a program, and restore it into the edited one, dry and for real."""
    was, now = make(example.was), make(example.now)
    _fill(was, 1)
    _fill(now, -1)
    saved = {key: _value(variable) for key, variable in was.variables.items()}
    path = was.checkpoint.save(str(directory / "ckpt"))
    was_there = _nodes(was)
    check = cv.check(now.checkpoint, path)
    objects = _nodes(now)
    raised, passes = None, False
    try:
        status = now.checkpoint.restore(path)
        passes = all(oracle.raised_by(getattr(status, name)) is None for name in ASSERTS)
        status.expect_partial()
    except Exception as error:
        raised = type(error).__name__
    names = {value: "/".join(key) for key, value in saved.items()}
    kept = {value for key, value in saved.items() if key[:2] in now.variables}
    wrong: dict[Key, str] = {}
    lost: set[Key] = set()
    for key in saved.keys() & now.variables.keys() if raised is None else ():
        found = _value(now.variables[key])
        if found != saved[key] and key in was_there and key in objects:
            if found in names:
                wrong[key] = names[found]
            else:
                lost.add(key)
    # What is new has no value of its own; that of a layer which is still there is wrong in it.
    new = now.variables.keys() - saved.keys() if raised is None else set()
    filled = {key for key in new if key in objects and _value(now.variables[key]) in kept}
    outcome = Outcome(check, wrong, lost, raised, [], [], [])
    _judge(outcome, was, now, objects, was_there, filled, passes=passes)
    is_right = not (outcome.false_alarms or outcome.missed or outcome.unconfirmed)
    assert is_right, _in_words(outcome)
    return ["raises" if raised else "passes" if check.consumed else "fails"]


def _nodes(made: Made) -> dict[Key, int]:
    """Return the live node of each variable that the graph has."""
    graph = cv.graph(made.checkpoint)
    by_id = {id(graph.object(i)): i for i in range(len(graph.nodes))}
    return {key: by_id[id(v)] for key, v in made.variables.items() if id(v) in by_id}


def _judge(
    outcome: Outcome,
    was: Made,
    now: Made,
    objects: dict[Key, int],
    nodes: dict[Key, int],
    filled: set[Key],
    *,
    passes: bool,
) -> None:
    check, astray = outcome.check, outcome.wrong.keys() | outcome.lost
    for finding in told(check):
        if finding.severity is Severity.ERROR and outcome.raised is None:
            outcome.unconfirmed.append(finding)
        if finding.severity is Severity.FAIL and outcome.raised is None and passes:
            outcome.unconfirmed.append(finding)
    if outcome.raised is not None:
        return
    alarms = [f for f in told(check) if f.severity in _ALARMING]
    crossing = [f for f in alarms if f.kind in CROSSING or _takes_for_another(f)]
    # A saved graph has the nodes of the live one that it was written from, by the same ids.
    both = objects.keys() & nodes.keys()
    named_by_any: set[Key] = set()
    unknowable = unknowable_in(_within(was, nodes), _within(now, objects), check)
    maybe: set[Key] = set()
    for finding in told(check):
        if finding.kind is Kind.UNKNOWABLE:
            named = {k for k in both if objects[k] in finding.objects or nodes[k] in finding.nodes}
            maybe |= {key for key in named if key[0] in unknowable}
            if named and not any(key[0] in unknowable for key in named):
                outcome.false_alarms.append(finding)
    for finding in crossing:
        named = {k for k in both if objects[k] in finding.objects or nodes[k] in finding.nodes}
        named_by_any |= named
        # A slot that is right beside a variable that is wrong is astray, too.
        is_new = any(objects[key] in finding.objects for key in filled)
        gone = {"/".join(key) for key in nodes if nodes[key] in finding.nodes and key not in both}
        goes_astray = not gone.isdisjoint(outcome.wrong.values())
        if not (is_new or goes_astray) and not any(
            key in astray or key[:2] in astray for key in named
        ):
            outcome.false_alarms.append(finding)
    for key in outcome.wrong:
        is_named = {key, key[:2]} & (named_by_any | maybe)
        if not is_named and unknowable.get(key[0], True):
            outcome.missed.append(key)
    for key in outcome.lost - named_by_any:
        if not any(objects[key] in f.objects or nodes[key] in f.nodes for f in alarms):
            outcome.missed.append(key)


def _takes_for_another(finding: Finding) -> bool:
    """Return whether a finding warns of a part of one side that is taken for another part."""
    is_of_one_side = finding.kind in (Kind.UNMATCHED, Kind.UNRESOLVED)
    return is_of_one_side and finding.severity is Severity.WARNING


def _within(made: Made, nodes: Mapping[Key, int]) -> Made:
    """Return what a program made, without the roles that its graph does not lead to."""
    roles = {key[0] for key in nodes}
    return replace(made, order=[role for role in made.order if role in roles])


def unknowable_in(was: Made, now: Made, check: RestoreCheck) -> dict[str, bool]:
    """Return the roles that a program cannot tell apart, and whether a finding must report them.

    These are layers that look alike and have names from Keras. If some of them are new, gone or in
    another order, no restore can tell which is which. If a model has as many of them as before, a
    finding cannot even report a change.
    """
    found: dict[str, bool] = {}
    texts = [_full_names(graph) for graph in (check.saved, check.live) if graph is not None]

    def known(look: tuple[object, ...]) -> tuple[object, ...]:
        """Return a look; its name is None unless both sides have it and Keras did not give it."""
        kind, shapes, name = look
        is_known = name is not None and not str(name).startswith("dense_")
        # Variables that Keras 3 makes in a symbolic call have no layer in their names.
        return kind, shapes, name if is_known and all(str(name) in text for text in texts) else None

    every = [*was.looks.values(), *now.looks.values()]
    hidden = {look[-1] for look in every if known(look)[-1] is None and _is_on_both(look, was, now)}

    def anonymous(look: tuple[object, ...]) -> tuple[object, ...]:
        kind, shapes, name = look
        return kind, shapes, None if name in hidden or name is None else name

    for look in map(anonymous, every):
        if look[-1] is None:
            roles = [
                [r for r in made.order if anonymous(made.looks[r]) == look] for made in (was, now)
            ]
            if roles[0] != roles[1]:
                every_role = {*roles[0], *roles[1]}
                holders = {made.holders.get(role, "") for role in every_role for made in (was, now)}
                others = {
                    holder
                    for holder in holders
                    if was.held(holder, {*roles[0]}) != now.held(holder, {*roles[1]})
                }
                found |= {
                    role: bool({was.holders.get(role), now.holders.get(role)} & others)
                    for role in every_role
                }
    return found


def _is_on_both(look: tuple[object, ...], was: Made, now: Made) -> bool:
    name = str(look[-1])
    is_common = all(name in {one[-1] for one in made.looks.values()} for made in (was, now))
    return is_common or name.startswith("dense_")


def _full_names(graph: Any) -> str:
    return " ".join(a.full_name for node in graph.nodes for a in node.attributes)


def _in_words(outcome: Outcome) -> str:
    """Return the mistakes of a check, and what went wrong."""
    lines = [f"  raised {outcome.raised}"] if outcome.raised else []
    lines += [f"  {'/'.join(k)} has {v}" for k, v in sorted(outcome.wrong.items())]
    lines += [f"  {'/'.join(k)} is lost" for k in sorted(outcome.lost)]
    lines += [f"  MISSED {'/'.join(key)}" for key in sorted(outcome.missed)]
    for finding in told(outcome.check):
        mark = "FALSE " if finding in outcome.false_alarms else ""
        mark += "UNCONFIRMED " if finding in outcome.unconfirmed else ""
        severity, kind = finding.severity.value, finding.kind.value
        lines.append(f"  {mark}{severity} {kind} {finding.saved}: {finding.why} {finding.remedy}")
    return "\n".join(lines)


def law_of(library: str) -> Law[Edited]:
    """Return the law that findings and wrong values agree."""
    return Law(
        f"Findings and wrong values of a model of {library} agree",
        lambda rng: draw_edited(rng, RANGES[library], library),
        _judge_pair,
        becomes,
    )
