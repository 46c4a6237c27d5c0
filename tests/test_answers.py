"""The kernel's answers to the questions of the explorer in a browser."""

from __future__ import annotations

import json
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ckpt_viz as cv
from ckpt_viz.entrances.jupyter.answers import MAX_ELEMENTS
from ckpt_viz.entrances.jupyter.changed import changed_of
from ckpt_viz.entrances.jupyter.widget import Explorer
from ckpt_viz.ground.wording import CHANGED

pytestmark = pytest.mark.tf


def _net(*, shape: tuple[int, ...] = (2, 3)) -> Any:
    import tensorflow as tf

    class Net(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.kernel = tf.Variable(tf.reshape(tf.range(float(tf.reduce_prod(shape))), shape))
            self.step = tf.Variable(7, dtype=tf.int64)
            self.words = tf.Variable([b"a\xff", b"<b>"])

    return Net()


def _id(explorer: Explorer, name: str) -> int:
    found = explorer.graph.first_named(name)
    assert found is not None
    return found


def _ask(explorer: Explorer, **question: Any) -> dict[str, Any]:
    found: dict[str, Any] = explorer._answer(question)[0]
    json.dumps(found)
    return found


def _values(explorer: Explorer, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _ask(explorer, ask="values", node=_id(explorer, name))["values"]
    return found


def test_values_of_a_live_graph_are_those_of_now() -> None:
    net = _net()
    explorer = cv.show(net)
    assert _values(explorer, "(root).step")[0]["elements"] == ["7"]
    net.step.assign(9)
    net.kernel.assign(net.kernel * 0.5)
    assert _values(explorer, "(root).step")[0]["elements"] == ["9"]
    (kernel,) = _values(explorer, "(root).kernel")
    assert kernel.pop("statistics")["mean"] == 1.25
    assert sum(kernel.pop("histogram")["counts"]) == 6
    assert kernel == {
        "of": "",
        "name": "VARIABLE_VALUE",
        "dtype": "float32",
        "shape": [2, 3],
        "elements": ["0", "0.5", "1", "1.5", "2", "2.5"],
    }
    assert _values(explorer, "(root).words")[0]["elements"] == ["'a\\\\xff'", "'<b>'"]


def test_of_a_large_tensor_only_the_beginning_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tensorflow as tf

    from ckpt_viz.formats.bundles import bundle

    path = tf.train.Checkpoint(net=_net(shape=(5000, 4000))).write(str(tmp_path / "ckpt"))
    explorer = cv.show(path)
    read: list[int] = []
    stored = bundle.Bundle._stored_bytes

    def counting(self: Any, key: str, entry: Any) -> bytes:
        data = stored(self, key, entry)
        read.append(len(data))
        return data

    monkeypatch.setattr(bundle.Bundle, "_stored_bytes", counting)
    (kernel,) = _values(explorer, "(root).net.kernel")
    assert kernel["elements"] == [str(i) for i in range(MAX_ELEMENTS)]
    assert kernel["shape"] == [5000, 4000]
    assert "statistics" not in kernel
    assert read == [4 * MAX_ELEMENTS]


def test_values_of_a_comparison_are_those_of_both_sides(tmp_path: Path) -> None:
    import tensorflow as tf

    saved, live = _net(), _net(shape=(3, 2))
    saved.gone = tf.Variable(1.5)
    live.new = tf.Variable(2.5)
    path = tf.train.Checkpoint(net=saved).write(str(tmp_path / "ckpt"))
    saved.step.assign(100)
    live.step.assign(8)
    explorer = cv.show(tf.train.Checkpoint(net=live), path)

    def told(name: str) -> list[tuple[str, list[str], list[int]]]:
        return [(one["of"], one["elements"], one["shape"]) for one in _values(explorer, name)]

    numbers = [str(i) for i in range(6)]
    assert told("(root).net.step") == [("checkpoint", ["7"], []), ("program", ["8"], [])]
    assert told("(root).net.kernel") == [
        ("checkpoint", numbers, [2, 3]),
        ("program", numbers, [3, 2]),
    ]
    # The one scalar left on each side is one part under two names.
    both: list[tuple[str, list[str], list[int]]]
    both = [("checkpoint", ["1.5"], []), ("program", ["2.5"], [])]
    assert told("(root).net.new") == both


def test_values_of_a_diff_are_those_of_a_and_b(tmp_path: Path) -> None:
    import tensorflow as tf

    net = _net()
    checkpoint = tf.train.Checkpoint(net=net)
    older = checkpoint.write(str(tmp_path / "older"))
    net.step.assign(8)
    newer = checkpoint.write(str(tmp_path / "newer"))
    values = _values(cv.show(older, newer), "(root).net.step")
    assert [(one["of"], one["elements"]) for one in values] == [("a", ["7"]), ("b", ["8"])]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    import tensorflow as tf

    path = tf.train.Checkpoint(net=_net()).write(str(tmp_path / "ckpt"))
    explorer = cv.show(path)
    for shard in tmp_path.glob("*.data-*"):
        shard.unlink()
    (value,) = _values(explorer, "(root).net.step")
    assert "no such file" in value["error"].lower()
    net = _net()
    explorer = cv.show(net)
    step = _id(explorer, "(root).step")
    del net.step
    (gone,) = _ask(explorer, ask="values", node=step)["values"]
    assert "dropped" in gone["error"]


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"ask": "values"},
        {"ask": "values", "node": -1},
        {"ask": "values", "node": 10**9},
        {"ask": "values", "node": "0"},
        {"ask": "values", "node": True},
        {"ask": "accessor", "node": None},
        {"ask": "accessor", "node": 0, "source": "__import__('os')"},
        {"ask": "file", "format": "../../etc/passwd"},
        {"ask": []},
        "values",
        None,
    ],
)
def test_a_bad_question_is_answered_in_a_sentence(question: Any) -> None:
    found, buffers = cv.show(_net())._answer(question)
    assert list(found) == ["error"]
    assert buffers == []


