"""Everything that people do with a checkpoint, done with a hostile one."""

from __future__ import annotations

import ast
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import ckpt_viz as cv
from ckpt_viz.answers.restore_check.asking import questions_of
from ckpt_viz.answers.restore_check.changed_program import ChangedProgram, WhatIf
from ckpt_viz.answers.restore_check.played import MOST_IN_FILES, asked, played, played_in_file
from ckpt_viz.files.values.verified_text import render_verification
from ckpt_viz.graphs.edits import edits
from ckpt_viz.graphs.edits.named_edit import KINDS, NamedEdit
from ckpt_viz.graphs.render import payload
from ckpt_viz.graphs.render.outline import MAX_ROWS
from ckpt_viz.graphs.render.plan_json import plan_json
from ckpt_viz.graphs.render.text import printable
from ckpt_viz.graphs.render.views import View
from ckpt_viz.graphs.search.evaluate import find
from ckpt_viz.matching.story.asserts import ASSERTS
from ckpt_viz.matching.story.questions import MOST_QUESTIONS
from tests.support.restore_code import assert_restores_only

MAX_MESSAGE = 17_000  # characters: three shapes of 254 dimensions, and some words
PROGRAM = "program"  # the file beside an attack that it is compared with as a program
VIEWS: tuple[View, View] = ("layers", "objects")
_MAX_IN_DOT = 2_000  # nodes; a picture of more is of no use
_MAX_IN_JSON = 20_000  # nodes; JSON of more takes more memory than opening them may
_MAX_KEYS = 20
_MOST_VERIFIED = 1 << 28
_SMALL_BYTES = 100_000
_MAX_PICTURE = 3_000_000  # characters: 300 rows of names that are cut at 1,000
_DRAWN = {"svg", "title", "desc", "style", "rect", "circle", "path", "g", "text"}

Stage = Callable[[str], None]


class Finding(Exception):
    """Neither a graph nor an error as it should be."""


def use(path: str, sandbox: str, stage: Stage = lambda name: None) -> str:
    """Open a path and do with the graph what people do next; return a summary.

    Everything lies in the directory `sandbox`, and errors must name a path in it. `stage` is called
    with the name of the next operation. Raises Finding, or whatever else goes wrong.
    """
    stage("graph")
    try:
        graph = cv.graph(path)
    except cv.CkptVizError as error:
        return _checked(error, sandbox)
    stage("str")
    _check_text(str(graph))
    repr(graph)
    stage("payload")
    payload.encode(graph)
    for view in VIEWS:
        if len(graph.nodes) < _MAX_IN_DOT:
            stage(f"to_dot, {view}")
            _check_text(graph.to_dot(view).source)
        stage(f"to_svg, {view}")
        _check_picture(graph.to_svg(view))
    if len(graph.nodes) < _MAX_IN_JSON:
        stage("to_json")
        data = graph.to_json()
        for part in [*data.pop("nodes"), data]:  # one text of all has several copies of each name
            json.dumps(part)
    _ask_nodes(graph, stage)
    _search(graph, stage)
    stage("steps of a save")
    for step in [*graph.steps[:20], *graph.steps[-20:]]:
        _check_text(str(step))
    errors = [node.error for node in graph.nodes if node.error]
    errors += [a.error for node in graph.nodes for a in node.attributes if a.error]
    for mark in errors[:1000]:
        _check_message(mark, "")
    said = _read_values(graph, sandbox, stage)
    _verify(graph, sandbox, stage)
    _measure(graph, sandbox, stage)
    _write(graph, sandbox, stage)
    marks = f", {len(errors)} marked: {errors[0]}" if errors else ""
    return f"graph of {len(graph.nodes)} nodes{marks}{said}"


