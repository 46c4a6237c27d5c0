"""The sentences of findings are plain English; what measures it tells a good one from a bad one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ckpt_viz
from tests.support.plain_english import faults_in, words_in

RULES = Path(ckpt_viz.__file__).parent / "restore_check"


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
    assert words_in("Copy it. Unable to save [1, 2] now.", ["Unable to save [1, 2] now"]) == 3


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