def test_accessors_evaluate_to_the_object() -> None:
    net = _net()
    explorer = cv.show(net)
    said = _ask(explorer, ask="accessor", node=_id(explorer, "(root).kernel"))
    assert eval(said["text"], {"source": net}) is net.kernel
    named = _ask(explorer, ask="accessor", node=_id(explorer, "(root).kernel"), source="net")
    assert eval(named["text"], {"net": net}) is net.kernel


def test_a_saved_graph_has_no_accessors(tmp_path: Path) -> None:
    import tensorflow as tf

    path = tf.train.Checkpoint(net=_net()).write(str(tmp_path / "ckpt"))
    assert "no live objects" in _ask(cv.show(path), ask="accessor", node=1)["error"]
    explorer = cv.show(tf.train.Checkpoint(), path)
    ghost = len(explorer.graph.nodes) - 1
    assert "no live object" in _ask(explorer, ask="accessor", node=ghost)["error"]


@pytest.mark.parametrize("compared", [False, True])
def test_files_are_those_of_python(tmp_path: Path, compared: bool) -> None:
    import tensorflow as tf

    path = tf.train.Checkpoint(net=_net()).write(str(tmp_path / "ckpt"))
    explorer = cv.show(tf.train.Checkpoint(net=_net()), path) if compared else cv.show(path)
    explorer.selected = 1

    def file(form: str) -> str:
        said, (data,) = explorer._answer({"ask": "file", "format": form})
        assert said["name"] == f"checkpoint.{form}"
        return data.decode()

    shown = explorer.comparison or explorer.graph
    assert file("svg") == shown.to_svg()
    told = shown.to_json()
    told.pop("rows", None)  # the explorer sends the picture
    assert json.loads(file("json")) == told
    assert file("dot").startswith("digraph")
    explorer.save_html(tmp_path / "a.html")
    assert file("html") == (tmp_path / "a.html").read_text("utf-8")


