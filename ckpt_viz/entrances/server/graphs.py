"""What the server reads: changes of files, graphs, and answers to questions about them.

All of this is slow, or imports slow modules, so it runs in separate processes. Paths are relative
to the server's root, and `confinement` keeps every read below it: messages name no other
directory of the machine. Only functions of this module can ask a graph from here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from ckpt_viz.api import graph
from ckpt_viz.entrances.jupyter.answers import answer
from ckpt_viz.entrances.jupyter.shown import Shown, show_of
from ckpt_viz.entrances.server.messages import Asked, Look
from ckpt_viz.entrances.server.refusals import Reason, RefusedRequest
from ckpt_viz.errors import (
    CheckpointNotFoundError,
    CkptVizError,
    FormatError,
    OutsideError,
    UnsupportedError,
)
from ckpt_viz.files.saved.file_types import file_type_of, has_name_of_keras
from ckpt_viz.files.saved.listing import checkpoints_in
from ckpt_viz.files.saved.locate import locate
from ckpt_viz.files.saved.location import INDEX, Location
from ckpt_viz.formats.bundles.checkpoint_state import STATE_FILE
from ckpt_viz.formats.bundles.saved_model import KERAS_METADATA, SAVED_MODEL
from ckpt_viz.formats.kinds.file_kinds import kind_of
from ckpt_viz.formats.storage.confinement import Confinement, confined_to
from ckpt_viz.formats.storage.files import file_stamp, is_file, join, may_be_read, open_file
from ckpt_viz.formats.storage.sstable import ends_like_a_table
from ckpt_viz.graphs.object_graph.provenance import Format, Kept, Provenance
from ckpt_viz.graphs.render.exports import EXPORTS
from ckpt_viz.graphs.render.payload import VERSION
from ckpt_viz.live.sources.pictured import ObjectGraph

_MOST_LISTED_BYTES = 64 << 20  # read to find the checkpoints in a directory
_MAX_SHARDS = 1_000  # shards that are checked for changes
_MAX_NAMED_NODES = 20_000
_NODE_BYTES = 1_200  # of memory, as measured with 60,000 nodes


@dataclass(frozen=True)
class Page:
    """A graph that was read, with the part of the answer beside its payload."""

    shown: Shown
    title: str
    resolved: str
    prefix: str
    kept: tuple[Mapping[str, str | bool | None], ...]
    bytes_read: int

    @property
    def node_count(self) -> int:
        """The number of nodes in memory: for a comparison, also those of both sides."""
        compared = 0 if self.shown.overlay is None else 2
        return len(self.shown.graph.nodes) * (1 + compared)

    @property
    def byte_count(self) -> int:
        """The approximate memory that it takes."""
        return self.bytes_read + _NODE_BYTES * self.node_count


def list_json(asked: Asked, most_bytes: int) -> bytes:
    """Return the names of the checkpoints in a directory; raise as `checkpoints_in`."""
    limit = min(most_bytes, _MOST_LISTED_BYTES)
    with confined_to(asked.root, shows_hidden=asked.shows_hidden, most_bytes=limit):
        return json_bytes({"names": checkpoints_in(asked.path)})


def look_at(asked: Asked, version: str, most_bytes: int) -> Look:
    """Return a value that changes with the files of a graph; read almost nothing.

    Raises CkptVizError as `locate` does.
    """
    seen: list[object] = [version, VERSION]
    index_bytes = 0
    with confined(asked, most_bytes):
        for path in (asked.path, asked.against):
            if path is not None:
                with _judged(path):
                    location = locate(path)
                files = location.reader.files_of(location)
                index = file_stamp(files.index) if files.index is not None else None
                others = (*_files_around(location), *files.values[:_MAX_SHARDS])
                seen += [location, index, *((other, file_stamp(other)) for other in others)]
                index_bytes += index[0] if index else 0
    etag = f'"{hashlib.sha256(repr(seen).encode()).hexdigest()[:32]}"'
    return Look(etag, index_bytes)


def _files_around(location: Location) -> list[str]:
    """Return the files that decide which checkpoint a path leads to, or describe its objects."""
    files = [join(location.given, STATE_FILE), location.given]
    if location.meta is not None:
        files.append(location.meta)
    if location.saved_model is not None:
        files += [join(location.saved_model, other) for other in (SAVED_MODEL, KERAS_METADATA)]
    return files


def read_page(asked: Asked, most_bytes: int) -> Page:
    """Return the graph of a path, or its difference from another.

    Raises:
        CkptVizError: As `graph` raises it; OutsideError for links that lead out of the root.
        RefusedRequest: The file does not belong to a checkpoint.
    """
    with confined(asked, most_bytes) as scope:
        own = _graph_of(asked.path, scope)
        if asked.against is None:
            shown = show_of(own, given=(asked.path, None))
        else:
            older = _graph_of(asked.against, scope)
            shown = show_of(older, own, given=(asked.against, asked.path))
        provenance = own.provenance
        assert provenance is not None  # it comes from files
        is_saved_model = provenance.format is Format.SAVED_MODEL
        restored = own.title if is_saved_model else provenance.prefix
        return Page(
            shown=shown,
            title=contents_path(own.title, scope) or "",
            resolved=provenance.resolved,
            prefix=os.path.normpath(os.path.join(asked.root, restored)),
            kept=tuple(_kept_json(kept, scope) for kept in provenance.kept),
            bytes_read=scope.bytes_read,
        )


def graph_json(page: Page, etag: str, version: str, most_bytes: int) -> bytes:
    """Return the answer to a request for a graph; raise RefusedRequest if it is too large."""
    payload = page.shown.encoded
    what = f"{page.title}: the graph of {len(page.shown.graph.nodes):,} nodes"
    check_size(what, payload, most_bytes=most_bytes)
    return json_bytes(
        {
            "version": version,
            "format": VERSION,
            "etag": etag,
            "title": page.title,
            "resolved": page.resolved,
            "prefix": page.prefix,
            "kept": page.kept,
            "payload": base64.b64encode(payload).decode("ascii"),
        }
    )


def answer_json(
    page: Page,
    asked: Asked,
    question: Mapping[str, Any],
    state: Mapping[str, Any] | None,
    most_bytes: int,
    most_read: int,
) -> bytes:
    """Return the answer to a question about a graph; raise RefusedRequest if it is too large."""
    _check_countable(page, question)
    with confined(asked, most_read) as scope:
        data, buffers = answer(page.shown, question, state)
        if scope.over_limit is not None:
            page.shown.forget_measures()  # of tensors that were not read for the limit
    check_size(f"{page.title}: {data.get('name', 'the answer')}", *buffers, most_bytes=most_bytes)
    encoded = [base64.b64encode(buffer).decode("ascii") for buffer in buffers]
    body = json_bytes({"answer": data, "buffers": encoded})
    check_size(f"{page.title}: the answer", body, most_bytes=2 * most_bytes)
    return body


def _graph_of(path: str, scope: Confinement) -> ObjectGraph:
    with _judged(path):
        read = graph(path)
    provenance = read.provenance
    assert provenance is not None
    words = _in_words(provenance, scope)
    return replace(read, title=contents_path(read.title, scope) or read.title, provenance=words)


def _in_words(provenance: Provenance, scope: Confinement) -> Provenance:
    """Return the provenance with contents paths in place of a `checkpoint` file's absolute ones."""
    resolved = provenance.resolved
    prefixes = {provenance.prefix, *(kept.prefix for kept in provenance.kept)}
    named = [absolute for absolute in prefixes if os.path.isabs(absolute) and absolute in resolved]
    for prefix in sorted(named, key=len, reverse=True):
        resolved = resolved.replace(prefix, contents_path(prefix, scope) or prefix)
    return replace(
        provenance,
        prefix=contents_path(provenance.prefix, scope) or provenance.prefix,
        resolved=resolved,
        kept=tuple(
            replace(kept, prefix=contents_path(kept.prefix, scope) or kept.prefix)
            for kept in provenance.kept
        ),
    )


