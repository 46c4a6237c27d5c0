"""Answers to the questions of an open explorer: values, accessors, files, the fix of a check.

The kernel sends nothing before the explorer asks. A question comes from a browser, so the kernel
does not trust it. A question without an answer gets a sentence with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ckpt_viz.answers.graph_diff.diff_result import GraphDiff
from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.answers.restore_check.played import asked, played, said, source_of
from ckpt_viz.answers.restore_fix.fix import RestoreFix
from ckpt_viz.entrances.jupyter.changed import changed_of, described, shown_changed
from ckpt_viz.entrances.jupyter.copies import code_of_copy
from ckpt_viz.entrances.jupyter.kernel_run import kernel_shell, variable_of
from ckpt_viz.entrances.jupyter.restoring import restored, short_code, undone
from ckpt_viz.entrances.jupyter.shown import Shown
from ckpt_viz.errors import CkptVizError, SourceError
from ckpt_viz.files.values.row import ValueRow
from ckpt_viz.files.values.table_json import row_json
from ckpt_viz.graphs.nodes.nodes import Attribute
from ckpt_viz.graphs.overlay.overlay import State
from ckpt_viz.graphs.render.exports import EXPORTS
from ckpt_viz.ground.expressions import is_name
from ckpt_viz.ground.text import sendable
from ckpt_viz.live.sources.pictured import ObjectGraph

if TYPE_CHECKING:
    from ckpt_viz.formats.arrays.tensors import Array

Answer = tuple[dict[str, Any], list[bytes]]

MAX_ELEMENTS = 100
_MAX_STRING = 200  # characters of one element
# States of nodes that only one side has.
_ALONE = (State.LIVE_ONLY, State.SAVED_ONLY, State.ONLY_A, State.ONLY_B, State.PLAIN)


def answer(shown: Shown, question: Any, state: Mapping[str, Any] | None = None) -> Answer:
    """Return the answer to a question as data and buffers; `error` gives the reason for none.

    Questions are `{"ask": "values", "node": 3}`, the same for "accessor", `{"ask": "file",
    "format": "svg"}`, `{"ask": "fix"}`, `{"ask": "restore"}`, `{"ask": "undo"}`, `{"ask": "steps",
    "at": 0}`, `{"ask": "said", "at": 400}`, `{"ask": "source", "at": 3}`, `{"ask": "questions"}`,
    `{"ask": "measures"}`, `{"ask": "picture"}`, `{"ask": "copy", "kind": "without", "nodes": [3]}`.
    With `"changes"`, a question is about the check with a changed program, and `{"ask": "changed"}`
    about its verdict. For an accessor and a fix, "source" may give the program's variable; for a
    fix and a restore, "guesses" the places of the accepted guesses. `state` holds the explorer's
    traits, with which an exported file opens.
    """
    data, buffers = _answered(shown, question, state)
    return sendable(data), buffers


def _answered(shown: Shown, question: Any, state: Mapping[str, Any] | None) -> Answer:
    try:
        if "changes" in question:
            return _of_changed(shown, dict(question), state)
        if question["ask"] == "file":
            return _file(shown, question, state)
        return _ANSWERS[question["ask"]](shown, question)
    except CkptVizError as error:  # some of them are also a KeyError or a TypeError
        return {"error": str(error)}, []
    except (KeyError, TypeError) as error:
        return {"error": f"found the question {question!r:.200}: {error}"}, []
    except Exception as error:  # a value's own code raises, a file is gone, a disk fails
        return {"error": error_sentence(error)}, []


def error_sentence(error: Exception) -> str:
    """Return a sentence about an error: our own message, or the class and message of any other."""
    if isinstance(error, CkptVizError):
        return str(error)
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # an error class of the program
        return type(error).__name__


# --- values


def _values(shown: Shown, question: Mapping[str, Any]) -> Answer:
    node_id = _node_id(shown, question)
    return {"values": list(_values_of(shown, node_id))}, []


def _values_of(shown: Shown, node_id: int) -> Iterator[dict[str, Any]]:
    """Yield each value of a node; in a comparison also that of the checkpoint (of a), first."""
    other = _other_side(shown, node_id)
    if other is not None:
        of, graph, name = other
        yield _value_or_error(of, "", partial(_only_of, graph, name))
    of, own = _own_side(shown, node_id)
    if own is not None:
        for attribute in shown.graph.nodes[node_id].attributes:
            yield _value_or_error(of, attribute.name, partial(_known_of, own, attribute))


def _own_side(shown: Shown, node_id: int) -> tuple[str, ObjectGraph | None]:
    if shown.overlay is None or shown.comparison is None:
        return "", shown.graph
    (of_live, live), (of_saved, saved) = _sides(shown.comparison)
    is_ghost = node_id >= shown.overlay.base_size
    return (of_saved, saved) if is_ghost else (of_live, live)


def _other_side(shown: Shown, node_id: int) -> tuple[str, ObjectGraph, str] | None:
    """Return a node's counterpart: the other side, its graph, and the node's name there."""
    if shown.overlay is None or shown.comparison is None or node_id >= shown.overlay.base_size:
        return None
    mark = shown.overlay.marks[node_id]
    of, graph = _sides(shown.comparison)[1]
    if graph is None or mark.state in _ALONE or not shown.graph.nodes[node_id].attributes:
        return None
    return of, graph, mark.partner or shown.graph.name(node_id)


def _sides(
    comparison: RestoreCheck | GraphDiff,
) -> tuple[tuple[str, ObjectGraph], tuple[str, ObjectGraph | None]]:
    """Return the side whose nodes come first, then the other, each as its name and its graph."""
    if isinstance(comparison, GraphDiff):
        return ("b", comparison.b), ("a", comparison.a)
    return ("program", comparison.live), ("checkpoint", comparison.saved)


class _KnownTensor(NamedTuple):
    """The first elements of a tensor, its shape, its dtype, and its statistics."""

    elements: Array
    shape: tuple[int, ...]
    dtype: str
    statistics: ValueRow | None


def _only_of(graph: ObjectGraph, name: str) -> _KnownTensor:
    """Return what is known of the only value of a node."""
    node_id = graph.first_named(name)
    if node_id is None or len(graph.nodes[node_id].attributes) != 1:
        raise SourceError(f"{graph.title}: {name} has no single value")
    return _known_of(graph, graph.nodes[node_id].attributes[0])


def _known_of(graph: ObjectGraph, attribute: Attribute) -> _KnownTensor:
    checkpoint_key = attribute.checkpoint_key
    keys = graph.tensor_keys(checkpoint_key) or (checkpoint_key,)
    elements = graph.beginning(keys[0], MAX_ELEMENTS)
    stored = graph.stored(keys[0])
    shape = stored.shape if stored is not None and stored.shape is not None else elements.shape
    dtype = stored.dtype if stored is not None and stored.dtype is not None else str(elements.dtype)
    return _KnownTensor(elements, shape, dtype, graph.statistics(attribute))


def _value_or_error(of: str, name: str, read: Callable[[], _KnownTensor]) -> dict[str, Any]:
    try:
        known = read()
    except Exception as error:  # only this value fails; others may be readable
        return {"of": of, "name": name, "error": error_sentence(error)}
    return {
        "of": of,
        "name": name,
        "dtype": known.dtype,
        "shape": list(known.shape),
        "elements": [_element(element) for element in known.elements.tolist()],
        **_statistics_json(known.statistics),
    }


def _statistics_json(row: ValueRow | None) -> dict[str, Any]:
    """Return the statistics of a tensor of numbers; nothing for others, and if there are none."""
    if row is None or row.count is None or row.lengths is not None:
        return {}
    statistics = row_json(row)
    names = ("count", "zeros", "nan", "inf", "min", "max", "mean", "std")
    numbers = {name: statistics[name] for name in names if statistics.get(name) is not None}
    if statistics.get("l2") is not None:
        numbers["norm"] = statistics["l2"]
    return {"statistics": numbers, "histogram": statistics.get("histogram")}


def _element(value: object) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, str):
        return repr(value if len(value) <= _MAX_STRING else f"{value[:_MAX_STRING]}…")
    return f"{value:.6g}" if isinstance(value, (float, complex)) else str(value)


# --- accessors


def _accessor(shown: Shown, question: Mapping[str, Any]) -> Answer:
    node_id = _node_id(shown, question)
    if shown.overlay is not None and node_id >= shown.overlay.base_size:
        raise SourceError(f"{shown.overlay.names.place(node_id)} has no live object")
    source = _source(question) or "source"
    return {"text": shown.graph.accessor(node_id, source)}, []


def _source(question: Mapping[str, Any]) -> str | None:
    """Return the program's variable, if the question gives it."""
    source = question.get("source")
    if source is None or (isinstance(source, str) and is_name(source)):
        return source
    raise SourceError(f"found source {source!r:.80}, expected the name of a variable")


