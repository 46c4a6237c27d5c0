/** The parts of a graph in proportion to their parameters, in the order of the tree. */

import { type Graph, ROOT } from "../graph";
import { parametersOf } from "./totals";

export interface Segment {
  readonly row: number;
  /** The part of all parameters, up to 1. */
  readonly share: number;
}

/** More segments are too narrow to tell apart. */
const MAX_SEGMENTS = 40;
/** A part of at most this share is not divided any further. */
const SMALL = 0.12;

const known = new WeakMap<Graph, readonly Segment[]>();

/** The segments of a graph; none if a single part holds all parameters. */
export function segmentsOf(graph: Graph): readonly Segment[] {
  const segments = known.get(graph) ?? divided(graph);
  known.set(graph, segments);
  return segments;
}

function divided(graph: Graph): readonly Segment[] {
  const all = parametersOf(graph, ROOT);
  let rows: readonly number[] = all === 0 ? [] : [ROOT];
  const whole = new Set<number>();
  for (;;) {
    const share = (row: number) => (whole.has(row) ? 0 : parametersOf(graph, row) / all);
    const largest = rows.reduce(
      (most, row) => (share(row) > share(most) ? row : most),
      rows[0] ?? 0,
    );
    if (rows.length === 0 || share(largest) <= SMALL) {
      break;
    }
    const parts = partsOf(graph, largest);
    if (parts.length === 0 || rows.length + parts.length > MAX_SEGMENTS) {
      whole.add(largest);
    } else {
      rows = rows.flatMap((row) => (row === largest ? parts : [row]));
    }
  }
  return rows.length < 2 ? [] : rows.map((row) => ({ row, share: parametersOf(graph, row) / all }));
}

/** The rows below that have parameters; none if variables are among them. */
function partsOf(graph: Graph, row: number): readonly number[] {
  const parts = Array.from(graph.treeChildren(row)).filter((id) => parametersOf(graph, id) > 0);
  const isLayer = parts.some((id) => id < graph.size && graph.role(id) === "variable");
  return isLayer ? [] : parts;
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
