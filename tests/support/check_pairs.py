"""Restore random pairs, dry and for real: `python -m tests.support.check_pairs --pairs N`.

Prints how many pairs came to which result. For each disagreement between the check and TensorFlow,
it prints a text that `--case` takes. `--case` then shrinks that pair and prints its recipes.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from tests.support import oracle
from tests.support.pairs import FAMILIES, as_text, make_case, parse, run
from tests.support.recipes import Case, Recipe, wrong_values

SHARES = {"plain": 0.86, "keras 3": 0.1, "tf_keras": 0.04}


def main() -> int:
    """Return the exit status: 1 if any pair disagrees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--family", choices=FAMILIES, help="only this one, of three")
    parser.add_argument("--case", help="a text that was printed, to be shrunk")
    arguments = parser.parse_args()
    oracle.silence_tensorflow()
    with tempfile.TemporaryDirectory() as directory:
        if arguments.case:
            return _show(parse(arguments.case), Path(directory))
        shares = {arguments.family: 1.0} if arguments.family else SHARES
        disagreements = 0
        for name, share in shares.items():
            wanted = round(arguments.pairs * share)
            disagreements += _try(name, wanted, arguments.seed, Path(directory))
    return 1 if disagreements else 0


def _try(name: str, wanted: int, seed: int, directory: Path) -> int:
    """Run a number of pairs of a family; return how many disagree."""
    family = FAMILIES[name]
    if not family.is_available():
        print(f"{name}: skipped, not installed")
        return 0
    rng, start = Random(f"{name} {seed}"), time.monotonic()
    outcomes: Counter[str] = Counter()
    disagreements = unsaved = wrong = 0
    while outcomes.total() < wanted:
        case = make_case(rng, family)
        before = outcomes.total()
        for goal, source, outcome in run(case, directory):
            if isinstance(outcome, Exception):
                disagreements += 1
                outcomes["disagrees"] += 1
                text = as_text(case._replace(goals=(goal,)))
                print(f"{_described(outcome)}\n--case {shlex.quote(text)}\n", flush=True)
                continue
            comparison, target = outcome
            outcomes[_in_short(comparison.outcome)] += 1
            if comparison.outcome.consumed is None and goal.where != "graph":
                wrong += bool(wrong_values(source, target))
        unsaved += outcomes.total() == before
    seconds = time.monotonic() - start
    print(
        f"{name}: {outcomes.total()} pairs in {seconds:.0f} s, {disagreements} disagreements; "
        f"{unsaved} sources could not be saved; {dict(outcomes)}; of those that pass, "
        f"{wrong} have a wrong value",
        flush=True,
    )
    return disagreements


def _in_short(outcome: oracle.Outcome) -> str:
    if outcome.raises:
        return f"raises {outcome.raises}"
    for name in ("existing_objects_matched", "consumed"):
        if getattr(outcome, name):
            return f"{name}: {getattr(outcome, name)}"
    return "passes"


def _described(error: Exception) -> str:
    if isinstance(error, AssertionError):
        return str(error)
    return "".join(traceback.format_exception(error))


# --- one that disagrees


def _show(case: Case, directory: Path) -> int:
    case = _shrunk(case, directory)
    goal, disagreement = case.goals[0], _disagreement(case, directory)
    print(f"{case.family}, saved with {case.saving}:")
    for one in case.source:
        print("   ", tuple(one))
    print(f"restored: {goal._replace(recipe=())}")
    for one in goal.recipe:
        print("   ", tuple(one))
    print(_described(disagreement) if disagreement is not None else "agrees")
    return 1 if disagreement is not None else 0


def _disagreement(case: Case, directory: Path) -> Exception | None:
    for _, _, outcome in run(case, directory):
        if isinstance(outcome, Exception):
            return outcome
    return None


def _signature(error: Exception | None) -> Any:
    """Return the fields that disagree, to tell one disagreement from another."""
    if not isinstance(error, AssertionError):
        return type(error)
    lines = [line.strip() for line in str(error).splitlines()]
    return frozenset(
        line.partition(":")[0].partition("[")[0] for line in lines if ": check" in line
    )


def _shrunk(case: Case, directory: Path) -> Case:
    """Take out instructions for as long as it disagrees in the same way."""
    wanted = _signature(_disagreement(case, directory))
    smaller = True
    while smaller and wanted is not type(None):
        smaller = False
        for is_source in (True, False):
            recipe = case.source if is_source else case.goals[0].recipe
            for index in reversed(range(len(recipe) - 1)):
                candidate = _with(case, (*recipe[:index], *recipe[index + 1 :]), is_source)
                if _signature(_disagreement(candidate, directory)) == wanted:
                    case, smaller = candidate, True
                    recipe = case.source if is_source else case.goals[0].recipe
    return case


def _with(case: Case, recipe: Recipe, is_source: bool) -> Case:
    if is_source:
        return case._replace(source=recipe)
    return case._replace(goals=(case.goals[0]._replace(recipe=recipe),))


if __name__ == "__main__":
    sys.exit(main())
