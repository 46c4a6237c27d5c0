"""The errors that ckpt_viz raises on purpose.

Every message names the file or object, the place in it, what was found against
what was expected, and, where there is one, the next step.
"""

from __future__ import annotations

from ckpt_viz.text import printable_lines


class CkptVizError(Exception):
    """The base class of every error that ckpt_viz raises about its input."""

    # A message has names from files, and tracebacks print it on terminals. FileNotFoundError and
    # KeyError would format their arguments in other ways.
    def __str__(self) -> str:
        return printable_lines(str(self.args[0])) if self.args else ""


class CheckpointNotFoundError(CkptVizError, FileNotFoundError):
    """The path leads to no checkpoint."""


class FormatError(CkptVizError, ValueError):
    """The bytes of a file are not what its format says: corrupt, truncated or something else."""


class UnsupportedError(CkptVizError, NotImplementedError):
    """The input is well formed, but of a kind that this version does not read."""


class DtypeError(UnsupportedError):
    """A tensor was read, but numpy has no dtype for its elements here.

    `raw` holds its bytes as stored: row-major, in the byte order of the file.
    """

    def __init__(self, message: str, raw: bytes = b"") -> None:
        super().__init__(message)
        self.raw = raw


class OutsideError(CkptVizError):
    """The file is outside the directory that may be read: see `formats.confinement`."""


class ReadLimitError(UnsupportedError):
    """Reading takes more bytes than allowed: see `formats.confinement`.

    `limit` is the number allowed; `needs` is the least number that reading takes.
    """

    def __init__(self, message: str, limit: int, needs: int) -> None:
        super().__init__(message)
        self.limit = limit
        self.needs = needs


class DeniedError(CkptVizError, PermissionError):
    """This user may not read an existing file or directory."""


class SourceError(CkptVizError, TypeError):
    """What was passed is neither a checkpoint's path nor an object that TensorFlow can track."""


class NoSuchTensorError(CkptVizError, KeyError):
    """The checkpoint has no tensor of this key or name."""


class QueryError(CkptVizError, ValueError):
    """A query cannot be read or answered; `place` is where, in characters from its start."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place
