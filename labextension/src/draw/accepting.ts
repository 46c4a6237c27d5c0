/** Which guesses of a fix a person has accepted, by a tick. */

import { useEffect, useState } from "preact/hooks";
import { withOrWithout } from "../basics/sets";
import type { TableCell } from "../data/contract";
import type { Graph } from "../data/graph";
import type { Line, Table } from "../data/table";

/** The guesses that a person accepts, by their places in the check. */
export interface Accepting {
  readonly accepted: ReadonlySet<number>;
  accept(guess: number, isAccepted: boolean): void;
}

const NONE: ReadonlySet<number> = new Set();

/** Another graph has other guesses, so none of them is accepted. */
export function useAccepting(shown: Graph): Accepting {
  const graph = shown.objects ?? shown;
  const [accepted, setAccepted] = useState(NONE);
  useEffect(() => setAccepted(NONE), [graph]);
  return {
    accepted,
    accept: (guess, isAccepted) => setAccepted((before) => withAccepted(before, guess, isAccepted)),
  };
}

/** The accepted guesses with one added or taken away, in the order of the check. */
export function withAccepted(
  accepted: ReadonlySet<number>,
  guess: number,
  isAccepted: boolean,
): ReadonlySet<number> {
  return new Set([...withOrWithout(accepted, guess, isAccepted)].sort((a, b) => a - b));
}

/** What the fix does with the values of a line, with the accepted guesses; null without a fix. */
export function fixedWith(table: Table, line: Line, { accepted }: Accepting): TableCell | null {
  const guess = takenBy(table, line, accepted);
  const taken = guess === null ? undefined : table.guessed[guess]?.taken;
  return taken === undefined ? line.fixed : { sign: "likely", words: taken };
}

/** The accepted guess about a line, or the first of those about all lines inside; null without. */
function takenBy(
  table: Table,
  { fixed, guess, id }: Line,
  accepted: ReadonlySet<number>,
): number | null {
  if (guess !== null) {
    return accepted.has(guess) ? guess : null;
  }
  const isOpen = (fixed?.sign === "asks" || fixed?.sign === "misfit") && accepted.size > 0;
  const taken = (isOpen ? table.inside(id) : []).map((of) =>
    takenBy(table, table.line(of), accepted),
  );
  return taken.includes(null) ? null : (taken[0] ?? null);
}

/** The number of values that the fix restores with the accepted guesses; of a diff, the equal ones. */
export function restoredWith({ guessed, totals }: Table, { accepted }: Accepting): number {
  const added = [...accepted].reduce((sum, guess) => sum + (guessed[guess]?.values ?? 0), 0);
  return (totals.fixed ?? totals.restored) + added;
}
