"""Name-based checkpoints of given arrays, written without TensorFlow."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ckpt_viz.formats.bundles.bundle_writer import array_tensor, strings_tensor, write_bundle

DATA = ".data-00000-of-00001"


def write(prefix: Path, **arrays: Any) -> str:
    """Write a name-based checkpoint of these tensors and return its prefix."""
    given = {
        name: strings_tensor(array, (len(array),))
        if isinstance(array, list)
        else array_tensor(array.dtype.name, array.shape, partial(np.copy, array))
        for name, array in arrays.items()
    }
    write_bundle(str(prefix), given)
    return str(prefix)
