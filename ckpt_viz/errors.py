"""The errors that ckpt_viz raises on purpose.

Every message names the file or object, the place in it, what was found against
what was expected, and, where there is one, the next step.
"""

from __future__ import annotations

from ckpt_viz.text import printable_lines


class CkptVizError(Exception):
    """Base class: catch it to catch whatever ckpt_viz says about its input."""

    # Names from files are in it, and it ends in tracebacks, on terminals. FileNotFoundError and
    # KeyError would format their arguments in ways of their own; ours is one text.
    def __str__(self) -> str:
        return printable_lines(str(self.args[0])) if self.args else ""


class CheckpointNotFoundError(CkptVizError, FileNotFoundError):
    """The path leads to no checkpoint."""


class FormatError(CkptVizError, ValueError):
    """The bytes of a file are not what its format says: corrupt, truncated or something else."""


class UnsupportedError(CkptVizError, NotImplementedError):
    """The input is well formed, but of a kind that this version does not read."""


class DtypeError(UnsupportedError):
    """A tensor was read, but no numpy dtype here stands for its kind of element.

    `raw` holds its bytes as stored: row-major, in the byte order of the file.
    """

    def __init__(self, message: str, raw: bytes = b"") -> None:
        super().__init__(message)
        self.raw = raw


class OutsideError(CkptVizError):
    """The file lies where none may be read, as in a server: see `formats.confinement`."""


class ReadLimitError(UnsupportedError):
    """More bytes are to be read than may be, as in a server: see `formats.confinement`.

    `limit` is how many may be, `needs` how many at least.
    """

    def __init__(self, message: str, limit: int, needs: int) -> None:
        super().__init__(message)
        self.limit = limit
        self.needs = needs


class DeniedError(CkptVizError, PermissionError):
    """A file or directory is there, but this user may not read it."""


class SourceError(CkptVizError, TypeError):
    """What was passed is neither a checkpoint's path nor an object that TensorFlow can track."""


class NoSuchTensorError(CkptVizError, KeyError):
    """The checkpoint has no tensor of this key or name."""


class QueryError(CkptVizError, ValueError):
    """A query cannot be read or answered; `place` is where, in characters from its start."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place
