"""The part of a notebook with explorers that need not be saved: their widgets.

The outputs hold the graphs and their pictures, and the JupyterLab extension finds a live widget by
the id in an output. Tools such as nbconvert would prefer the widgets' own views and states to the
pictures. Their page would then be empty without a network. docs/saved_notebooks.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from ckpt_viz.entrances.jupyter.snapshots import HISTORY_MIME_TYPE, MIME_TYPE, WIDGET_VIEW

_Json = dict[str, Any]

_STATE = "application/vnd.jupyter.widget-state+json"
_FALLBACKS = ("text/html", "text/plain")
# The name that anywidget gives the class in the state, now and in notebooks of version 0.1.
_EXPLORERS = (
    "ckpt_viz.entrances.jupyter.widget.Explorer",
    "ckpt_viz.explorer.Explorer",
    "ckpt_viz.entrances.jupyter.history_view.HistoryView",
)

_OWN = ("layout", "_shared_code", "_shared_payload")  # the models that belong to one explorer
# Widgets refer to each other by a text of exactly this prefix and an arbitrary id.
_REFERENCE = "IPY_MODEL_"
_OF_WIDGETS = (WIDGET_VIEW, MIME_TYPE, HISTORY_MIME_TYPE)
_REFERENCES = (_REFERENCE, "anywidget:")


def slim_notebook(*, model: Any, **_: object) -> None:
    """Remove the unnecessary parts of a notebook: a pre-save hook of Jupyter Server.

    Such hooks run before the notebook is signed. A malformed notebook is saved unchanged.
    """
    if not isinstance(model, dict) or model.get("type") != "notebook":
        return
    with suppress(Exception):  # If the references cannot be found out, the notebook is saved whole.
        model["content"] = slimmed(model["content"])


def slimmed(notebook: _Json) -> _Json:
    """Return a notebook without the widgets of its explorers, except those in use elsewhere.

    The argument does not change; a notebook without explorers is returned itself.

    Raises:
        KeyError, TypeError: It is not a notebook of format 4.
    """
    if _object(notebook)["nbformat"] != 4:
        return notebook
    bundles = list(_bundles(notebook))
    models = _models(notebook)
    shown = [bundle for bundle in bundles if MIME_TYPE in bundle or HISTORY_MIME_TYPE in bundle]
    if not shown and not _explorers(models):
        return notebook
    held = {_digest(bundle) for bundle in shown if _holds_payload(bundle)} - {""}
    slim = {id(bundle): _without_view(bundle) for bundle in shown if _needs_no_view(bundle, held)}
    slim_notebook = _with_bundles(notebook, slim)
    without_widgets = _with_models(slim_notebook, models, models)
    return _with_models(slim_notebook, models, _unused(models, without_widgets))


def _bundles(notebook: _Json) -> Iterator[_Json]:
    """Yield the data of all outputs, by MIME type."""
    for cell in _array(notebook["cells"]):
        for output in _array(_object(cell).get("outputs", [])):
            if "data" in _object(output):
                yield _object(output["data"])


def _models(notebook: _Json) -> _Json:
    """Return the saved state of the widgets by id."""
    widgets = _object(_object(notebook["metadata"]).get("widgets", {}))
    return _object(_object(widgets[_STATE])["state"]) if _STATE in widgets else {}


def _explorers(models: _Json) -> set[str]:
    """Return the explorers among them; most belong to cells that have run again since."""
    return {model_id for model_id, model in models.items() if _is_explorer(_get(model, "state"))}


def _is_explorer(state: object) -> bool:
    return _text(state, "_anywidget_id") in _EXPLORERS


def _needs_no_view(bundle: _Json, held: Collection[str]) -> bool:
    """Return whether an output shows its own explorer, and as much without the widget."""
    of_history = HISTORY_MIME_TYPE in bundle
    own = HISTORY_MIME_TYPE if of_history else MIME_TYPE
    viewed, shown = (_get(bundle.get(name), "model_id") for name in (WIDGET_VIEW, own))
    is_own = isinstance(viewed, str) and viewed == shown
    if of_history:
        return is_own and "text/html" in bundle
    has_graph = _holds_payload(bundle) or _digest(bundle) in held
    return is_own and has_graph and any(fallback in bundle for fallback in _FALLBACKS)


def _holds_payload(bundle: _Json) -> bool:
    return _text(bundle.get(MIME_TYPE), "payload") != ""


def _digest(bundle: _Json) -> str:
    return _text(bundle.get(MIME_TYPE), "digest")


def _without_view(bundle: _Json) -> _Json:
    return {mime_type: data for mime_type, data in bundle.items() if mime_type != WIDGET_VIEW}


def _unused(models: _Json, without_widgets: _Json) -> set[str]:
    """Return the explorers and their models, except those that a remaining part refers to."""
    explorers = _explorers(models)
    own = (model_id for explorer in explorers for model_id in _own(models[explorer]["state"]))
    of_explorers = explorers | (set(own) & models.keys())
    stays = [model_id for model_id in models if model_id not in of_explorers]
    return of_explorers - _reachable([*stays, *_named_in(without_widgets)], models)


def _reachable(start: Iterable[str], models: _Json) -> set[str]:
    reachable: set[str] = set()
    to_do = list(start)
    while to_do:
        model_id = to_do.pop()
        if model_id in models and model_id not in reachable:
            reachable.add(model_id)
            state = _get(models[model_id], "state")
            to_do += _own(state) if _is_explorer(state) else _named_in(models[model_id])
    return reachable


def _own(explorer: _Json) -> Iterator[str]:
    """Yield the ids of an explorer's own models; its other values are texts of people."""
    for key in _OWN:
        reference = _text(explorer, key)
        if reference.startswith(_REFERENCE):
            yield reference.removeprefix(_REFERENCE)


