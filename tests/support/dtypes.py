"""The dtypes of numbers that this environment can read."""

from ckpt_viz.formats.dtypes import ELEMENT_BYTES
from ckpt_viz.formats.tensors import numpy_dtype

# ml_dtypes before 0.5 lacks the 2-bit integers and the 4-bit float; test_tensors.py skips them.
NUMBERS = tuple(
    name for name, size in ELEMENT_BYTES.items() if size and numpy_dtype(name) is not None
)
