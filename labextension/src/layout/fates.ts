/** What a fix does with the values of a row and of all rows below it. */

import { type Fix, movesAlong } from "../fix";
import { type Graph, ROOT } from "../graph";

/** A variable gets its saved value, or might, or keeps its own; a saved value stays unused. */
export const FATES = ["restored", "guess", "kept", "unused"] as const;
export type Fate = (typeof FATES)[number];
/** The number of variables of each fate. */
export type Fates = Readonly<Record<Fate, number>>;
const known = new WeakMap<Graph, { readonly fix: Fix; readonly counts: Int32Array }>();

/** The fates of the variables at a row and below it. */
export function fatesWithin(graph: Graph, fix: Fix, row: number): Fates {
  const counts = countsOf(graph, fix);
  const at = (fate: Fate): number => counts[row * FATES.length + FATES.indexOf(fate)] ?? 0;
  return {
    restored: at("restored"),
    guess: at("guess"),
    kept: at("kept"),
    unused: at("unused"),
  };
}

function countsOf(graph: Graph, fix: Fix): Int32Array {
  const before = known.get(graph);
  if (before?.fix === fix) {
    return before.counts;
  }
  const width = FATES.length;
  const counts = new Int32Array(graph.treeSize * width);
  for (let i = graph.order.length - 1; i >= 0; i--) {
    const row = graph.order[i] ?? ROOT;
    for (const fate of row < graph.size ? fatesOf(graph, fix, row) : []) {
      const place = row * width + FATES.indexOf(fate);
      counts[place] = (counts[place] ?? 0) + 1;
    }
    const above = graph.treeParent(row);
    for (let fate = 0; above !== null && fate < width; fate++) {
      const sum = (counts[above * width + fate] ?? 0) + (counts[row * width + fate] ?? 0);
      counts[above * width + fate] = sum;
    }
  }
  known.set(graph, { fix, counts });
  return counts;
}

/** What happens to the value of a node: to that of the program, and to that of the file. */
export function fatesOf({ attributes, overlay }: Graph, fix: Fix, id: number): readonly Fate[] {
  if (overlay === null || attributes(id).length === 0) {
    return [];
  }
  const fates: Fate[] = [];
  const side = overlay.side(id);
  if (side !== "saved") {
    const gets = fix.comesFrom(id) !== null || side === "both";
    if (fix.keeps(id)) {
      fates.push(fix.comesFrom(id)?.bond === "guess" ? "guess" : "kept");
    } else if (gets) {
      fates.push("restored");
    }
  }
  const mightGo = fix.goesTo(id).some(({ bond }) => bond === "guess");
  if (side !== "live" && fix.isUnused(id) && !mightGo) {
    fates.push("unused");
  }
  return fates;
}

/** Both ends of the largest parts that a fix moves as a whole. */
export function endsOfMoves({ treeParent }: Graph, fix: Fix): readonly number[] {
  return fix.pairs
    .filter((pair) => pair.saved !== pair.live && !movesAlong(fix, pair, treeParent))
    .flatMap(({ saved, live }) => [saved, live]);
}
