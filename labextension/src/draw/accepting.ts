/** Which guesses of a fix a person has accepted, by a tick. */

import { useEffect, useState } from "preact/hooks";
import type { Graph } from "../graph";
import type { Guess } from "../overlay";
import type { Table } from "../table";

/** The guesses that a person accepts, by their places in the check. */
export interface Accepting {
  readonly accepted: ReadonlySet<number>;
  accept(guesses: readonly Guess[], isAccepted: boolean): void;
}

const NONE: ReadonlySet<number> = new Set();

/** Another graph has other guesses, so none of them is accepted. */
export function useAccepting(shown: Graph): Accepting {
  const graph = shown.objects ?? shown;
  const [accepted, setAccepted] = useState(NONE);
  useEffect(() => setAccepted(NONE), [graph]);
  return {
    accepted,
    accept: (guesses, isAccepted) =>
      setAccepted((before) => withAccepted(before, guesses, isAccepted)),
  };
}

/** The number of values that the accepted guesses add to the fix. */
export function addedBy({ accepted }: Accepting, table: Table): number {
  return [...accepted].reduce((sum, guess) => sum + (table.guessed[guess] ?? 0), 0);
}

/** The accepted guesses with these added or taken away, in the order of the check. */
export function withAccepted(
  accepted: ReadonlySet<number>,
  guesses: readonly Guess[],
  isAccepted: boolean,
): ReadonlySet<number> {
  const places = guesses.map(({ place }) => place);
  const others = [...accepted].filter((place) => !places.includes(place));
  return new Set([...others, ...(isAccepted ? places : [])].sort((a, b) => a - b));
}
