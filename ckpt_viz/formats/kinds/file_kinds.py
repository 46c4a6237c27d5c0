"""What a file is: its kind, the program that wrote it, and what opens it, by its content alone.

This is the one step before every refusal of a file. It reads the first 64 KiB, the last 64 KiB and
the directory of an archive, and it unpacks, unpickles and runs nothing. Names do not count: a
download often gives one file the name of another.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from ckpt_viz.errors import CkptVizError
from ckpt_viz.formats.kinds.file_kind import COPY, FileKind
from ckpt_viz.formats.kinds.packed_kinds import (
    MOST_READ,
    MOST_SHOWN,
    end_of_file,
    field,
    in_shell,
    kind_of_archive,
    number_and_some,
)
from ckpt_viz.formats.kinds.pickles import pickle_kind
from ckpt_viz.formats.kinds.tflite import tflite_model
from ckpt_viz.formats.storage import checksums
from ckpt_viz.formats.storage.files import File
from ckpt_viz.formats.storage.sstable import GIT_LFS_POINTER, mask_crc32c
from ckpt_viz.formats.storage.wire import fields
from ckpt_viz.ground.text import count, listed, size_words

_LEAST_ZEROS = 64


def kind_of(file: File) -> FileKind | None:
    """Return the kind of a file, None if it is unknown or may be a checkpoint.

    Raises CkptVizError if the file cannot be read.
    """
    if file.size == 0:
        return FileKind("an empty file", COPY)
    head = file.read(0, min(file.size, MOST_READ))
    for kind in (_pointer, kind_of_archive, _of_program, _text, _by_magic, _message):
        known = kind(file, head)
        if known is not None:
            return known
    if file.size >= _LEAST_ZEROS and not head.strip(b"\0") and not end_of_file(file).strip(b"\0"):
        return FileKind(f"a file of zeros ({size_words(file.size)})", f"{COPY}: it is not whole")
    return None


def _pointer(file: File, head: bytes) -> FileKind | None:
    if not head.startswith(GIT_LFS_POINTER):
        return None
    match = re.search(rb"^size ([0-9]{1,18})$", head, re.MULTILINE)
    size = "" if match is None else f" of {size_words(int(match[1]))}"
    return FileKind(f"a Git LFS pointer instead of the file{size}", "run `git lfs pull`")


# --- formats that other programs write


def _of_program(file: File, head: bytes) -> FileKind | None:
    kinds = (_tflite, _safetensors, _records, _pickle, _msgpack)
    return next(filter(None, (kind(file, head) for kind in kinds)), None)


def _tflite(file: File, head: bytes) -> FileKind | None:
    if head[4:8] != b"TFL3":
        return None
    advice = f"run it with tf.lite.Interpreter({file.path!r})"
    try:
        model = tflite_model(file)
    except CkptVizError:
        return FileKind("a TensorFlow Lite model that is not whole", COPY)
    by = f", converted by TensorFlow {model.version}" if model.version else ""
    subgraphs = number_and_some([name or "unnamed" for name in model.subgraphs], "subgraph")
    holds = f"{subgraphs} with {count(model.tensors, 'tensor')}"
    return FileKind(f"a TensorFlow Lite model of {holds}{by}", advice)


def _safetensors(file: File, head: bytes) -> FileKind | None:
    size = int.from_bytes(head[:8], "little")
    if not 2 <= size <= file.size - 8 or head[8:9] != b"{":
        return None
    names, program = list[str](), field(head[8:], "format")
    with suppress(ValueError, RecursionError, AttributeError):
        names = [name for name in json.loads(head[8 : 8 + size]) if name != "__metadata__"]
    holds = f" of {number_and_some(names, 'tensor')}" if names else ""
    by = {"pt": " of PyTorch", "tf": " of TensorFlow", "flax": " of Flax", "mlx": " of MLX"}
    return FileKind(
        f"a safetensors file{by.get(program, '')}{holds}",
        f"read it with safetensors.numpy.load_file({file.path!r})",
    )


def _records(file: File, head: bytes) -> FileKind | None:
    """Return whether a file is one of TFRecords: each begins with its length and a checksum."""
    if len(head) < 12:
        return None
    size, checksum = struct.unpack_from("<QI", head)
    if size > file.size or checksum != mask_crc32c(checksums.value(head[:8])):
        return None
    if b"brain.Event:" in head[12:64]:
        directory = file.path.replace("\\", "/").rpartition("/")[0] or "."
        return FileKind(
            "a file of events for TensorBoard",
            f"open its directory: `tensorboard --logdir {in_shell(directory)}`",
        )
    return FileKind("a file of TFRecords", f"read it with tf.data.TFRecordDataset({file.path!r})")


def _pickle(file: File, head: bytes) -> FileKind | None:
    kind = pickle_kind(head, ends=file.read(file.size - 1, 1) == b".")
    if kind is None:
        return None
    if kind.is_of_torch:
        return FileKind(
            "a checkpoint of PyTorch (before 1.6)",
            f"open it with torch.load({file.path!r}, weights_only=True)",
        )
    names = f" with objects of {listed(kind.packages)}" if kind.packages else ""
    return FileKind(
        f"a Python pickle{names}",
        "pickle.load runs code that the file chooses, so load it only if you trust its source",
    )


def _msgpack(file: File, head: bytes) -> FileKind | None:
    """Return whether a file is a map of MessagePack whose first key is a word."""
    first = head[0]
    start = 1 if 0x81 <= first <= 0x8F else {0xDE: 3, 0xDF: 5}.get(first, 0)
    if not start or len(head) < start + 2:
        return None
    code = head[start]
    if 0xA1 <= code <= 0xBF:
        place, size = start + 1, code & 0x1F
    elif code == 0xD9:
        place, size = start + 2, head[start + 1]
    else:
        return None
    key = head[place : place + size]
    if len(key) < size or re.fullmatch(rb"[\w./-]+", key) is None:
        return None
    return FileKind(
        f"a MessagePack file with {key.decode()!r}, as Flax writes checkpoints",
        f"read it with flax.serialization.msgpack_restore(open({file.path!r}, 'rb').read())",
    )


_ELSEWHERE = "open it with the program that wrote it"
_MAGIC = {
    b"GGUF": ("a GGUF model of llama.cpp", _ELSEWHERE),
    b"\x93NUMPY": ("a NumPy array (.npy)", "read it with numpy.load"),
    b"DIRC": ("the index of a Git repository", "check the path"),
    b"SQLite format 3": ("an SQLite database", "check the path"),
    b"%PDF-": ("a PDF document", "check the path"),
    b"\x89PNG": ("a PNG image", "check the path"),
    b"\xff\xd8\xff": ("a JPEG image", "check the path"),
    b"MATLAB 5.0 MAT-file": ("a MAT-file of MATLAB", "read it with scipy.io.loadmat"),
    b"Ix": ("an index of FAISS, for searching vectors", _ELSEWHERE),
    b"IH": ("an index of FAISS, for searching vectors", _ELSEWHERE),
    b"IB": ("an index of FAISS, for searching vectors", _ELSEWHERE),
}


def _by_magic(file: File, head: bytes) -> FileKind | None:
    match = next((magic for magic in _MAGIC if head.startswith(magic)), None)
    return None if match is None else FileKind(*_MAGIC[match])


# --- texts

_HTML = re.compile(r"<(!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^<>]*>([^<>]*)</title", re.IGNORECASE)
_KEYS_OF_TEXTS = {
    "node {": "a graph of TensorFlow as text (GraphDef)",
    "saved_model_schema_version": "a SavedModel as text",
    "meta_info_def {": "a MetaGraph of TensorFlow as text",
}


def _text(file: File, head: bytes) -> FileKind | None:
    text = _decoded(head)
    if text is None:
        return None
    text = text.lstrip()
    if _HTML.match(text):
        title = _TITLE.search(text)
        words = " ".join(title[1].split()) if title is not None else ""
        called = f" with the title {_short(words)!r}" if words else ""
        return FileKind(
            f"a web page (HTML){called} instead of the file",
            "download the file itself, such as by its raw link",
        )
    if text.startswith("{"):
        return _json(file, head)
    for beginning, what in _KEYS_OF_TEXTS.items():
        if text.startswith(beginning):
            advice = "it has no values that ckpt_viz reads; look for its checkpoint"
            return FileKind(what, advice, is_part=True)
    line = _short(text.partition("\n")[0].rstrip())
    return FileKind(f"a text that begins with {line!r}", f"check the path, or {COPY}")


def _decoded(head: bytes) -> str | None:
    """Return the beginning of a text, None for bytes that are none."""
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(head) < MOST_READ or error.start < len(head) - 3:  # not a cut character
            return None
        text = head[: error.start].decode("utf-8-sig")
    is_text = all(character.isprintable() or character in "\t\r\n" for character in text)
    return text if text.strip() and is_text else None


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _json(file: File, head: bytes) -> FileKind:
    keys = set(re.findall(rb'"(\w{1,30})"\s*:', head[:MOST_READ]))
    if b"weight_map" in keys:
        return FileKind("a list of the shards of a model (JSON)", "open one of its shards")
    if {b"nbformat", b"cells"} <= keys:
        return FileKind("a Jupyter notebook", "open it in Jupyter")
    if not {b"class_name", b"config"} <= keys:
        return FileKind("a JSON file without values", f"check the path, or {COPY}")
    version = field(end_of_file(file), "keras_version")
    return FileKind(
        f"the architecture of a Keras{version and f' {version}'} model as JSON, without values",
        "build the model with model_from_json, and open the file that has its weights",
    )


# --- messages of protocol buffers

_MOST_FIELDS = 8
_WORD = re.compile(rb"[A-Za-z0-9_.][A-Za-z0-9_.\\/>-]*")


def _message(file: File, head: bytes) -> FileKind | None:
    top = list(_first_fields(file, 0, file.size))
    numbers = [number for number, _, _ in top]
    if numbers[:1] != [1]:
        return None
    if top[0][2] == 0:  # a number: the version
        if set(numbers) <= {1, 2}:
            return _saved_model(file, top)
        return _onnx(file, top)
    inside = dict(_texts(file, *top[0][1:]))
    if _is_word(inside.get(1)) and _is_word(inside.get(2)):
        return FileKind(
            "a graph of TensorFlow (GraphDef), such as a frozen model with its weights in it",
            "import it with tf.import_graph_def, or look for the checkpoint of its training",
        )
    version = inside.get(5, b"")
    if set(numbers) <= {1, 2, 3, 4, 5, 6, 7} and version[:1].isdigit():
        return FileKind(
            f"a MetaGraph of TensorFlow {version[:20].decode('ascii', 'replace')}",
            "open the checkpoint beside it",
            is_part=True,
        )
    return None


def _saved_model(file: File, top: Sequence[tuple[int, int, int]]) -> FileKind | None:
    if [number for number, _, _ in top] != [1, *[2] * (len(top) - 1)] or len(top) < 2:
        return None
    inside = [number for number, _, _ in _first_fields(file, top[1][1], sum(top[1][1:]))]
    if not inside or set(inside) - {1, 2, 3, 4, 5, 6, 7}:
        return None
    return FileKind(
        "the program of a SavedModel",
        "open the directory that has it as saved_model.pb",
        is_part=True,
    )


def _onnx(file: File, top: Sequence[tuple[int, int, int]]) -> FileKind | None:
    numbers = {number for number, _, _ in top}
    if 7 not in numbers or numbers - {1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26}:
        return None
    by = [
        file.read(offset, min(size, 40)).decode("utf-8", "replace")
        for number, offset, size in top
        if number in (2, 3)
    ]
    writer = f" of {' '.join(by)}" if by else ""
    return FileKind(
        f"an ONNX model{writer}", f"run it with onnxruntime.InferenceSession({file.path!r})"
    )


def _first_fields(file: File, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the first fields of a message, of bytes that are none those before the fault."""
    with suppress(CkptVizError):
        yield from islice(fields(file, start, end, "message"), _MOST_FIELDS)


def _texts(file: File, offset: int, size: int) -> Iterator[tuple[int, bytes]]:
    for number, place, length in _first_fields(file, offset, offset + size):
        if 0 < length <= 300:
            yield number, file.read(place, length)


def _is_word(text: bytes | None) -> bool:
    return text is not None and _WORD.fullmatch(text) is not None
