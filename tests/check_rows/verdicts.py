"""Weak spots of the asserts."""

from __future__ import annotations

from pathlib import Path

from tests.check_rows.table import ALL, Pair, Topic
from tests.support.programs import ckpt, module, saved, var, written

row = Topic()


@row("existing")
def written_and_restored(at: Path) -> Pair:
    return Pair(written(at, v=var()), lambda: ckpt(v=var()))


@row("consumed")
def saved_and_read(at: Path) -> Pair:
    return Pair(saved(at, v=var()), lambda: ckpt(v=var()), "read")


@row()
def written_and_read(at: Path) -> Pair:
    return Pair(written(at, v=var()), lambda: ckpt(v=var()), "read")


@row("existing")
def unrelated_program(at: Path) -> Pair:
    return Pair(saved(at, a=var(), b=module(c=var())), lambda: ckpt(x=var(), y=var()))


@row(ALL)
def unrelated_program_read(at: Path) -> Pair:
    path = written(at, a=var(), b=module(c=var()))
    return Pair(path, lambda: ckpt(x=var(), y=var()), "read")


@row(ALL)
def unrelated_program_restores_what_was_written(at: Path) -> Pair:
    return Pair(written(at, a=var()), lambda: ckpt(x=var()))


@row("nontrivial")
def nothing_read_into_nothing(at: Path) -> Pair:
    return Pair(written(at), lambda: ckpt(), "read")


@row("consumed nontrivial")
def something_read_into_nothing(at: Path) -> Pair:
    return Pair(written(at, v=var()), lambda: ckpt(), "read")


@row(ALL)
def nothing_read_into_something(at: Path) -> Pair:
    return Pair(written(at), lambda: ckpt(v=var()), "read")


@row()
def nothing_restored_into_nothing(at: Path) -> Pair:
    return Pair(saved(at), lambda: ckpt())


@row("consumed nontrivial")
def something_read_into_an_empty_list(at: Path) -> Pair:
    return Pair(written(at, v=[var()]), lambda: ckpt(w=[]), "read")


@row("consumed")
def model_that_is_not_built_fails_only_consumed(at: Path) -> Pair:
    return Pair(saved(at, m=module(v=var(), w=var())), lambda: ckpt(m=module()))
