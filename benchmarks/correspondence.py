"""Right, missing and wrong places of saved values, over many edited programs.

Each program is saved, edited and compared with its file. The tags of its variables tell where each
value belongs. For each family of edits, the table counts the values that a mapping puts right,
leaves out though their variable is there, and puts wrong. Of the wrong values, the next column has
those that the mapping calls certain. Guesses have two columns of their own. Layers that look alike
and that nothing tells apart count nowhere.

The last four columns are about `check.fix()`, and compare with a real plain restore: values that
the plain restore puts right and the fix leaves out; comments that deny such a value; findings that
name the fix but have no value in it; and values of matched variables that the fix leaves out.

    python -m benchmarks.correspondence [--programs 20] [--family added_bias] [--failures]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import ckpt_viz as cv
from ckpt_viz.graphs.nodes.printed_names import readable_name
from ckpt_viz.graphs.nodes.subtrees import values_of
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import State
from ckpt_viz.matching.correspondence.value_mapping import map_values
from tests.programs import tagged
from tests.programs.law import UnfitError, code_of
from tests.programs.tagged import Example, Tag, Tagged
from tests.programs.wrong_values import unknowable_in
from tests.support import name_based, oracle
from tests.support.promises import unkept

Places = Iterable[tuple[int, int, str]]  # saved node, live node, certainty

_COLUMNS = (
    "possible",
    "right",
    "left out",
    "wrong",
    "surely wrong",
    "guessed right",
    "guessed wrong",
)
_OF_FIX = ("fewer", "denied", "unkept", "matched, not in fix")


def places_of(saved: Graph, live: Graph) -> Places:
    """Return where each saved value belongs, with the certainty in words."""
    return [(p.node, p.obj, p.certainty.value) for p in map_values(saved, live).pairs]


@dataclass(frozen=True)
class Truth:
    """The tags of the nodes of a saved and a live graph."""

    saved: Graph
    live: Graph
    of_saved: Mapping[int, Tag]
    of_live: Mapping[int, Tag]
    unknowable: frozenset[str]

    def possible(self) -> dict[int, Tag]:
        """Return the live nodes that the file has a value of the same shape for."""
        fitting = {(tag, values_of(self.saved.nodes[node])) for node, tag in self.of_saved.items()}
        return {
            obj: tag
            for obj, tag in self.of_live.items()
            if (tag, values_of(self.live.nodes[obj])) in fitting and tag[0] not in self.unknowable
        }

    def is_knowable(self, node: int, obj: int) -> bool:
        """Return whether a pair is about tagged nodes, and none that nothing tells apart."""
        tags = [tag for tag in (self.of_saved.get(node), self.of_live.get(obj)) if tag is not None]
        return bool(tags) and not any(tag[0] in self.unknowable for tag in tags)

    def is_right(self, node: int, obj: int) -> bool:
        """Return whether a saved and a live node have one tag."""
        return self.of_saved.get(node) == self.of_live.get(obj)


def judged(truth: Truth, places: Places) -> tuple[Counter[str], list[str]]:
    """Return the counts of a mapping, and its wrong and missing pairs in words."""
    counts, words = Counter[str](), []
    possible = truth.possible()
    settled = set()
    for node, obj, certainty in places:
        if not truth.is_knowable(node, obj):
            continue
        is_right = truth.is_right(node, obj)
        column = "right" if is_right else "wrong"
        if certainty == "guess":
            counts[f"guessed {column}"] += 1
            continue
        counts[column] += 1
        counts["surely wrong"] += not is_right and certainty == "certain"
        settled.add(obj)
        if not is_right:
            names = truth.saved.name(node), truth.live.name(obj)
            words.append(f"wrong ({certainty}): {names[0]} -> {names[1]}")
    left = possible.keys() - settled
    counts["possible"], counts["left out"] = len(possible), len(left)
    words += [f"left out: {truth.live.name(obj)}" for obj in sorted(left)]
    return counts, words


# --- one program, saved


def _by_object(graph: Graph, tagged: Tagged) -> dict[int, Tag]:
    tags = {id(variable): tag for tag, variable in tagged.variables}
    objects = {node: graph.object(node) for node in range(len(graph.nodes))}
    return {node: tags[id(one)] for node, one in objects.items() if id(one) in tags}


def _fill(tagged: Tagged, sign: int) -> dict[Tag, float]:
    """Give each variable a number of its own, and return the numbers by tag."""
    import tensorflow as tf

    for number, (_, variable) in enumerate(tagged.variables, start=1):
        variable.assign(tf.cast(tf.fill(variable.shape, sign * number), variable.dtype))
    return {tag: _value(variable) for tag, variable in tagged.variables}


def _value(variable: Any) -> float:
    return float(variable.numpy().flat[0])


def _saved(example: Example, directory: Path) -> tuple[str, Mapping[int, Tag]]:
    """Write the first program; return the prefix and the tags of the file's nodes."""
    prefix = directory / "ckpt"
    if example.by_name is None:
        path = str(example.was.checkpoint.write(str(prefix)))
        return path, _by_object(cv.graph(example.was.checkpoint), example.was)
    arrays = {
        name: dict(example.was.variables)[tag].numpy() for tag, name in example.by_name.items()
    }
    path = name_based.write(prefix, **arrays)
    tags = {name: tag for tag, name in example.by_name.items()}
    nodes = enumerate(cv.graph(path).nodes)
    return path, {n: tags[one.attributes[0].checkpoint_key] for n, one in nodes if one.attributes}