def _node_id(shown: Shown, question: Mapping[str, Any]) -> int:
    node_id = question["node"]
    if type(node_id) is not int or not 0 <= node_id < len(shown.graph.nodes):
        raise SourceError(
            f"found node id {node_id!r:.40}, expected 0 to {len(shown.graph.nodes) - 1}"
        )
    return node_id


# --- files


def _file(shown: Shown, question: Mapping[str, Any], state: Mapping[str, Any] | None) -> Answer:
    export = EXPORTS[question["format"]]
    text = export.text_of(shown.content(state))
    return {"name": f"checkpoint.{export.format}", "type": export.mime}, [text.encode()]


# --- the fix of a check


def _fix(shown: Shown, question: Mapping[str, Any]) -> Answer:
    source = _source(question) or _variable_of(shown.check)
    shown.accept(_accepted(shown, question))
    return fix_answer(shown.check, shown.fix, source, shown.accepted)


def _accepted(shown: Shown, question: Mapping[str, Any]) -> list[str]:
    """Return the saved parts whose guesses the question accepts, by their places in the overlay."""
    guesses = shown.overlay.guesses if shown.overlay is not None else ()
    places = question.get("guesses", [])
    if not isinstance(places, list) or any(not _is_place(place, guesses) for place in places):
        raise SourceError(
            f"found guesses {places!r:.80}, expected places of guesses, below {len(guesses)}"
        )
    return [guesses[place] for place in places]


