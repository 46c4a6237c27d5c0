"""Try laws on many random programs: `python -m tests.programs LAW --programs N --seed S`.

Prints each failure, shrunk, and how many programs came to which result.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.programs import pairs, twins, weights_loading, wrong_values
from tests.programs.keras_programs import LIBRARIES
from tests.programs.law import Failure, Law
from tests.support.oracle import silence_tensorflow

LAWS: Mapping[str, Law[Any]] = {
    **{f"pairs, {name}": pairs.law_of(family) for name, family in pairs.FAMILIES.items()},
    **{f"wrong values, {name}": wrong_values.law_of(name) for name in LIBRARIES},
    **{f"load_weights, {name}": weights_loading.law_of(name) for name in LIBRARIES},
    "remedies of twins": twins.REMEDIES,
    "fixes of twins": twins.FIXES,
}


def main() -> int:
    """Return the exit status: 1 if a law is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("law", nargs="*", choices=[*LAWS, []], help="only these")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    silence_tensorflow()
    failures = 0
    for name in arguments.law or LAWS:
        began, counts = time.monotonic(), Counter[str]()
        for outcome in LAWS[name].tried(arguments.seed, arguments.programs):
            if isinstance(outcome, Failure):
                failures += 1
                print(outcome, end="\n\n", flush=True)
            else:
                counts.update(outcome)
        print(f"{name}: {time.monotonic() - began:.0f} s: {dict(counts)}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
