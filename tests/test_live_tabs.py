"""Tabs with live objects, from the kernel's side: what they receive, and nothing more."""

from __future__ import annotations

import base64
import gc
import gzip
import json
import socket
import weakref
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import pytest

from ckpt_viz.entrances.jupyter import live_tabs
from ckpt_viz.entrances.jupyter.live_objects import Reply
from ckpt_viz.entrances.jupyter.live_tabs import MAX_TABS
from ckpt_viz.graphs.render import payload
from tests.support.kernels import Kernel, running_kernel

pytestmark = pytest.mark.tf

TABS = "__import__('ckpt_viz.entrances.jupyter.live_tabs', fromlist=['_'])"
SESSION = """
import tensorflow as tf

class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable([[1.0, 2.0]])
        self.step = tf.Variable(7)

net = Net()
ckpt = tf.train.Checkpoint(net=net)
path = ckpt.write("saved/ckpt")
'shown'
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with running_kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        kernel.run(SESSION)
        yield kernel


@pytest.fixture(autouse=True)
def no_tabs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_tabs, "_tabs", {})


def opens(kernel: Kernel, arguments: str) -> dict[str, Any]:
    return kernel.ask(f"{TABS}.opened({arguments})", may_import=True)


def asks(kernel: Kernel, function: str, *arguments: object) -> dict[str, Any]:
    """Ask with arguments as the front end writes them: of what is no list, in JSON."""
    written = ", ".join(
        json.dumps(json.dumps(one)) if isinstance(one, dict) else repr(one) for one in arguments
    )
    return kernel.ask(f"{TABS}.{function}({written})", may_import=True)


def names_in(kernel: Kernel, nodes: list[int], source: str = "ckpt") -> list[str]:
    """Return what nodes are called now."""
    found: list[str] = kernel.value(
        f"(lambda g: [g.name(i) for i in {nodes}])(__import__('ckpt_viz').graph({source}))"
    )
    return found


def node(kernel: Kernel, name: str, source: str = "ckpt") -> int:
    found: int = kernel.value(f"__import__('ckpt_viz').graph({source}).first_named({name!r})")
    return found


def headline(data: dict[str, Any]) -> str:
    """Return the sentence above a comparison from the payload."""
    content = gzip.decompress(base64.b64decode(data["payload"]))
    start = len(payload.MAGIC) + 4
    length = int.from_bytes(content[start - 4 : start], "little")
    found: str = json.loads(content[start : start + length])["table"]["sentence"]
    return found


def data_of(reply: Reply) -> dict[str, Any]:
    return reply.data


def test_a_tab_is_opened(kernel: Kernel) -> None:
    data = opens(kernel, "ckpt")
    encoded = kernel.value(
        "__import__('base64').b64encode("
        "__import__('ckpt_viz.graphs.render.payload', fromlist=['_'])"
        ".encode(__import__('ckpt_viz').graph(ckpt))).decode()"
    )
    assert data == {
        "version": metadata.version("ckpt-viz"),
        "format": payload.VERSION,
        "tab": data["tab"],
        "title": "Checkpoint",
        "comparison": None,
        "payload": encoded,
    }
    assert opens(kernel, "ckpt")["tab"] != data["tab"]
    widgets = "{'ipywidgets', 'anywidget', 'ckpt_viz.entrances.jupyter.widget'}"
    assert kernel.value(f"{widgets} & set(__import__('sys').modules)") == set()


def test_questions_are_answered_with_what_is_now(kernel: Kernel) -> None:
    kernel.run("net.step.assign(7)")
    tab = opens(kernel, "ckpt")["tab"]
    step = node(kernel, "(root).net.step")
    question = {"ask": "values", "node": step}
    assert asks(kernel, "asked", tab, question)["answer"]["values"][0]["elements"] == ["7"]
    kernel.run("net.step.assign_add(1)")
    assert asks(kernel, "asked", tab, question)["answer"]["values"][0]["elements"] == ["8"]
    found = asks(kernel, "asked", tab, {"ask": "accessor", "node": step})
    assert found["answer"] == {"text": "source.net.step"}
    assert found["buffers"] == []
    wrong = asks(kernel, "asked", tab, {"ask": "values", "node": None})
    assert "found node id None" in wrong["answer"]["error"]
    state = {"selected": None, "expanded": [0], "query": "\u2028'\"<", "mode": "highlight"}
    found = asks(kernel, "asked", tab, {"ask": "file", "format": "svg"}, state)
    assert found["answer"]["name"] == "checkpoint.svg"
    (buffer,) = found["buffers"]
    assert base64.b64decode(buffer).startswith(b"<svg")


def test_renewed_shows_what_is_now_and_keeps_the_selection(kernel: Kernel) -> None:
    kernel.run("net = Net(); ckpt = tf.train.Checkpoint(net=net)")
    tab, step = opens(kernel, "ckpt")["tab"], node(kernel, "(root).net.step")
    before = [0, node(kernel, "(root).net"), node(kernel, "(root).net.kernel")]
    kernel.run("net.added = tf.Module(); net.added.bias = tf.Variable(0.0); del net.kernel")
    data = asks(kernel, "renewed", tab, step, before)
    assert data["tab"] == tab
    assert names_in(kernel, [data["selected"]]) == ["(root).net.step"]
    assert names_in(kernel, data["expanded"]) == ["(root)", "(root).net"]
    assert data["payload"] == opens(kernel, "ckpt")["payload"]
    bias = {"ask": "values", "node": node(kernel, "(root).net.added.bias")}
    assert asks(kernel, "asked", tab, bias)["answer"]["values"][0]["elements"] == ["0"]
    data = asks(kernel, "renewed", tab, None, None)
    assert (data["selected"], data["expanded"]) == (None, None)
    data = asks(kernel, "renewed", tab, 99, [-1, 0, 99, "0"])
    assert (data["selected"], data["expanded"]) == (None, [0])


def test_a_checkpoint_is_checked_against_the_path_that_restore_gets(kernel: Kernel) -> None:
    kernel.run("net = Net(); ckpt = tf.train.Checkpoint(net=net)")
    data = opens(kernel, "ckpt, 'saved/ckpt'")
    assert data["comparison"] == "check"
    assert data["title"] == "saved/ckpt \u2192 Checkpoint"
    whole = headline(data)
    kernel.run("net.added = tf.Variable(0.0)")
    assert headline(asks(kernel, "renewed", data["tab"], None, None)) != whole
    assert opens(kernel, "ckpt, tf.train.Checkpoint(net=net)")["comparison"] == "diff"
    # What restore would not find, but lies there, is for the check to tell.
    kernel.run("numbered = ckpt.save('numbered/ckpt')")
    assert opens(kernel, "ckpt, 'numbered/ckpt'")["comparison"] == "check"
    kernel.run("__import__('os').symlink('circle', 'circle')")
    assert opens(kernel, "ckpt, 'circle/ckpt'")["comparison"] == "check"


def test_a_path_that_the_kernel_does_not_see_is_an_error(kernel: Kernel) -> None:
    directory = kernel.value("__import__('os').getcwd()")
    for path in ("saved/other", "/no/such/directory/ckpt-1"):
        data = opens(kernel, f"ckpt, {path!r}")
        assert set(data) == {"version", "error"}
        place = f"on {socket.gethostname()} in {directory}"
        assert data["error"].startswith(f"{path}: the kernel, {place}, sees no such checkpoint")
        assert "another machine" in data["error"]


def test_a_file_that_is_gone_leaves_the_tab_as_it_was(kernel: Kernel) -> None:
    kernel.run("ckpt.write('gone/ckpt')")
    tab = opens(kernel, "ckpt, 'gone/ckpt'")["tab"]
    kernel.run("import shutil; shutil.rmtree('gone')")
    assert "sees no such checkpoint" in asks(kernel, "renewed", tab, None, None)["error"]
    assert "text" in asks(kernel, "asked", tab, {"ask": "accessor", "node": 0})["answer"]


def test_a_closed_tab_must_be_opened_again(kernel: Kernel) -> None:
    tab = opens(kernel, "ckpt")["tab"]
    assert set(asks(kernel, "closed", tab)) == {"version"}
    for data in (
        asks(kernel, "asked", tab, {"ask": "accessor", "node": 0}),
        asks(kernel, "renewed", tab, None, None),
    ):
        assert "open it again" in data["error"]
        assert data["gone"] is True
    asks(kernel, "closed", tab)


def test_the_tab_that_was_not_used_for_longest_is_dropped() -> None:
    import tensorflow as tf

    def opened(source: object) -> str:
        tab: str = data_of(live_tabs.opened(source))["tab"]
        return tab

    def is_known(tab: str) -> bool:
        return "gone" not in data_of(live_tabs.asked(tab, '{"ask": "accessor", "node": 0}'))

    used, forgotten = tf.Module(), tf.Module()
    alive = weakref.ref(forgotten)
    first, second = opened(used), opened(forgotten)
    del forgotten
    others = [opened(used) for _ in range(MAX_TABS - 2)]
    assert is_known(first)
    assert alive() is not None
    others.append(opened(used))
    assert all(map(is_known, [first, *others]))
    gc.collect()
    assert alive() is None
    assert not is_known(second)


def test_a_closed_tab_holds_nothing() -> None:
    import tensorflow as tf

    module = tf.Module()
    alive = weakref.ref(module)
    tab = data_of(live_tabs.opened(module))["tab"]
    live_tabs.closed(tab)
    del module
    gc.collect()
    assert alive() is None


def test_every_error_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise ValueError

    def error_of(raised: Exception) -> object:
        def show_of(*_: object) -> None:
            raise raised

        monkeypatch.setattr(live_tabs, "show_of", show_of)
        return data_of(live_tabs.opened(None))["error"]

    assert "expected a checkpoint's path or a trackable" in data_of(live_tabs.opened(3))["error"]
    assert error_of(ValueError("as it is")) == "ValueError: as it is"
    assert error_of(Unspeakable()) == "Unspeakable"
    strange: Any
    for strange in (None, [], {}):
        assert data_of(live_tabs.asked(strange, strange))["error"]
        assert "version" in data_of(live_tabs.closed(strange))
        assert data_of(live_tabs.renewed("x", None, strange))["gone"]
    assert live_tabs._tabs == {}
