"""What need not be saved of a notebook with explorers: their widgets.

The outputs hold the graphs and their pictures, and the JupyterLab extension finds a live widget by
the id that stands there. The widgets' own views and states would only be preferred to that, by
nbconvert for one, whose page is then empty without a network. docs/saved_notebooks.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ckpt_viz.outputs import MIME_TYPE, WIDGET_VIEW

_Json = dict[str, Any]

_STATE = "application/vnd.jupyter.widget-state+json"
_FALLBACKS = ("text/html", "text/plain")
_EXPLORER = "ckpt_viz.explorer.Explorer"  # as anywidget names the class in the state

# Widgets name each other as "IPY_MODEL_<id>", as "anywidget:<id>", and in the outputs of an
# Output widget by the bare id. What only looks like an id is no model's.
_MAYBE_ID = re.compile(r"[0-9A-Za-z-]+")


def slim_notebook(*, model: Any, **_: object) -> None:
    """Leave out of a notebook what need not be saved: a pre-save hook of Jupyter Server.

    Such hooks run before the notebook is signed. A malformed one is saved as it is.
    """
    if not isinstance(model, dict) or model.get("type") != "notebook":
        return
    try:
        model["content"] = slimmed(model["content"])
    except (KeyError, TypeError):
        return  # What refers to what cannot be told.


def slimmed(notebook: _Json) -> _Json:
    """Return a notebook without the widgets of its explorers, but those that are used elsewhere.

    The given one is left as it is; one that has no explorers is returned itself.

    Raises:
        KeyError, TypeError: It is no notebook of format 4.
    """
    if _object(notebook)["nbformat"] != 4:
        return notebook
    bundles = list(_bundles(notebook))
    models = _models(notebook)
    shown = [bundle for bundle in bundles if MIME_TYPE in bundle]
    explorers = {_model_id(bundle, MIME_TYPE) for bundle in shown} | _explorers(models)
    if not explorers:
        return notebook
    held = {_digest(bundle) for bundle in shown if _holds_payload(bundle)} - {""}
    slim = {id(bundle): _without_view(bundle) for bundle in shown if _needs_no_view(bundle, held)}
    views = {_model_id(slim.get(id(bundle), bundle), WIDGET_VIEW) for bundle in bundles}
    gone = _unused(models, explorers, views)
    return _with_models(_with_bundles(notebook, slim), models, gone)


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
    """Return those that are explorers, most of them of cells that have run again since."""
    return {model_id for model_id, model in models.items() if _is_explorer(model)}


def _is_explorer(model: object) -> bool:
    return _text(_get(model, "state"), "_anywidget_id") == _EXPLORER


def _needs_no_view(bundle: _Json, held: Collection[str]) -> bool:
    """Return whether an output shows its own explorer, and as much without the widget."""
    is_own = _model_id(bundle, WIDGET_VIEW) == _model_id(bundle, MIME_TYPE) != ""
    has_graph = _holds_payload(bundle) or _digest(bundle) in held
    return is_own and has_graph and any(fallback in bundle for fallback in _FALLBACKS)


def _holds_payload(bundle: _Json) -> bool:
    return _text(bundle[MIME_TYPE], "payload") != ""


def _digest(bundle: _Json) -> str:
    return _text(bundle[MIME_TYPE], "digest")


def _without_view(bundle: _Json) -> _Json:
    return {mime_type: data for mime_type, data in bundle.items() if mime_type != WIDGET_VIEW}


def _model_id(bundle: _Json, mime_type: str) -> str:
    return _text(bundle.get(mime_type), "model_id")


def _unused(models: _Json, explorers: Collection[str], views: Iterable[str]) -> set[str]:
    """Return the explorers and what they refer to, but what anything that stays refers to."""
    may_go = _reachable(explorers, models)
    stays = (model_id for model_id in models if model_id not in may_go)
    return may_go - _reachable([*stays, *views], models)


def _reachable(start: Iterable[str], models: _Json) -> set[str]:
    found: set[str] = set()
    to_do = list(start)
    while to_do:
        model_id = to_do.pop()
        if model_id in models and model_id not in found:
            found.add(model_id)
            to_do += (name for name in _names(models[model_id]) if name in models)
    return found


def _names(model: object) -> Iterator[str]:
    """Yield what may be ids in the state of a widget, however deep they stand there."""
    to_do = [_get(model, "state")]
    while to_do:
        value = to_do.pop()
        if isinstance(value, dict):
            to_do += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            to_do += value
        elif isinstance(value, str):
            yield from _MAYBE_ID.findall(value)


def _with_bundles(notebook: _Json, slim: Mapping[int, _Json]) -> _Json:
    """Return the notebook with other data in some of its outputs, these by their identity."""

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
    """Return a member that is a text, and an empty one where there is none."""
    found = _get(value, key)
    return found if isinstance(found, str) else ""
