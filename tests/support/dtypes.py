"""The dtypes of numbers for which this environment has arrays of their own dtype."""

import ml_dtypes

from ckpt_viz.formats.arrays.dtypes import ELEMENT_BYTES, OF_ML_DTYPES

# ml_dtypes before 0.5 lacks the 2-bit integers and the 4-bit float.
NUMBERS = tuple(
    name
    for name, size in ELEMENT_BYTES.items()
    if size and (name not in OF_ML_DTYPES or hasattr(ml_dtypes, name))
)
