"""The formats of checkpoints that can be read: one entry, and one module, for each."""

from __future__ import annotations

from ckpt_viz.files.saved.keras_reader import KERAS
from ckpt_viz.files.saved.location import FormatReader
from ckpt_viz.files.saved.orbax_reader import ORBAX
from ckpt_viz.files.saved.tfjs_reader import TFJS
from ckpt_viz.files.saved.v1_reader import V1
from ckpt_viz.files.saved.v2_reader import V2

READERS: tuple[FormatReader, ...] = (V2, V1, KERAS, ORBAX, TFJS)
"""In the order in which TensorFlow looks for them at a prefix."""
