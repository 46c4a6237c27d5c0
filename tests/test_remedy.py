"""What a remedy says in Python, on the command line and in the explorer."""

from __future__ import annotations

import re

import pytest

from ckpt_viz.graphs.overlay.overlay import Problem, Severity
from ckpt_viz.graphs.overlay.remedy import (
    Advice,
    Fix,
    HowFixed,
    OtherPath,
    PartialFix,
    PathResult,
    Remedy,
    names_the_fix,
)
from ckpt_viz.ground.wording import EXPLORER, PYTHON, in_commands
from tests.support.remedy_code import unrunnable_in

_COMMAND = "ckpt-viz fix a b"


@pytest.mark.parametrize(
    ("remedy", "in_python", "in_command", "in_explorer"),
    [
        (
            Fix(HowFixed.BY_PLACES, 3, 2),
            "Call check.fix().apply(), or run check.fix().code, which puts each value in its new "
            "place; check.fix(guesses=True) adds 2 guesses.",
            "Run the code of `ckpt-viz fix a b`, which puts each value in its new place; "
            "`ckpt-viz fix a b --guesses` adds 2 guesses.",
            "Press Restore, which puts each value in its new place; your tick adds 2 guesses.",
        ),
        (
            Fix(HowFixed.AS_STATE, 1),
            "Call check.fix().apply(), or run check.fix().code, which also restores 1 slot "
            "variable.",
            "Run the code of `ckpt-viz fix a b`, which also restores 1 slot variable.",
            "Press Restore, which also restores 1 slot variable.",
        ),
        (
            Fix(HowFixed.BY_NAMES, 0, 1),
            "Call check.fix(guesses=True).apply(), if the guesses are right.",
            "Run the code of `ckpt-viz fix a b --guesses`, if the guesses are right.",
            "Tick guesses and press Restore, if the guesses are right.",
        ),
        (
            PartialFix(instead="Copy it again"),
            "Copy it again, or restore the rest with check.fix().apply().",
            "Copy it again, or restore the rest with the code of `ckpt-viz fix a b`.",
            "Copy it again, or restore the rest with the button Restore.",
        ),
        (
            PartialFix(left="these stay", takes_guesses=True),
            "Restore the rest with check.fix(guesses=True).apply(); these stay.",
            "Restore the rest with the code of `ckpt-viz fix a b --guesses`; these stay.",
            "Restore the rest with the button Restore with the guesses that you tick; these stay.",
        ),
        (
            Fix(HowFixed.BY_FORMER_NAMES, 1),
            "Call check.fix().apply(), or run check.fix().code, which reads 1 value under its name "
            "in the file.",
            "Run the code of `ckpt-viz fix a b`, which reads 1 value under its name in the file.",
            "Press Restore, which reads 1 value under its name in the file.",
        ),
        (
            Advice("Build it, or call check.fix().apply(): it restores the rest."),
            "Build it, or call check.fix().apply(): it restores the rest.",
            "Build it, or run the code of `ckpt-viz fix a b`: it restores the rest.",
            "Build it, or press Restore: it restores the rest.",
        ),
    ],
)
def test_each_place_has_its_own_words(
    remedy: Remedy, in_python: str, in_command: str, in_explorer: str
) -> None:
    assert str(remedy) == in_python
    said = [remedy.in_words(one) for one in (PYTHON, in_commands(_COMMAND), EXPLORER)]
    assert said == [in_python, in_command, in_explorer]


@pytest.mark.parametrize(
    ("remedy", "said"),
    [
        (Advice("Wait."), "Wait."),
        (OtherPath("a", PathResult.RAISES), "Pass 'a', which would raise, too."),
        (
            OtherPath("a", PathResult.IS_WHOLE),
            "Restore 'a' instead: there, all values that this restore reads are undamaged.",
        ),
    ],
)
def test_other_words_are_the_same_everywhere(remedy: Remedy, said: str) -> None:
    places = (PYTHON, in_commands(_COMMAND), EXPLORER)
    assert [remedy.in_words(place) for place in places] == [said] * 3


def test_the_kind_tells_what_a_remedy_is() -> None:
    remedies = (Fix(HowFixed.BY_PLACES, 1), PartialFix(left="a"), Advice("a"), None)
    assert [names_the_fix(remedy) for remedy in remedies] == [True, True, False, False]


def test_a_long_name_in_a_remedy_is_cut() -> None:
    problem = Problem(Severity.INFO, "kind", (), None, None, "Why.", Advice("x" * 10_000))
    assert problem.to_do(PYTHON).endswith("x…")


@pytest.mark.parametrize(
    ("remedy", "unknown"),
    [
        (Advice("Call optimizer.build(variables)."), ["optimizer.build(variables)"]),
        (Advice("Pass CheckpointOptions(a=True)."), ["CheckpointOptions(a=True)"]),
        (Advice("Do it inside `with scope():`, or call restore()."), ["with scope():"]),
        (Advice("Call re.no_such()."), ["re.no_such()"]),
        (Advice("Call re.escape(), or its build(). Set the option `a`; run `git lfs pull`."), []),
        (Fix(HowFixed.BY_PLACES, 1, 1), ["check.fix()", "check.fix(guesses=True)"]),
    ],
)
def test_code_with_names_that_a_program_lacks_is_found(remedy: Remedy, unknown: list[str]) -> None:
    assert sorted({*unrunnable_in(remedy, PYTHON, {"re": re})}) == unknown
    if isinstance(remedy, Fix):
        assert unrunnable_in(remedy, in_commands(_COMMAND), {}) == []