def test_refresh_shows_the_source_as_it_is_now() -> None:
    import tensorflow as tf

    net = _net()
    net.layers = [tf.Module(), tf.Module()]
    explorer = cv.show(net)
    explorer.selected = _id(explorer, "(root).layers.1")
    explorer.expanded = [0, _id(explorer, "(root).layers"), _id(explorer, "(root).kernel")]
    before = explorer._payload
    net.a_new_one = tf.Module()
    net.a_new_one.variable = tf.Variable(1)
    del net.kernel
    explorer.refresh()
    assert explorer._payload != before
    assert explorer.graph.first_named("(root).a_new_one.variable") is not None
    assert explorer.selected == explorer.graph.first_named("(root).layers.1")
    assert explorer.expanded == [0, explorer.graph.first_named("(root).layers")]
    del net.layers
    explorer.refresh()
    assert explorer.selected is None


def test_ids_of_the_graph_before_a_refresh_are_not_taken() -> None:
    import tensorflow as tf

    net = _net()
    net.layers = [tf.Module(), tf.Module()]
    explorer = cv.show(net)
    explorer.expanded, explorer.selected = [0], 1
    net.a_new_one = tf.Module()
    explorer.refresh()
    late = {"of": 0, "ids": _id(explorer, "(root).layers.1")}
    for sent in (late, {"of": 7, "ids": 2}, {"ids": 2}, 2, "<b>", [0, 2]):
        explorer.set_state({"selected": sent, "expanded": sent})
        assert (explorer.selected, explorer.expanded) == (1, [0])
    state = explorer.get_state(["_edition", "selected"])
    assert state == {"_edition": 1, "selected": {"of": 1, "ids": 1}}
    explorer.set_state({"selected": {"of": 1, "ids": 2}, "expanded": {"of": 1, "ids": [0, 2]}})
    assert (explorer.selected, explorer.expanded) == (2, [0, 2])
    explorer.set_state({"selected": None})
    assert explorer.selected_node is None


def test_another_graph_is_sent_with_all_ids_in_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    net = _net()
    explorer = cv.show(net)
    explorer.selected = 0  # the same id in both graphs
    sent: list[Any] = []
    monkeypatch.setattr(Explorer, "_send", lambda _, message, **__: sent.append(message))
    net.again = _net()
    explorer.refresh()
    (message,) = sent
    assert message["state"].keys() >= {"_edition", "selected", "expanded"}
    assert message["state"]["selected"] == {"of": 1, "ids": 0}


def test_refresh_reads_a_path_and_compares_again(tmp_path: Path) -> None:
    import tensorflow as tf

    root = tf.Module()
    root.net = net = _net()
    checkpoint = tf.train.Checkpoint(root)
    path = checkpoint.write(str(tmp_path / "ckpt"))
    alone, checked = cv.show(path), cv.show(root, path)
    assert checked.comparison is not None
    assert checked.comparison.consumed  # type: ignore[union-attr]
    net.more = tf.Variable(1)
    checked.refresh()
    assert not checked.comparison.consumed  # type: ignore[union-attr]
    checkpoint.write(path)
    alone.refresh()
    assert alone.graph.first_named("(root).net.more") is not None
    checked.refresh()
    assert checked.comparison.consumed  # type: ignore[union-attr]


def test_refresh_tells_the_views_that_the_same_graph_was_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    net = _net()
    explorer = cv.show(net)
    sent: list[Any] = []
    monkeypatch.setattr(Explorer, "send", lambda _, content: sent.append(content))
    net.step.assign(9)  # the payload has no values
    explorer.refresh()
    assert sent == [{"kind": "ckpt-viz:refreshed"}]
    net.new = 3 * [1.0]  # another payload, of which a trait tells
    explorer.refresh()
    assert len(sent) == 1


