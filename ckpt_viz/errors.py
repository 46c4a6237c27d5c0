"""The errors that ckpt_viz raises on purpose.

Every message gives the file or object, the place in it, and what was found against what was
expected. If there is a next step, the message gives it.
"""

from __future__ import annotations

from ckpt_viz.ground.text import printable_lines

_MAX_SAID = 200  # characters of a query in a message


class CkptVizError(Exception):
    """The base class of every error that ckpt_viz raises about its input.

    >>> try:
    ...     cv.graph("nothing")
    ... except cv.CkptVizError as error:
    ...     print(error)
    nothing: no such checkpoint; expected a file nothing.index
    """

    # A message contains names from files, and tracebacks print it on terminals. FileNotFoundError
    # and KeyError would format their arguments differently.
    def __str__(self) -> str:
        return printable_lines(str(self.args[0])) if self.args else ""


class CheckpointNotFoundError(CkptVizError, FileNotFoundError):
    """The path leads to no checkpoint.

    >>> try:
    ...     cv.graph("ckpts/ckpt-33")
    ... except cv.CheckpointNotFoundError as error:
    ...     print(error)
    ckpts/ckpt-33: no such checkpoint; expected a file ckpts/ckpt-33.index; did you mean
    ckpts/ckpt-3 or ckpts/ckpt-2 or ckpts/ckpt-1?
    """


class GoneError(CheckpointNotFoundError):
    """A file that a read needs does not exist, usually because another program has removed it."""


class FormatError(CkptVizError, ValueError):
    """The bytes of a file do not match its format: corrupt, truncated or another kind of file.

    >>> _ = open("cut.index", "wb").write(open("ckpts/ckpt-3.index", "rb").read()[:100])
    >>> try:
    ...     cv.graph("cut.index")
    ... except cv.FormatError as error:
    ...     print(str(error).partition(":")[0], "is damaged")
    cut.index is damaged

    `file` is that file, and `fault` what it is instead; "" if the reader does not know.
    """

    def __init__(self, message: str, *, file: str = "", fault: str = "") -> None:
        super().__init__(message)
        self.file, self.fault = file, fault


class UnsupportedError(CkptVizError, NotImplementedError):
    """The input is well formed, but this version does not read its kind.

    >>> nans = tf.fill([4], float("nan")).numpy()
    >>> broken = cv.graph("ckpts/ckpt-3").with_values({"net.hidden.b": nans})
    >>> try:
    ...     cv.average([broken, "ckpts/ckpt-2"]).read("net.hidden.b")
    ... except cv.UnsupportedError as error:
    ...     print(error)
    ckpts/ckpt-3, edited: net.hidden.b has a NaN, and so would the average; leave this checkpoint
    out
    """


class DtypeError(UnsupportedError):
    """ckpt_viz read a tensor, but NumPy has no dtype for its elements here.

    `raw` holds its bytes as stored: row-major, in the byte order of the file.
    """

    def __init__(self, message: str, raw: bytes = b"") -> None:
        super().__init__(message)
        self.raw = raw


class OutsideError(CkptVizError):
    """The file is outside the directory that may be read: see `formats.storage.confinement`."""


class ReadLimitError(UnsupportedError):
    """The read needs more bytes than allowed: see `formats.storage.confinement`.

    `limit` is the allowed number of bytes; `needs` is the least number that the read needs.
    """

    def __init__(self, message: str, limit: int, needs: int) -> None:
        super().__init__(message)
        self.limit = limit
        self.needs = needs


class HalfChangedError(CkptVizError, RuntimeError):
    """A change of live objects failed, and some of them did not take their old values.

    `old` has the names of objects with their old values, `changed` those with others.
    """

    def __init__(self, message: str, old: tuple[str, ...], changed: tuple[str, ...]) -> None:
        super().__init__(message)
        self.old, self.changed = old, changed


class DeniedError(CkptVizError, PermissionError):
    """This user may not read an existing file or directory."""


class SourceError(CkptVizError, TypeError):
    """The argument is neither a checkpoint's path nor an object that TensorFlow can track.

    >>> try:
    ...     cv.average(["ckpts/ckpt-1"])
    ... except cv.SourceError as error:
    ...     print(error)
    found 1 checkpoints, expected at least two to average
    """


class NoSuchTensorError(CkptVizError, KeyError):
    """The checkpoint has no tensor of this key or name.

    >>> try:
    ...     cv.graph("ckpts/ckpt-3").read("net.head")
    ... except cv.NoSuchTensorError as error:
    ...     print(error)
    ckpts/ckpt-3: net.head: expected a node with one value, found no value
    """


class NoSuchNodeError(CkptVizError, KeyError):
    """No node of the graph has this name, or several have it.

    >>> try:
    ...     cv.graph("ckpts/ckpt-3").node_id("net.hidden.weights")
    ... except cv.NoSuchNodeError as error:
    ...     print(error)
    ckpts/ckpt-3: expected the name of one node, found 'net.hidden.weights'; did you mean
    net.hidden.w or net.hidden.b or net.hidden?
    """


class EditError(CkptVizError, ValueError):
    """An edit does not fit its graph: the name is taken, or there is nothing to edit.

    >>> try:
    ...     cv.graph("ckpts/ckpt-3").renamed({"net.head": "net.hidden"})
    ... except cv.EditError as error:
    ...     print(error)
    ckpts/ckpt-3: net has a 'hidden' already; take another name
    """


class QueryError(CkptVizError, ValueError):
    """A query cannot be read or answered.

    >>> try:
    ...     cv.graph("ckpts/ckpt-3").find("size>much")
    ... except cv.QueryError as error:
    ...     print(error)
    query 'size>much', at character 6: expected a number like 1MB or 64KiB

    `place` is the position of the mistake, in characters from the start. `expected` says what the
    search expected there.
    """

    def __init__(self, query: str, place: int, expected: str) -> None:
        said = query if len(query) <= _MAX_SAID else f"{query[:_MAX_SAID]}…"
        super().__init__(f"query {said!r}, at character {place + 1}: expected {expected}")
        self.place, self.expected = place, expected
