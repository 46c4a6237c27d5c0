"""Walk all journeys, and print a table of kinds and laws: `python -m tests.journeys`.

Numbers are of journeys that hold / that break the law. Each break follows in a line.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tests.journeys.journeys import EDITS, FILES, KINDS, Journey, journeys
from tests.journeys.laws import LAWS, PROGRAM, Break, breaks_of
from tests.journeys.walk import walk
from tests.programs.law import UnfitError
from tests.support.oracle import silence_tensorflow

Result = dict[str, list[Break] | None]
Results = dict[Journey, Result]
_SHORT = {PROGRAM: "Wrote the file"}


def judged(journey: Journey) -> Result:
    """Return how a journey breaks each law; None for a law that says nothing of it."""
    with tempfile.TemporaryDirectory() as directory:
        walked = walk(journey, Path(directory))
        return {law: breaks_of(law, walked) for law in LAWS}


def table(title: str, rows: Sequence[str], of: Callable[[Journey], str], results: Results) -> str:
    """Return how many journeys hold and break each law, by a kind of journeys."""
    counts: defaultdict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for journey, result in results.items():
        for law, breaks in result.items():
            if breaks is not None:
                counts[of(journey), law][not breaks] += 1
                counts["all", law][not breaks] += 1
        for row in (of(journey), "all"):
            counts[row, "all"][not any(result.values())] += 1
    columns = [*LAWS, "all"]
    heads = [_SHORT.get(law, law) for law in columns]
    lines = [f"{title:32}" + "".join(f"{head:>18}" for head in heads)]
    for row in [*rows, "all"]:
        cells = [counts[row, law] for law in columns]
        if any(cells):
            shown = [f"{cell[True]} / {cell[False]}" if cell else "" for cell in cells]
            lines.append(f"{row:32}" + "".join(f"{cell:>18}" for cell in shown))
    return "\n".join(lines)


def report(results: Results) -> str:
    """Return the tables, the kinds of breaks, and all breaks."""
    kinds = [f"{library}, {kind}" for library in ("keras", "tf_keras") for kind in KINDS]
    text = [
        "Journeys that hold / that break the law",
        "",
        table("kind of model", kinds, lambda j: f"{j.library}, {j.kind}", results),
        "",
        table("kind of file", FILES, lambda j: j.file, results),
        "",
        table("edit", [*EDITS], lambda j: j.edit, results),
        "",
        "Kinds of breaks, with an example of each",
        "",
    ]
    by_kind: defaultdict[tuple[str, str], list[tuple[Journey, str]]] = defaultdict(list)
    for law, journey, one in _breaks(results):
        by_kind[law, one.kind].append((journey, one.facts))
    for (law, kind), found in sorted(by_kind.items(), key=lambda item: (item[0][0], -len(item[1]))):
        journey, facts = min(found, key=lambda item: str(item[0]))
        text += [f"{len(found):4}  {law}: {kind}", f"        {journey}: {facts}"]
    text += ["", "All breaks", ""]
    text += sorted(
        f"{journey} | {law}: {one.kind}{f': {one.facts}' if one.facts else ''}"
        for law, journey, one in _breaks(results)
    )
    return "\n".join(text)


def _breaks(results: Results) -> Iterable[tuple[str, Journey, Break]]:
    for journey, result in results.items():
        for law, breaks in result.items():
            for one in breaks or ():
                yield law, journey, one


def main() -> int:
    """Return the exit status: 1 if a law is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only journeys whose names have all these words")
    parser.add_argument("--every", type=int, default=1, help="only one journey in so many")
    arguments = parser.parse_args()
    silence_tensorflow()
    chosen = [one for one in journeys() if all(word in str(one) for word in arguments.words)]
    results: Results = {}
    began, faults = time.monotonic(), []
    for journey in chosen[:: arguments.every]:
        try:
            results[journey] = judged(journey)
        except UnfitError:
            continue
        except Exception:
            faults.append(f"{journey}\n{traceback.format_exc()}")
    print(report(results))
    print(f"\n{len(results)} journeys in {time.monotonic() - began:.0f} s")
    print("\n".join(["", "Journeys that could not be walked", *faults] if faults else []))
    return int(bool(faults or [*_breaks(results)]))


if __name__ == "__main__":
    sys.exit(main())