def test_refresh_of_a_check_or_a_diff_makes_it_anew(tmp_path: Path) -> None:
    import tensorflow as tf

    root = tf.Module()
    root.net = _net()
    path = tf.train.Checkpoint(root).write(str(tmp_path / "ckpt"))
    options = tf.train.CheckpointOptions()
    check, compared = cv.check(root, path, options=options, verify=True), cv.diff(root, path)
    checked, differing = cv.show(check), cv.show(compared)
    root.more = tf.Variable(1)
    checked.refresh()
    differing.refresh()
    assert check.consumed and check.notes == checked.comparison.notes  # type: ignore[union-attr]
    assert not checked.comparison.consumed  # type: ignore[union-attr]
    assert not differing.comparison.is_empty and compared.is_empty  # type: ignore[union-attr]
    del root.more
    checked.refresh()
    assert checked.comparison.consumed  # type: ignore[union-attr]
    with pytest.raises(cv.SourceError, match="found the check of a fix"):
        cv.show(check.fix().check).refresh()


def test_refresh_of_what_is_gone_changes_nothing(tmp_path: Path) -> None:
    import tensorflow as tf

    saved = cv.show(tf.train.Checkpoint(net=_net()).write(str(tmp_path / "ckpt")))
    payload, path = saved._payload, tmp_path / "ckpt.index"
    path.unlink()
    with pytest.raises(cv.CkptVizError):
        saved.refresh()
    assert saved._payload == payload


def _story_check(tmp_path: Path) -> Any:
    """Return a check whose restore binds, keeps, lets wait, repeats and restores."""
    import tensorflow as tf

    saved, live = _net(), _net()
    shared = tf.Module()
    shared.w = tf.Variable(1.0)
    saved.one, saved.two = shared, shared
    saved.gone = tf.Variable(2.0)
    saved.first, saved.second = tf.Variable(3.0), tf.Variable(4.0)
    live.one, live.two = shared, tf.Module()
    live.first = live.second = tf.Variable(5.0)
    path = tf.train.Checkpoint(net=saved).save(str(tmp_path / "ckpt"))
    return cv.check(tf.train.Checkpoint(net=live), path)


def _played(check: Any, at: int = 0) -> tuple[dict[str, Any], list[array[int]]]:
    data, buffers = cv.show(check)._answer({"ask": "steps", "at": at})
    return data, [array("B" if place == 0 else "i", one) for place, one in enumerate(buffers)]


def test_the_columns_of_a_restore_are_its_steps(tmp_path: Path) -> None:
    check = _story_check(tmp_path)
    data, (actions, saved, live, holders, names, places) = _played(check)
    story, size = data["story"], len(check.live.nodes)

    def id_or_none(number: int) -> int | None:
        return None if number < 0 else number

    for at, step in enumerate(check.steps):
        assert story["actions"][actions[at] & 127] == step.action
        assert (actions[at] >= 128) == step.is_problem
        assert id_or_none(saved[at]) == step.saved
        assert id_or_none(live[at]) == (
            step.live if step.live is not None and step.live < size else None
        )
        assert id_or_none(holders[at]) == step.holder
        assert story["names"][names[at]] == step.local_name
    assert len(actions) == len(check.steps)
    assert {step.action for step in check.steps} >= {"keep", "defer", "repeat", "create"}
    assert any(step.is_problem for step in check.steps)
    assert dict(enumerate(places)) == check.saved_places
    assert story["title"] == check.steps.title


