/** The order of siblings, by what a column of the outline shows. */

import { SEVERITIES } from "../data/contract";
import type { Graph } from "../data/graph";
import { type MeasureName, measureOf } from "../data/measures";
import { isQuiet } from "../data/overlay";
import { numbersOf } from "./measured";
import { elements, parametersOf, sizeOf } from "./totals";

/** What a row sorts by in each column. */
const KEYS = {
  name: (graph: Graph, id: number) => graph.label(id),
  state: (graph: Graph, id: number) => stateKey(graph, id),
  shape: (graph: Graph, id: number) => elements(graph, id),
  dtype: (graph: Graph, id: number) => graph.attributes(id)[0]?.dtype ?? "",
  parameters: parametersOf,
  size: (graph: Graph, id: number) => sizeOf(graph, id).all ?? 0,
  role: (graph: Graph, id: number) => (id < graph.size ? graph.role(id) : ""),
  // Rows without the measure come last when the largest come first.
  measure: (graph: Graph, id: number, measure: MeasureName | null) => {
    const number = measure === null ? Number.NaN : measureOf(measure, numbersOf(graph, id));
    return Number.isNaN(number) ? Number.NEGATIVE_INFINITY : number;
  },
} as const;

export type SortedColumn = keyof typeof KEYS;

export interface Sort {
  readonly column: SortedColumn;
  readonly isDescending: boolean;
  /** What the rows measure, if they are in the order of that. */
  readonly measure?: MeasureName | null;
}

/** Numbers begin with the largest, and words with the first of the alphabet. */
const BEGINS_DESCENDING: ReadonlySet<SortedColumn> = new Set<SortedColumn>([
  "state",
  "shape",
  "parameters",
  "size",
  "measure",
]);

/** The next order after a click on a column: its usual order, the reverse, the order of the graph. */
export function nextSort(now: Sort | null, column: SortedColumn): Sort | null {
  const first = BEGINS_DESCENDING.has(column);
  if (now?.column !== column) {
    return { column, isDescending: first };
  }
  return now.isDescending === first ? { column, isDescending: !first } : null;
}

const words = new Intl.Collator(undefined, { numeric: true });

/** The rows in this order; rows that are equal keep their order. */
export function sorted(graph: Graph, rows: ArrayLike<number>, sort: Sort): readonly number[] {
  const key = KEYS[sort.column];
  const sign = sort.isDescending ? -1 : 1;
  const keyed = Array.from(rows, (id) => ({ id, by: key(graph, id, sort.measure ?? null) }));
  keyed.sort(({ by: a }, { by: b }) =>
    typeof a === "number" && typeof b === "number"
      ? a === b
        ? 0
        : sign * (a - b)
      : sign * words.compare(String(a), String(b)),
  );
  return keyed.map(({ id }) => id);
}

/** How much a row needs attention: its own problems, then the number of values below it that do. */
function stateKey({ overlay }: Graph, id: number): number {
  if (overlay === null) {
    return 0;
  }
  const below = overlay.below(id).reduce((sum, { count }) => sum + count, 0);
  const worst = overlay.problemsOf(id).map((problem) => overlay.problem(problem).severity);
  const severity = Math.max(0, ...worst.map((one) => SEVERITIES.length - SEVERITIES.indexOf(one)));
  const own = isQuiet(overlay.cell(id)) ? 0 : 1;
  return severity * 1e12 + below * 2 + own;
}