def _write(graph: cv.ObjectGraph, sandbox: str, stage: Stage) -> None:
    """Write copies of a graph, also edited ones, and an archive; none leaves a part of a file."""
    if _takes_long(sandbox) or len(graph.nodes) > _MAX_IN_DOT:
        return
    ways: dict[str, Callable[[str], str]] = {
        "write": graph.write,
        "write without a part": lambda to: graph.of(
            edits.without(graph, [len(graph.nodes) - 1])
        ).write(to),
        "write with another name": lambda to: graph.renamed(
            {graph.names.place(len(graph.nodes) - 1): "new"}
        ).write(to),
        "write in another dtype": lambda to: graph.cast({"dtype:float32": "float16"}).write(to),
        "average": lambda to: cv.average([graph, graph]).write(to),
        "merged": lambda to: cv.merged({"a": graph, "b": graph}).write(to),
        "archive": graph.to_npz,
    }
    for name, way in ways.items():
        stage(name)
        with tempfile.TemporaryDirectory() as directory:
            try:
                written = way(os.path.join(directory, "new"))
            except cv.CkptVizError as error:
                _check_message(str(error), "")
                if os.listdir(directory):
                    raise Finding(f"{name} left {os.listdir(directory)}") from error
            else:
                if name != "archive":
                    repr(cv.graph(written))


def use_all(path: str, sandbox: str, stage: Stage = lambda name: None) -> str:
    """Use a path, then open the directory that it is in, then its files if they are small."""
    said = use(path, sandbox, stage)
    paths = [os.path.join(sandbox, name) for name in sorted(os.listdir(sandbox))[:20]]
    is_small = sum(os.lstat(path).st_size for path in paths) < _SMALL_BYTES
    for other in [sandbox, *(paths if is_small else ())]:
        try:
            stage(f"graph of {other}")
            repr(cv.graph(other))
        except cv.CkptVizError as error:
            _checked(error, sandbox)
    return said


def compare(path: str, sandbox: str, healthy_path: str, stage: Stage = lambda name: None) -> None:
    """Check and diff a path against itself, and against a healthy one on either side."""
    stage("graph, to compare it")
    try:
        graph = cv.graph(path)
    except cv.CkptVizError:
        return  # as `use` has looked at
    healthy = cv.graph(healthy_path)
    program = os.path.join(sandbox, PROGRAM)
    both = [program, path] if os.path.exists(f"{program}.index") else []
    for name, one, other in (
        *((f"the other side, {both[0]}", *sides) for sides in (both, both[::-1]) if both),
        ("itself", graph, graph),
        ("a healthy program", healthy, graph),
        ("a healthy checkpoint", graph, healthy),
    ):
        stage(f"check against {name}")
        try:
            found = cv.check(one, other)
        except cv.CkptVizError as error:
            # A file of Keras is no program, as the error says of the healthy one, too.
            _check_message(str(error), "" if one is healthy else sandbox)
        else:
            stage(f"findings against {name}")
            _ = found.findings, found.coverage
            stage(f"print the check against {name}")
            _check_text(str(found))
            repr(found)
            stage(f"payload of the check against {name}")
            payload.encode(found.overlay.graph, found.overlay)
            stage(f"SVG of the check against {name}")
            _check_picture(found.to_svg())
            stage(f"JSON of the check against {name}")
            plan_json(found.overlay)
            _tell(found, str(name), stage)
            _fix(found, str(name), sandbox, stage)
    if not _takes_long(sandbox):
        stage("check of the bytes")
        with suppress(cv.CkptVizError):
            found = cv.check(graph, graph, verify=True)
            stage("print the check of the bytes")
            _check_text(str(found))
    for name, one, other in (("itself", graph, graph), ("a healthy one", healthy, graph)):
        stage(f"diff against {name}")
        diff = cv.diff(one, other)
        stage(f"print the diff against {name}")
        _check_text(str(diff))
        stage(f"payload of the diff against {name}")
        payload.encode(diff.overlay.graph, diff.overlay)
        stage(f"SVG of the diff against {name}")
        _check_picture(diff.to_svg())


