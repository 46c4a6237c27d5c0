"""What ckpt_viz tells of bfloat16, float8 and other small numbers, to compare two processes.

`python -m tests.support.small_answers DIRECTORY` prints it without ml_dtypes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.modules["ml_dtypes"] = None  # type: ignore[assignment]

import numpy as np

import ckpt_viz as cv
from ckpt_viz.entrances.web.session import Session
from ckpt_viz.formats.arrays.dtypes import dtype_number, is_float, tensor_bytes
from ckpt_viz.formats.arrays.tensors import cast, decode, in_little_endian, numpy_dtype
from tests.support.tables import raw, shape, write_bundle


def patterns_of(dtype: str) -> bytes:
    """All patterns of a dtype, in little-endian order; of 4 and 2 bits without the unused ones."""
    if tensor_bytes(dtype, ()) == 2:
        return np.arange(1 << 16, dtype="<u2").tobytes()
    bits = next((bits for bits in (2, 4) if f"t{bits}" in dtype), 8)
    return np.arange(1 << bits, dtype=np.uint8).tobytes()


def write_checkpoints(directory: Path, dtypes: Sequence[str]) -> None:
    """Three checkpoints: all patterns, the same in reverse, and finite numbers alone."""
    for name in ("before", "after", "plain"):
        tensors = {}
        for dtype in dtypes:
            data = np.frombuffer(patterns_of(dtype), f"<u{tensor_bytes(dtype, ())}")
            data = np.sort(data)[:: -1 if name == "after" else 1]
            data = data[: len(data) // 3] if name == "plain" else data
            tensors[dtype] = raw(dtype_number(dtype), shape(len(data)), data.tobytes())
        write_bundle(directory / name, tensors)


def answers(directory: Path) -> dict[str, Any]:
    """What ckpt_viz tells of these checkpoints, and what it writes."""
    before, after, plain = (str(directory / name) for name in ("before", "after", "plain"))
    session = Session()
    said: dict[str, Any] = {"opened": session.open("graph", [before])[0]}
    graph = cv.graph(before)
    dtypes = [node.attributes[0].dtype or "" for node in graph.nodes[1:]]
    for node in range(len(graph.nodes)):
        said[f"values {node}"] = session.ask(json.dumps({"ask": "values", "node": node}))[0]
    measures, columns = session.ask('{"ask": "measures"}')
    said["measures"] = [measures, *(column.hex() for column in columns)]
    said["diff"] = cv.diff(before, after, values=True, progress=False).to_json()
    said["history"] = cv.history([before, after], progress=False).to_json()
    written = directory / ("without" if sys.modules.get("ml_dtypes", 0) is None else "with")
    written.mkdir()
    cv.average([plain, plain]).write(written / "mean")
    graph.to_npz(directory / f"{written.name}.npz")
    with np.load(directory / f"{written.name}.npz") as archive:
        said["archive"] = {name: [str(each.dtype), _exact(each)] for name, each in archive.items()}
    singles = np.linspace(-6, 6, 999, dtype=np.float32)
    for dtype in filter(is_float, dtypes):
        said[f"cast {dtype}"] = cast(singles, dtype, "x").astype(np.float32).tobytes().hex()
    for path in written.iterdir():
        said[f"written {path.name}"] = path.read_bytes().hex()
    for dtype in dtypes:
        data = patterns_of(dtype)
        size = len(data) // (tensor_bytes(dtype, ()) or 1)
        decoded = decode(data, dtype, (size,), "little", "x"), in_little_endian(data, dtype)
        said[dtype] = [_exact(array) for array in decoded]
    without_path: dict[str, Any] = json.loads(json.dumps(said).replace(str(directory), "…"))
    return without_path


def _exact(array: Any) -> str:
    with np.errstate(invalid="ignore"):
        wide = array.astype(np.float64)
    return np.where(np.isnan(wide), np.nan, wide).tobytes().hex()


if __name__ == "__main__":
    assert numpy_dtype("bfloat16") == np.float32
    print(json.dumps(answers(Path(sys.argv[1]))))
