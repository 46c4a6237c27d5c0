/** The size of nodes: the bytes of their values and of those below, added up once per graph. */

import type { Graph } from "../graph";

export interface Size {
  /** The bytes of the node's own values; null if it has no value of known size. */
  readonly own: number | null;
  /**
   * The bytes of these and of everything below in the tree. A variable's row shows its own size
   * beside its shape. So its slot variables do not count at the variable, but at its ancestors.
   */
  readonly all: number | null;
  /** The same including the slot variables of a variable. */
  readonly withSlots: number | null;
}

interface Totals {
  readonly all: Float64Array;
  /** The part of the size that belongs to the node's own slot variables. */
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
  const all = new Float64Array(graph.treeSize);
  const ofSlots = new Float64Array(graph.treeSize);
  for (const id of graph.order.slice().reverse()) {
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
