"""Widgets that share stored code and payload, however many of them a notebook shows.

A saved notebook holds the state of each widget. These widgets store a loader and the names of two
models without a view. One model has the code, the other the payload; all widgets of a kind share
them. labextension/src/widget/loader.ts reads them. If models cannot be shared, each widget has its
own copy.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from ckpt_viz.entrances.jupyter.kernel_run import kernel_shell
from ckpt_viz.entrances.jupyter.snapshots import digest_of

_LOADER = Path(__file__).parents[2] / "static" / "loader.js"
# labextension/src/host/messages.ts has the same value.
_QUESTION = "ckpt-viz:question"
_ANSWER = "ckpt-viz:answer"
_INTERRUPTED = "The kernel was interrupted before it answered. Ask again."


class SharedModel(ipywidgets.Widget):  # type: ignore[misc]
    """The part that widgets share. It closes with the last of them."""

    parts = traitlets.Dict(value_trait=traitlets.Unicode()).tag(sync=True)

    def __init__(self, **parts: str) -> None:
        super().__init__(parts=parts)
        self.users: set[str] = set()


# By digest; the code by its kind. A closed model is created again.
_models: dict[str, SharedModel] = {}


def _on_the_wire(encoded: bytes, widget: SharingWidget) -> bytes:
    return encoded if widget._shared_payload is None else b""


def _reference() -> traitlets.Instance[SharedModel | None]:
    trait = traitlets.Instance(SharedModel, allow_none=True)
    return trait.tag(sync=True, **ipywidgets.widget_serialization)


class SharingWidget(anywidget.AnyWidget):
    """An anywidget with a `_payload`; a subclass names its `_esm` and `_css`, two files."""

    _esm: Any
    _css: Any
    # Widgets of one kind share their code, and the page has one style sheet of each kind.
    _kind = "ckpt-viz"
    _payload = traitlets.Bytes().tag(sync=True, to_json=_on_the_wire)
    _shared_code = _reference()
    _shared_payload = _reference()

    def __init__(self, **kwargs: Any) -> None:
        self._shares = _can_share()
        if self._shares:
            kwargs["_shared_code"] = _code(self._kind, str(self._esm), str(self._css))
            self._esm, self._css = _LOADER.read_text("utf-8"), ""
        super().__init__(**kwargs)
        if self._shared_code is not None:
            self._shared_code.users.add(self.model_id)
        if self._shared_payload is not None:
            self._shared_payload.users.add(self.model_id)
        self.on_msg(self._receive)

    @traitlets.observe("_payload")
    def _share_payload(self, change: Any) -> None:
        if self._shares:
            digest = digest_of(self._payload)
            encoded = base64.b64encode(self._payload).decode("ascii")
            previous = self._shared_payload
            self._shared_payload = _model(digest, digest=digest, payload=encoded)
            if previous not in (None, self._shared_payload) and self.comm is not None:
                self._shared_payload.users.add(self.model_id)
                _leave(previous, self.model_id)

    def _receive(self, _widget: object, content: Any, _buffers: object) -> None:
        """Answer a question of a view. All views receive the answer; its `id` names the asker's."""
        if isinstance(content, dict) and content.get("kind") == _QUESTION:
            try:
                answer, buffers = self._answer(content.get("question"))
            except KeyboardInterrupt:  # otherwise the browser would wait for ever
                answer, buffers = {"error": _INTERRUPTED}, []
            self.send({"kind": _ANSWER, "id": content.get("id"), "answer": answer}, buffers)

    def _answer(self, question: Any) -> tuple[Any, list[bytes]]:
        """Return an answer as data and buffers; a subclass adds further answers.

        A host may prevent widgets from finding their shared models. The view then asks `{"ask":
        "parts", "name": "_shared_code"}`.
        """
        match question:
            case {"ask": "parts", "name": "_shared_code" | "_shared_payload" as name}:
                shared = getattr(self, name)
                return None if shared is None else shared.parts, []
        return None, []

    def close(self) -> None:
        """Close the widget, and the shared models with the last widget."""
        if self.comm is None:
            return
        model_id = self.model_id
        super().close()
        for shared in (self._shared_code, self._shared_payload):
            if shared is not None:
                _leave(shared, model_id)


def _can_share() -> bool:
    """Return whether a widget can find another in the front end, as with Jupyter kernels.

    During development each widget has its own code, so that it follows every edit.
    """
    is_edited = os.environ.get("ANYWIDGET_HMR") == "1"
    return kernel_shell() is not None and not is_edited and _LOADER.exists()


def _model(key: str, **parts: str) -> SharedModel:
    model = _models.get(key)
    if model is None or model.comm is None:
        model = _models[key] = SharedModel(**parts)
    return model


def _code(kind: str, esm: str, css: str) -> SharedModel:
    return _model(f"code of {kind}", esm=esm, css=css, kind=kind)


def _leave(model: SharedModel, model_id: str) -> None:
    model.users.discard(model_id)
    if not model.users:
        model.close()
