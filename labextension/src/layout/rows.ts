/** The visible nodes: the tree cut where it is collapsed, in reading order. */

import { type Graph, ROOT } from "../graph";

export interface Row {
  readonly id: number;
  /** Depth in the tree; 1 for the root, as ARIA counts. */
  readonly level: number;
  /** Place among its siblings, from 1, and their number. */
  readonly position: number;
  readonly siblings: number;
  /** The row of its parent; -1 for the root. */
  readonly parentRow: number;
  readonly childCount: number;
  readonly isExpanded: boolean;
}

/** A visible tree of at most this many rows opens by itself. */
const COMFORTABLE_ROWS = 25;

/** Which children of a node are to be seen. */
export type ChildrenOf = (id: number) => ArrayLike<number>;

/** The children in the tree, without the lists that Keras keeps for itself unless asked for. */
export function childrenOf(graph: Graph, showsBookkeeping: boolean): ChildrenOf {
  const without = new Map<number, ArrayLike<number>>();
  return (id) => {
    const all = graph.treeChildren(id);
    if (showsBookkeeping) {
      return all;
    }
    const children = without.get(id) ?? all.filter((child) => graph.role(child) !== "bookkeeping");
    without.set(id, children);
    return children;
  };
}

export function visibleRows(childrenOf: ChildrenOf, expanded: ReadonlySet<number>): readonly Row[] {
  const rows: Row[] = [];
  const stack: Omit<Row, "childCount" | "isExpanded">[] = [
    { id: ROOT, level: 1, position: 1, siblings: 1, parentRow: -1 },
  ];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const children = childrenOf(next.id);
    const isExpanded = children.length > 0 && expanded.has(next.id);
    const parentRow = rows.length;
    const { level } = next;
    rows.push({ ...next, childCount: children.length, isExpanded });
    if (isExpanded) {
      for (let i = children.length - 1; i >= 0; i--) {
        const id = children[i] ?? ROOT;
        stack.push({ id, level: level + 1, position: i + 1, siblings: children.length, parentRow });
      }
    }
  }
  return rows;
}

/**
 * What is open at first: breadth first, as long as the rows stay few. Variables stay closed,
 * their slots show as chips.
 */
export function defaultExpansion(graph: Graph, childrenOf: ChildrenOf): ReadonlySet<number> {
  const expanded = new Set<number>();
  let rows = 1;
  let layer = [ROOT];
  while (layer.length > 0) {
    const next: number[] = [];
    for (const id of layer) {
      const children = Array.from(childrenOf(id));
      const fits = graph.role(id) !== "variable" && rows + children.length <= COMFORTABLE_ROWS;
      if (id === ROOT || (children.length > 0 && fits)) {
        expanded.add(id);
        rows += children.length;
        next.push(...children);
      }
    }
    layer = next;
  }
  return expanded;
}

/** The ancestors of a node, nearest first. */
export function ancestors(graph: Graph, id: number): readonly number[] {
  const found: number[] = [];
  for (let node = graph.treeParent(id); node !== null; node = graph.treeParent(node)) {
    found.push(node);
  }
  return found;
}
