"""The groups and names that Keras gives to the layers of a model in an .h5 file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ckpt_viz.live.keras.keras_stores import saved_values
from ckpt_viz.live.keras.keras_walk import KerasWalk
from ckpt_viz.matching.engines.keras_saving import in_order_of_saving
from ckpt_viz.matching.engines.keras_sides import LiveWeights


@dataclass
class H5Group:
    """A group of the file, with the object or list that it is for, and what Keras writes of it."""

    path: str
    obj: Any = None
    values: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


class Groups:
    """The groups that Keras would make; `below` has the paths below each, in Keras' order."""

    def __init__(self, walk: KerasWalk, live: LiveWeights) -> None:
        self._walk, self._live = walk, live
        self._held: dict[str, Any] = {}
        self.by_path: dict[str, H5Group] = {}
        self.below: dict[str, list[str]] = {}
        for item, path in in_order_of_saving(live):
            if isinstance(item, int):
                self._held.setdefault(path, walk.objects[item])
                self._make(item, path)
            else:
                self._held.setdefault(path, walk.lists[item.number])
        for path, group in self.by_path.items():
            group.obj = self._held.get(path)

    def _make(self, number: int, path: str) -> None:
        obj = self._walk.objects[number]
        if not hasattr(obj, "save_own_variables"):
            return
        values: Mapping[str, Any] = {}
        error = None
        try:
            values = saved_values(self._walk.library, obj)
        except Exception as raised:  # the object's own code runs here and may raise anything
            error = f"{type(raised).__name__}: {raised}"
        has_name = self._live.saveables[number].name is not None
        if values or error or has_name or not self._live.rules.writes_names:
            if path in self.by_path:
                error = f"ValueError: Keras cannot make a second group {path!r}"
            self._place(H5Group(path, None, values, error))

    def _place(self, group: H5Group) -> None:
        """Place a group, and those that lead to it."""
        path, is_new = group.path, group.path not in self.by_path
        self.by_path[path] = group
        while path and is_new:
            above = path.rpartition("/")[0]
            self.below.setdefault(above, []).append(path)
            is_new = above not in self.by_path
            if is_new:
                self.by_path[above] = H5Group(above)
            path = above
