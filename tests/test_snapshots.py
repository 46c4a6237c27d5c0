"""What explorers leave in the outputs of a notebook, and its size."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ckpt_viz as cv
from benchmarks.saved_notebook import GRAPHS, measure
from ckpt_viz.entrances.jupyter import kernel_run, snapshots
from ckpt_viz.entrances.jupyter.snapshots import MIME_TYPE
from ckpt_viz.graphs.render import payload
from ckpt_viz.graphs.render.layer_text import render_layers
from tests.support.graphs import keras3_adam, without_optimizer

_BUILT = Path(cv.__file__).parent / "static" / "widget.js"
needs_bundle = pytest.mark.skipif(not _BUILT.exists(), reason="needs the front end: pip install")
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"


class Front:
    """A front end that runs cells in this process, as far as a kernel tells."""

    def __init__(self, allow_stdin: bool = True) -> None:
        self._hooks: list[Callable[[], None]] = []
        self._count = 0
        self._allow_stdin = allow_stdin
        self._request: dict[str, Any] = {}
        self.shell = SimpleNamespace(
            kernel=SimpleNamespace(get_parent=lambda: self._request),
            displayhook=self,
            events=SimpleNamespace(register=self._register),
        )

    @property
    def prompt_count(self) -> int:
        return self._count

    def _register(self, event: str, hook: Callable[[], None]) -> None:
        assert event == "pre_run_cell"
        if hook not in self._hooks:
            self._hooks.append(hook)

    def run(self, cell: str | None = None, **metadata: Any) -> None:
        """Start to run a cell."""
        self._count += 1
        if cell is not None:
            metadata["cellId"] = cell
        self._request = {"metadata": metadata, "content": {"allow_stdin": self._allow_stdin}}
        for hook in self._hooks:
            hook()


@pytest.fixture
def front(monkeypatch: pytest.MonkeyPatch) -> Front:
    front = Front()
    _use(front, monkeypatch)
    return front


def _use(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "kernel_shell", lambda: front.shell)
    monkeypatch.setattr(snapshots, "_holders", {})


def shown(graph: cv.ObjectGraph) -> dict[str, Any]:
    found = cv.show(graph)._repr_mimebundle_()
    assert found is not None
    return found[0]


def holds(graph: cv.ObjectGraph) -> bool:
    return "payload" in shown(graph)[MIME_TYPE]


def test_first_output_holds_the_payload_and_others_name_it(front: Front) -> None:
    graph = keras3_adam()
    front.run("a")
    first = shown(graph)
    front.run("b")
    second = shown(graph)
    assert base64.b64decode(first[MIME_TYPE]["payload"]) == payload.encode(graph)
    assert "payload" not in second[MIME_TYPE]
    assert first[MIME_TYPE]["digest"] == second[MIME_TYPE]["digest"]
    assert first[MIME_TYPE]["model_id"] != second[MIME_TYPE]["model_id"]
    assert "<img" in first["text/html"]
    assert "text/html" not in second
    assert second["text/plain"] == "test: see output [1]"
    assert VIEW in first
    assert VIEW in second


def test_the_output_that_holds_a_check_has_its_steps(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = cv.check(without_optimizer(), keras3_adam())

    def bundle(cell: str) -> dict[str, Any]:
        front.run(cell)
        made = cv.show(check)._repr_mimebundle_()
        assert made is not None
        found: dict[str, Any] = made[0][MIME_TYPE]
        return found

    data, buffers = json.loads(gzip.decompress(base64.b64decode(bundle("a")["steps"])))
    texts = [text for text, _, _ in data["said"]["steps"]]
    assert texts == [step.text for step in check.steps]
    assert len(base64.b64decode(buffers[0])) == len(check.steps)
    assert "steps" not in bundle("b")
    monkeypatch.setattr("ckpt_viz.answers.restore_check.played.MOST_IN_FILES", len(check.steps) - 1)
    assert "steps" not in bundle("a")
    front.run("c")
    assert "steps" not in shown(keras3_adam())[MIME_TYPE]


def test_another_graph_is_held_by_its_own_output(front: Front) -> None:
    front.run("a")
    assert holds(keras3_adam())
    assert holds(without_optimizer())
    assert not holds(keras3_adam())


def test_the_holder_run_again_holds_it_again(front: Front) -> None:
    front.run("a")
    assert holds(keras3_adam())
    front.run("b")
    assert not holds(keras3_adam())
    front.run("a")
    assert holds(keras3_adam())


def test_once_the_holder_shows_something_else_the_next_one_holds(front: Front) -> None:
    front.run("a")
    assert holds(keras3_adam())
    front.run("a")
    front.run("b")
    assert holds(keras3_adam())


def test_once_the_holder_is_deleted_the_next_one_holds(front: Front) -> None:
    front.run("a")
    assert holds(keras3_adam())
    front.run("b", deletedCells=["x", "a"])
    assert holds(keras3_adam())


def test_without_cell_ids_each_output_holds_its_own(front: Front) -> None:
    for _ in range(2):
        front.run()
        assert holds(keras3_adam())


def test_run_straight_through_the_first_holds_and_nothing_is_live(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    front = Front(allow_stdin=False)
    _use(front, monkeypatch)
    front.run()
    first = shown(keras3_adam())
    front.run()
    assert not holds(keras3_adam())
    assert VIEW not in first
    monkeypatch.setenv("SERVER_SOFTWARE", "voila/0.5")
    front.run()
    assert VIEW in shown(keras3_adam())


@pytest.mark.parametrize(
    "request_", [{}, None, {"metadata": {"cellId": 7, "deletedCells": "a"}, "content": {}}]
)
def test_strange_requests_are_answered(front: Front, request_: Any) -> None:
    front._request = request_
    run = kernel_run.current_run(front.shell)
    assert (run.cell, run.deleted, run.is_watched) == ("", (), True)


def test_a_giant_title_is_cut(front: Front) -> None:
    graph = cv.ObjectGraph((cv.Node(),), "\n<b>" * 10_000, cv.Origin.SAVED)
    front.run("a")
    shown(graph)
    front.run("b")
    words = shown(graph)["text/plain"]
    assert len(words) < 300
    assert words.isprintable()


def test_a_plain_program_has_no_kernel() -> None:
    assert kernel_run.kernel_shell() is None
    assert holds(keras3_adam())
    assert holds(keras3_adam())


def executed(*sources: str) -> Any:
    """Return a notebook that nbclient has run."""
    import nbformat
    from nbclient import NotebookClient

    cells = [nbformat.v4.new_code_cell(source) for source in sources]  # type: ignore[no-untyped-call]
    done = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    NotebookClient(done, timeout=120, kernel_name="python3").execute()
    return done


SETUP = """
import ckpt_viz as cv
from tests.support.graphs import keras3_adam, without_optimizer
graph = keras3_adam()
"""


@pytest.mark.slow
@needs_bundle
def test_notebook_holds_code_and_payload_once_in_the_state_of_its_widgets() -> None:
    done = executed(SETUP, *["cv.show(graph)"] * 3)
    state = done.metadata.widgets[STATE]["state"]
    codes = [one for one in state.values() if "esm" in one["state"].get("parts", {})]
    payloads = [one for one in state.values() if "payload" in one["state"].get("parts", {})]
    assert (len(codes), len(payloads)) == (1, 1)
    held = base64.b64decode(payloads[0]["state"]["parts"]["payload"])
    assert held == payload.encode(keras3_adam())
    for cell in done.cells[1:]:
        explorer = state[cell.outputs[0].data[MIME_TYPE]["model_id"]]
        assert len(json.dumps(explorer)) < 4000
        assert state[explorer["state"]["_shared_code"].removeprefix("IPY_MODEL_")] in codes
        assert state[explorer["state"]["_shared_payload"].removeprefix("IPY_MODEL_")] in payloads


@pytest.mark.slow
@needs_bundle
def test_shared_models_live_as_long_as_an_explorer_uses_them() -> None:
    executed(
        SETUP,
        "one, two, other = cv.show(graph), cv.show(graph), cv.show(without_optimizer())",
        """
        shared = one._shared_payload
        assert shared is two._shared_payload is not other._shared_payload
        assert one._shared_code is other._shared_code
        one.close()
        assert shared.comm is not None
        two.close()
        assert shared.comm is None
        assert other._shared_payload.comm is not None
        three = cv.show(graph)
        assert three._shared_payload.comm is not None
        """,
        """
        from ckpt_viz.graphs.render import payload
        old = three._shared_payload
        three._payload = payload.encode(without_optimizer())
        assert three._shared_payload is other._shared_payload
        assert old.comm is None
        assert three.get_state()["_payload"] == b""
        """,
        """
        import ipywidgets
        from ipywidgets.embed import dependency_state
        assert three._shared_code.model_id in dependency_state([three])
        ipywidgets.Widget.close_all()
        assert cv.show(graph)._shared_code.comm is not None
        """,
    )


@pytest.mark.slow
@needs_bundle
def test_a_widget_that_finds_no_shared_model_is_sent_what_it_holds() -> None:
    executed(
        SETUP,
        """
        explorer = cv.show(graph)
        sent = []
        explorer.send = lambda content, buffers=None: sent.append(content)
        def ask(name):
            question = {"ask": "parts", "name": name}
            message = {"kind": "ckpt-viz:question", "id": name, "question": question}
            explorer._handle_custom_msg(message, [])
        for name in ("_shared_code", "_shared_payload", "comm", None, []):
            ask(name)
        for message in (None, {"kind": "other"}, ["kind"]):
            explorer._handle_custom_msg(message, [])
        assert [answer["kind"] for answer in sent] == ["ckpt-viz:answer"] * 5
        assert [answer["id"] for answer in sent][:2] == ["_shared_code", "_shared_payload"]
        code, payload, *others = [answer["answer"] for answer in sent]
        assert code == explorer._shared_code.parts
        assert payload == explorer._shared_payload.parts
        assert others == [None] * 3
        """,
    )


@pytest.mark.slow
@needs_bundle
def test_an_interrupted_question_is_answered() -> None:
    executed(
        SETUP,
        """
        class Interrupted(cv.Explorer):
            def _answer(self, question):
                raise KeyboardInterrupt
        explorer = Interrupted(graph)
        sent = []
        explorer.send = lambda content, buffers=None: sent.append(content)
        explorer._handle_custom_msg({"kind": "ckpt-viz:question", "id": "1", "question": {}}, [])
        [answer] = sent
        assert answer["id"] == "1"
        assert "was interrupted before it answered" in answer["answer"]["error"]
        """,
    )


@needs_bundle
@pytest.mark.tf
@pytest.mark.parametrize("name", GRAPHS)
def test_nine_more_explorers_are_half_as_much_as_one_or_little_more_than_their_cells(
    name: str,
) -> None:
    one, ten = measure(GRAPHS[name], 1), measure(GRAPHS[name], 10)
    assert ten.outputs - one.outputs <= max(one.outputs / 2, 9 * 800)
    assert ten.with_state <= 1.5 * one.with_state


@pytest.mark.slow
@pytest.mark.parametrize("with_state", [True, False])
def test_nbconvert_shows_the_picture(with_state: bool) -> None:
    from nbconvert import HTMLExporter

    compared = "cv.show(without_optimizer(), against=graph)"
    done = executed(SETUP, "cv.show(graph)", compared)
    if not with_state:
        done.metadata.pop("widgets", None)
    body, _ = HTMLExporter().from_notebook_node(done)  # type: ignore[no-untyped-call]
    assert body.count('src="data:image/svg+xml;base64,') == 2
    assert "<details>" in body
    sentence = cv.diff(without_optimizer(), keras3_adam()).overlay.table.sentence
    assert sentence in body


def test_a_terminal_shows_plain_text() -> None:
    program = (
        "from tests.support.graphs import keras3_adam; import ckpt_viz as cv; "
        "_ = get_ipython().run_cell('cv.show(keras3_adam())')"
    )
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "--colors=nocolor", "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert render_layers(keras3_adam()) in done.stdout
    assert "<" not in done.stdout