def _is_place(place: object, items: Sequence[object]) -> bool:
    return type(place) is int and 0 <= place < len(items)


def fix_answer(
    check: RestoreCheck, fix: RestoreFix[RestoreCheck], source: str | None, guesses: tuple[str, ...]
) -> Answer:
    """Return the code of a fix with the accepted guesses: of ckpt-viz, and of TensorFlow alone.

    `source` is the program's variable for the checked object, if it is known.
    """
    code = {
        "short": short_code(check, guesses),
        "code": fix.to_code(source, fix.prefix),
        "source": source,
    }
    return {"fix": code}, []


def _restore(shown: Shown, question: Mapping[str, Any]) -> Answer:
    """Restore what the fix restores, and tell what was done."""
    shown.accept(_accepted(shown, question))
    return {"text": restored(shown)}, []


def _undo(shown: Shown, _question: Mapping[str, Any]) -> Answer:
    """Put back the values from before the restore."""
    return {"text": undone(shown)}, []


def _variable_of(check: RestoreCheck) -> str | None:
    """Return the notebook's variable for the checked object, if there is one."""
    shell, source = kernel_shell(), check.live.source
    return None if shell is None or source is None else variable_of(shell, source)


# --- the steps of a restore


def _steps(shown: Shown, question: Mapping[str, Any]) -> Answer:
    """Return all steps as columns, and the words of those around one."""
    return played(_played_check(shown), question["at"], shown.questions)


def _questions(shown: Shown, _question: Mapping[str, Any]) -> Answer:
    """Return what a learner may be asked before a step."""
    return asked(_played_check(shown), shown.questions), []


def _said(shown: Shown, question: Mapping[str, Any]) -> Answer:
    """Return the words of the steps around another one."""
    return said(_played_check(shown).steps, question["at"]), []


def _source_of_step(shown: Shown, question: Mapping[str, Any]) -> Answer:
    """Return the text of the function of TensorFlow that does a step, and the line in it."""
    return source_of(_played_check(shown), question["at"]), []


def _played_check(shown: Shown) -> RestoreCheck:
    if not isinstance(shown.comparison, RestoreCheck):
        raise SourceError(f"{shown.graph.title}: only the check of a restore has steps")
    return shown.comparison


# --- the check with a changed program


def _of_changed(shown: Shown, question: dict[str, Any], state: Mapping[str, Any] | None) -> Answer:
    """Return the answer about the check with a changed program, or to what changes with it."""
    changes, source = question.pop("changes"), _source(question) or _variable(shown)
    made = changed_of(shown, changes, source)
    if question["ask"] == "changed":
        return {"changed": described(made)}, []
    return _answered(shown_changed(shown, made.program), question, state)


def _variable(shown: Shown) -> str | None:
    return _variable_of(shown.comparison) if isinstance(shown.comparison, RestoreCheck) else None


def _picture(shown: Shown, _question: Mapping[str, Any]) -> Answer:
    """Return the payload, which a page asks for after the verdict of a changed program."""
    return {}, [shown.encoded]


def _measures(shown: Shown, _question: Mapping[str, Any]) -> Answer:
    """Return the payload with what all values measure."""
    from ckpt_viz.files.values.running import silent  # here, because it takes a while to import

    shown.measures(silent)
    return {}, [shown.encoded]


# --- an edited copy


def _copy(shown: Shown, question: Mapping[str, Any]) -> Answer:
    """Return the code of an edited copy of the checkpoint."""
    return {"text": code_of_copy(shown, question)}, []


_ANSWERS: Mapping[str, Callable[[Shown, Mapping[str, Any]], Answer]] = {
    "values": _values,
    "accessor": _accessor,
    "copy": _copy,
    "fix": _fix,
    "measures": _measures,
    "picture": _picture,
    "restore": _restore,
    "undo": _undo,
    "steps": _steps,
    "questions": _questions,
    "said": _said,
    "source": _source_of_step,
}
