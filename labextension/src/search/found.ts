/** The result of a search in the view: its matches and their ancestors. */

import type { Graph } from "../data/graph";
import { summedUp } from "../data/sums";
import { find } from "./evaluate";
import { Mistake } from "./syntax";

export interface Found {
  /** In the order of the outline. */
  readonly matches: readonly number[];
  /** By id, 1 for a match. */
  readonly isMatch: Uint8Array;
  /** By id, 1 for a match and for its ancestors; null while there is no search. */
  readonly kept: Uint8Array | null;
  /** By id of a node or group, the number of matches that its row holds and does not show. */
  readonly below: Int32Array;
  /** The mistake in the query, if there is one. */
  readonly mistake: Mistake | null;
  /** The query came with a file, and the user has not run it yet. */
  readonly isWaiting: boolean;
}

export const NOTHING_FOUND: Found = {
  matches: [],
  isMatch: new Uint8Array(),
  kept: null,
  below: new Int32Array(),
  mistake: null,
  isWaiting: false,
};

/** A file's query does not run at once: a regular expression could freeze the page. */
export const WAITING: Found = { ...NOTHING_FOUND, isWaiting: true };

export function searched(graph: Graph, query: string): Found {
  if (query.trim() === "") {
    return NOTHING_FOUND;
  }
  let matches: readonly number[];
  try {
    matches = find(graph.objects ?? graph, query);
  } catch (error) {
    if (error instanceof Mistake) {
      return { ...NOTHING_FOUND, mistake: error };
    }
    throw error;
  }
  const isMatch = new Uint8Array(graph.size);
  const own = new Float64Array(graph.treeSize);
  for (const match of matches) {
    isMatch[match] = 1;
    const row = graph.shownAs(match);
    if (row !== null) {
      own[row] = (own[row] ?? 0) + 1;
    }
  }
  const sums = summedUp(graph, own);
  const kept = Uint8Array.from(sums, (sum) => (sum > 0 ? 1 : 0));
  const below = Int32Array.from(sums, (sum, row) => (sum > 0 ? sum - (isMatch[row] ?? 0) : 0));
  return { ...NOTHING_FOUND, matches, isMatch, kept, below };
}

/** The next or previous match after the selected node; wraps around. */
export function nextMatch({ matches }: Found, selected: number | null, by: 1 | -1): number | null {
  const from = selected === null ? -1 : matches.indexOf(selected);
  const place = from < 0 && by < 0 ? matches.length - 1 : from + by;
  return matches[(place + matches.length) % Math.max(matches.length, 1)] ?? null;
}