def contents_path(path: str, scope: Confinement) -> str | None:
    """Return a path as the contents manager has it, "" for the root; None if it is outside."""
    inside = scope.inside(path) if os.path.isabs(path) else path
    if inside is None:
        return None
    parts = os.path.normpath(inside).split(os.sep)
    return None if parts[0] == os.pardir else "/".join(part for part in parts if part != os.curdir)


def _kept_json(kept: Kept, scope: Confinement) -> Mapping[str, str | bool | None]:
    may_be_shown = kept.exists or may_be_read(kept.prefix + INDEX)
    return {
        "path": contents_path(kept.prefix, scope) if may_be_shown else None,
        "saved_at": None if kept.saved_at is None else kept.saved_at.isoformat(),
        "exists": kept.exists,
        "named": kept.is_named,
        "latest": kept.is_latest,
    }


@contextmanager
def confined(asked: Asked, most_bytes: int) -> Iterator[Confinement]:
    """Confine all reads.

    Raises OutsideError and ReadLimitError even if the reader went on without those bytes.
    """
    with confined_to(asked.root, shows_hidden=asked.shows_hidden, most_bytes=most_bytes) as scope:
        try:
            yield scope
        finally:
            if scope.refused:
                raise OutsideError(scope.refused[0])
            if scope.over_limit is not None:
                raise scope.over_limit


