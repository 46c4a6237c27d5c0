"""Which items of two different sequences belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ckpt_viz.mapping.sequences import Item, items_with_values

_MOST_COMPARED = 40_000  # pairs of items between two known ones
_A_NAME = 1 << 20  # exceeds the number of compared items
_A_PAIR = _A_NAME << 20


def aligned(
    saved: Sequence[Item],
    live: Sequence[Item],
    known: Mapping[int, int],
    bound: Mapping[int, int],
) -> Iterator[tuple[int, int]]:
    """Yield the indices of items that belong together in two different sequences.

    Names decide first, in any order. The remaining items between two known ones are aligned in
    order, by their contents. Among equal alignments, the one that agrees with `bound` is chosen.
    """
    pairs = _by_name(saved, live, known)
    yield from pairs.items()
    live_segments = _segments(live, {j: i for i, j in pairs.items()})
    for anchor, ours in _segments(saved, {i: i for i in pairs}).items():
        theirs = live_segments.get(anchor, [])
        if [item.look for item in ours] == [item.look for item in theirs] and len(ours) > 1:
            found = list(zip(ours, theirs, strict=True))
        else:
            found = _in_order(ours, theirs, bound)
            found += _changed_inside(ours, theirs, found)
        for left, right in found:
            yield left.place, right.place


def _changed_inside(
    saved: Sequence[Item], live: Sequence[Item], pairs: Iterable[tuple[Item, Item]]
) -> list[tuple[Item, Item]]:
    """Return items that are alone between the same two others, such as a model with a new layer.

    They do not look alike, but no name says that they are different parts.
    """
    known = {left.place: right.place for left, right in pairs}
    ours = _segments(saved, {place: place for place in known})
    theirs = _segments(live, {right: left for left, right in known.items()})
    return [
        (left[0], right[0])
        for anchor, left in ours.items()
        if len(left) == len(right := theirs.get(anchor, [])) == 1
        and left[0].look != right[0].look
        and _are_unnamed(left[0], right[0])
    ]


def undecided(saved: Sequence[Item], live: Sequence[Item]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the indices of items that look alike, in different numbers, without distinct names.

    No evidence shows which of them belong together.
    """
    pairs = _by_name(saved, live, {})
    taken = set(pairs.values())
    of_live = _by_look(item for item in live if item.place not in taken)
    of_saved = _by_look(item for item in saved if item.place not in pairs)
    for look, ours in of_saved.items():
        theirs = of_live.get(look, [])
        unnamed = [[item for item in items if not item.is_named] for items in (ours, theirs)]
        groups = [(ours, theirs)]
        if all(unnamed):  # so items with names are new or gone
            named = [[item for item in items if item.is_named] for items in (ours, theirs)]
            groups = [(unnamed[0], unnamed[1]), (named[0], named[1])]
        for left, right in groups:
            both = _that_may_be_one(left, right), _that_may_be_one(right, left)
            if all(both) and len(both[0]) != len(both[1]):
                yield both


def moved(
    saved: Sequence[Item], live: Sequence[Item], pairs: Iterable[tuple[int, int]]
) -> set[int]:
    """Return the indices of items without distinct names, of which others have moved.

    Of the items that look like them, some of both sides have no counterpart: the order of the
    program is another one, and does not show which of them belong together.
    """
    found = dict(pairs)
    taken = set(found.values())
    left = {item.look for item in saved if item.place not in found}
    left &= {item.look for item in live if item.place not in taken}
    return {item.place for item in saved if item.look in left and not item.is_named}


def _by_look(items: Iterable[Item]) -> dict[tuple[object, ...], list[Item]]:
    found: dict[tuple[object, ...], list[Item]] = {}
    for item in items_with_values(items):
        found.setdefault(item.look, []).append(item)
    return found


def _that_may_be_one(items: Sequence[Item], others: Sequence[Item]) -> list[int]:
    """Return the indices of the items that may be one of the others, which all look alike."""
    names = {other.names for other in others}
    any_unnamed = any(not other.is_named for other in others)
    return [
        item.place
        for item in items
        if any_unnamed or (others and not item.is_named) or item.names in names
    ]


def _by_name(
    saved: Sequence[Item], live: Sequence[Item], known: Mapping[int, int]
) -> dict[int, int]:
    """Return the items that share a name which no other item has."""
    pairs = dict(known)
    taken = set(known.values())
    owners, others = _owners(saved), _owners(live)
    for name, i in owners.items():
        j = others.get(name)
        if i is not None and j is not None and i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return pairs


def _owners(items: Sequence[Item]) -> dict[str, int | None]:
    """Return, by name, the index of the item that has it; None if several have it."""
    found: dict[str, int | None] = {}
    for item in items:
        for name in dict.fromkeys(item.names):
            found[name] = None if name in found else item.place
    return found


