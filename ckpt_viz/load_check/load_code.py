"""The program that loads a model in spite of what fails, if need be from a repaired copy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ckpt_viz.live.packages import KERAS, package_of
from ckpt_viz.load_check.abstract import LoadFault
from ckpt_viz.load_check.load_findings import (
    is_about_arguments,
    is_code,
    is_of_compilation,
    is_unknown_name,
)

Arguments = Mapping[str, Sequence[str]]  # what to leave out, by class

_LEAVE_OUT = '''\
NOT_TAKEN = {arguments}


def leave_out(item):
    """Leave out the arguments that this Keras does not take."""
    if isinstance(item, dict):
        for name in NOT_TAKEN.get(item.get("class_name"), ()):
            item["config"].pop(name, None)
    for part in item.values() if isinstance(item, dict) else item:
        if isinstance(part, (dict, list)):
            leave_out(part)
'''
_OF_ARCHIVE = """\
with zipfile.ZipFile(path) as archive, zipfile.ZipFile(copy, "x") as new:
    for name in archive.namelist():
        content = archive.read(name)
        if name == "config.json":
            config = json.loads(content)
            leave_out(config)
            content = json.dumps(config)
        new.writestr(name, content)
"""
_OF_HDF5 = """\
shutil.copy(path, copy)
with h5py.File(copy, "r+") as file:
    for name in ("model_config", "training_config"):
        if name in file.attrs:
            config = json.loads(file.attrs[name])
            leave_out(config)
            file.attrs[name] = json.dumps(config)
"""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def to_leave_out(faults: Iterable[LoadFault]) -> dict[str, list[str]]:
    """Return the arguments that a copy of the file can leave out, by class."""
    arguments: dict[str, list[str]] = {}
    for fault in faults:
        cls = fault.subject.cls
        if cls is None or not is_about_arguments(fault) or is_of_compilation(fault):
            continue
        if package_of(cls) in KERAS:
            names = arguments.setdefault(cls.__name__, [])
            names += [name for name in fault.subject.arguments if name not in names]
    return arguments


def without(item: Any, arguments: Arguments) -> Any:
    """Return a configuration without some arguments, as the program makes it."""
    if isinstance(item, list):
        return [without(part, arguments) for part in item]
    if not isinstance(item, dict):
        return item
    left = {name: without(part, arguments) for name, part in item.items()}
    config, class_name = left.get("config"), left.get("class_name")
    if isinstance(config, dict) and isinstance(class_name, str):
        for name in arguments.get(class_name, ()):
            config.pop(name, None)
    return left


def options_of(faults: Iterable[LoadFault]) -> dict[str, Any]:
    """Return the options of `load_model` that remove some causes."""
    every = [*faults]
    options: dict[str, Any] = {}
    if any(is_code(fault) for fault in every):
        options["safe_mode"] = False
    if any(is_of_compilation(fault) and not is_unknown_name(fault) for fault in every):
        options["compile"] = False
    return options


def names_of(faults: Iterable[LoadFault]) -> dict[str, str] | None:
    """Return the program's names by what Keras asks for; None if one of them is no name."""
    names: dict[str, str] = {}
    for fault in faults:
        if not is_unknown_name(fault):
            continue
        name = fault.subject.key.rpartition(">")[2]
        if not _IDENTIFIER.fullmatch(name):
            return None
        names[fault.subject.key] = name
    return names


def code_of(
    library: str,
    path: str,
    names: Mapping[str, str],
    options: Mapping[str, Any],
    arguments: Arguments,
) -> str:
    """Return the program; the names of the custom objects in it are the user's."""
    is_hdf5 = not path.endswith(".keras")
    imports = [library]
    if arguments:
        imports += ["h5py", "json", "shutil"] if is_hdf5 else ["json", "zipfile"]
    lines = [*(f"import {name}" for name in sorted(imports)), "", f"path = {path!a}"]
    call = "path"
    if arguments:
        stem, dot, suffix = path.rpartition(".")
        lines += [f"copy = {f'{stem}-copy{dot}{suffix}' if dot else f'{path}-copy'!a}", ""]
        lines += [_LEAVE_OUT.format(arguments=repr(dict(arguments))), ""]
        lines += [_OF_HDF5 if is_hdf5 else _OF_ARCHIVE]
        call = "copy"
    if names:
        pairs = ", ".join(f"{key!a}: {name}" for key, name in names.items())
        call += f", custom_objects={{{pairs}}}"
    call += "".join(f", {name}={value}" for name, value in options.items())
    lines += [f"model = {library}.models.load_model({call})"]
    if options.get("compile") is False:
        lines += ["# then model.compile(...) as before"]
    return "\n".join(lines) + "\n"
