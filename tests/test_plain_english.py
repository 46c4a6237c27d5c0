"""Findings, comments and docstrings are plain English; the measure finds obscure sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ckpt_viz
from tests.support.plain_english import (
    BANNED_IN_CODE,
    BANNED_IN_MESSAGES,
    comments_and_docstrings,
    faults_in,
    messages,
    obscure_phrases_in,
    sentences_in,
    words_in,
)
from tests.support.rooms import modules

PACKAGE = Path(ckpt_viz.__file__).parent
RULES = PACKAGE / "restore_check"
TESTS = Path(__file__).parent
SHARED = ("check_findings", "check_rows", "hostile", "support")
SOURCES = (PACKAGE, *(TESTS / name for name in SHARED), TESTS.parent / "benchmarks")


@pytest.mark.parametrize(
    "sentence",
    [
        "Nobody asks for 3 names of the file.",
        "Mend the cause first; after such a failure, build the objects anew.",
        "The graph takes it without a word.",
        "One saved object stands for two.",
        " ".join(["word"] * 26) + ".",
    ],
)
def test_sentences_that_obscure_are_found(sentence: str) -> None:
    assert len(list(faults_in(sentence))) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "3 names in the file match no variable.",
        "Fix the cause, then recreate the objects: some are already overwritten.",
        "Set `with strategy.scope():`, for 'it stands for nobody'.",
        " ".join(["word"] * 25) + ".",
    ],
)
def test_plain_sentences_pass(sentence: str) -> None:
    assert list(faults_in(sentence)) == []


def test_code_and_names_are_one_word() -> None:
    assert (
        words_in("Call tf.train.Checkpoint(net=tf.train.Checkpoint(a=live.a)).restore(path).") == 2
    )
    assert words_in("(root).o's state 'm' for (root).v is saved.") == 3
    assert sentences_in("Copy it. Unable to save [1, 2] now. Go.", ["Unable to save [1, 2]"]) == [
        *("Copy it.", "Quote now."),
        "Go.",
    ]


def _texts(path: Path) -> Iterator[str]:
    """Yield the text of every string of a module, documentation included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_no_text_of_the_check_has_a_phrase_that_obscures() -> None:
    """Findings that no row shows are covered, too, and so are docstrings."""
    found = [
        f"{path.name}: {fault}"
        for path in sorted(RULES.rglob("*.py"))
        for text in _texts(path)
        for fault in faults_in(text)
        if "words, expected" not in fault  # which a docstring of several sentences has
    ]
    assert found == []


def _obscure_in(source: str) -> list[str]:
    return [
        f"{line}: {fault}"
        for line, text in comments_and_docstrings(source)
        for fault in obscure_phrases_in(text, BANNED_IN_CODE)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("directory", SOURCES, ids=lambda directory: directory.name)
def test_no_comment_or_docstring_has_a_phrase_that_obscures(directory: Path) -> None:
    modules = sorted(directory.rglob("*.py"))
    assert modules
    found = [
        f"{path.relative_to(directory)}:{fault}"
        for path in modules
        for fault in _obscure_in(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('"""Two graphs.\n\nNobody\nasks for them.\n"""\n', 1),
        ('def f():\n    """The graph stands for two."""\n', 2),
        ('SIZE = 1\n"""It wants more."""\n', 2),
        ("x = 1  # built anew\n", 1),
        ("x = 1\n# The graph takes it without\n# a word.\n", 2),
    ],
)
def test_phrases_that_obscure_are_found_in_comments_and_docstrings(source: str, line: int) -> None:
    (found,) = _obscure_in(source)
    assert found.startswith(f"{line}: ")


def test_code_and_the_strings_in_it_are_not_comments() -> None:
    assert _obscure_in('nobody = "nobody"  # not a `nobody`\n') == []


@pytest.mark.parametrize(
    "source",
    [
        'f"item {n} was inserted"',
        'x = "The program has no b any more."',
        'x = f"{number} left; nothing takes {names}"',
        'raise ValueError("which was told to the kernel")',
    ],
)
def test_phrases_that_are_read_twice_are_found_in_messages(source: str) -> None:
    ((_, text),) = messages(source)
    assert list(obscure_phrases_in(text, BANNED_IN_MESSAGES))


@pytest.mark.slow
def test_no_message_has_a_phrase_that_is_read_twice() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {fault}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, text in messages(path.read_text("utf-8"))
        for fault in obscure_phrases_in(text, BANNED_IN_MESSAGES)
    ]
    assert found == []


def test_no_text_of_the_front_end_has_a_phrase_that_is_read_twice() -> None:
    front_end = TESTS.parent / "labextension"
    files = [*front_end.glob("src/**/strings.ts"), *front_end.glob("schema/*.json")]
    assert len(files) >= 3
    texts = [re.sub(r"/\*.*?\*/|//.*", "", path.read_text("utf-8"), flags=re.S) for path in files]
    assert [fault for text in texts for fault in obscure_phrases_in(text, BANNED_IN_MESSAGES)] == []


# Names that say nothing of what they hold.
_PRONOUNS = {"found", "it", "one", "ones", "ours", "theirs", "told"}


@pytest.mark.slow
def test_no_variable_or_parameter_is_a_pronoun() -> None:
    """Nor is a function, a class or an attribute."""
    vague = {
        module
        for module, path in modules().items()
        if any(
            _named_by(node).strip("_").lower() in _PRONOUNS
            for node in ast.walk(ast.parse(path.read_text()))
        )
    }
    assert vague == set()


def _named_by(node: ast.AST) -> str:
    """Return the name that a node of a syntax tree gives to something, "" if it gives none."""
    match node:
        case ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return name
    return ""


@pytest.mark.parametrize(
    "code",
    [
        "found = 1",
        "lambda one: one",
        "def _found(): ...",
        "class _Told: ...",
        "self._told = 1",
        "[ours for ours in items]",
    ],
)
def test_a_name_that_is_a_pronoun_is_seen(code: str) -> None:
    names = {_named_by(node).strip("_").lower() for node in ast.walk(ast.parse(code))}
    assert names & _PRONOUNS


def test_the_use_of_a_name_names_nothing() -> None:
    tree = ast.parse("print(found, self.found)")
    assert {_named_by(node) for node in ast.walk(tree)} == {""}