def test_steps_have_words_and_functions_around_the_asked_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = _story_check(tmp_path)
    monkeypatch.setattr("ckpt_viz.answers.restore_check.played.said.__defaults__", (6,))
    explorer = cv.show(check)
    for at in (0, 9, len(check.steps)):
        said = _ask(explorer, ask="said", at=at)["said"]
        first = said["first"]
        assert len(said["steps"]) == 6
        assert at == len(check.steps) or first <= at < first + 6
        for number, (text, reason, place) in enumerate(said["steps"], first):
            step = check.steps[number]
            assert (text, said["reasons"][reason]) == (step.text, step.reason)
            function, file, line = said["functions"][place]
            assert (function, line) == (step.place.function, step.place.line)
            assert file.startswith("tensorflow/python/")
    source = _ask(explorer, ask="source", at=2)
    lines = source["text"].splitlines()
    assert check.steps[2].place.mark in lines[source["line"] - source["first"]]
    for wrong in (-1, len(check.steps) + 1, "1", None, True):
        assert "found step" in _ask(explorer, ask="said", at=wrong)["error"]
        assert "found step" in _ask(explorer, ask="source", at=wrong)["error"]


def test_only_the_check_of_a_restore_has_steps(tmp_path: Path) -> None:
    import tensorflow as tf

    net = _net()
    assert "only the check" in _ask(cv.show(net), ask="steps", at=0)["error"]
    path = tf.train.Checkpoint(net=net).write(str(tmp_path / "ckpt"))
    # The names of a file without an object graph are looked up one by one.
    tensors = {"kernel": net.kernel, "step": net.step}
    by_names = str(tmp_path / "names")
    tf.raw_ops.SaveV2(
        prefix=by_names,
        tensor_names=list(tensors),
        shape_and_slices=[""] * len(tensors),
        tensors=list(tensors.values()),
    )
    check = cv.check(tf.train.Checkpoint(net=net), by_names)
    data, (actions, _, live, *_) = _played(check)
    assert [one for one in live if one >= 0] == [
        step.live for step in check.steps if step.live is not None
    ]
    assert len(actions) == len(check.steps) == len(data["said"]["steps"])
    gone = cv.check(tf.train.Checkpoint(net=net), f"{path}-no")
    data, (actions, *_) = _played(gone)
    assert (len(actions), data["story"]["end"]) == (0, gone.steps.end)


# --- a check with a changed program


def _net_and_path(tmp_path: Path) -> tuple[Any, str]:
    import tensorflow as tf

    def make() -> Any:
        part = tf.Module()
        part.a, part.b = tf.Variable(1.0), tf.Variable([2.0, 3.0])
        return tf.train.Checkpoint(net=part)

    return make(), make().save(str(tmp_path / "ckpt"))


def test_a_page_changes_the_program_of_a_check(tmp_path: Path) -> None:
    """The same edits in Python give the same check, whose steps, values and files it answers."""
    live, path = _net_and_path(tmp_path)
    explorer = cv.show(live, against=path)
    rename = {"kind": "name", "node": _id(explorer, "(root).net.a"), "to": "z"}
    changes = {"edits": [rename]}
    data, _ = explorer._answer({"ask": "changed", "changes": changes})
    _, (payload,) = explorer._answer({"ask": "picture", "changes": changes})
    expected = cv.check(cv.graph(live).renamed({"net.a": "z"}), path)
    changed = data["changed"]
    assert changed["edits"] == [
        {
            "text": "Rename net.a to z",
            "code": "ckpt.net.z = ckpt.net.a\ndel ckpt.net.a",
            "place": 0,
        }
    ]
    assert changed["before"]["consumed"] and not changed["now"]["consumed"]
    assert changed["now"]["steps"] == len(expected.steps)
    as_in_page = replace(expected._run, wording=CHANGED)  # its next step begins with the change
    shown = cv.show(cv.RestoreCheck(as_in_page, expected.findings))
    assert payload == shown._shown.encoded
    steps = _ask(explorer, ask="steps", at=0, changes=changes)["said"]["steps"]
    assert [text for text, _, _ in steps] == [step.text for step in expected.steps]
    assert steps[changed["first"]][0] != cv.check(live, path).steps[changed["first"]].text
    node = changed["node"]
    (_, value) = _ask(explorer, ask="values", node=node, changes=changes)["values"]
    assert value["elements"] == ["1"]
    _, (text,) = explorer._answer({"ask": "file", "format": "dot", "changes": changes})
    assert text.decode() == expected.overlay.graph.title or "edited" in text.decode()
    undone, _ = explorer._answer({"ask": "changed", "changes": {"edits": []}})
    assert undone["changed"]["first"] is None
    assert undone["changed"]["before"] == undone["changed"]["now"]


