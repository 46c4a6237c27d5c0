"""Histories that both the Python and the TypeScript tests read, in tests/data/histories.

`python -m tests.support.history_fixtures` writes them again.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import ckpt_viz as cv
from ckpt_viz.answers.timeline.view_payload import encode
from ckpt_viz.formats.bundles.bundle_writer import array_tensor, write_bundle

DIRECTORY = Path(__file__).parents[1] / "data" / "histories"
Array = np.ndarray[Any, Any]


def training(blocks: int = 4, saves: int = 9) -> list[dict[str, Array]]:
    """Return the tensors of a training at each save.

    A head's bias appears at save 6. In the last save a block has NaN. Half of the slots change.
    """
    times = []
    for save in range(saves):
        tensors: dict[str, Array] = {
            "global_step": np.array(500 * save, np.int64),
            "beta1_power": np.array(0.9**save, np.float32),
            "beta2_power": np.array(0.999**save, np.float32),
        }
        for block in range(blocks):
            name = f"block{block}/attention/query"
            kernel = _wave((16, 12), block) + save * 0.2 / (block + 1) * _wave((16, 12), block + 9)
            tensors[f"{name}/kernel"] = kernel
            tensors[f"{name}/kernel/Adam"] = _wave((16, 12), block) * np.float32(1 + save % 2)
            tensors[f"{name}/kernel/Adam_1"] = np.ones((16, 12), np.float32)
            tensors[f"{name}/bias"] = np.zeros(12, np.float32)
            tensors[f"block{block}/norm/gamma"] = np.ones(12, np.float32) + np.float32(
                0.01 * save * (block > 0)
            )
        if save >= 6:
            tensors["head/bias"] = _wave((10,), save) * np.float32(0.1)
        if save == saves - 1:
            tensors["block2/attention/query/kernel"][3] = np.nan
            tensors["block1/norm/gamma"][:] = np.nan
        times.append(tensors)
    return times


def _wave(shape: tuple[int, ...], number: int) -> Array:
    """Return numbers between -1 and 1, the same on every machine."""
    count = int(np.prod(shape))
    whole = (np.arange(count, dtype=np.int64) * 7919 + number * 104_729) % 2003
    return ((whole.astype(np.float32) - 1001) / 1001).reshape(shape)


def write(directory: Path, times: list[dict[str, Array]]) -> list[str]:
    """Write a checkpoint of each save and return the prefixes."""
    for save, tensors in enumerate(times):
        write_bundle(
            str(directory / f"ckpt-{save}"),
            {
                name: array_tensor(array.dtype.name, array.shape, partial(np.copy, array))
                for name, array in tensors.items()
            },
        )
    return [str(directory / f"ckpt-{save}") for save in range(len(times))]


def write_state(directory: Path, prefixes: list[str]) -> None:
    """Write the `checkpoint` file."""
    lines = [f'model_checkpoint_path: "{Path(prefixes[-1]).name}"']
    lines += [f'all_model_checkpoint_paths: "{Path(one).name}"' for one in prefixes]
    (directory / "checkpoint").write_text("\n".join(lines))


def files() -> Iterator[tuple[Path, bytes]]:
    """Yield every fixture's path and content, the JSON before it is packed."""
    with TemporaryDirectory() as directory:
        sources = write(Path(directory), training())
        histories = {
            "training": cv.history(sources, progress=False),
            "members": cv.compare(sources[2:6], progress=False),
        }
        for name, history in histories.items():
            text = gzip.decompress(encode(history)).replace(directory.encode(), b"runs")
            yield DIRECTORY / f"{name}.json", text + b"\n"


if __name__ == "__main__":
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for path, data in files():
        path.write_bytes(data)
