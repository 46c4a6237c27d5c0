"""`%load_ext ckpt_viz`: the check and its fix, below the traceback of a restore that failed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from ckpt_viz.errors import CkptVizError
from ckpt_viz.jupyter.kernel_run import kernel_shell
from ckpt_viz.live import tensorflow_private as tf_private

if TYPE_CHECKING:
    from ckpt_viz.restore_check.check_result import RestoreCheck

_RESTORES = ("restore", "read")
_ASSERTS = ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match")
# How TensorFlow begins each warning when it deletes a status whose values were not all restored.
_WARNINGS = (
    "Value in checkpoint could not be found in the restored object",
    "An attribute in the restored object could not be found in the checkpoint",
)
_HINT = (
    "ckpt_viz: a restore left values of the checkpoint unused. To see which and why, run\n"
    "    check = ckpt_viz.check(ckpt, path)  # what you restored, and from where\n"
    "    print(check); print(check.fix().code)"
)


class FailedRestores:
    """Watches the cells of an IPython shell; it changes neither their errors nor their objects."""

    def __init__(self, shell: Any, say: Callable[[RestoreCheck], None]) -> None:
        self._shell, self._say = shell, say
        self._log = _Warnings()

    def start(self) -> None:
        """Look at every cell from now on."""
        self._shell.events.register("post_run_cell", self._after)
        logging.getLogger("tensorflow").addHandler(self._log)

    def stop(self) -> None:
        """Look at no further cell."""
        self._shell.events.unregister("post_run_cell", self._after)
        logging.getLogger("tensorflow").removeHandler(self._log)

    def _after(self, result: Any) -> None:
        has_warned, self._log.has_warned = self._log.has_warned, False
        check = None if result.error_in_exec is None else check_of(result.error_in_exec)
        if check is not None:
            self._say(check)
        elif has_warned:
            print(_HINT)


class _Warnings(logging.Handler):
    """Notes whether TensorFlow has warned of values that were not restored."""

    has_warned = False

    def emit(self, record: logging.LogRecord) -> None:
        if str(record.msg).startswith(_WARNINGS):
            self.has_warned = True


def check_of(error: BaseException) -> RestoreCheck | None:
    """Return the check of the restore, or of its status, in whose call an error was raised.

    None for any other error, and if the check itself cannot be made.
    """
    if "tensorflow" not in sys.modules:
        return None
    for frame in _frames(error.__traceback__):
        name, known = frame.f_code.co_name, frame.f_locals
        target = known.get("self")
        try:
            if name in _ASSERTS and tf_private.is_load_status(target):
                known_by = tf_private.restored_by(target)
                return _checked(target, None) if known_by is None else _checked(*known_by)
            if name in _RESTORES and _is_checkpoint(target) and "save_path" in known:
                return _checked(target, known["save_path"], name)
            if name == "load_weights" or getattr(known.get("fn"), "__name__", "") == "load_weights":
                target, path = _of_load_weights(known)
                return _checked(target, path, "read")
        except (CkptVizError, LookupError):
            return None
    return None


def _checked(target: object, path: object, method: str | None = None) -> RestoreCheck:
    from ckpt_viz.api import check

    return check(target, path, method=method)


def _is_checkpoint(target: object) -> bool:
    module = type(target).__module__.partition(".")[0]
    bases = {base.__name__ for base in type(target).__mro__}
    return module == "tensorflow" and not bases.isdisjoint({"Checkpoint", "CheckpointV1"})


def _of_load_weights(known: dict[str, Any]) -> tuple[object, object]:
    """Return the model and the path of a call; raises LookupError for another file."""
    arguments = dict(enumerate(known.get("args", ())))
    named = known.get("kwargs") or {}
    model = known.get("self", arguments.get(0))
    path = known.get("filepath", named.get("filepath", arguments.get(1)))
    if model is None or not isinstance(path, str) or path.endswith((".h5", ".keras", ".hdf5")):
        raise LookupError("not a checkpoint of TensorFlow")
    return model, path


def _frames(traceback: TracebackType | None) -> Iterator[FrameType]:
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


_watching: list[FailedRestores] = []


def load(shell: Any) -> None:
    """Watch a shell, once."""
    if not _watching:
        _watching.append(FailedRestores(shell, show_below))
        _watching[0].start()


def unload() -> None:
    """Watch no shell any more."""
    while _watching:
        _watching.pop().stop()


def show_below(check: RestoreCheck) -> None:
    """Show a check and its fix: in Jupyter the explorer, in a terminal the text."""
    fix = check.fix() if check.saved is not None else None
    if kernel_shell() is None:
        print(check)
    else:
        from IPython.display import display

        from ckpt_viz.jupyter.widget import show

        display(show(check))  # type: ignore[no-untyped-call]
    if fix is not None and fix.pairs:
        print("This restores every value that has a place (`ckpt` and `path` are yours):\n")
        print(fix.code)
