"""Code in the sentences of remedies, and whether it can run where a person reads it."""

from __future__ import annotations

import ast
import builtins
import re
import shlex
from collections.abc import Iterator

import click

from ckpt_viz.answers.restore_check.check_result import RestoreCheck
from ckpt_viz.cli import main
from ckpt_viz.graphs.overlay.remedy import OtherPath, Remedy
from ckpt_viz.ground.wording import PYTHON, Wording, in_commands
from tests.support.told import told

# A call of a name with its arguments, or of something by a dot; `restore()` alone names a method.
_CALL = re.compile(r"[A-Za-z_][\w.]*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_ASSIGNED = re.compile(r"\bself\.(\w+) = ")
_TICKED = re.compile(r"`([^`]+)`")
_COMMANDS = in_commands("ckpt-viz fix --run train.py:ckpt ckpt-1")
_OTHER_COMMANDS = ("git ",)


def unrunnable(check: RestoreCheck) -> Iterator[str]:
    """Yield the code in remedies that has names which a person's program lacks.

    A program has `tf`, `cv` and, as in the documents, the `check`.
    """
    import tensorflow as tf

    import ckpt_viz as cv

    for finding in told(check):
        for wording in (PYTHON, _COMMANDS):
            names = {"tf": tf, "cv": cv, "check": check} if wording is PYTHON else {"tf": tf}
            for code in unrunnable_in(finding.remedy, wording, names):
                yield f"{finding.kind.value}: {code}"


def unrunnable_in(remedy: Remedy, wording: Wording, names: dict[str, object]) -> list[str]:
    """Return the code in the sentence of a remedy that has other names than these."""
    assigned = set(_ASSIGNED.findall(remedy.in_words(wording)))  # in the class that a person edits
    return [code for code in _code_in(remedy, wording) if not _runs(code, names, assigned)]


def _code_in(remedy: Remedy, wording: Wording) -> Iterator[str]:
    sentence = remedy.in_words(wording)
    if isinstance(remedy, OtherPath):
        return  # its path is a text of the user's
    for ticked in _TICKED.findall(sentence):
        if not ticked.isidentifier():  # else a name, such as that of an option
            yield ticked
    for call in _CALL.findall(_TICKED.sub("", sentence)):
        if "." in call.partition("(")[0] or not call.endswith("()"):
            yield call


def _runs(code: str, names: dict[str, object], assigned: set[str]) -> bool:
    """Return whether a command exists with these arguments, or Python knows all names of code."""
    if code.startswith("ckpt-viz "):
        _, command, *arguments = shlex.split(code)
        asked = main.get_command(click.Context(main), command)
        return asked is not None and asked.make_context(command, arguments) is not None
    if code.startswith(_OTHER_COMMANDS):
        return True
    tree = ast.parse(f"{code}\n    pass" if code.endswith(":") else code)
    names_in_code = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in names_in_code if isinstance(node.ctx, ast.Store)}
    known = {*names, *own, *assigned, *dir(builtins)}
    used = {node.id for node in names_in_code}
    return used <= known and all(_exists(node, names) for node in ast.walk(tree))


def _exists(node: ast.AST, names: dict[str, object]) -> bool:
    """Return whether an attribute of a known object or module exists."""
    if not isinstance(node, ast.Attribute):
        return True
    path = ast.unparse(node).split(".")
    if path[0] not in names or not all(part.isidentifier() for part in path):
        return True
    value = names[path[0]]
    for part in path[1:]:
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True
