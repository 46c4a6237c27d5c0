"""`%load_ext ckpt_viz`: the check and its fix, below the traceback of a restore that failed.

The user has not asked for this check. So the check of a restore ends within two seconds, or a
message says what to call. The check of `load_model` builds in another process. It takes longer the
first time, after a message. No error in a check reaches the cell.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from traceback import walk_tb
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar

from ckpt_viz.answers.dry_runs.keras_dry_run import METHOD, OPTIONS
from ckpt_viz.entrances.jupyter.kernel_run import (
    expression_for,
    free_name,
    held_objects,
    kernel_shell,
    variable_of,
)
from ckpt_viz.entrances.jupyter.time_limit import TimeIsUp, TimeLimit
from ckpt_viz.errors import CkptVizError, SourceError
from ckpt_viz.files.saved.file_types import has_name_of_keras
from ckpt_viz.ground.wording import PYTHON, Wording, of_expression
from ckpt_viz.live.sessions.assignment_map import is_warm_start, pairs_of
from ckpt_viz.live.sessions.saver import is_of_graph
from ckpt_viz.live.tensorflow_names import tensorflow_private as tf_private
from ckpt_viz.live.tensorflow_names import tensorflow_savers as tf_savers

if TYPE_CHECKING:
    from ckpt_viz.answers.load_check.load_result import LoadCheck
    from ckpt_viz.answers.restore_check.check_result import RestoreCheck
    from ckpt_viz.answers.restore_fix.fix import RestoreFix

_PACKAGE, _SHORT = "ckpt_viz", "cv"
_RESTORES = ("restore", "read")
_OF_LOADS = ("custom_objects", "compile", "safe_mode")
_ASSERTS = ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match")
# How TensorFlow begins each warning when it deletes a status whose values were not all restored.
_WARNINGS = (
    "Value in checkpoint could not be found in the restored object",
    "An attribute in the restored object could not be found in the checkpoint",
)
_OF_BUILDS = 60.0  # seconds for a process that imports Keras and builds the model
_SECONDS = 1.8  # what cannot be interrupted, such as a collection of garbage, comes on top
_BUILDS = (
    "ckpt_viz: looking for all causes, which imports {} in a process of its own. Interrupt to stop."
)
_HINT = (
    "ckpt_viz: a restore left values of the checkpoint unused. To see which and why, run\n"
    "    check = ckpt_viz.check(ckpt, path)  # what you restored, and from where\n"
    "    print(check); print(check.fix().code)"
)


class FailedRestores:
    """Watches the cells of an IPython shell; it changes neither their errors nor their objects."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
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
        with suppress(Exception):  # not even a message that cannot be printed
            held = (obj for _, obj in held_objects(self._shell))
            call = None if result.error_in_exec is None else call_of(result.error_in_exec, held)
            if call is not None:
                self._look_at(call)
            elif has_warned:
                print(_HINT)

    def _look_at(self, call: RestoreCall | LoadCall) -> None:
        """Check a call that has failed, and show the check; or say how to do that."""
        if not TimeLimit.is_possible():
            why = "a check has no time limit in this thread or on this system"
            print(call.hint(why, self._shell))
            return
        limit = TimeLimit(call.seconds)
        try:
            with limit:
                call.show_below(self._shell)
            return
        except (CkptVizError, LookupError):
            return
        except TimeIsUp:
            why = "the check of this restore and its fix take long and were stopped"
        except KeyboardInterrupt:
            why = "you have stopped the check of this restore"
        except BaseException as error:  # of the user's objects, or a fault of ours
            why = f"the check of this restore ended with a {type(error).__name__}"
        finally:
            limit.stop()
        print(call.hint(why, self._shell))


class _Warnings(logging.Handler):
    """Notes whether TensorFlow has warned of values that were not restored."""

    has_warned = False

    def emit(self, record: logging.LogRecord) -> None:
        if str(record.msg).startswith(_WARNINGS):
            self.has_warned = True


