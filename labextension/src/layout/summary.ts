/** What a graph holds, in numbers: for the summary that the view shows before a selection. */

import { oncePer } from "../basics/once";
import { type Graph, isUnreadable, ROOT } from "../data/graph";
import { parametersOf } from "./totals";

export interface Summary {
  /** The variables of the program itself: no state of optimizers. */
  readonly variables: number;
  readonly slots: number;
  readonly optimizers: readonly number[];
  /** The number of values of each dtype, the most frequent first. */
  readonly dtypes: readonly (readonly [dtype: string, count: number])[];
  /** The rows with variables of their own, those with most parameters first. */
  readonly largest: readonly number[];
  /** How many nodes could not be walked or read, and how many lose trained values in a save. */
  readonly broken: number;
  readonly unsaved: number;
  /** Nodes with attributes that a save leaves out without such a loss. */
  readonly notes: readonly number[];
}

const MAX_LARGEST = 5;

export const summaryOf = oncePer(summed);

function summed(graph: Graph): Summary {
  const dtypes = new Map<string, number>();
  const holders = new Set<number>();
  const optimizers: number[] = [];
  const notes: number[] = [];
  let [variables, slots, broken, unsaved] = [0, 0, 0, 0];
  for (let id = 0; id < graph.size; id++) {
    const role = graph.role(id);
    const attributes = graph.attributes(id);
    for (const { dtype } of attributes) {
      if (dtype !== null) {
        dtypes.set(dtype, (dtypes.get(dtype) ?? 0) + 1);
      }
    }
    if (role === "variable" && parametersOf(graph, id) > 0) {
      variables += 1;
      holders.add(graph.treeParent(id) ?? id);
    }
    slots += role === "slot" ? 1 : 0;
    broken += isUnreadable(graph, id) ? 1 : 0;
    const left = graph.notSaved(id);
    unsaved += left.some(({ isLost }) => isLost) ? 1 : 0;
    if (left.some(({ isLost }) => !isLost)) {
      notes.push(id);
    }
    if (role === "optimizer") {
      optimizers.push(id);
    }
  }
  return {
    ...{ variables, slots, optimizers, broken, unsaved, notes },
    dtypes: [...dtypes].sort(([, a], [, b]) => b - a),
    largest: apart(graph, holders)
      .sort((a, b) => parametersOf(graph, b) - parametersOf(graph, a))
      .slice(0, MAX_LARGEST),
  };
}

/** Rows that are not inside each other. Parts inside replace a part if they have most of it. */
function apart(graph: Graph, holders: ReadonlySet<number>): number[] {
  const nearest = new Map<number, number>();
  const inside = new Map<number, number>();
  for (const row of graph.order) {
    const above = graph.treeParent(row) ?? row;
    const holder = holders.has(above) ? above : nearest.get(above);
    if (holder !== undefined && row !== holder) {
      nearest.set(row, holder);
      if (holders.has(row)) {
        inside.set(holder, (inside.get(holder) ?? 0) + parametersOf(graph, row));
      }
    }
  }
  const isWhole = (row: number) =>
    row !== ROOT && (inside.get(row) ?? 0) <= parametersOf(graph, row) / 2;
  const covered = new Set<number>();
  return [...graph.order].filter((row) => {
    const above = graph.treeParent(row) ?? row;
    if (covered.has(above)) {
      covered.add(row);
      return false;
    }
    const isTaken = holders.has(row) && isWhole(row);
    if (isTaken) {
      covered.add(row);
    }
    return isTaken;
  });
}
