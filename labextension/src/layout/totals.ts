/** The size of nodes: what their values and those below them take, added up once for a graph. */

import { type Graph, ROOT } from "../graph";

export interface Size {
  /** Of the node's own values; null where it has none, or none of known size. */
  readonly own: number | null;
  /**
   * Of these and of all below it in the tree. The slot variables of a variable are not counted at
   * the variable, beside whose shape its own size stands, but at what is above it.
   */
  readonly all: number | null;
  /** The same with the slot variables of a variable. */
  readonly withSlots: number | null;
}

interface Totals {
  readonly all: Float64Array;
  /** What of it is that of the node's own slot variables. */
  readonly ofSlots: Float64Array;
}

const known = new WeakMap<Graph, Totals>();

export function sizeOf(graph: Graph, id: number): Size {
  const totals = known.get(graph) ?? totalBytes(graph);
  known.set(graph, totals);
  const own = graph.bytes(id);
  const all = totals.all[id] ?? 0;
  return { own, all: all - (totals.ofSlots[id] ?? 0) || own, withSlots: all || own };
}

function totalBytes(graph: Graph): Totals {
  const order: number[] = [];
  const stack = [ROOT];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    order.push(id);
    for (const child of graph.treeChildren(id)) {
      stack.push(child);
    }
  }
  const all = new Float64Array(graph.size);
  const ofSlots = new Float64Array(graph.size);
  for (const id of order.reverse()) {
    all[id] = (all[id] ?? 0) + (graph.bytes(id) ?? 0);
    const above = graph.treeParent(id);
    if (above !== null) {
      all[above] = (all[above] ?? 0) + (all[id] ?? 0);
      if (graph.slot(id)?.variable === above) {
        ofSlots[above] = (ofSlots[above] ?? 0) + (all[id] ?? 0);
      }
    }
  }
  return { all, ofSlots };
}
