/** What stands below a node, added up once for a graph. */

import { type Graph, ROOT } from "../graph";

const known = new WeakMap<Graph, Float64Array>();

/** The stored bytes of a node and all below it in the tree; null where there are none. */
export function bytesBelow(graph: Graph, id: number): number | null {
  const totals = known.get(graph) ?? totalBytes(graph);
  known.set(graph, totals);
  return totals[id] || (graph.attributes(id)[0]?.nbytes ?? null);
}

function totalBytes(graph: Graph): Float64Array {
  const order: number[] = [];
  const stack = [ROOT];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    order.push(id);
    for (const child of graph.treeChildren(id)) {
      stack.push(child);
    }
  }
  const totals = new Float64Array(graph.size);
  for (const id of order.reverse()) {
    const own = graph.attributes(id).reduce((sum, { nbytes }) => sum + (nbytes ?? 0), 0);
    totals[id] = (totals[id] ?? 0) + own;
    const above = graph.treeParent(id);
    if (above !== null) {
      totals[above] = (totals[above] ?? 0) + (totals[id] ?? 0);
    }
  }
  return totals;
}
