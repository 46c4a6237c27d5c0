"""What a text or a picture shows of a graph; the options of commands need nothing else."""

from typing import Literal

View = Literal["layers", "objects"]

MAX_LINES = 40
"""Of a text, unless the caller chooses."""
MAX_LAYER_ROWS = 60
"""Of a picture that shows a graph as its layers, unless the caller chooses."""