@dataclass(frozen=True, eq=False)
class RestoreCall:
    """A call that has failed: of what was restored, from where, by which method.

    Without a `path` the target is a status, which knows it. A Saver restores in a `session`, and a
    map initializes variables, whose `graph` may no longer be the default graph.
    """

    target: object
    path: object = None
    method: str | None = None
    graph: Any = None
    options: Any = None
    session: Any = None
    seconds: ClassVar[float] = _SECONDS

    def check(self, wording: Wording = PYTHON) -> RestoreCheck:
        """Return the check of the call; raises what `check` raises."""
        from ckpt_viz.answers.restore_check.check_result import RestoreCheck
        from ckpt_viz.answers.restore_check.run import AskedCheck

        asked = AskedCheck(self.target, self.path, self.method, self.options, wording=wording)
        with self.graph.as_default() if self.graph is not None else nullcontext():
            return RestoreCheck.of(asked)

    def show_below(self, shell: Any) -> None:
        """Show the check and its fix, in the names of the user; raises what `check` raises."""
        target, _ = _name_for(self.target, "ckpt", shell)
        session, _ = _name_for(self.session, "session", shell)
        package = variable_of(shell, sys.modules[_PACKAGE]) or _SHORT
        expression = f"{package}.check({self._arguments(target)})"
        check = self.check(of_expression(expression, None if self.session is None else session))
        if kernel_shell() is None:
            print(check)
        else:
            from IPython.display import display

            from ckpt_viz.entrances.jupyter.widget import show

            display(show(check))  # type: ignore[no-untyped-call]
        notes = [*self._notes_on_others(shell)]
        if notes and expression in str(check):
            print(f"{'; '.join(notes)}.")
        fix = _fix_of(check)
        if fix is not None and fix.pairs:
            print(self._code(fix, shell))

    def _notes_on_others(self, shell: Any) -> Iterator[str]:
        """Yield a note on each name of the check that the user does not have."""
        if variable_of(shell, sys.modules[_PACKAGE]) is None:
            yield f"`{_SHORT}` needs `import {_PACKAGE} as {_SHORT}`"
        for name, obj in (("ckpt", self.target), ("session", self.session)):
            if obj is not None and expression_for(shell, obj) is None:
                yield _name_for(obj, name, shell)[1]

    def _code(self, fix: RestoreFix[RestoreCheck], shell: Any) -> str:
        """Return the code of the fix, after a sentence on the names in it."""
        name, of_target = _name_for(self.target, "ckpt", shell)
        session, of_session = _name_for(self.session, "session", shell)
        code = fix.to_code(name, fix.prefix)
        notes = [of_target] if {"ckpt", "saver"}.intersection(fix.free_names) else []
        if "session" in fix.free_names:
            notes.append(of_session)
            code = code if session == "session" else f"session = {session}\n{code}"
        are = f" ({'; '.join(notes)})" if notes else ""
        return f"This restores every value that has a place{are}:\n\n{code}"

    def hint(self, why: str, shell: Any) -> str:
        """Return the code for the check, after the reason why it is not here."""
        name, _ = _name_for(self.target, "ckpt", shell)
        return (
            f"ckpt_viz: {why}. To see why the restore failed, run\n"
            f"    import {_PACKAGE}\n"
            f"    check = {_PACKAGE}.check({self._arguments(name)})\n"
            f"    print(check){'' if is_warm_start(self.target) else '; print(check.fix().code)'}"
        )

    def _arguments(self, target: str) -> str:
        """Return the arguments of `check` for this call, with an expression for its target."""
        if self.path is None:
            return target
        path = "path"
        if isinstance(self.path, (str, os.PathLike)):
            path = ascii(os.fspath(self.path))
        arguments = [target, path]
        if self.method == "read" and _is_checkpoint(self.target):  # of a model it is the default
            arguments.append("method='read'")
        if isinstance(self.options, dict):  # of load_weights: plain values
            arguments.append(f"options={self.options!a}")
        return ", ".join(arguments)


@dataclass(frozen=True, eq=False)
class LoadCall:
    """A call of `load_model` that has failed, of `keras` or `tf_keras`."""

    path: str
    library: str
    options: Mapping[str, Any]
    seconds: ClassVar[float] = _OF_BUILDS

    def check(self) -> LoadCheck:
        """Return the check of the call; raises what `check_load_model` raises."""
        from ckpt_viz.api import check_load_model

        return check_load_model(self.path, **self.options, keras=sys.modules[self.library])

    def show_below(self, shell: Any) -> None:
        """Show the check if it finds why the call failed; raises what `check` raises."""
        from ckpt_viz.answers.load_check.builder import is_ready

        if not is_ready(self.library):
            print(_BUILDS.format(self.library))
        check = self.check()
        if check.raises is None:  # it failed for what the check does not follow
            return
        if kernel_shell() is None:
            print(check)
        else:
            from IPython.display import display

            display(check)  # type: ignore[no-untyped-call]

    def hint(self, why: str, shell: Any) -> str:
        """Return the code for the check, after the reason why it is not here."""
        given = ", custom_objects=custom_objects" if self.options.get("custom_objects") else ""
        return (
            f"ckpt_viz: {why}. To see why load_model failed, run\n"
            "    import ckpt_viz\n"
            f"    print(ckpt_viz.check_load_model({self.path!a}{given}))"
        )


