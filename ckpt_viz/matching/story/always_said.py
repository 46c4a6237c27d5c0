"""What is said of steps that are the same in every save."""

from __future__ import annotations

from collections.abc import Mapping

from ckpt_viz.files.saved.object_based import OBJECT_GRAPH_KEY
from ckpt_viz.graphs.nodes.nodes import ROOT, SAVE_COUNTER
from ckpt_viz.matching.story.save_order import SaveAction
from ckpt_viz.matching.story.save_steps import Words

ALWAYS_SAID: Mapping[SaveAction, Words] = {
    SaveAction.MAKE: Words(
        "save_counter does not exist yet: this first save makes it, with the value 0.",
        "The counter is a variable of the checkpoint, and is saved like all others.",
        holder=ROOT,
        local_name=SAVE_COUNTER,
    ),
    SaveAction.NAME: Words(
        "Each object gets its path: the local names on its first way from the root, joined by '/'.",
        "In a local name, '.' becomes '..' and '/' becomes '.S', so that a path has one meaning.",
    ),
    SaveAction.GRAPH: Words(
        f"The object graph becomes a tensor, too, with the key {OBJECT_GRAPH_KEY}.",
        "So the checkpoint describes its own objects. A restore reads this tensor first.",
        key=OBJECT_GRAPH_KEY,
    ),
    SaveAction.MERGE: Words(
        "TensorFlow merges the indexes of the data files into one, and moves all files to "
        "their places.",
        "Until then they are in a temporary directory, so that a save that breaks off leaves "
        "no half checkpoint.",
    ),
    SaveAction.EXPORT: Words(
        "tf.saved_model.save writes saved_model.pb last: the functions, the signatures, and a "
        "larger object graph.",
        "The checkpoint in the directory 'variables' is complete without it.",
    ),
}
