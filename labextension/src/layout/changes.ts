/** By how much the values of a line of a diff have changed, once they were read. */

import { kept, oncePer } from "../basics/once";
import { LIVE_ALONE, SAVED_ALONE } from "../data/contract";
import type { Graph } from "../data/graph";
import { measureOf } from "../data/measures";
import type { Table } from "../data/table";

export interface Change {
  /** The size of the change, relative to the values in a; infinite if these are zero. */
  readonly share: number;
  /** Whether it is that of parameters: counters and slots change by more, but that is no news. */
  readonly isOfParameters: boolean;
  readonly nan: number;
  readonly inf: number;
}

const knownIn = oncePer((_: Graph) => new Map<number, Change | null>());

/** The change of a line; null if its values were not read, or if one side alone has them. */
export function changeIn(graph: Graph, table: Table, line: number): Change | null {
  return kept(knownIn(graph), line, () => made(graph, table.nodesIn(line, "live")));
}

/**
 * A part has the change of its parameters, as the sentence. Other variables count only if it has
 * none, and slot variables only if a line holds nothing else.
 */
function made(graph: Graph, nodes: readonly number[]): Change | null {
  const parameters = nodes.filter((node) => graph.layerColumns?.layer_parameters[node] === 1);
  const variables = nodes.filter((node) => graph.slot(node) === null);
  const kinds = [parameters, variables, nodes];
  const kind = kinds.find(({ length }) => length > 0) ?? [];
  const numbers = kind.flatMap((node) => {
    const at = graph.measures?.of(node);
    return at === undefined || Number.isNaN(at("moved")) ? [] : [at];
  });
  if (numbers.length === 0) {
    return null;
  }
  const squares = (name: "moved" | "before") =>
    Math.sqrt(numbers.reduce((sum, at) => sum + at(name) ** 2, 0));
  const sum = (name: "nan" | "inf") => numbers.reduce((all, at) => all + (at(name) || 0), 0);
  const [moved, before] = [squares("moved"), squares("before")];
  const share = measureOf("change", (name) => (name === "moved" ? moved : before));
  return { share, isOfParameters: kind === parameters, nan: sum("nan"), inf: sum("inf") };
}

const sorted = new WeakMap<readonly number[], readonly number[]>();

/**
 * Lines beside each other by their change: NaN first, then parameters, the largest change first.
 * What has no change stays in order.
 */
export function byChange(graph: Graph, table: Table, lines: readonly number[]): readonly number[] {
  return kept(sorted, lines, () => inOrder(graph, table, lines));
}

function inOrder(graph: Graph, table: Table, lines: readonly number[]): readonly number[] {
  const changes = new Map(lines.map((line) => [line, changeIn(graph, table, line)]));
  const sizeOf = (line: number): readonly [number, number] => {
    const change = changes.get(line) ?? null;
    return change === null
      ? [-1, 0]
      : [change.nan + change.inf > 0 ? 2 : Number(change.isOfParameters), change.share];
  };
  return [...lines].sort((a, b) => {
    const [[kindA, shareA], [kindB, shareB]] = [sizeOf(a), sizeOf(b)];
    return kindA !== kindB ? kindB - kindA : shareA === shareB ? 0 : shareB - shareA;
  });
}

/** How many bytes tell by how much values differ: both sides of each that is not known as equal. */
export function bytesToRead(graph: Graph): number {
  let bytes = 0;
  for (let id = 0; id < graph.size; id++) {
    const state = graph.overlay?.state(id) ?? "plain";
    const isOfOne = state === "matched" || SAVED_ALONE.has(state) || LIVE_ALONE.has(state);
    bytes += (graph.bytes(id) ?? 0) * (isOfOne ? 1 : 2);
  }
  return bytes;
}