def call_of(error: BaseException, held: Iterable[object] = ()) -> RestoreCall | LoadCall | None:
    """Return the restore, the assert of its status, or the load in whose call an error came.

    `held` are objects of the user, one of which may be the checkpoint of a status.
    """
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    load = next(filter(None, map(_load_in, frames)), None)
    if load is not None or "tensorflow" not in sys.modules:
        return load
    for frame in frames:
        name, known = frame.f_code.co_name, frame.f_locals
        target = known.get("self")
        if name in _ASSERTS and tf_private.is_load_status(target):
            known_by = tf_private.restored_by(target, held)
            return RestoreCall(target) if known_by is None else RestoreCall(*known_by)
        if name in _RESTORES and _is_checkpoint(target) and "save_path" in known:
            return RestoreCall(target, known["save_path"], name)
        if name == "restore" and tf_savers.is_saver(target) and "save_path" in known:
            session = known.get("sess")
            graph = getattr(session, "graph", None)
            return RestoreCall(target, known["save_path"], name, graph, session=session)
        if name == "init_from_checkpoint" and is_warm_start(known.get("assignment_map")):
            warm_start = known["assignment_map"], known.get("ckpt_dir_or_file")
            return RestoreCall(*warm_start, graph=_graph_of_map(warm_start[0], frames))
        if name == "load_weights" or getattr(known.get("fn"), "__name__", "") == "load_weights":
            return _of_load_weights(known)
    return None


def _load_in(frame: FrameType) -> LoadCall | None:
    """Return the call of Keras' `load_model` that a frame is."""
    library, _, module = str(frame.f_globals.get("__name__", "")).partition(".")
    is_keras = library in ("keras", "tf_keras") and module == "src.saving.saving_api"
    if not is_keras or frame.f_code.co_name != "load_model":
        return None
    known = frame.f_locals
    path = known.get("filepath")
    if not isinstance(path, (str, os.PathLike)):
        return None
    options = {name: known[name] for name in _OF_LOADS if name in known}
    return LoadCall(os.fspath(path), library, options)


def _graph_of_map(assignment_map: object, frames: Iterable[FrameType]) -> Any:
    """Return the graph of the variables of a map; TensorFlow's code has those that it names."""
    variables = [variable for _, variable in pairs_of(assignment_map)]
    for frame in frames:
        variables += (frame.f_locals.get("store_vars") or {}).values()
    return next((v.graph for v in variables if is_of_graph(v)), None)


def _is_checkpoint(target: object) -> bool:
    module = type(target).__module__.partition(".")[0]
    bases = {base.__name__ for base in type(target).__mro__}
    return module == "tensorflow" and not bases.isdisjoint({"Checkpoint", "CheckpointV1"})


def _of_load_weights(known: dict[str, Any]) -> RestoreCall | None:
    """Return the call of a Keras model: Keras' own files by its method, others as a checkpoint."""
    arguments = dict(enumerate(known.get("args", ())))
    named = known.get("kwargs") or {}
    model = known.get("self", arguments.get(0))
    path = known.get("filepath", named.get("filepath", arguments.get(1)))
    if model is None or not isinstance(path, (str, os.PathLike)):
        return None
    if not has_name_of_keras(os.fspath(path)):
        return RestoreCall(model, path, "read")
    options = {name: known.get(name, named.get(name)) for name in OPTIONS}
    given = {name: value for name, value in options.items() if value}
    return RestoreCall(model, path, METHOD, options=given or None)


_watching: list[FailedRestores] = []


def load(shell: Any) -> None:
    """Watch a shell, once; import now what a check needs, since its time is limited."""
    if not _watching:
        import ckpt_viz.answers.load_check.load_result
        import ckpt_viz.api

        if kernel_shell() is not None:
            import ckpt_viz.entrances.jupyter.widget  # noqa: F401
        _watching.append(FailedRestores(shell))
        _watching[0].start()


def unload() -> None:
    """Watch no shell any more."""
    while _watching:
        _watching.pop().stop()


def _name_for(obj: object, name: str, shell: Any) -> tuple[str, str]:
    """Return the user's expression for an object, and a note on it.

    Without one it is a name that the user has not used: the code must not change another object.
    """
    known = None if obj is None else expression_for(shell, obj)
    if known is not None:
        return known, f"`{known}` is yours"
    free = free_name(shell, name)
    return free, f"`{free}` is the {'session' if name == 'session' else 'object'} of this call"


def _fix_of(check: RestoreCheck) -> RestoreFix[RestoreCheck] | None:
    """Return the fix of an object-based checkpoint, or of a Saver; None if there is none."""
    if check.saved is not None:
        with suppress(SourceError):  # a load of weights has none
            return check.fix()
    if tf_savers.is_saver(check.live.source):
        with suppress(SourceError):  # no checkpoint
            return check.fix()
    return None