def _named_in(whole: object) -> Iterator[str]:
    """Yield the ids of the widgets that a value names or shows, at any depth."""
    to_do = [whole]
    while to_do:
        value = to_do.pop()
        if isinstance(value, dict):
            # These two hold ids directly, and a view's id shows its widget.
            to_do += [inner for key, inner in value.items() if key not in _OF_WIDGETS]
            if isinstance(shown := _get(value.get(WIDGET_VIEW), "model_id"), str):
                yield shown
        elif isinstance(value, list):
            to_do += value
        elif isinstance(value, str):
            for prefix in _REFERENCES:
                if value.startswith(prefix):
                    yield value.removeprefix(prefix)


def _with_bundles(notebook: _Json, slim: Mapping[int, _Json]) -> _Json:
    """Return the notebook with other data in some of its outputs, by the outputs' identity."""

    def changed(output: _Json) -> _Json:
        return {**output, "data": slim[id(output["data"])]} if is_slim(output) else output

    def is_slim(output: _Json) -> bool:
        return id(output.get("data")) in slim

    cells = [
        {**cell, "outputs": [changed(output) for output in cell["outputs"]]}
        if any(is_slim(output) for output in cell.get("outputs", []))
        else cell
        for cell in notebook["cells"]
    ]
    return {**notebook, "cells": cells}


def _with_models(notebook: _Json, models: _Json, gone: Collection[str]) -> _Json:
    if not gone:
        return notebook
    metadata = dict(notebook["metadata"])
    left = {model_id: model for model_id, model in models.items() if model_id not in gone}
    widgets = metadata["widgets"]
    if left or len(widgets) > 1:  # nbconvert looks for the state wherever there are "widgets"
        metadata["widgets"] = {**widgets, _STATE: {**widgets[_STATE], "state": left}}
    else:
        del metadata["widgets"]
    return {**notebook, "metadata": metadata}


def _object(value: Any) -> _Json:
    if not isinstance(value, dict):
        raise TypeError(f"found {type(value).__name__}, expected a JSON object")
    return value


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"found {type(value).__name__}, expected a JSON array")
    return value


def _get(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _text(value: object, key: str) -> str:
    """Return a member that is text, or an empty text if there is none."""
    member = _get(value, key)
    return member if isinstance(member, str) else ""
