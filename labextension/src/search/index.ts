/** The nodes that match terms of a query; ckpt_viz/search/index.py does the same. */

import { type Attribute, type Graph, ROOT } from "../graph";
import type { Glob, GlobState } from "./glob";

/** By node id, 1 for a match. */
export type Marks = Uint8Array;
export const ROOT_NAME = "(root)";

/** A graph that can be searched: each search is one pass over its nodes, at any depth. */
export interface Index {
  readonly graph: Graph;
  /** Every node, parents before children, and the parent of each; -1 for the root. */
  readonly order: Int32Array;
  readonly parents: Int32Array;
  readonly labels: readonly string[];
  /** Each node's texts besides its local name: its class, full names of its values. */
  readonly texts: readonly (readonly string[])[];
}

const indexes = new WeakMap<Graph, Index>();

export function indexOf(graph: Graph): Index {
  const known = indexes.get(graph) ?? makeIndex(graph);
  indexes.set(graph, known);
  return known;
}

function makeIndex(graph: Graph): Index {
  const order = new Int32Array(graph.size);
  const stack = [ROOT];
  for (let place = 0; place < order.length; place++) {
    const id = stack.pop() ?? ROOT;
    order[place] = id;
    for (const child of graph.treeChildren(id).slice().reverse()) {
      stack.push(child);
    }
  }
  const ids = Array.from({ length: graph.size }, (_, id) => id);
  return {
    graph,
    order,
    parents: Int32Array.from(ids, (id) => graph.treeParent(id) ?? -1),
    labels: ids.map((id) => graph.label(id).toLowerCase()),
    texts: ids.map((id) =>
      [graph.typeName(id) ?? "", ...graph.attributes(id).map(({ fullName }) => fullName)]
        .filter((text) => text !== "")
        .map((text) => text.toLowerCase()),
    ),
  };
}

export function where({ graph: { size } }: Index, holds: (id: number) => boolean): Marks {
  const marks = new Uint8Array(size);
  for (let id = 0; id < size; id++) {
    marks[id] = holds(id) ? 1 : 0;
  }
  return marks;
}

/** The nodes with a value for which the condition holds. */
export function whereValue(index: Index, holds: (attribute: Attribute) => boolean): Marks {
  return where(index, (id) => index.graph.attributes(id).some(holds));
}

/**
 * The nodes for whose path a condition holds. The condition gets the last part of the path, and how
 * many characters the node adds. We keep only the end of the parent's path: whole paths would take
 * memory quadratic in the depth.
 */
export function wherePath(
  index: Index,
  kept: number,
  holds: (path: string, own: number) => boolean,
): Marks {
  const marks = new Uint8Array(index.graph.size);
  const stack = [{ id: ROOT, before: "" }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { id, before } = next;
    const step = stepOf(index, id);
    const path = before + step;
    marks[id] = holds(path, step.length) ? 1 : 0;
    const end = path.slice(Math.max(path.length - kept, 0));
    for (const child of index.graph.treeChildren(id)) {
      stack.push({ id: child, before: end });
    }
  }
  return marks;
}

/** The nodes whose path matches a glob; the root has no path. */
export function wherePathFits(index: Index, glob: Glob): Marks {
  const states: GlobState[] = [];
  for (const id of index.order) {
    states[id] = glob.run(states[index.parents[id] ?? -1] ?? glob.start, stepOf(index, id));
  }
  return where(index, (id) => id !== ROOT && states[id]?.accepts === true);
}

/** The nodes whose name, as TensorFlow prints it, matches a glob. */
export function whereNameFits(index: Index, glob: Glob): Marks {
  const marks = new Uint8Array(index.graph.size);
  const below = firstChildren(index.graph);
  const stack = [{ id: ROOT, state: glob.run(glob.start, ROOT_NAME) }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    marks[next.id] = next.state.accepts ? 1 : 0;
    for (const { id, step } of below.get(next.id) ?? []) {
      stack.push({ id, state: glob.run(next.state, step.toLowerCase()) });
    }
  }
  return marks;
}

/** For each node, what its children append to its name. */
export function firstChildren(graph: Graph) {
  const children = new Map<number, { readonly id: number; readonly step: string }[]>();
  for (let id = 0; id < graph.size; id++) {
    const edge = graph.firstEdge(id);
    if (edge !== null) {
      append(children, edge.node, { id, step: `.${edge.localName}` });
    }
  }
  return children;
}

/** A slot's variable and optimizer; for these two, their slots. */
export function slotNeighbours(graph: Graph): ReadonlyMap<number, readonly number[]> {
  const neighbours = new Map<number, number[]>();
  for (let id = 0; id < graph.size; id++) {
    const slot = graph.slot(id);
    for (const other of slot === null ? [] : [slot.variable, slot.optimizer]) {
      if (other !== null) {
        append(neighbours, id, other);
        append(neighbours, other, id);
      }
    }
  }
  return neighbours;
}

function append<T>(lists: Map<number, T[]>, key: number, item: T): void {
  const known = lists.get(key);
  if (known === undefined) {
    lists.set(key, [item]);
  } else {
    known.push(item);
  }
}

/** The text that a node adds to the path of its parent. */
function stepOf({ labels, parents }: Index, id: number): string {
  const label = labels[id] ?? "";
  return (parents[id] ?? -1) > ROOT ? `/${label}` : label;
}

export function atOrBelow({ order, parents }: Index, marks: Marks): Marks {
  const below = marks.slice();
  for (const id of order) {
    below[id] = below[id] === 1 || below[parents[id] ?? -1] === 1 ? 1 : 0;
  }
  return below;
}

/** The nodes that the problems of a comparison name. */
export function ofProblems({ graph: { overlay, size } }: Index, kind?: string): Marks {
  const marks = new Uint8Array(size);
  for (let at = 0; overlay !== null && at < overlay.problemCount; at++) {
    const problem = overlay.problem(at);
    for (const id of kind === undefined || kind === problem.kind ? problem.nodes : []) {
      marks[id] = 1;
    }
  }
  return marks;
}

export function either(a: Marks, b: Marks): Marks {
  return a.map((mark, id) => mark | (b[id] ?? 0));
}

export function both(a: Marks, b: Marks): Marks {
  return a.map((mark, id) => mark & (b[id] ?? 0));
}