def test_a_page_inserts_what_only_the_checkpoint_has(tmp_path: Path) -> None:
    live, path = _net_and_path(tmp_path)
    del live.net.b
    explorer = cv.show(live, against=path)
    assert explorer._shown.overlay is not None
    size = explorer._shown.overlay.base_size
    ghost = next(
        place
        for place, node in enumerate(explorer.graph.nodes)
        if place >= size and node.attributes[0].shape == (2,)
    )
    edits = [{"kind": "insert", "node": ghost}]
    changed = _ask(explorer, ask="changed", changes={"edits": edits})["changed"]
    assert changed["edits"][0]["text"] == "Insert net.b, as it was saved"
    assert (changed["before"]["consumed"], changed["now"]["consumed"]) == (False, True)
    built = _ask(explorer, ask="changed", changes={"edits": [{"kind": "build"}]})["changed"]
    assert built["now"] == changed["now"]
    edits = [{"kind": "name", "node": ghost, "to": "b"}]
    assert _ask(explorer, ask="changed", changes={"edits": edits})["changed"] == changed
    edits = [{"kind": "name", "node": ghost, "to": "c"}]
    problem = _ask(explorer, ask="changed", changes={"edits": edits})["error"]
    assert problem == "found 'c', expected 'b': only the checkpoint has net.b"
    edits = [{"kind": "up", "node": ghost}]
    problem = _ask(explorer, ask="changed", changes={"edits": edits})["error"]
    assert problem == "Only the checkpoint has net.b. Insert it into the program first."


def test_an_edit_is_about_the_picture_in_which_a_page_makes_it(tmp_path: Path) -> None:
    """The order of the save gives other ids to what only the checkpoint has."""
    live, path = _net_and_path(tmp_path)
    del live.net.a, live.net.b
    explorer = cv.show(live, against=path)
    reordered = {"reordered": True}
    places, texts = [], []
    for conditions in ({}, reordered):
        made = changed_of(explorer._shown, {"edits": [], **conditions}, None)
        graph = made.program.check.overlay.graph
        places.append(
            next(at for at in range(len(graph.nodes)) if graph.names.place(at) == "net.b")
        )
        edit = {"kind": "insert", "node": places[-1], **conditions}
        changed = _ask(explorer, ask="changed", changes={"edits": [edit]})["changed"]
        texts.append(changed["edits"][0]["text"])
    assert places[0] != places[1]
    assert texts == ["Insert net.b, as it was saved"] * 2


def test_edits_come_before_the_page_has_the_picture_after_the_last_one(tmp_path: Path) -> None:
    """A removed part takes its number with it; an item of a list moves on from where it is now."""
    import tensorflow as tf

    def make() -> Any:
        net = tf.Module()
        net.a, net.blocks = tf.Variable(1.0), [tf.Variable([0.0] * size) for size in (1, 2, 3)]
        return tf.train.Checkpoint(net=net)

    explorer = cv.show(make(), against=make().save(str(tmp_path / "ckpt")))
    removed = {"kind": "name", "node": _id(explorer, "(root).net.a"), "after": 0}
    up = {"kind": "up", "node": _id(explorer, "(root).net.blocks.2"), "after": 0}

    def answered(*edits: object) -> Any:
        return _ask(explorer, ask="changed", changes={"edits": [*edits]})

    texts = [edit["text"] for edit in answered(removed, up, up)["changed"]["edits"]]
    assert texts == [
        "Remove net.a",
        "Move net.blocks.2 to net.blocks.1",
        "Move net.blocks.1 to net.blocks.0",
    ]
    assert (
        "net.blocks.0 has no item of a list on that side" in answered(removed, up, up, up)["error"]
    )
    assert "net.a is gone; select another part" in answered(removed, removed)["error"]
    down = {"kind": "down", "node": _id(explorer, "(root).net.blocks.1")}
    assert answered(down)["changed"]["edits"][0]["text"] == "Move net.blocks.1 to net.blocks.2"
    down["node"] = _id(explorer, "(root).net.a")
    assert "net.a has no item of a list" in answered(down)["error"]
    assert "found the edit" in answered({**removed, "after": 1})["error"]


