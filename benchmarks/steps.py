"""Time of the story of a restore, and of a check of an edited graph, against the real restore.

One warm process runs these in turn: `restore` of a fresh target; the first step of `check.steps`,
the state in the middle, and the printed story; `graph.renamed` of a layer, and `cv.check` of the
edited graph; the same of a live program, as a page asks for it: first the verdict, then the
picture. Prints medians and ratios.

    python benchmarks/steps.py [--nodes 1000 50000] [--runs 3]
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TypeVar

from benchmarks.check import target
from ckpt_viz.answers.restore_check.changed_program import ChangedProgram
from ckpt_viz.graphs.edits.named_edit import NamedEdit
from ckpt_viz.graphs.render import payload

_T = TypeVar("_T")


def measure(nodes: int, runs: int) -> dict[str, float]:
    """Return the median seconds of each way."""
    import ckpt_viz as cv

    times: dict[str, list[float]] = defaultdict(list)

    def timed(name: str, way: Callable[[], _T]) -> _T:
        start = perf_counter()
        result = way()
        times[name].append(perf_counter() - start)
        return result

    with TemporaryDirectory() as directory:
        prefix = target(nodes).save(str(Path(directory, "ckpt")))
        cv.check(target(3), prefix).steps[0]  # the first one imports
        for _ in range(runs):
            root = target(nodes)
            check = cv.check(root, prefix)
            story = check.steps
            timed("first step", partial(story.__getitem__, 0))
            timed("state in the middle", partial(lambda story: story[len(story) // 2].state, story))
            timed("printed story", partial(str, story))
            timed("restore", partial(lambda root: root.restore(prefix).assert_consumed(), root))
            graph = cv.graph(prefix)
            graph.node_id("layer_1")
            timed("edit", partial(graph.renamed, {"layer_1": "other"}))
            edited = graph.renamed({"layer_1": "other"})
            timed("check of it", partial(cv.check, edited, graph))
            program = ChangedProgram.of(cv.check(target(nodes), prefix))
            _show(_change(program), program)
            changed = timed("verdict of a change", partial(_change, program))
            timed("its picture", partial(_show, changed, program))
    return {name: statistics.median(seen) for name, seen in times.items()}


def _change(program: ChangedProgram) -> ChangedProgram:
    """Do what a page asks for first when someone renames a part: edit and verdict."""
    changed = program.after(NamedEdit("rename", "layer_2", "other"))
    assert changed.first_difference(program) is not None
    assert changed.result.steps > 0
    return changed


def _show(changed: ChangedProgram, program: ChangedProgram) -> None:
    """Do what a page asks for next: the causes, and the picture."""
    payload.encode(changed.check.overlay.graph, changed.check.overlay)
    assert changed.check is not program.check


def main() -> None:
    """Measure each size and print figures and ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[1000, 50_000])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for nodes in options.nodes:
        seconds = measure(nodes, options.runs)
        print(f"{nodes:,} nodes")
        for name, seen in seconds.items():
            ratio = seen / seconds["restore"]
            print(f"  {name:<22}{seen * 1000:9.1f} ms   {ratio:6.3f} restores")


if __name__ == "__main__":
    main()
