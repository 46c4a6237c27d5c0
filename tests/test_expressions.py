"""Names become code only as names: any text, judged by Python itself."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ckpt_viz as cv
from ckpt_viz.answers.short_code.objects_in_code import expression_of
from ckpt_viz.answers.short_code.skeleton import Skeleton, can_be_made, to_code
from ckpt_viz.errors import SourceError
from ckpt_viz.ground.expressions import argument, child, is_name, operand, quoted
from tests.hostile.makers import NASTY
from tests.support.graphs import graph
from tests.support.restore_code import CODE_NAMES, assert_restores_only

# Python normalizes the last of these letters in names.
_LETTERS = st.text("abcrst_0.µﬁſª𝐱", max_size=8)
NAMES = st.sampled_from([*CODE_NAMES, *NASTY, "root"]) | _LETTERS | st.text()
_CONTAINERS = {name for cls in (dict, list, tuple) for name in dir(cls)}


class Tracked:
    """An object with children of any name, some of which its own attributes hide."""

    def __init__(self, children: Mapping[str, object], hidden: set[str] = _CONTAINERS) -> None:
        self.__dict__ = {"children of the stub": children, "hidden by the stub": hidden}

    def __getattribute__(self, name: str) -> object:
        inner = object.__getattribute__(self, "__dict__")
        if name in inner["hidden by the stub"]:
            return "a method"
        return inner["children of the stub"][name]


def _children(parent: Tracked) -> Mapping[str, object]:
    inner: dict[str, Any] = object.__getattribute__(parent, "__dict__")
    children: Mapping[str, object] = inner["children of the stub"]
    return children


TF = SimpleNamespace(train=SimpleNamespace(TrackableView=SimpleNamespace(children=_children)))


def evaluated(code: str, ckpt: object) -> object:
    return eval(compile(code, "code", "eval"), {"__builtins__": {}, "tf": TF, "ckpt": ckpt})


@given(NAMES)
def test_the_expression_for_a_child_is_that_child_and_nothing_else(name: str) -> None:
    code, wanted = child("ckpt", name), object()
    assert evaluated(code, Tracked({name: wanted})) is wanted
    assert_restores_only(code, [name])
    assert isinstance(ast.parse(code, mode="eval").body, (ast.Attribute, ast.Subscript))


@given(st.lists(NAMES, min_size=1, max_size=5), st.dictionaries(NAMES, st.none(), max_size=3))
def test_objects_of_a_file_are_what_its_names_say(path: list[str], beside: dict[str, None]) -> None:
    wanted = node = object()
    for name in reversed(path):
        node = Tracked({**beside, name: node})
    edges = {n: {name: n + 1} | dict.fromkeys(beside, len(path) + 1) for n, name in enumerate(path)}
    for n, name in enumerate(path):
        edges[n][name] = n + 1
    code = expression_of(graph(edges, (len(path),)), len(path), "ckpt")
    assert evaluated(code, node) is wanted
    assert_restores_only(code, path)


@given(NAMES)
@example("self")
def test_a_keyword_is_the_same_name_for_python(name: str) -> None:
    word = argument(name)
    if word is not None:
        assert eval(f"dict({word}1)") == {name: 1}
    assert eval(quoted(name)) == name
    assert is_name(name) == _is_read_as_it_is(name)


def _is_read_as_it_is(name: str) -> bool:
    try:
        tree = ast.parse(name, mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return isinstance(tree, ast.Name) and tree.id == name


@given(st.recursive(st.just(0), lambda inner: st.dictionaries(NAMES, inner, max_size=3)))
def test_code_that_makes_checkpoints_holds_nothing_else(parts: Any) -> None:
    skeleton = _skeleton({"net": parts})
    live = graph({0: {"a": 1}}, (1,))
    code = to_code(skeleton, live, "ckpt")
    assert_restores_only(code, ["a"])
    for width in (0, 80):
        assert _pieces(to_code(skeleton, live, "ckpt", width)) == _pieces(code)


def _pieces(code: str) -> list[str]:
    """Return the keywords, keys and names of code, in any order."""
    nodes = list(ast.walk(ast.parse(code)))
    keywords = [f"{node.arg}=" for node in nodes if isinstance(node, ast.keyword)]
    return sorted(
        [
            *keywords,
            *(ast.unparse(n) for n in nodes if isinstance(n, (ast.Attribute, ast.Constant))),
        ]
    )


def _skeleton(parts: Mapping[str, Any]) -> Skeleton:
    return Skeleton(
        None, {name: 1 if part == 0 else _skeleton(part) for name, part in parts.items()}
    )


def test_what_no_code_can_make_is_refused() -> None:
    live = graph({0: {"a": 1}}, (1,))
    deep = Skeleton(0)
    for _ in range(300):
        deep = Skeleton(None, {"a": deep})
    for skeleton in (
        deep,
        Skeleton(0, {"restore": 1}),
        Skeleton(None, {"root": 1, "restore": 1}),
    ):
        assert not can_be_made(skeleton)
    with pytest.raises(SourceError, match="'root', 'restore'"):
        to_code(Skeleton(None, {"root": 1, "restore": 1}), live)


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ({0: {"a": 1}, 2: {"me": 2}}, "no local name leads to it from the root"),
        ({n: {"next": n + 1} for n in range(300)}, "is 300 local names below the root, expected"),
    ],
    ids=["only from itself", "deep"],
)
def test_objects_without_an_expression_are_named(edges: dict[int, Any], said: str) -> None:
    last = max(edges) if said.startswith("no") else max(edges) + 1
    with pytest.raises(SourceError, match=said) as caught:
        expression_of(graph(edges, (last,)), last)
    assert len(str(caught.value)) < 500


def test_the_deepest_code_is_python() -> None:
    live = graph({n: {"a b": n + 1} for n in range(60)}, (60,))
    skeleton = Skeleton(None, {"a b": 60})
    while can_be_made(skeleton):
        code = to_code(skeleton, live, width=80)
        skeleton = Skeleton(None, {"a b": skeleton})
    assert_restores_only(f"values = [({code.replace('live', 'ckpt')}, 1)]")


def test_a_slot_is_what_its_optimizer_gives() -> None:
    name = "m') or print('"
    opt = SimpleNamespace(get_slot=lambda variable, slot: (variable, slot))
    declared = graph({0: {"v": 1, "opt": 2}}, (1, 3), {2: ((name, 1, 3),)})
    found = evaluated(expression_of(declared, 3, "ckpt"), SimpleNamespace(v="the v", opt=opt))
    assert found == ("the v", name)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("ckpt", "ckpt.v"),
        (" trainer.ckpts['a'] # one", "trainer.ckpts['a'].v"),
        ("one or other", "(one or other).v"),
        ("(one,\nother)[0]", "(one, other)[0].v"),
    ],
)
def test_a_dot_belongs_to_the_whole_expression_of_the_caller(given: str, expected: str) -> None:
    assert child(operand(given), "v") == expected


@pytest.mark.parametrize("text", ["", "a b", "x = 1", "\0", "import os", "(" * 1000])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(cv.SourceError, match="expected a Python expression for the live object"):
        operand(text)
