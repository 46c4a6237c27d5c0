"""The program that loads a model in spite of what fails. The child executes it before it counts."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ckpt_viz.answers.load_check.faults import LoadFault
from ckpt_viz.ground.expressions import is_name

_WITHOUT = '''\
def without(cls, names):
    """Let a class ignore arguments that this Keras does not take."""
    build = cls.from_config.__func__

    def from_config(cls, config, **more):
        taken = {name: value for name, value in config.items() if name not in names}
        return build(cls, taken, **more)

    return mock.patch.object(cls, "from_config", classmethod(from_config))
'''


def program_of(
    library: str,
    request: Mapping[str, Any],
    faults: Sequence[LoadFault],
    public: Callable[[str], tuple[str, type] | None],
) -> str:
    """Return a program that may load the model; "" if there is none.

    `request` has the arguments of the call that fails, and `public` tells the public path of a
    class.
    """
    compiled = [fault for fault in faults if fault.is_of_compilation]
    parts = [fault for fault in faults if not fault.is_of_compilation]
    unknown = [fault.unknown for fault in parts if fault.unknown is not None]
    if any(not may_be_passed(name.name) or is_of_keras(name.module) for name in unknown):
        return ""
    left = [f for f in parts if f.unknown is None and not f.is_code and not f.follows]
    if any(not fault.not_taken for fault in left):
        return ""
    arguments: dict[str, list[str]] = {}
    for fault in left:
        known = public(fault.cls)
        if known is None:
            return ""
        names = arguments.setdefault(known[0], [])
        names += [name for name in fault.not_taken if name not in names]
    lines = [f"import {library}", ""]
    if arguments:
        lines = ["from unittest import mock", "", *lines, "", *_WITHOUT.split("\n"), ""]
    keys = dict.fromkeys([*request["custom"], *(name.key for name in unknown)])
    call = f"{request['path']!a}"
    if keys:
        lines += ["custom_objects = {"]
        lines += [f"    {key!a}: ...,  # your class or function" for key in keys]
        lines += ["}"]
        call += ", custom_objects=custom_objects"
    if compiled or not request["compile"]:
        call += ", compile=False"
    if any(fault.is_code for fault in parts) or not request["safe_mode"]:
        call += ", safe_mode=False"
    load = f"model = {library}.models.load_model({call})"
    if arguments:
        load = f"    {load}"
        lines += ["with (", *(f"    without({cls}, {n!a})," for cls, n in arguments.items()), "):"]
    lines += [load]
    if compiled:
        lines += ["# then model.compile(...) as before"]
    return "\n".join(lines) + "\n"


def may_be_passed(name: str) -> bool:
    """Return whether a name in a file may be one of the program's: it is none of Python's own."""
    return is_name(name) and not hasattr(builtins, name)


def is_of_keras(module: str) -> bool:
    """Return whether a file calls a class one of Keras itself."""
    return module.partition(".")[0] in ("keras", "tf_keras")
