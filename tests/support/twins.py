"""Random programs with twins: TensorFlow executes the remedies and fixes of their checks.

`python -m tests.support.twins --programs N` tries any number. Parts of equal structure are saved in
one layout and restored into another. The code of a remedy must raise nothing, and must give every
variable the value of its own part, not of its twin. So must the fix.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import ckpt_viz as cv
from ckpt_viz.changes.kind import Kind
from ckpt_viz.object_graph.remedy import Fix
from ckpt_viz.restore_check.finding import Finding
from tests.check_findings.real import value_of
from tests.support import oracle
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
_OPTIMIZERS: Sequence[Callable[..., Any]] = (keras_3_adam, keras_2_adam, legacy_adam, v1_adam)


def _tower() -> Any:
    return module(v=var([0.0]), w=module(x=var([0.0, 0.0])))


def _nested() -> Any:
    return module(first=_tower(), second=_tower())


def _listed() -> Any:
    return module(blocks=[_tower() for _ in range(3)], bias=var([0.0] * 3))


def _odd() -> Any:
    return module(scale=var([[0.0]]), shift=var([0.0]))


def _of_keras_3() -> Any:
    return keras_3_sequential(2, 2, width=2)


def _of_keras_2() -> Any:
    return keras_2_sequential(2, 2, width=2)


_TEMPLATES = (*(_tower, _nested, _listed) * 3, _of_keras_3, _of_keras_2)
_LAYOUTS = ("attributes", "dict", "module", "root", "list", "deep", "split")


@dataclass(frozen=True)
class Program:
    """One random program: what is checked, and its variables by part and name."""

    live: Any
    variables: Mapping[tuple[str, ...], Any]


@dataclass(frozen=True)
class Plan:
    """How to make a program; each call of `program` makes it again."""

    names: Mapping[str, str]
    make: Mapping[str, Callable[[], Any]]
    layout: str
    optimizer: Callable[..., Any] | None
    holder: str

    def program(self) -> Program:
        parts = {label: self.make[label]() for label in self.names}
        variables: dict[tuple[str, ...], Any] = {
            (label, graph.name(node)): graph.object(node)
            for label, part in parts.items()
            for graph in [cv.graph(part)]
            for node in range(len(graph.nodes))
            if graph.nodes[node].attributes
        }
        named = {self.names[label]: part for label, part in parts.items()}
        beside: dict[str, Any] = {}
        if self.optimizer is not None:
            for label, part in parts.items():
                own = [one for key, one in variables.items() if key[0] == label]
                optimizer = self.optimizer(*own)
                beside[f"{self.names[label]}_optimizer"] = optimizer
                graph = cv.graph(ckpt(m=part, o=optimizer))
                for node in range(len(graph.nodes)):
                    key = (label, f"optimizer {graph.name(node)}")
                    if graph.nodes[node].attributes and not any(
                        graph.object(node) is one for one in own
                    ):
                        variables[key] = graph.object(node)
        return Program(_laid_out(named, beside, self.layout, self.holder), variables)


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


def plans(rng: Random) -> tuple[Plan, Plan]:
    """Return the program to save, and the program to restore into."""
    labels = list(rng.choice(_LABELS))
    template = rng.choice(_TEMPLATES)
    make: dict[str, Callable[[], Any]] = dict.fromkeys(labels, template)
    if rng.random() < 0.3:
        make["odd"] = _odd
        labels.append("odd")
    optimizers = (keras_3_adam,) if template is _of_keras_3 else _OPTIMIZERS
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
    return (
        Plan({label: label for label in was}, make, rng.choice(_LAYOUTS), optimizer, "parts"),
        Plan(names, make, rng.choice(_LAYOUTS), optimizer, rng.choice(("parts", "nets"))),
    )


@dataclass(frozen=True)
class TriedRemedy:
    """A finding, the code of its remedy if it has any, and what TensorFlow shows to be wrong."""

    finding: Finding
    code: str = ""
    wrong: tuple[str, ...] = ()
    restored: int = 0


def tried(was: Plan, now: Plan, directory: Path) -> Iterator[TriedRemedy]:
    """Yield the findings of changes, and what TensorFlow shows about those that are no guess."""
    source = was.program()
    values = _set_apart(source, 1.0)
    path = save_any(directory, source.live)
    checked = now.program()
    _set_apart(checked, -1000.0)
    for finding in told(cv.check(checked.live, path)):
        if finding.code:
            yield _executed(finding, path, now, values)
        elif (
            finding.kind is Kind.RENAMED
            and isinstance(finding.remedy, Fix)
            and finding.remedy.values
        ):
            yield _renamed(finding, source, checked)
        elif finding.change is not None:
            yield TriedRemedy(finding)


def wrong_after_fix(was: Plan, now: Plan, directory: Path) -> list[str]:
    """Return the values that the fix of a check gives to a twin, though a plain restore does not.

    A restore may follow an order that no name contradicts.
    """
    source = was.program()
    values = _set_apart(source, 1.0)
    path = save_any(directory, source.live)
    fixed, restored = now.program(), now.program()
    before = _set_apart(fixed, -1000.0)
    _set_apart(restored, -1000.0)
    cv.check(fixed.live, path).fix().apply()
    with contextlib.suppress(Exception):
        restored.live.restore(path).expect_partial()
    return [
        f"{key} is {after}, expected {values.get(key)}"
        for key, variable in fixed.variables.items()
        for after in [value_of(variable)]
        if (after != before[key]).any()
        and (after != values.get(key, before[key])).any()
        and (after != value_of(restored.variables[key])).any()
    ]


def _is_promised(finding: Finding) -> bool:
    """Return whether the fix restores values of a finding, and does not only offer guesses."""
    return isinstance(finding.remedy, Fix) and finding.remedy.values > 0


def _set_apart(program: Program, start: float) -> dict[tuple[str, ...], Any]:
    """Give each variable a value of its own."""
    import tensorflow as tf

    for number, variable in enumerate(program.variables.values()):
        dtype = tf.as_dtype(variable.dtype)
        variable.assign(tf.cast(tf.fill(variable.shape, start + number), dtype))
    return {key: value_of(variable) for key, variable in program.variables.items()}


def _executed(finding: Finding, path: str, now: Plan, values: Mapping[Any, Any]) -> TriedRemedy:
    import tensorflow as tf

    program, code = now.program(), finding.code
    before = _set_apart(program, -1000.0)
    try:
        eval(code, {"tf": tf, "live": program.live, "path": path}).expect_partial()
    except Exception as error:
        return TriedRemedy(finding, code, (f"raises {type(error).__name__}: {error}",))
    after = {key: value_of(variable) for key, variable in program.variables.items()}
    changed = [key for key, value in after.items() if (value != before[key]).any()]
    wrong = [
        f"{key} is {after[key]}, expected {values.get(key)}"
        for key in changed
        if key not in values or (after[key] != values[key]).any()
    ]
    return TriedRemedy(finding, code, tuple(wrong), len(changed))


def _renamed(finding: Finding, source: Program, checked: Program) -> TriedRemedy:
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
    wrong = () if labels[0] == labels[1] else (f"{labels[0]} is not {labels[1]}",)
    return TriedRemedy(finding, "", wrong)


def in_words(plan: Plan) -> str:
    """Return a plan in words."""
    optimizer = plan.optimizer.__name__ if plan.optimizer is not None else "no optimizer"
    made = {label: plan.make[label].__name__ for label in plan.names}
    return f"{plan.layout} {plan.holder} {dict(plan.names)} {made} {optimizer}"


def main() -> int:
    """Return the exit status: 1 if any remedy is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    oracle.silence_tensorflow()
    outcomes: Counter[str] = Counter()
    for seed in range(arguments.seed, arguments.seed + arguments.programs):
        was, now = plans(Random(seed))
        with tempfile.TemporaryDirectory() as directory:
            remedies = list(tried(was, now, Path(directory)))
            wrong = wrong_after_fix(was, now, Path(directory, "fix"))
        outcomes["programs"] += 1
        outcomes["wrong values of fixes"] += len(wrong)
        if wrong:
            print(f"seed {seed}\n  was {in_words(was)}\n  now {in_words(now)}\n  {wrong[0]}")
        outcomes["with code"] += any(one.code for one in remedies)
        for one in remedies:
            kind = f"{one.finding.kind.value}{' with code' if one.code else ''}"
            outcomes[kind] += 1
            outcomes["values restored"] += one.restored
            if one.wrong:
                outcomes["wrong"] += 1
                print(f"seed {seed}\n  was {in_words(was)}\n  now {in_words(now)}")
                print(
                    f"  {one.finding.why}\n  {one.finding.remedy}\n  {'; '.join(one.wrong[:4])}",
                    flush=True,
                )
    print(dict(outcomes))
    return 1 if outcomes["wrong"] or outcomes["wrong values of fixes"] else 0


if __name__ == "__main__":
    sys.exit(main())