def measure(example: Example, directory: Path) -> tuple[Counter[str], list[str]]:
    """Return the counts and the mistakes of the mapping and of the fix."""
    numbers = _fill(example.was, 1)
    path, of_saved = _saved(example, directory)
    _fill(example.now, -1)
    saved, live = cv.graph(path), cv.graph(example.now.checkpoint)
    check = cv.check(example.now.checkpoint, path)
    unknowable = example.unknowable
    if example.was.made is not None and example.now.made is not None:
        made = example.was.made, example.now.made
        unknowable |= unknowable_in(*made, check).keys()
    truth = Truth(saved, live, of_saved, _by_object(live, example.now), unknowable)
    counts, words = judged(truth, places_of(saved, live))
    of_fix, more = _judged_fix(example, truth, check, path, numbers)
    return counts + of_fix, words + more


def _judged_fix(
    example: Example, truth: Truth, check: Any, path: str, numbers: Mapping[Tag, float]
) -> tuple[Counter[str], list[str]]:
    """Compare a fix with the check that made it, then with a real plain restore."""
    fix = check.fix()
    keys = set(fix.pairs)
    words = [f"unkept: {one}" for one in unkept(check)]
    words += [f"matched, not in fix: {name}" for name in _matched_outside(truth, check, keys)]
    missing = set(fix.missing)
    if check.raises is None:
        restored = _restored_right(example, path, numbers)
        of_tag = {tag: node for node, tag in truth.of_saved.items()}
        for obj, tag in truth.of_live.items():
            if tag not in restored or restored[tag] != numbers[tag]:
                continue
            name = readable_name(truth.live, obj)
            if keys.isdisjoint(_keys_of(truth.saved, of_tag[tag])):
                words.append(f"fewer: {name}")
                words += [f"denied: {name}"] if name in missing else []
    return Counter(line.partition(":")[0] for line in words), words


def _restored_right(
    example: Example, path: str, numbers: Mapping[Tag, float]
) -> Mapping[Tag, float]:
    """Restore for real, and return the values of variables whose tag the file has."""
    example.now.checkpoint.restore(path).expect_partial()
    return {tag: _value(one) for tag, one in example.now.variables if tag in numbers}


def _keys_of(graph: Graph, node: int) -> set[str]:
    return {one.checkpoint_key for one in graph.nodes[node].attributes}


def _matched_outside(truth: Truth, check: Any, keys: set[str]) -> Iterator[str]:
    """Yield the names of saved values that the check calls matched, and the fix leaves out."""
    marks, places = check.overlay.marks, check.saved_places
    in_fix = {places[n] for n in places if not keys.isdisjoint(_keys_of(truth.saved, n))}
    for node, place in places.items():
        has_value, is_counter = _keys_of(truth.saved, node), node == truth.saved.save_counter
        is_matched = marks[place].state is State.MATCHED
        # A second value may go into the same object: the mark is that of the object.
        if has_value and not is_counter and is_matched and place not in in_fix:
            yield truth.saved.name(node)


# --- many programs


def run(family: str, seed: int) -> tuple[Counter[str], str]:
    """Return the counts and the mistakes of one program; "" if there are none."""
    pair = tagged.FAMILIES[family](Random(f"{family} {seed}"))
    with tempfile.TemporaryDirectory() as directory:
        counts, words = measure(pair.made(), Path(directory))
    title = f"--family {family} --seed {seed}"
    return counts, "\n".join([title, code_of(pair), *words] if words else [])


def row(family: str, counts: Counter[str], programs: int, seconds: float) -> str:
    """Return the row of one family."""
    cells = family, *(str(counts[column]) for column in (*_COLUMNS, *_OF_FIX))
    return f"| {' | '.join(cells)} | {programs} programs, {seconds:.1f} s"


def main() -> None:
    """Print a table by family, and with `--failures` each mistake with its program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--family", choices=tagged.FAMILIES, help="only this one")
    parser.add_argument("--failures", action="store_true", help="print every mistake")
    options = parser.parse_args()
    oracle.silence_tensorflow()
    every = Counter[str]()
    columns = ("family", *_COLUMNS, *_OF_FIX)
    print(f"| {' | '.join(columns)} |\n{'| --- ' * len(columns)}|", flush=True)
    for family in [options.family] if options.family else tagged.FAMILIES:
        began, programs, total = time.monotonic(), 0, Counter[str]()
        for seed in range(options.seed, options.seed + options.programs):
            try:
                counts, words = run(family, seed)
            except UnfitError:
                continue
            programs += 1
            total += counts
            if options.failures and words:
                print(words, flush=True)
        print(row(family, total, programs, time.monotonic() - began), flush=True)
        every += total
    print(row("all", every, 0, 0.0), flush=True)


if __name__ == "__main__":
    main()
