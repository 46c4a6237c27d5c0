/** The parts of a graph in proportion to their parameters, in the order of the tree. */

import { oncePer } from "../basics/once";
import { type Graph, ROOT } from "../data/graph";
import { parametersOf } from "./totals";

export interface Segment {
  /** Neighbours that are too narrow for segments of their own share one; it leads to the first. */
  readonly rows: readonly number[];
  readonly parameters: number;
  /** The part of all parameters, up to 1. */
  readonly share: number;
}

/** More segments are too narrow to tell apart. */
const MAX_SEGMENTS = 200;
/** Neighbours with at most this share in all share a segment. */
const LEAST = 1 / MAX_SEGMENTS;
/** A part of at most this share is not divided any further. */
const SMALL = 0.12;

/** The segments of a graph; none if a single part holds all parameters. */
export const segmentsOf = oncePer((graph: Graph): readonly Segment[] => {
  const all = parametersOf(graph, ROOT);
  const runs = all === 0 ? [] : divided(graph, (row) => parametersOf(graph, row) / all);
  return runs.length < 2
    ? []
    : runs.map((rows) => {
        const parameters = rows.reduce((sum, row) => sum + parametersOf(graph, row), 0);
        return { rows, parameters, share: parameters / all };
      });
});

/** Rows in a segment, next to each other. */
type Run = readonly number[];
/** A row's part of all parameters. */
type ShareOf = (row: number) => number;

function divided(graph: Graph, shareOf: ShareOf): readonly Run[] {
  let runs: readonly Run[] = [[ROOT]];
  const whole = new Set<Run>();
  const size = (run: Run) => (run.length > 1 || whole.has(run) ? 0 : shareOf(run[0] ?? ROOT));
  for (;;) {
    const largest = runs.reduce(
      (most, run) => (size(run) > size(most) ? run : most),
      runs[0] ?? [],
    );
    if (size(largest) <= SMALL || runs.length > MAX_SEGMENTS) {
      return runs;
    }
    const parts = joined(partsOf(graph, largest[0] ?? ROOT, shareOf), shareOf);
    // Narrow parts that are alike tell no more than their group.
    const isOneCase = graph.group(largest[0] ?? ROOT)?.isAlike === true;
    if (parts.length === 0 || (isOneCase && parts.some((run) => run.length > 1))) {
      whole.add(largest);
    } else {
      runs = runs.flatMap((run) => (run === largest ? parts : [run]));
    }
  }
}

/** The rows below that have parameters; none if all of them are variables. */
function partsOf(graph: Graph, row: number, shareOf: ShareOf): readonly number[] {
  const parts = Array.from(graph.treeChildren(row)).filter((id) => shareOf(id) > 0);
  const isLayer = parts.every((id) => id < graph.size && graph.role(id) === "variable");
  return isLayer ? [] : parts;
}

/** Joins rows that would be too narrow to see. */
function joined(rows: readonly number[], shareOf: ShareOf): readonly Run[] {
  const runs: number[][] = [];
  let share = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    if (share + shareOf(row) <= LEAST) {
      runs.at(-1)?.push(row);
      share += shareOf(row);
    } else {
      runs.push([row]);
      share = shareOf(row);
    }
  }
  return runs;
}

/** Whether one of two rows is the other one, or is below it. */
export function isWithin(graph: Graph, one: number, other: number): boolean {
  return isBelow(graph, one, other) || isBelow(graph, other, one);
}

function isBelow(graph: Graph, row: number, top: number): boolean {
  let id: number | null = row;
  while (id !== null && id !== top) {
    id = graph.treeParent(id);
  }
  return id === top;
}
