"""What Python and the command line call the same next step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """The parts of sentences that depend on where a person reads them.

    Attributes:
        fix: What restores the values that have a place.
        run_fix: The same as a request, without a full stop.
        guesses: What makes a fix that takes the guesses, too.
        fix_guesses: What restores the values of that fix.
        run_guesses: The same as a request, without a full stop.
        verify: What tests the checksums of stored values.
        most: What opens more checkpoints of a history.
        unchanged: What reads the values that never change in a history.
    """

    fix: str
    run_fix: str
    guesses: str
    fix_guesses: str
    run_guesses: str
    verify: str
    most: str
    unchanged: str


PYTHON = Wording(
    fix="check.fix().apply()",
    run_fix="Call check.fix().apply(), or run check.fix().code",
    guesses="check.fix(guesses=True)",
    fix_guesses="check.fix(guesses=True).apply()",
    run_guesses="Call check.fix(guesses=True).apply()",
    verify="verify=True",
    most="`cv.history` with a larger `most`",
    unchanged="`cv.history` with unchanged=True",
)


def in_commands(fix: str = "ckpt-viz fix") -> Wording:
    """Return the wording of the command line; `fix` is the command that prints a fix."""
    return Wording(
        fix=f"the code of `{fix}`",
        run_fix=f"Run the code of `{fix}`",
        guesses=f"`{fix} --guesses`",
        fix_guesses=f"the code of `{fix} --guesses`",
        run_guesses=f"Run the code of `{fix} --guesses`",
        verify="--verify",
        most="a larger --most",
        unchanged="--unchanged",
    )