@contextmanager
def _judged(path: str) -> Iterator[None]:
    """Distinguish damaged files from files that are not checkpoints at all."""
    try:
        yield
    except (CheckpointNotFoundError, FormatError, UnsupportedError) as error:
        said = _why_no_checkpoint(path, error)
        if said is None:
            raise
        raise RefusedRequest(Reason.NOT_A_CHECKPOINT, said) from error


def _why_no_checkpoint(path: str, error: CkptVizError) -> str | None:
    """Return why a path leads to no checkpoint; None if it may lead to one."""
    if not isinstance(error, FormatError):
        file_type = file_type_of(path)
        is_part = file_type is not None and file_type.is_part
        return str(error) if is_file(path) and not is_part else None
    with suppress(CkptVizError):
        location = locate(path)
        index = location.reader.files_of(location).index
        if index is not None and not has_name_of_keras(index):
            return _why_no_index(index, error)
    return None


def _why_no_index(path: str, error: FormatError) -> str | None:
    """Return why a file is not a checkpoint's index; None if it may be a damaged index."""
    with open_file(path) as file:
        kind, is_table = kind_of(file), ends_like_a_table(file)
    if is_table:
        return None
    if kind is not None:
        return f"{path}: {kind.refusal}"
    return f"{error}; it is not the index of a TensorFlow checkpoint, or it is truncated"


def _check_countable(page: Page, question: Mapping[str, Any]) -> None:
    count = len(page.shown.graph.nodes)
    form = question.get("format") if question.get("ask") == "file" else None
    export = EXPORTS.get(form) if isinstance(form, str) else None
    if export is not None and export.names_each_node and count > _MAX_NAMED_NODES:
        raise RefusedRequest(
            Reason.TOO_LARGE,
            f"{page.title}: has {count} nodes, expected at most {_MAX_NAMED_NODES} in a file that "
            "names each; write it in a kernel: cv.graph(path)",
        )


def check_size(what: str, *parts: bytes, most_bytes: int) -> None:
    """Raise RefusedRequest if the parts of an answer are larger together than the server sends."""
    size = sum(map(len, parts))
    if size > most_bytes:
        raise RefusedRequest(
            Reason.TOO_LARGE,
            f"{what} has {size} bytes; this server sends at most {most_bytes}. Open it in a "
            "kernel, or set c.CkptViz.max_answer_bytes in jupyter_server_config.py",
        )


def json_bytes(data: object) -> bytes:
    """Return data as strict JSON without spaces."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode()
