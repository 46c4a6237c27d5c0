"""Random programs with twins: TensorFlow executes the remedies and fixes of their checks.

Parts of equal structure are saved in one layout and restored into another. The code of a remedy
must raise nothing, and must give every variable the value of its own part, not of its twin. So must
the fix.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import ckpt_viz as cv
from ckpt_viz.answers.dry_runs.finding import Finding
from ckpt_viz.graphs.overlay.remedy import Fix
from ckpt_viz.matching.changes.kind import Kind
from tests.check_findings.real import value_of
from tests.programs.law import Law
from tests.support.programs import (
    ckpt,
    keras_2_adam,
    keras_2_sequential,
    keras_3_adam,
    keras_3_sequential,
    legacy_adam,
    module,
    save_any,
    v1_adam,
    var,
)
from tests.support.told import told

_LABELS = (
    ("enc", "dec"),
    ("generator", "discriminator"),
    ("student", "teacher"),
    ("model", "ema"),
    ("q", "target_q"),
    ("left", "right", "middle"),
    ("block1", "block2", "block3"),
    ("a", "b", "c", "d"),
)
_RENAMES: Sequence[Callable[[str], str]] = (
    lambda label: label,
    lambda label: f"{label}_net",
    lambda label: f"my_{label}",
    lambda label: f"{label}Model",
    lambda label: {"enc": "encoder", "dec": "decoder", "generator": "gen"}.get(label, label),
    lambda label: f"the_model_of_{label}",
)
_MEANINGLESS = ("x", "y", "z", "w", "net1", "net2", "block2", "block3", "first", "second", "model")
_OPTIMIZERS: Mapping[str, Callable[..., Any]] = {
    one.__name__: one for one in (keras_3_adam, keras_2_adam, legacy_adam, v1_adam)
}


def _tower() -> Any:
    return module(v=var([0.0]), w=module(x=var([0.0, 0.0])))


def _nested() -> Any:
    return module(first=_tower(), second=_tower())


def _listed() -> Any:
    return module(blocks=[_tower() for _ in range(3)], bias=var([0.0] * 3))


def _odd() -> Any:
    return module(scale=var([[0.0]]), shift=var([0.0]))


_PARTS: Mapping[str, Callable[[], Any]] = {
    "tower": _tower,
    "nested": _nested,
    "listed": _listed,
    "odd": _odd,
    "keras_3": lambda: keras_3_sequential(2, 2, width=2),
    "keras_2": lambda: keras_2_sequential(2, 2, width=2),
}
_TEMPLATES = (*("tower", "nested", "listed") * 3, "keras_3", "keras_2")
_LAYOUTS = ("attributes", "dict", "module", "root", "list", "deep", "split")


@dataclass(frozen=True)
class Program:
    """One random program: what is checked, and its variables by part and name."""

    live: Any
    variables: Mapping[tuple[str, ...], Any]


@dataclass(frozen=True)
class Plan:
    """How to lay out parts, each with its name."""

    names: Mapping[str, str]
    layout: str = "attributes"
    holder: str = "parts"


@dataclass(frozen=True)
class Twins:
    """What each part is, and the programs to save and to restore into."""

    made: Mapping[str, str]
    was: Plan
    now: Plan
    optimizer: str | None = None

    def program(self, plan: Plan) -> Program:
        """Make a program; each call makes it again."""
        parts = {label: _PARTS[self.made[label]]() for label in plan.names}
        variables: dict[tuple[str, ...], Any] = {
            (label, graph.name(node)): graph.object(node)
            for label, part in parts.items()
            for graph in [cv.graph(part)]
            for node in range(len(graph.nodes))
            if graph.nodes[node].attributes
        }
        named = {plan.names[label]: part for label, part in parts.items()}
        beside: dict[str, Any] = {}
        if self.optimizer is not None:
            for label, part in parts.items():
                own = [one for key, one in variables.items() if key[0] == label]
                optimizer = _OPTIMIZERS[self.optimizer](*own)
                beside[f"{plan.names[label]}_optimizer"] = optimizer
                graph = cv.graph(ckpt(m=part, o=optimizer))
                for node in range(len(graph.nodes)):
                    key = (label, f"optimizer {graph.name(node)}")
                    if graph.nodes[node].attributes and not any(
                        graph.object(node) is one for one in own
                    ):
                        variables[key] = graph.object(node)
        return Program(_laid_out(named, beside, plan.layout, plan.holder), variables)


def _laid_out(parts: dict[str, Any], beside: dict[str, Any], layout: str, holder: str) -> Any:
    if layout == "attributes":
        return ckpt(**parts, **beside)
    if layout == "dict":
        return ckpt(**{holder: dict(parts)}, **beside)
    if layout == "module":
        return ckpt(**{holder: module(**parts)}, **beside)
    if layout == "root":
        return ckpt(module(**parts), **beside)
    if layout == "list":
        return ckpt(**{holder: list(parts.values())}, **beside)
    if layout == "deep":
        return ckpt(**{holder: module(inner=module(**parts, **beside))})
    first, *rest = parts.items()
    return ckpt(**{holder: module(**dict(rest))}, **dict([first]), **beside)


def draw(rng: Random) -> Twins:
    """Return random twins."""
    labels = list(rng.choice(_LABELS))
    template = rng.choice(_TEMPLATES)
    made = dict.fromkeys(labels, template)
    if rng.random() < 0.3:
        made["odd"] = "odd"
        labels.append("odd")
    optimizers = ("keras_3_adam",) if template == "keras_3" else (*_OPTIMIZERS,)
    optimizer = rng.choice(optimizers) if rng.random() < 0.3 else None
    now = list(labels)
    rng.shuffle(now)
    was = list(labels)
    if rng.random() < 0.25 and len(labels) > 2:
        rng.choice((was, now)).remove(rng.choice(labels))
    rename = rng.choice(_RENAMES)
    # A misleading name alone would put values in a wrong place.
    meaningless = [name for name in _MEANINGLESS if name not in labels]
    names = {label: rename(label) for label in now}
    if rng.random() < 0.3:
        names = dict(zip(now, rng.sample(meaningless, len(now)), strict=True))
    elif rng.random() < 0.3:
        names[rng.choice(now)] = rng.choice(meaningless)
    if len(set(names.values())) < len(names):
        names = {label: label for label in now}
    saved = Plan({label: label for label in was}, rng.choice(_LAYOUTS))
    live = Plan(names, rng.choice(_LAYOUTS), rng.choice(("parts", "nets")))
    return Twins(made, saved, live, optimizer)


def _judge_remedies(twins: Twins, directory: Path) -> list[str]:
    """Compare renamings with the truth; return the kinds of findings, and what they offer."""
    source = twins.program(twins.was)
    _set_apart(source, 1.0)
    path = save_any(directory, source.live)
    checked = twins.program(twins.now)
    _set_apart(checked, -1000.0)
    words = []
    for finding in told(cv.check(checked.live, path)):
        if _is_renaming_to_fix(finding):
            wrong = _wrong_names(finding, source, checked)
        elif finding.change is not None:
            wrong = []
        else:
            continue
        are_equal = "equal parts fit as well" in finding.why
        words += [finding.kind.value, *(["equal parts"] if are_equal else [])]
        assert not wrong, f"{finding.why}\n{finding.remedy}\n{'; '.join(wrong)}"
    return words


def _judge_fix(twins: Twins, directory: Path) -> None:
    """Apply the fix; it gives no value to a twin, unless a plain restore does, too.

    A restore may follow an order that no name contradicts.
    """
    source = twins.program(twins.was)
    values = _set_apart(source, 1.0)
    path = save_any(directory, source.live)
    fixed, restored = twins.program(twins.now), twins.program(twins.now)
    before = _set_apart(fixed, -1000.0)
    _set_apart(restored, -1000.0)
    cv.check(fixed.live, path).fix().apply()
    with contextlib.suppress(Exception):
        restored.live.restore(path).expect_partial()
    wrong = [
        f"{key} is {after}, expected {values.get(key)}"
        for key, variable in fixed.variables.items()
        for after in [value_of(variable)]
        if (after != before[key]).any()
        and (after != values.get(key, before[key])).any()
        and (after != value_of(restored.variables[key])).any()
    ]
    assert not wrong, "\n".join(wrong)


def _is_renaming_to_fix(finding: Finding) -> bool:
    remedy = finding.remedy
    return finding.kind is Kind.RENAMED and isinstance(remedy, Fix) and bool(remedy.values)


def _set_apart(program: Program, start: float) -> dict[tuple[str, ...], Any]:
    """Give each variable a value of its own."""
    import tensorflow as tf

    for number, variable in enumerate(program.variables.values()):
        dtype = tf.as_dtype(variable.dtype)
        variable.assign(tf.cast(tf.fill(variable.shape, start + number), dtype))
    return {key: value_of(variable) for key, variable in program.variables.items()}


def _wrong_names(finding: Finding, source: Program, checked: Program) -> list[str]:
    """Check a renaming: the values below both sides must belong to the same parts."""
    saved, live = cv.graph(source.live), cv.graph(checked.live)
    labels = [
        {
            key[0]
            for key, variable in program.variables.items()
            if any(graph.object(one) is variable for one in ids if one < len(graph.nodes))
        }
        for program, graph, ids in (
            (source, saved, finding.nodes),
            (checked, live, finding.objects),
        )
    ]
    return [] if labels[0] == labels[1] else [f"{labels[0]} is not {labels[1]}"]


REMEDIES = Law("No finding takes a twin for a renamed part", draw, _judge_remedies)
FIXES = Law("No fix puts a value into a twin", draw, _judge_fix)
