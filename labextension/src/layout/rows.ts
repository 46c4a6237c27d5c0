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
const COMFORTABLE_ROWS = 26;

export function visibleRows(graph: Graph, expanded: ReadonlySet<number>): readonly Row[] {
  const rows: Row[] = [];
  const stack: Omit<Row, "childCount" | "isExpanded">[] = [
    { id: ROOT, level: 1, position: 1, siblings: 1, parentRow: -1 },
  ];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const children = graph.treeChildren(next.id);
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
 * their slots show as chips; so do the lists that frameworks keep for themselves.
 */
export function defaultExpansion(graph: Graph): ReadonlySet<number> {
  const expanded = new Set<number>();
  let rows = 1;
  let layer = [ROOT];
  while (layer.length > 0) {
    const next: number[] = [];
    for (const id of layer) {
      const children = graph.treeChildren(id);
      if (id === ROOT || (opensByItself(graph, id) && rows + children.length <= COMFORTABLE_ROWS)) {
        expanded.add(id);
        rows += children.length;
        next.push(...children);
      }
    }
    layer = next;
  }
  return expanded;
}

function opensByItself(graph: Graph, id: number): boolean {
  return (
    graph.role(id) !== "variable" &&
    graph.role(id) !== "bookkeeping" &&
    graph.treeChildren(id).length > 0
  );
}

/** The ancestors of a node, nearest first. */
export function ancestors(graph: Graph, id: number): readonly number[] {
  const found: number[] = [];
  for (let node = graph.treeParent(id); node !== null; node = graph.treeParent(node)) {
    found.push(node);
  }
  return found;
}
