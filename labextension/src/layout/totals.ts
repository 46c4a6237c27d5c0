/**
 * What nodes hold: the bytes and the parameters of their values and of those below, added up once
 * per graph.
 */

import { oncePer } from "../basics/once";
import type { Graph } from "../data/graph";
import { perRow, summedUp } from "../data/sums";

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
  readonly parameters: Float64Array;
}

const totalsOf = oncePer(added);

/** The parameters of a row and of all below it: elements of variables that are a model's own. */
export function parametersOf(graph: Graph, id: number): number {
  return totalsOf(graph).parameters[id] ?? 0;
}

export function sizeOf(graph: Graph, id: number): Size {
  const totals = totalsOf(graph);
  const own = graph.bytes(id);
  const all = totals.all[id] ?? 0;
  return { own, all: all - (totals.ofSlots[id] ?? 0) || own, withSlots: all || own };
}

function added(graph: Graph): Totals {
  const all = summedUp(
    graph,
    perRow(graph, (id) => graph.bytes(id) ?? 0),
  );
  const ofSlots = new Float64Array(graph.treeSize);
  for (const id of graph.order) {
    const above = graph.treeParent(id);
    if (above !== null && graph.slot(id)?.variable === above) {
      ofSlots[above] = (ofSlots[above] ?? 0) + (all[id] ?? 0);
    }
  }
  const own = perRow(graph, (id) => (isParameter(graph, id) ? elements(graph, id) : 0));
  return { all, ofSlots, parameters: summedUp(graph, own) };
}

/** Whether a node's elements are parameters: Python decides it. */
function isParameter({ layerColumns }: Graph, id: number): boolean {
  return layerColumns?.layer_parameters[id] === 1;
}

/** The number of elements of a node's values. */
export function elements(graph: Pick<Graph, "attributes">, id: number): number {
  return graph
    .attributes(id)
    .reduce((sum, { shape }) => sum + (shape?.reduce((product, dim) => product * dim, 1) ?? 0), 0);
}
