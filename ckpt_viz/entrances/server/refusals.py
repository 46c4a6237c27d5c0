"""Why the server refuses a request: the reasons of docs/server.md, each with its HTTP status."""

from __future__ import annotations

from enum import Enum

from ckpt_viz.errors import CheckpointNotFoundError, CkptVizError, DeniedError, OutsideError


class Reason(str, Enum):
    """The reason, for programs."""

    BAD_REQUEST = "bad-request"
    FORBIDDEN = "forbidden"
    OUTSIDE = "outside"
    DENIED = "denied"
    NOT_FOUND = "not-found"
    CHANGED = "changed"
    TOO_LARGE = "too-large"
    NOT_A_CHECKPOINT = "not-a-checkpoint"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    NO_FILES = "no-files"
    BUSY = "busy"
    TOO_SLOW = "too-slow"


STATUS = {
    Reason.BAD_REQUEST: 400,
    Reason.FORBIDDEN: 403,
    Reason.OUTSIDE: 403,
    Reason.DENIED: 403,
    Reason.NOT_FOUND: 404,
    Reason.CHANGED: 409,
    Reason.TOO_LARGE: 413,
    Reason.NOT_A_CHECKPOINT: 422,
    Reason.UNREADABLE: 422,
    Reason.FAILED: 500,
    Reason.NO_FILES: 501,
    Reason.BUSY: 503,
    Reason.TOO_SLOW: 504,
}
_OF_ERRORS = (
    (OutsideError, Reason.OUTSIDE),
    (DeniedError, Reason.DENIED),
    (CheckpointNotFoundError, Reason.NOT_FOUND),
    (CkptVizError, Reason.UNREADABLE),
)
FAILED = "ckpt-viz could not answer; the log of Jupyter's server says why"


class RefusedRequest(Exception):
    """A refused request: the reason, and a sentence for people."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def refusal_of(error: Exception) -> RefusedRequest | None:
    """Return the refusal that answers an error; None for an unexpected error."""
    if isinstance(error, RefusedRequest):
        return error
    if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
        return RefusedRequest(
            Reason.TOO_LARGE,
            "the graph does not fit into the memory that Jupyter's server allows; open it in a "
            "kernel, or set c.CkptViz.max_memory_bytes in jupyter_server_config.py",
        )
    reason = next((reason for kind, reason in _OF_ERRORS if isinstance(error, kind)), None)
    return None if reason is None else RefusedRequest(reason, str(error))


def line_of(refusal: RefusedRequest) -> dict[str, str]:
    """Return the line that ends a history in place of its end."""
    return {"part": "refused", "reason": refusal.reason.value, "message": refusal.message}


def reason_of_status(status: int) -> Reason:
    """Return the reason for a status with which Jupyter or Tornado refused a request."""
    if status >= 500:
        return Reason.FAILED
    return {403: Reason.FORBIDDEN, 404: Reason.NOT_FOUND}.get(status, Reason.BAD_REQUEST)