def _segments(items: Sequence[Item], known: Mapping[int, int]) -> dict[int, list[Item]]:
    """Return the unknown items, by the known item before them."""
    found: dict[int, list[Item]] = {}
    anchor = -1
    for item in items:
        if item.place in known:
            anchor = known[item.place]
        else:
            found.setdefault(anchor, []).append(item)
    return found


def _in_order(
    saved: Sequence[Item], live: Sequence[Item], bound: Mapping[int, int]
) -> list[tuple[Item, Item]]:
    """Return as many items as possible that look alike and keep their order.

    Among equal solutions, most agreeing names decide, then most bound pairs.
    """
    head = 0
    while head < min(len(saved), len(live)) and _are_one(saved[head], live[head], bound):
        head += 1
    found = list(zip(saved[:head], live[:head], strict=True))
    saved, live = saved[head:], live[head:]
    if len(saved) * len(live) > _MOST_COMPARED:
        tail = 0
        while tail < min(len(saved), len(live)) and _may_be_one(saved[-tail - 1], live[-tail - 1]):
            tail += 1
        return found + list(zip(saved[len(saved) - tail :], live[len(live) - tail :], strict=True))
    return found + _longest(saved, live, bound)


def _longest(
    saved: Sequence[Item], live: Sequence[Item], bound: Mapping[int, int]
) -> list[tuple[Item, Item]]:
    gains = _gains(saved, live, bound)
    best = [[0] * (len(live) + 1) for _ in range(len(saved) + 1)]
    for i in reversed(range(len(saved))):
        row, below, of_row = best[i], best[i + 1], gains[i]
        for j in reversed(range(len(live))):
            score = below[j] if below[j] > row[j + 1] else row[j + 1]
            both = of_row[j] + below[j + 1] if of_row[j] else 0
            row[j] = both if both > score else score
    found, i, j = [], 0, 0
    while i < len(saved) and j < len(live):
        gain = gains[i][j]
        if gain and best[i][j] == gain + best[i + 1][j + 1]:
            found.append((saved[i], live[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def _gains(
    saved: Sequence[Item], live: Sequence[Item], bound: Mapping[int, int]
) -> list[list[int]]:
    """Return the worth of each pair of items: 0 if they are not the same.

    One more pair counts more than all agreeing names, and these count more than all bound pairs.
    Items of equal looks and names are compared once.
    """
    kinds = [_kinds(items) for items in (saved, live)]
    worth = [
        [_worth(ours, theirs) for theirs, _ in kinds[1].values()] for ours, _ in kinds[0].values()
    ]
    gains = [[0] * len(live) for _ in saved]
    places: dict[int, list[int]] = {}
    for j, item in enumerate(live):
        places.setdefault(item.first, []).append(j)
    for row, (_, of_saved) in zip(worth, kinds[0].values(), strict=True):
        of_live = [0] * len(live)
        for value, (_, indices) in zip(row, kinds[1].values(), strict=True):
            for j in indices:
                of_live[j] = value
        for i in of_saved:
            gains[i] = of_live.copy()
            for met in places.get(bound.get(saved[i].first, -1), ()):
                if _may_be_one(saved[i], live[met]):
                    gains[i][met] = _A_PAIR + _A_NAME * _agree(saved[i], live[met]) + 1
    return gains


def _kinds(items: Sequence[Item]) -> dict[object, tuple[Item, list[int]]]:
    """Return items of equal looks and names: the first of each kind, and the kind of every item."""
    found: dict[object, tuple[Item, list[int]]] = {}
    for i, item in enumerate(items):
        found.setdefault((item.look, item.names, item.is_named), (item, []))[1].append(i)
    return found


def _worth(saved: Item, live: Item) -> int:
    """Return the worth of a pair that no restore puts together.

    A new name at an index that is also new is no evidence of a renaming.
    """
    agree = _agree(saved, live)
    is_renamed = saved.is_named != live.is_named and not agree
    return _A_PAIR + _A_NAME * agree if _may_be_one(saved, live) and not is_renamed else 0


def _are_one(saved: Item, live: Item, bound: Mapping[int, int]) -> bool:
    return saved.look == live.look and _meet(saved, live, bound) and _agree(saved, live)


def _meet(saved: Item, live: Item, bound: Mapping[int, int]) -> bool:
    """Return whether a restore puts the value of one item into the other."""
    return bound.get(saved.first) == live.first


def _agree(saved: Item, live: Item) -> bool:
    return saved.names == live.names or not set(saved.names).isdisjoint(live.names)


def _are_unnamed(saved: Item, live: Item) -> bool:
    return not (saved.is_named and live.is_named)


def _may_be_one(saved: Item, live: Item) -> bool:
    """Return whether two items look alike, and no names that a person chose contradict this."""
    return saved.look == live.look and (_are_unnamed(saved, live) or saved.names == live.names)
