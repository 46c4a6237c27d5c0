/** By how much the values of a line of a diff have changed, once they were read. */

import type { Graph } from "../graph";
import { measureOf } from "../measures";
import type { Table } from "../table";

export interface Change {
  /** The size of the change, relative to the values in a; infinite if these are zero. */
  readonly share: number;
  readonly nan: number;
  readonly inf: number;
}

const known = new WeakMap<Graph, Map<number, Change | null>>();

/** The change of a line; null if its values were not read, or if one side alone has them. */
export function changeIn(graph: Graph, table: Table, line: number): Change | null {
  const ofGraph = known.get(graph) ?? new Map<number, Change | null>();
  known.set(graph, ofGraph);
  let change = ofGraph.get(line);
  if (change === undefined) {
    change = made(graph, table.nodesIn(line, "live"));
    ofGraph.set(line, change);
  }
  return change;
}

/** A part has the change of its variables. Slot variables count only if a line holds nothing else. */
function made(graph: Graph, nodes: readonly number[]): Change | null {
  const variables = nodes.filter((node) => graph.slot(node) === null);
  const numbers = (variables.length > 0 ? variables : nodes).flatMap((node) => {
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
  return { share, nan: sum("nan"), inf: sum("inf") };
}
