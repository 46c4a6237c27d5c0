"""What Python, the command line and the explorer call the same next step."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True)
class Wording:
    """The parts of sentences that depend on where a person reads them.

    Attributes:
        fix: What restores the values that have a place.
        run_fix: The same as a request, without a full stop.
        call_fix: The same request within a sentence.
        guesses: What makes a fix that takes the guesses, too.
        fix_guesses: What restores the values of that fix.
        run_guesses: The same as a request, without a full stop.
        verify: What tests the checksums of stored values.
        most: What opens more checkpoints of a history.
        unchanged: What reads the values that never change in a history.
        details: What shows each problem of a check with its reason.
        values: What makes a diff read and compare values.
    """

    fix: str
    run_fix: str
    call_fix: str
    guesses: str
    fix_guesses: str
    run_guesses: str
    verify: str
    most: str
    unchanged: str
    details: str = "print(check.details)"
    values: str = "values=True"


PYTHON = Wording(
    fix="check.fix().apply()",
    run_fix="Call check.fix().apply(), or run check.fix().code",
    call_fix="call check.fix().apply()",
    guesses="check.fix(guesses=True)",
    fix_guesses="check.fix(guesses=True).apply()",
    run_guesses="Call check.fix(guesses=True).apply()",
    verify="verify=True",
    most="a larger `most`",
    unchanged="unchanged=True",
)


# For a Saver in a graph: the values of its variables are in a session.
IN_A_SESSION = replace(
    PYTHON,
    fix="check.fix().apply(session)",
    run_fix="Call check.fix().apply(session), or run check.fix().code",
    call_fix="call check.fix().apply(session)",
    fix_guesses="check.fix(guesses=True).apply(session)",
    run_guesses="Call check.fix(guesses=True).apply(session)",
)


# Where the explorer can restore by itself, and people tick guesses.
EXPLORER = replace(
    PYTHON,
    fix="the button Restore",
    run_fix="Press Restore",
    call_fix="press Restore",
    guesses="your tick",
    fix_guesses="the button Restore with the guesses that you tick",
    run_guesses="Tick guesses and press Restore",
)


# For a program that someone has changed in the explorer only: it has no check to call.
CHANGED = replace(
    PYTHON,
    fix="the fix of the changed program",
    run_fix="Change the program, check it again and run the code of its fix",
    call_fix="change the program, check it again and run the code of its fix",
    guesses="your tick",
    fix_guesses="the fix of the changed program, with the guesses that you tick",
    run_guesses="Change the program, check it again and tick guesses in its fix",
)


def of_expression(check: str, session: str | None = None) -> Wording:
    """Return the wording where no variable `check` is that of the sentence: it names the call.

    A Saver restores in a `session`.
    """
    place = PYTHON if session is None else IN_A_SESSION
    words = {
        name: text.replace("check.", f"{check}.").replace("(session)", f"({session})")
        for name, text in asdict(place).items()
    }
    return Wording(**words)


def in_commands(fix: str = "ckpt-viz fix") -> Wording:
    """Return the wording of the command line; `fix` is the command that prints a fix."""
    return Wording(
        fix=f"the code of `{fix}`",
        run_fix=f"Run the code of `{fix}`",
        call_fix=f"run the code of `{fix}`",
        guesses=f"`{fix} --guesses`",
        fix_guesses=f"the code of `{fix} --guesses`",
        run_guesses=f"Run the code of `{fix} --guesses`",
        verify="--verify",
        most="a larger --most",
        unchanged="--unchanged",
        details="--details",
        values="--values",
    )