def test_an_edit_goes_and_the_others_stay(tmp_path: Path) -> None:
    """A later edit finds its part again; one that needs the edit keeps it."""
    live, path = _net_and_path(tmp_path)
    explorer = cv.show(live, against=path)
    one = {"kind": "name", "node": _id(explorer, "(root).net"), "to": "model"}
    two = {"kind": "name", "node": _id(explorer, "(root).net.a"), "to": "z", "after": 0}

    def answered(*edits: object) -> Any:
        return _ask(explorer, ask="changed", changes={"edits": [*edits]})

    def drop(place: int) -> object:
        return {"kind": "drop", "node": place}

    def texts(*edits: object) -> list[tuple[str, int]]:
        lines = answered(*edits)["changed"]["edits"]
        return [(line["text"], line["place"]) for line in lines]

    assert texts(one, two) == [("Rename net to model", 0), ("Rename model.a to z", 1)]
    assert texts(one, two, drop(0)) == [("Rename net.a to z", 1)]
    assert texts(one, two, drop(1)) == [("Rename net to model", 0)]
    assert texts(one, two, drop(0), drop(1)) == []
    none = answered(one, two, drop(0), drop(1))["changed"]
    assert none["now"] == none["before"] and none["first"] is None
    copied = {"kind": "insert", "node": two["node"], "after": 0}
    again = {"kind": "name", "node": answered(copied)["changed"]["node"], "to": "c"}
    assert texts(copied, one, {**again, "after": 1}, drop(1)) == [
        ("Insert net.a_2, like net.a", 0),
        ("Rename net.a_2 to c", 2),
    ]
    problem = answered(copied, {**again, "after": 1}, drop(0))["error"]
    assert problem.startswith("Remove the edit 'Rename net.a_2 to c' first. Alone, it fails: ")
    assert "expected one of (1,)" in answered(one, two, drop(0), drop(0))["error"]


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ([], "expected an object"),
        ({"edits": {}}, "expected a list"),
        ({"edits": [{}]}, "expected a kind"),
        ({"edits": [{"kind": "paint", "node": 1}]}, "expected a kind"),
        ({"edits": [{"kind": "name", "node": -1}]}, "expected a kind"),
        ({"edits": [{"kind": "name", "node": True}]}, "expected a kind"),
        ({"edits": [{"kind": "name", "node": 1, "to": "x" * 201}]}, "at most 200 characters"),
        ({"edits": [{"kind": "name", "node": 10**9}]}, "expected one of the picture"),
        ({"edits": [{"kind": "name", "node": 0}]}, "the root"),
        ({"edits": [{"kind": "name", "node": 0, "to": "a"}]}, "the root"),
        ({"edits": [{"kind": "drop", "node": 0}]}, "expected one of ()"),
        ({"edits": [], "method": "write"}, "expected 'restore' or 'read'"),
    ],
)
def test_changes_that_are_none_have_a_reason(changes: Any, part: str, tmp_path: Path) -> None:
    live, path = _net_and_path(tmp_path)
    assert part in _ask(cv.show(live, against=path), ask="changed", changes=changes)["error"]


def test_only_a_check_has_a_program(tmp_path: Path) -> None:
    live, _ = _net_and_path(tmp_path)
    assert "only the check" in _ask(cv.show(live), ask="changed", changes={})["error"]
