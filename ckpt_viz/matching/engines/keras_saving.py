"""Under which paths Keras' `save_weights` saves the objects of a model, and in which order."""

from __future__ import annotations

from collections.abc import Iterator

from ckpt_viz.matching.engines.keras_sides import (
    NESTED,
    Item,
    LiveWeights,
    SaveableList,
    SiblingNames,
    joined,
)


def in_order_of_saving(live: LiveWeights) -> Iterator[tuple[Item, str]]:
    """Yield each saveable and list that Keras reaches, with its path, as `_save_state` does."""
    return _SaveOrder(live).of(0, "")


class _SaveOrder:
    def __init__(self, live: LiveWeights) -> None:
        self._live = live
        self._visited: set[int] = set()

    def of(self, number: int, path: str) -> Iterator[tuple[Item, str]]:
        if number in self._visited:
            return
        self._visited.add(number)
        yield number, path
        for attribute, item in self._live.saveables[number].children:
            if isinstance(item, int):
                yield from self.of(item, joined(path, attribute))
            else:
                yield from self._of_list(item, joined(path, attribute), set())

    def _of_list(
        self, items: SaveableList, path: str, seen: set[int]
    ) -> Iterator[tuple[Item, str]]:
        if items.number in seen:
            return
        seen.add(items.number)
        yield items, path
        names, rules = SiblingNames(), self._live.rules
        for item in items.items:
            if isinstance(item, SaveableList):
                if rules.enters_nested_lists:
                    yield from self._of_list(item, joined(path, names.next(NESTED)), seen)
            elif not (rules.passes_over_done and item in self._visited):
                component = self._live.saveables[item].component
                yield from self.of(item, joined(path, names.next(component)))
