/**
 * The parts of a graph in proportion to their parameters, in the order of the tree. A comparison
 * has a strip for each side.
 */

import { type NodeState, WORST_STATES_FIRST } from "../contract";
import { type Graph, ROOT } from "../graph";
import type { OfSide, StateCount } from "../overlay";
import { parametersOf, parametersOn } from "./totals";

export interface Segment {
  /** The row that the segment leads to: of several rows, the first in the worst state. */
  readonly row: number;
  /** Neighbours that are too small for segments of their own share one. */
  readonly rows: readonly number[];
  readonly parameters: number;
  /** The part of all parameters, up to 1. */
  readonly share: number;
  /** In a comparison: how many variables are in each state, the worst first. */
  readonly states: readonly StateCount[];
}

export interface Strip {
  /** Null for a graph alone. */
  readonly side: OfSide | null;
  readonly segments: readonly Segment[];
  /** The part of the parameters that matches the other side. */
  readonly matched: number;
}

/** More segments are too narrow to tell apart. */
const MAX_SEGMENTS = 200;
/** Neighbours with at most this share in all share a segment. */
const LEAST = 1 / MAX_SEGMENTS;
/** A part of at most this share is not divided any further. */
const SMALL = 0.12;

const known = new WeakMap<Graph, readonly Strip[]>();

/** The strips of a graph, a before b; none if a single part holds all parameters. */
export function stripsOf(graph: Graph): readonly Strip[] {
  const strips = known.get(graph) ?? made(graph);
  known.set(graph, strips);
  return strips;
}

function made(graph: Graph): readonly Strip[] {
  const runs = divided(graph);
  if (runs.length < 2) {
    return [];
  }
  const sides = graph.overlay === null ? [null] : (["saved", "live"] as const);
  return sides.map((side) => stripOf(graph, runs, side)).filter((strip) => strip !== null);
}

/** Rows in a segment, next to each other. */
type Run = readonly number[];

function divided(graph: Graph): readonly Run[] {
  const shareOf = shares(graph);
  let runs: readonly Run[] = shareOf(ROOT) === 0 ? [] : [[ROOT]];
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

type ShareOf = (row: number) => number;

/** A row's part of all parameters; in a comparison, on the side where it is larger. */
function shares(graph: Graph): ShareOf {
  const part = (of: (row: number) => number): ShareOf => {
    const all = Math.max(of(ROOT), 1);
    return (row) => of(row) / all;
  };
  if (graph.overlay === null) {
    return part((row) => parametersOf(graph, row));
  }
  const [saved, live] = (["saved", "live"] as const).map((side) =>
    part((row) => parametersOn(graph, row, side)),
  ) as [ShareOf, ShareOf];
  return (row) => Math.max(saved(row), live(row));
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

function stripOf(graph: Graph, runs: readonly Run[], side: OfSide | null): Strip | null {
  const parametersAt = (row: number) =>
    side === null ? parametersOf(graph, row) : parametersOn(graph, row, side);
  const all = parametersAt(ROOT);
  if (all === 0) {
    return null;
  }
  const { matched, ofRow } = side === null ? NO_STATES : statesOn(graph, runs.flat(), side);
  const segments = runs.flatMap((run): readonly Segment[] => {
    const rows = run.filter((row) => parametersAt(row) > 0);
    const [first] = rows;
    if (first === undefined) {
      return [];
    }
    const parameters = rows.reduce((sum, row) => sum + parametersAt(row), 0);
    const states = sorted(rows.map((row) => ofRow.get(row) ?? NOTHING));
    const worst = states[0]?.state;
    const row = rows.find((one) => worst !== undefined && ofRow.get(one)?.has(worst)) ?? first;
    return [{ row, rows, parameters, share: parameters / all, states }];
  });
  return { side, segments, matched: matched / all };
}

type Counts = ReadonlyMap<NodeState, number>;
const NOTHING: Counts = new Map();
const NO_STATES = { matched: 0, ofRow: new Map<number, Counts>() };

function sorted(counts: readonly Counts[]): readonly StateCount[] {
  return WORST_STATES_FIRST.map((state) => ({
    state,
    count: counts.reduce((sum, of) => sum + (of.get(state) ?? 0), 0),
  })).filter(({ count }) => count > 0);
}

/** The states of the variables with parameters at and below rows, and how many of these match. */
function statesOn(graph: Graph, rows: readonly number[], side: OfSide) {
  const ofRow = new Map(rows.map((row) => [row, new Map<NodeState, number>()]));
  const rowAbove = new Int32Array(graph.treeSize).fill(-1);
  let matched = 0;
  for (const id of graph.order) {
    rowAbove[id] = ofRow.has(id) ? id : (rowAbove[graph.treeParent(id) ?? ROOT] ?? -1);
    const own = parametersOn(graph, id, side, "own");
    const counts = ofRow.get(rowAbove[id] ?? -1);
    if (own > 0 && counts !== undefined && graph.overlay !== null) {
      const state = graph.overlay.state(id);
      counts.set(state, (counts.get(state) ?? 0) + 1);
      matched += state === "matched" ? own : 0;
    }
  }
  return { matched, ofRow };
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
