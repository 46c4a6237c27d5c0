"""How random programs of laws are shrunk and printed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from tests.programs.law import Failure, Law, UnfitError, code_of


class Step(NamedTuple):
    op: str
    how: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Block:
    name: str
    width: int = 4
    inner: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Example:
    blocks: tuple[Block, ...]
    steps: tuple[Step, ...] = ()
    now: tuple[Block, ...] = ()


def _drawn(rng: Random) -> Example:
    blocks = tuple(Block(str(i), 5, (Block(f"{i}a"), Block(f"{i}b", 7))) for i in range(6))
    steps = tuple(Step(str(i), {"of": (str(i), "x"), "to": ()}) for i in range(rng.randint(3, 9)))
    return Example(blocks, steps, blocks)


def _names(blocks: tuple[Block, ...]) -> set[str]:
    return {name for one in blocks for name in ({one.name} | _names(one.inner))}


def _judge(example: Example, directory: Path) -> None:
    if not example.steps:
        raise UnfitError
    assert directory.is_dir()
    names = _names(example.blocks)
    if names != _names(example.now):
        raise KeyError(names)
    assert "4b" not in names, "has 4b" + "\nline" * 99


LAW = Law("No block is 4b", _drawn, _judge)


def test_a_failure_is_the_smallest_program_then_what_differs_on_one_screen() -> None:
    (failure,) = LAW.tried(3, 1)
    lines = str(failure).splitlines()
    assert isinstance(failure, Failure) and len(lines) <= 40
    assert lines[2] == "Example((Block('4b'),), steps=(Step('2', {}),), now=(Block('4b'),))"
    assert lines[4] == "has 4b" and lines[-2].startswith("AssertionError at ")
    assert lines[-1].startswith("This is what is left of number 0 of seed 3 after ")


def test_what_is_printed_makes_the_example_again() -> None:
    example = _drawn(Random(0))
    text = code_of(example)
    assert eval(text) == example and max(map(len, text.splitlines())) <= 120


def test_too_few_fit_programs_are_a_failure() -> None:
    unfit = Law("Nothing is fit", _drawn, lambda example, at: _judge(Example(()), at))
    with pytest.raises(AssertionError, match="only 0 examples of 2 are fit"):
        unfit.hold(0, 2)