def _tell(found: cv.RestoreCheck, name: str, stage: Stage) -> None:
    """Ask a check for its steps, as a page does, and as text if they are few."""
    stage(f"steps against {name}")
    for story in (found.steps, *map(found.steps_of, ASSERTS)):
        if len(story) <= MOST_IN_FILES:
            _check_text(str(story))
        for step in [*story[:20], *story[-20:]]:
            _check_text(str(step))
        if len(story):
            str(story[len(story) // 2].state)
    stage(f"steps in a page against {name}")
    played(found)
    played_in_file(found)
    stage(f"questions against {name}")
    questions = asked(found, None)["questions"]
    assert len(questions) <= MOST_QUESTIONS
    if questions:
        for question in questions_of(found, MOST_QUESTIONS):
            _check_text(str(question))
    sides = [side for side in (found.live, found.saved) if side is not None]
    nodes = [node for side in sides for node in side.nodes]
    characters = sum(len(child.local_name) for node in nodes for child in node.children)
    parts = sum(1 + len(node.slot_variables) + len(node.attributes) for node in nodes)
    if parts <= _MAX_IN_DOT and characters <= _SMALL_BYTES:
        _change(found, name, stage)


def _change(found: cv.RestoreCheck, name: str, stage: Stage) -> None:
    """Change the program of a check in each way that a page offers."""
    stage(f"changed program against {name}")
    with suppress(cv.CkptVizError):
        program = ChangedProgram.of(found)
        for other in (WhatIf("read"), WhatIf(is_partial=True), WhatIf(is_reordered=True)):
            program.supposing(other).first_difference(program)
        size = len(found.live.nodes)
        for kind in KINDS:
            with suppress(cv.CkptVizError):
                line = program.after(NamedEdit(kind, size - 1, "new", size // 2)).lines[0]
                _check_text(printable(line.text))
                ast.parse(line.code)
        for typed in (found.live.tree.labels[size - 1], "net.a", "a b"):
            with suppress(cv.CkptVizError):
                _check_text(printable(program.named(size // 2, typed).lines[0].text))
        with suppress(cv.CkptVizError):
            _check_text(printable(program.with_copy(size - 1).lines[0].text))
        with suppress(cv.CkptVizError):
            _check_text(str(program.named(size - 1, "").check))
        with suppress(cv.CkptVizError):
            _check_text(str(program.built().check))


def _check_code(found: cv.RestoreCheck, code: str) -> None:
    """Make sure that the code of a fix does nothing but restore."""
    sides = [found.live, *([found.saved] if found.saved is not None else [])]
    if max(len(side.nodes) for side in sides) <= _MAX_IN_DOT:
        names = {c.local_name for n in found.live.nodes for c in n.children}
        assert_restores_only(code, names, is_by_saver=found.live.is_name_based)


def _fix(found: cv.RestoreCheck, name: str, sandbox: str, stage: Stage) -> None:
    """Ask a check for its fix and all that the fix does, with files on both sides."""
    try:
        stage(f"fix against {name}")
        fix = found.fix()
        stage(f"code of the fix against {name}")
        _check_code(found, fix.code)
        stage(f"changes against {name}")
        _ = fix.changes, fix.pairs, fix.missing, fix.unused
        stage(f"check of the fix against {name}")
        fixed = fix.check
        stage(f"print the check of the fix against {name}")
        _check_text(str(fixed))
        if not _takes_long(sandbox):
            stage(f"write the fix against {name}")
            with tempfile.TemporaryDirectory() as directory:
                fix.write(os.path.join(directory, "fixed"))
        stage(f"apply the fix against {name}")
        fix.apply()
    except cv.CkptVizError as error:
        _check_message(str(error), "")  # it may name the program's file alone


def _search(graph: cv.ObjectGraph, stage: Stage) -> None:
    for query in ("to", "is:shared", "below:(to) -next", graph.name(len(graph.nodes) - 1)):
        stage(f"search for {query[:100]!r}")
        with suppress(cv.CkptVizError):
            find(graph, query)


def _ask_nodes(graph: cv.ObjectGraph, stage: Stage) -> None:
    count = len(graph.nodes)
    for node_id in sorted({0, 1, count // 2, count - 1} & set(range(count))):
        stage(f"name of node {node_id}")
        graph.name(node_id)
        stage(f"path of node {node_id}")
        graph.path(node_id)
        stage(f"aliases of node {node_id}")
        with suppress(cv.UnsupportedError):
            graph.aliases(node_id)


def _read_values(graph: cv.ObjectGraph, sandbox: str, stage: Stage) -> str:
    attributes = [a for node in graph.nodes[:10_000] for a in node.attributes]
    names = list(dict.fromkeys(attribute.checkpoint_key for attribute in attributes))
    names = [*names[:_MAX_KEYS], "(root).no.such", "no_such_key", ""]
    names += [graph.name(node_id) for node_id in {0, len(graph.nodes) - 1}]
    said = ""
    for name in names:
        stage(f"read {name[:100]!r}")
        try:
            value = graph.read(name)
            value.tobytes() if value.dtype != object else value.tolist()
        except cv.CkptVizError as error:
            # A name that is echoed may be as long as it is.
            _check_message(str(error), sandbox, MAX_MESSAGE + 2 * len(repr(name)))
            said = said or f", a value: {error}"
    return said


def _takes_long(directory: str) -> bool:
    """Return whether reading all bytes of the files takes long; some have terabytes of holes."""
    sizes = (path.lstat().st_size for path in Path(directory).rglob("*"))
    return sum(sizes) > _MOST_VERIFIED


def _verify(graph: cv.ObjectGraph, sandbox: str, stage: Stage) -> None:
    if _takes_long(sandbox):
        return
    stage("verify")
    try:
        found = graph.verify(progress=False)
    except cv.CkptVizError as error:
        _checked(error, sandbox)
        return
    for one in found:
        _check_message(one.why, sandbox)
    for left in found.untested:
        _check_message(left.why, sandbox)
    stage("print what verify has found")
    _check_text(render_verification(graph, found))


def _measure(graph: cv.ObjectGraph, sandbox: str, stage: Stage) -> None:
    """Compute the statistics of all values, and the history of the file with itself."""
    if _takes_long(sandbox):
        return
    stage("values")
    table = graph.values(progress=False)
    for row in table:
        if row.error is not None:
            _check_message(row.error, sandbox)
    _check_text(str(table))
    _check_text(table._repr_html_())
    if len(graph.nodes) > _MAX_IN_DOT:
        return
    json.dumps(table.to_json(), allow_nan=False)
    stage("history")
    history = cv.history([graph, graph], unchanged=True, progress=False)
    _check_text(str(history))
    _check_text(history._repr_html_())
    json.dumps(history.to_json(), allow_nan=False)
    if len(list(Path(sandbox).glob("*.index"))) > 1:
        stage("history of the directory")
        _check_text(str(cv.history(sandbox, progress=False)))


def _checked(error: cv.CkptVizError, sandbox: str) -> str:
    _check_message(str(error), sandbox)
    return f"{type(error).__name__}: {error}"


def _check_message(message: str, sandbox: str, most: int = MAX_MESSAGE) -> None:
    if sandbox not in message:
        raise Finding(f"names no file: {message[:1000]}")
    if len(message) > most:
        raise Finding(f"has {len(message)} characters, expected at most {most}: {message[:1000]}")
    if not printable(message).isprintable():
        raise Finding(f"cannot be shown on a line: {message[:1000]!r}")


def _check_text(text: str) -> None:
    for line in text.split("\n"):
        if not line.replace("\t", " ").isprintable():
            raise Finding(f"moves the cursor: {line[:1000]!r}")


def _check_picture(svg: str) -> None:
    _check_text(svg)
    if len(svg) > _MAX_PICTURE:
        raise Finding(f"draws {len(svg)} characters: {svg[:1000]}")
    if (count := svg.count('role="listitem"')) > MAX_ROWS:
        raise Finding(f"draws {count} rows, expected at most {MAX_ROWS}")
    for element in ElementTree.fromstring(svg).iter():
        if element.tag.removeprefix("{http://www.w3.org/2000/svg}") not in _DRAWN:
            raise Finding(f"draws a {element.tag}")


def copy_of(files: dict[str, bytes], directory: Path) -> None:
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
