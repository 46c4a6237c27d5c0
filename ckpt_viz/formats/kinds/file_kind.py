"""The kind of a file that is no checkpoint, as data."""

from __future__ import annotations

from dataclasses import dataclass

COPY = "copy or download the file again"


@dataclass(frozen=True, slots=True)
class FileKind:
    """The kind of a file that is no checkpoint.

    `what` is a noun with its article and, if the file tells, its writer. `advice` is the next step.
    `is_part` says that TensorFlow has written it beside the values of a checkpoint or SavedModel.
    """

    what: str
    advice: str
    is_part: bool = False

    @property
    def refusal(self) -> str:
        """What the file is, what was expected, and the next step."""
        return f"{self.what}, not a TensorFlow checkpoint; {self.advice}"
