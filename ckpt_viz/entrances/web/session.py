"""What the page's engine does: opens what a person dropped, and answers about it.

Pyodide runs this in a worker of the page (labextension/src/page/worker.ts), which mounts the files
and enters their directory, so that all paths are relative. The page sends and gets JSON and bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ckpt_viz.api import check
from ckpt_viz.entrances.jupyter.answers import Answer, answer, error_sentence
from ckpt_viz.entrances.jupyter.shown import Shown, show_of
from ckpt_viz.entrances.web.dropped import Series, missing_files, series_in
from ckpt_viz.errors import CkptVizError, SourceError

if TYPE_CHECKING:  # these import numpy
    from ckpt_viz.answers.timeline.history import History
    from ckpt_viz.files.values.running import Begin, OnRead

# Called with what was read, and all that there is, in bytes.
Tell = Callable[[int, int], object]

_MOST_MISSING = 20  # files whose names the page gets
_NO_CHECKPOINT = (
    "none of these {count} files is a checkpoint. Drop the .index file and its .data files, a "
    "SavedModel's folder, or a file of Keras"
)


class Session:
    """What the page shows: a graph, a comparison of two, or the history of several.

    The methods never raise: an answer without a result has the sentence that tells why, as `error`.
    """

    def __init__(self, tell: Tell = lambda done, total: None) -> None:
        self._tell = tell
        self._shown: Shown | None = None
        self._history: History | None = None

    def series(self, files: Sequence[str]) -> str:
        """Return the series of checkpoints among files, as JSON; those written last come first."""
        return _json(lambda: {"series": [_series_json(each) for each in _series(files)]})

    def open(self, show: str, paths: Sequence[str]) -> tuple[str, bytes]:
        """Open one or more checkpoints; return what there is to know of them, and the payload.

        `show` is "graph", or "diff" from the first path to the second, "check" of a program that
        would save the first when it restores the second, or "history" of all.
        """
        payload = b""

        def opened() -> dict[str, Any]:
            nonlocal payload
            payload, title = self._opened(show, [_plain(path) for path in paths])
            missing = [name for path in paths for name in missing_files(_plain(path))]
            return {
                "title": title,
                "missing": missing[:_MOST_MISSING],
                "show": show,
                "can_rehearse": self._can_rehearse,
            }

        return _json(opened), payload

    def ask(self, question: str, state: str | None = None) -> tuple[str, list[bytes]]:
        """Answer a question of the explorer, or of the view of a history, as JSON and buffers."""
        buffers: list[bytes] = []

        def answered() -> Mapping[str, Any]:
            asked = json.loads(question)
            data, parts = self._answer(asked, None if state is None else json.loads(state))
            buffers.extend(parts)
            return data

        return _json(answered), buffers

    def _opened(self, show: str, paths: Sequence[str]) -> tuple[bytes, str]:
        self._shown = self._history = None
        if show == "history":
            from ckpt_viz.answers.timeline.history import history_of
            from ckpt_viz.answers.timeline.view_payload import encode

            self._history = history_of([*paths], begin=self._begin)
            return encode(self._history), os.path.dirname(paths[-1]) or paths[-1]
        if show == "check":
            self._shown = show_of(check(*paths))
        else:
            self._shown = show_of(*paths)
        return self._shown.encoded, self._shown.graph.title

    @property
    def _can_rehearse(self) -> bool:
        """Whether a program can be edited that would save what is open."""
        return self._shown is not None and not self._shown.graph.is_of_keras

    def _answer(self, question: Any, state: Mapping[str, Any] | None) -> Answer:
        if self._history is not None:
            from ckpt_viz.answers.timeline.questions import answer_with_files

            answered = answer_with_files(self._history, question, on_read=_telling(self._tell, 0))
            return answered or ({"error": f"found the question {question!r:.200}"}, [])
        if self._shown is None:
            raise SourceError("no checkpoint is open: drop one on this page")
        if question == {"ask": "measures"}:
            self._shown.measures(self._begin)  # which tells how far it is
        return answer(self._shown, question, state)

    @property
    def _begin(self) -> Begin:
        return lambda _title, total: nullcontext(_telling(self._tell, total))


def _telling(tell: Tell, total: int) -> OnRead:
    """Return what tells the page how many bytes were read, and tell it that none were yet."""
    done = 0

    def on_read(nbytes: int) -> None:
        nonlocal done
        done += nbytes
        tell(done, total)

    on_read(0)
    return on_read


def _series(files: Sequence[str]) -> list[Series]:
    series = series_in([_plain(path) for path in files])
    if not series:
        raise SourceError(_NO_CHECKPOINT.format(count=len(files)))
    return series


def _series_json(series: Series) -> dict[str, Any]:
    return {"directory": series.directory, "paths": list(series.paths)}


def _plain(path: str) -> str:
    """Return a relative path that names no home directory."""
    return f"./{path}" if path.startswith("~") else path


def _json(work: Callable[[], Mapping[str, Any]]) -> str:
    """Return the result of some work as JSON; of work that fails, the sentence that tells why."""
    try:
        result = work()
    except Exception as error:  # of a damaged file, or of the browser
        result = {"error": _sentence(error)}
    return json.dumps(result)


def _sentence(error: Exception) -> str:
    if isinstance(error, ImportError) and not isinstance(error, CkptVizError):
        return f"{error}: this copy of the page cannot do this. Open the checkpoint in Python."
    if isinstance(error, MemoryError):
        return (
            "This takes more memory than the browser gives a page. Open the checkpoint in Python."
        )
    return error_sentence(error)
