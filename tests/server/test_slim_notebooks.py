"""A save by Jupyter Server removes parts of explorers, and nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckpt_viz.entrances.jupyter.snapshots import HISTORY_MIME_TYPE, MIME_TYPE
from ckpt_viz.entrances.server.slim_notebooks import slim_notebook, slimmed
from tests.test_snapshots import SETUP, STATE, VIEW, executed, needs_bundle

Json = dict[str, Any]

PAYLOAD = {"digest": "d1", "payload": "AAAA"}
REFERENCE = {"digest": "d1"}


def view(model_id: str) -> Json:
    return {VIEW: {"version_major": 2, "version_minor": 0, "model_id": model_id}}


def shown(model_id: str, snapshot: Json, *, fallback: str = "text/html") -> Json:
    """Return the data of an explorer's output."""
    ours = {"version": 2, "model_id": model_id, **snapshot}
    return {**view(model_id), MIME_TYPE: ours, fallback: "a picture"}


_EXPLORERS = ("ckpt_viz.entrances.jupyter.widget.Explorer", "ckpt_viz.explorer.Explorer")


def widget(**state: object) -> Json:
    return {"model_name": "Any", "model_module": "any", "state": state}


def explorer(name: str) -> Json:
    """Return the state of an explorer with a layout of its own, and what all of them share."""
    shared: Json = {"_shared_code": "IPY_MODEL_code", "_shared_payload": "IPY_MODEL_payload"}
    return {
        name: widget(
            _anywidget_id="ckpt_viz.entrances.jupyter.widget.Explorer",
            layout=f"IPY_MODEL_{name}-layout",
            **shared,
        ),
        f"{name}-layout": widget(_model_name="LayoutModel"),
        "code": widget(parts={"esm": "let code;"}),
        "payload": widget(parts=PAYLOAD),
    }


SLIDER = {"slider": widget(layout="IPY_MODEL_slider-layout"), "slider-layout": widget()}
OTHERS = {**view("slider"), "text/plain": "a slider"}


