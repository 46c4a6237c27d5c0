"""What Python, the command line and the explorer call the same next step."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Wording:
    """The parts of sentences that depend on where a person reads them.

    Attributes:
        fix: What restores the values that have a place.
        run_fix: The same as a request, without a full stop.
        guesses: What makes a fix that takes the guesses, too.
        fix_guesses: What restores the values of that fix.
        run_guesses: The same as a request, without a full stop.
        live: What `live` is in code; its class, such as an object or a Saver, goes into the braces.
        path: What `path` is in code.
        verify: What tests the checksums of stored values.
        most: What opens more checkpoints of a history.
        unchanged: What reads the values that never change in a history.
    """

    fix: str
    run_fix: str
    guesses: str
    fix_guesses: str
    run_guesses: str
    live: str
    path: str
    verify: str
    most: str
    unchanged: str


PYTHON = Wording(
    fix="check.fix().apply()",
    run_fix="Call check.fix().apply(), or run check.fix().code",
    guesses="check.fix(guesses=True)",
    fix_guesses="check.fix(guesses=True).apply()",
    run_guesses="Call check.fix(guesses=True).apply()",
    live="the checked {}",
    path="the checkpoint's path",
    verify="verify=True",
    most="`cv.history` with a larger `most`",
    unchanged="`cv.history` with unchanged=True",
)

# Where the explorer can ask for the fix itself. It leaves guesses to Python.
EXPLORER = replace(PYTHON, fix="the code of the fix", run_fix="Run the code of the fix")


def in_commands(fix: str = "ckpt-viz fix") -> Wording:
    """Return the wording of the command line; `fix` is the command that prints a fix."""
    return Wording(
        fix=f"the code of `{fix}`",
        run_fix=f"Run the code of `{fix}`",
        guesses=f"`{fix} --guesses`",
        fix_guesses=f"the code of `{fix} --guesses`",
        run_guesses=f"Run the code of `{fix} --guesses`",
        live="the {} of LIVE",
        path="SAVED",
        verify="--verify",
        most="a larger --most",
        unchanged="--unchanged",
    )
