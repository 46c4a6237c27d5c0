"""What to do about a problem, as data; each place says it by its own wording."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from ckpt_viz.ground.text import count
from ckpt_viz.ground.wording import PYTHON, Wording


class _Said(ABC):
    """Something to do; it prints as the sentence of Python."""

    __slots__ = ()

    @abstractmethod
    def in_words(self, wording: Wording) -> str:
        """Return the sentence of a place."""

    def __str__(self) -> str:
        return self.in_words(PYTHON)


@dataclass(frozen=True, slots=True)
class Advice(_Said):
    """A sentence that is the same everywhere, but for a call of the fix."""

    kind: ClassVar[str] = "advice"

    text: str

    def in_words(self, wording: Wording) -> str:
        """Return the sentence of a place."""
        at_first, here = PYTHON.call_fix, wording.call_fix
        text = self.text.replace(at_first, here)
        return text.replace(_as_sentence(at_first), _as_sentence(here))


class HowFixed(Enum):
    """How a fix restores the values of a finding."""

    BY_PLACES = "by places"
    BY_NAMES = "by names"  # of layers and attributes, from a name-based file
    BY_FORMER_NAMES = "by former names"  # of the variables of a Saver
    AS_STATE = "as state"  # of an optimizer that keeps its slot variables in another way


@dataclass(frozen=True, slots=True)
class Fix(_Said):
    """The fix restores values of the finding.

    Attributes:
        how: How it restores them.
        values: How many it restores; from a name-based file, how many in all.
        guesses: How many more it restores if a person accepts the guesses.
    """

    kind: ClassVar[str] = "fix"

    how: HowFixed
    values: int
    guesses: int = 0

    def in_words(self, wording: Wording) -> str:
        """Return the sentence of a place."""
        if not self.values:
            return f"{wording.run_guesses}, if the guesses are right."
        guesses = count(self.guesses, "guess", "guesses")
        more = f"; {wording.guesses} adds {guesses}" if self.guesses else ""
        return f"{wording.run_fix}, which {self._does}{more}."

    @property
    def _does(self) -> str:
        match self.how:
            case HowFixed.BY_PLACES:
                return "puts each value in its new place"
            case HowFixed.BY_NAMES:
                return "finds the values by the names of layers and attributes"
            case HowFixed.BY_FORMER_NAMES:
                names = "its name" if self.values == 1 else "their names"
                return f"reads {count(self.values, 'value')} under {names} in the file"
            case HowFixed.AS_STATE:
                return f"also restores {count(self.values, 'slot variable')}"


@dataclass(frozen=True, slots=True)
class PartialFix(_Said):
    """The fix restores the rest of the checkpoint.

    Attributes:
        instead: A request that also restores the values of the finding, without a full stop.
        left: What becomes of these values after the fix, if there is no such request.
        takes_guesses: Whether the fix has no values unless a person accepts the guesses.
    """

    kind: ClassVar[str] = "partial_fix"

    instead: str = ""
    left: str = ""
    takes_guesses: bool = False

    def in_words(self, wording: Wording) -> str:
        """Return the sentence of a place."""
        fix = wording.fix_guesses if self.takes_guesses else wording.fix
        if self.instead:
            return f"{self.instead}, or restore the rest with {fix}."
        return f"Restore the rest with {fix}; {self.left}."


class PathResult(Enum):
    """What the restore of another path does."""

    PASSES = "passes"  # every assert
    FAILS = "fails"  # `assert_consumed`, though it restores values
    RAISES = "raises"
    IS_WHOLE = "is whole"  # all that the restore reads; it is damaged at the path of the check


@dataclass(frozen=True, slots=True)
class OtherPath(_Said):
    """Another path to restore, and what its restore does."""

    kind: ClassVar[str] = "other_path"

    path: str
    result: PathResult

    def in_words(self, wording: Wording) -> str:
        """Return the sentence of a place."""
        match self.result:
            case PathResult.IS_WHOLE:
                return (
                    f"Restore {self.path!r} instead: there, all values that this restore reads "
                    "are undamaged."
                )
            case PathResult.PASSES:
                does = "pass every assert"
            case PathResult.FAILS:
                does = "restore values, but fail assert_consumed()"
            case PathResult.RAISES:
                does = "raise, too"
        return f"Pass {self.path!r}, which would {does}."


@dataclass(frozen=True, slots=True)
class LoadWithKeras(_Said):
    """The call of Keras that loads a file.

    `is_model` says that the file also has the model, and `has_fix` that `check.fix()` takes it.
    `library` is the package of Keras that wrote it: another one may not read its model.
    """

    kind: ClassVar[str] = "advice"

    path: str
    is_model: bool
    has_fix: bool = True
    library: str = "keras"

    def in_words(self, wording: Wording) -> str:
        """Return the sentence of a place."""
        model = f"{self.library}.saving.load_model({self.path!r})"
        weights = f"model.load_weights({self.path!r})"
        calls = f"{model}, or its weights with {weights}" if self.is_model else weights
        fix = f" {wording.run_fix}, to restore the values whose names fit." if self.has_fix else ""
        return f"Load it with {calls}.{fix}"


def _as_sentence(words: str) -> str:
    return words[0].upper() + words[1:]


Remedy = Fix | PartialFix | OtherPath | LoadWithKeras | Advice


def names_guesses(remedy: Remedy | None) -> bool:
    """Return whether a remedy is a fix that takes guesses if a person accepts them."""
    match remedy:
        case Fix(guesses=number):
            return number > 0
        case PartialFix(takes_guesses=takes):
            return takes
    return False


def names_the_fix(remedy: Remedy | None) -> bool:
    """Return whether the sentence of a remedy names the fix."""
    return isinstance(remedy, (Fix, PartialFix))