def notebook(*outputs: Json, state: Json | None = None) -> Json:
    """Return a notebook with each of the data in a cell of its own."""
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{place}",
            "execution_count": place,
            "metadata": {"tags": ["a tag"]},
            "source": "show",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": "words"},
                {"output_type": "display_data", "metadata": {}, "data": data},
            ],
        }
        for place, data in enumerate(outputs)
    ]
    markdown = {"cell_type": "markdown", "id": "words", "metadata": {}, "source": "# Title"}
    metadata: Json = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    if state is not None:
        saved = {"version_major": 2, "version_minor": 0, "state": state}
        metadata["widgets"] = {STATE: saved}
    return {"cells": [markdown, *cells], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def saved(content: Json) -> Json:
    """Return what is saved of a notebook; the one that was sent stays as it is."""
    before = copy.deepcopy(content)
    model: Json = {"type": "notebook", "format": "json", "content": content}
    slim_notebook(model=model, path="some.ipynb", contents_manager=None)
    assert content == before
    found: Json = model["content"]
    return found


def data_of(content: Json) -> list[Json]:
    outputs = (output for cell in content["cells"] for output in cell.get("outputs", []))
    return [output["data"] for output in outputs if "data" in output]


def state_of(content: Json) -> Json:
    state: Json = content["metadata"]["widgets"][STATE]["state"]
    return state


def as_bytes(content: Json | list[Json]) -> bytes:
    return json.dumps(content).encode()


def test_outputs_keep_graph_and_picture_and_lose_the_widget() -> None:
    sent = (shown("e1", PAYLOAD), shown("e2", REFERENCE, fallback="text/plain"))
    found = saved(notebook(*sent, state=explorer("e1") | explorer("e2")))
    for before, after in zip(sent, data_of(found), strict=True):
        assert after == {name: data for name, data in before.items() if name != VIEW}
    assert found == notebook(*data_of(found))


def test_a_history_keeps_its_picture_and_loses_the_widget() -> None:
    own = {"version": 2, "model_id": "h"}
    data = {**view("h"), HISTORY_MIME_TYPE: own, "text/html": "a picture"}
    state = explorer("h")
    state["h"]["state"]["_anywidget_id"] = "ckpt_viz.entrances.jupyter.history_view.HistoryView"
    slim = slimmed(notebook(data, OTHERS, state=state | SLIDER))
    assert data_of(slim)[0] == {
        HISTORY_MIME_TYPE: own,
        "text/html": "a picture",
    }
    assert saved_models(slim).keys() == SLIDER.keys()
    # Without a picture, or in an output of a different widget, the view stays.
    for other in ({**view("h"), HISTORY_MIME_TYPE: own}, {**data, **view("slider")}):
        assert data_of(slimmed(notebook(other)))[0] == other


def test_without_widget_state_the_views_go() -> None:
    found = saved(notebook(shown("e", PAYLOAD), OTHERS))
    assert [VIEW in data for data in data_of(found)] == [False, True]


def test_what_others_show_and_save_stays_byte_for_byte() -> None:
    found = saved(notebook(shown("e", PAYLOAD), OTHERS, state=explorer("e") | SLIDER))
    ours = data_of(found)[0]
    assert VIEW not in ours
    assert as_bytes(found) == as_bytes(notebook(ours, OTHERS, state=SLIDER))


@pytest.mark.parametrize("state", [None, {}, SLIDER])
def test_a_notebook_without_explorers_is_saved_as_it_is(state: Json | None) -> None:
    content = notebook(OTHERS, {"text/plain": "1"}, state=state)
    assert saved(content) is content


def test_explorers_of_cells_that_ran_again_go() -> None:
    found = saved(notebook(shown("e", PAYLOAD), state=explorer("e") | explorer("of-before")))
    assert "widgets" not in found["metadata"]
    found = saved(notebook(OTHERS, state=explorer("of-before") | SLIDER))
    assert found == notebook(OTHERS, state=SLIDER)


@pytest.mark.parametrize(
    "reference",
    [
        {"children": ["IPY_MODEL_e"]},
        {"source": ["IPY_MODEL_e", "selected"], "target": ["IPY_MODEL_slider", "value"]},
        {"inner": "anywidget:e"},
        {"deep": [{"in": {"it": "IPY_MODEL_e"}}]},
        {"outputs": [{"output_type": "display_data", "data": shown("e", PAYLOAD)}]},
    ],
    ids=["box", "link", "anywidget", "deep", "output"],
)
def test_an_explorer_that_another_widget_uses_stays_with_all_it_needs(reference: Json) -> None:
    user = {"user": widget(**reference)}
    state = explorer("e") | explorer("alone") | user | SLIDER
    found = saved(notebook(shown("e", PAYLOAD), {**view("user")}, state=state))
    assert state_of(found) == explorer("e") | user | SLIDER
    assert [VIEW in data for data in data_of(found)] == [False, True]


def test_what_is_shown_by_itself_stays() -> None:
    found = saved(notebook(shown("e", PAYLOAD), view("e-layout"), state=explorer("e")))
    assert list(state_of(found)) == ["e-layout"]
    found = saved(notebook(shown("e", PAYLOAD), view("e"), state=explorer("e")))
    assert state_of(found) == explorer("e")


@pytest.mark.parametrize(
    "data",
    [
        shown("e", {"digest": "d2"}),
        shown("e", {}),
        shown("e", PAYLOAD, fallback="image/png"),
        shown("e", PAYLOAD) | view("slider"),
        shown("e", PAYLOAD) | {MIME_TYPE: "text"},
        {MIME_TYPE: {"payload": "AAAA"}, VIEW: {}, "text/plain": ""},
    ],
    ids=["graph elsewhere", "no graph", "no words", "another's view", "no object", "no ids"],
)
def test_an_output_that_would_show_less_keeps_its_widget(data: Json) -> None:
    state = explorer("e") | SLIDER
    found = saved(notebook(data, shown("other", {"payload": "BBBB"}), state=state))
    assert data_of(found)[0] == data
    used = data[VIEW].get("model_id")
    assert used is None or used in state_of(found)


def test_an_output_of_an_older_version_holds_its_graph_itself() -> None:
    found = saved(notebook(shown("e", {"payload": "AAAA"}), state=explorer("e")))
    assert VIEW not in data_of(found)[0]
    assert "widgets" not in found["metadata"]


def test_what_else_is_noted_of_widgets_stays_and_nbconvert_reads_it() -> None:
    import nbformat
    from nbconvert import HTMLExporter

    content = notebook(shown("e", PAYLOAD), state=explorer("e"))
    content["metadata"]["widgets"]["application/vnd.other+json"] = {"some": "thing"}
    found = saved(content)
    assert found["metadata"]["widgets"]["application/vnd.other+json"] == {"some": "thing"}
    assert state_of(found) == {}
    read = nbformat.from_dict(found)  # type: ignore[no-untyped-call]
    body, _ = HTMLExporter().from_notebook_node(read)  # type: ignore[no-untyped-call]
    assert "a picture" in body


@pytest.mark.parametrize(
    "model",
    [
        {"type": "file", "content": "{}", "format": "text"},
        {"type": "directory"},
        {"type": "notebook"},
        {"type": "notebook", "content": None},
        {"type": "notebook", "content": {**notebook(shown("e", PAYLOAD)), "nbformat": 3}},
        {"content": notebook(shown("e", PAYLOAD))},
        {},
    ],
)
def test_what_is_no_notebook_of_today_is_left_alone(model: Json) -> None:
    before = copy.deepcopy(model)
    slim_notebook(model=model, path="", contents_manager=None)
    assert model == before


def places(value: object, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to everything within a JSON value, and to itself."""
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    return [place, *(way for key, item in inner for way in places(item, (*place, key)))]


def replaced(value: Any, place: tuple[Any, ...], other: object) -> Any:
    if not place:
        return other
    changed = copy.copy(value)
    changed[place[0]] = replaced(value[place[0]], place[1:], other)
    return changed


SENT = notebook(
    shown("e", PAYLOAD),
    OTHERS,
    shown("e2", REFERENCE),
    state=explorer("e") | explorer("e2") | SLIDER,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@given(st.sampled_from(places(SENT)), JSON)
def test_a_malformed_notebook_is_saved_and_others_lose_nothing(
    place: tuple[Any, ...], other: object
) -> None:
    sent = replaced(SENT, place, other)
    found = saved(sent)
    if found is sent:
        return
    for before, after in zip(sent["cells"], found["cells"], strict=True):
        assert before == after or MIME_TYPE in json.dumps(before)
    metadata = {**sent["metadata"], "widgets": None}
    assert metadata == {**found["metadata"], "widgets": None}
    models, left = (saved_models(content) for content in (sent, found))
    assert left.items() <= models.items()
    lost = models.keys() - left.keys()
    views = [data.get(VIEW) for data in data_of(found)]
    assert not any(isinstance(one, dict) and one.get("model_id") in [*lost] for one in views)
    assert not lost & {"slider", "slider-layout"}


def saved_models(content: Json) -> Json:
    found: Json = content["metadata"].get("widgets", {}).get(STATE, {}).get("state", {})
    return found


# --- any ids

_SOME_IDS = ("e", "e1", "a_b", "a.b", "with space", "ü", "e-layout", "IPY_MODEL_e", "anywidget:e")
IDS = st.lists(
    st.sampled_from(_SOME_IDS) | st.text(min_size=1, max_size=3),
    min_size=9,
    max_size=9,
    unique=True,
)


class Made(NamedTuple):
    """A notebook: which widgets are explorers', and which others name or show, as it was made."""

    content: Json
    ours: dict[str, list[str]]
    others: dict[str, list[str]]
    shown: list[str]


@st.composite
def notebooks(draw: st.DrawFn) -> Made:
    """Two explorers with their layouts, code and payload, and four widgets that name any."""
    ids = draw(IDS)
    e1, e2, layout1, layout2, code, payload, *rest = ids
    any_ids = st.lists(st.sampled_from(ids), max_size=2)
    all_texts = {form.replace("ID", one) for one in ids for form in _NO_REFERENCES}
    naming = {f"{prefix}{one}" for one in ids for prefix in ("IPY_MODEL_", "anywidget:")}
    texts = st.sampled_from(sorted(all_texts - naming))
    state: Json = {}
    for one, layout in ((e1, layout1), (e2, layout2)):
        state[one] = widget(
            _anywidget_id=draw(st.sampled_from(_EXPLORERS)),
            layout=f"IPY_MODEL_{layout}",
            _shared_code=f"IPY_MODEL_{code}",
            _shared_payload=f"IPY_MODEL_{payload}",
            query=draw(texts | st.sampled_from([f"IPY_MODEL_{one}" for one in ids])),
        )
    state |= {layout1: widget(), layout2: widget(), code: widget(), payload: widget()}
    others = {one: draw(any_ids) for one in rest}
    for one, named in others.items():
        references = [draw(st.sampled_from(_REFERENCES))(other) for other in named]
        state[one] = widget(description=draw(texts), inner=references, **{draw(texts): 1})
    shown_here = draw(any_ids)
    outputs = [shown(e1, PAYLOAD), shown(e2, REFERENCE), *map(view, shown_here)]
    return Made(
        notebook(*outputs, {"text/plain": draw(texts)}, state=state),
        {e1: [layout1, code, payload], e2: [layout2, code, payload]},
        others,
        shown_here,
    )


_NO_REFERENCES = ("ID", "see IPY_MODEL_ID", "IPY_MODEL_ID!", "ipy_model_ID", "ID ID", "")
_REFERENCES: tuple[Callable[[str], object], ...] = (
    lambda one: f"IPY_MODEL_{one}",
    lambda one: f"anywidget:{one}",
    lambda one: [f"IPY_MODEL_{one}", "value"],
    lambda one: {"deep": [{"in": f"IPY_MODEL_{one}"}]},
    lambda one: {"output_type": "display_data", "data": view(one)},
)


@given(notebooks())
def test_what_is_not_ours_and_what_that_names_stays_and_all_else_of_ours_goes(made: Made) -> None:
    content = made.content
    assert slimmed(content) is not content  # nor raises
    found = saved(content)
    kept, to_do = set[str](), [*made.others, *made.shown]
    while to_do:
        one = to_do.pop()
        if one not in kept:
            kept.add(one)
            to_do += (made.ours | made.others).get(one, [])
    before = state_of(content)
    expected = {model_id: model for model_id, model in before.items() if model_id in kept}
    assert json.dumps(state_of(found)) == json.dumps(expected)
    assert as_bytes(found["cells"][3:]) == as_bytes(content["cells"][3:])
    assert not any(VIEW in data for data in data_of(found)[:2])


@pytest.mark.parametrize("model_id", _SOME_IDS)
def test_what_a_notebook_notes_beside_its_outputs_keeps_an_explorer(model_id: str) -> None:
    content = notebook(shown(model_id, PAYLOAD), state=explorer(model_id))
    content["cells"][0]["metadata"]["dashboard"] = [f"IPY_MODEL_{model_id}"]
    assert state_of(saved(content)) == explorer(model_id)


@pytest.mark.parametrize("model_id", _SOME_IDS)
def test_a_widget_that_an_output_calls_an_explorer_stays(model_id: str) -> None:
    other = {model_id: widget(value=1)}
    content = notebook(shown(model_id, PAYLOAD), state=other)
    assert state_of(saved(content)) == other


@pytest.mark.parametrize("wrong", [object(), {1: 2}, b"", json, [[]] * 9])
def test_no_content_keeps_a_notebook_from_being_saved(wrong: Any) -> None:
    for content in (
        wrong,
        {**notebook(), "cells": wrong},
        {**notebook(), "metadata": wrong},
        notebook(wrong),
        notebook(shown("e", wrong if isinstance(wrong, dict) else {"payload": wrong}), state=wrong),
    ):
        model = {"type": "notebook", "content": content}
        slim_notebook(model=model)
        assert model["content"] is content or isinstance(model["content"], dict)


def test_what_is_saved_is_what_is_signed(tmp_path: Path) -> None:
    from jupyter_server.services.contents.filemanager import FileContentsManager

    manager = FileContentsManager(root_dir=str(tmp_path))
    manager.notary.data_dir = str(tmp_path)
    manager.register_pre_save_hook(slim_notebook)  # type: ignore[no-untyped-call]
    content = notebook(shown("e", PAYLOAD), state=explorer("e"))
    content["cells"][1]["metadata"]["trusted"] = True
    manager.save({"type": "notebook", "content": content}, "signed.ipynb")  # type: ignore[no-untyped-call]
    read = manager.get("signed.ipynb")["content"]  # type: ignore[no-untyped-call]
    assert "widgets" not in read["metadata"]
    assert VIEW not in data_of(read)[0]
    assert read["cells"][1]["metadata"]["trusted"]


@needs_bundle
def test_of_what_a_kernel_showed_the_widgets_of_explorers_go() -> None:
    import nbformat

    boxed = "import ipywidgets\nslider = ipywidgets.IntSlider()\nipywidgets.VBox([slider])"
    done = executed(SETUP, "cv.show(graph)", "cv.show(graph)", boxed)
    for cell in done.cells[1:3]:  # no front end watched
        data = cell.outputs[0].data
        data.update(view(data[MIME_TYPE]["model_id"]))
    before = state_of(done)
    found = saved(done)
    assert {model["model_name"] for model in state_of(found).values()} == {
        *("VBoxModel", "IntSliderModel", "LayoutModel", "SliderStyleModel")
    }
    assert all(before[model_id] == model for model_id, model in state_of(found).items())
    assert len(json.dumps(found)) < len(json.dumps(done)) / 5
    nbformat.validate(found)
