/** The visible nodes: the tree cut where it is collapsed, in reading order. */

import type { NodeState } from "../contract";
import { type Graph, ROOT } from "../graph";
import { isQuiet } from "../overlay";

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
/** Up to this many rows, what stands above problems opens, too. */
const MAX_REVEALED_ROWS = 400;

/** Which children of a node are to be seen. */
export type ChildrenOf = (id: number) => ArrayLike<number>;

/**
 * The children in the tree, without nodes in a hidden state; and without the lists that Keras
 * keeps for itself, unless they are asked for or something is wrong there. A search keeps what it
 * finds and what stands above it, whatever that is, and nothing else.
 */
export function childrenOf(
  graph: Graph,
  showsBookkeeping: boolean,
  hidden: ReadonlySet<NodeState> = new Set(),
  kept: Uint8Array | null = null,
): ChildrenOf {
  const isLeftOut = (id: number): boolean =>
    kept === null ? !showsBookkeeping && isBookkeeping(graph, id) : kept[id] !== 1;
  const remaining = hidden.size === 0 ? undefined : graph.overlay?.remaining(hidden, isLeftOut);
  const known = new Map<number, ArrayLike<number>>();
  return (id) => {
    const all = graph.treeChildren(id);
    if (showsBookkeeping && remaining === undefined && kept === null) {
      return all;
    }
    const children =
      known.get(id) ?? all.filter((child) => !isLeftOut(child) && remaining?.[child] !== 0);
    known.set(id, children);
    return children;
  };
}

/** Whether a node is one of Keras' own lists, with nothing wrong in it. */
export function isBookkeeping(graph: Graph, id: number): boolean {
  return graph.role(id) === "bookkeeping" && graph.overlay?.isMarked(id) !== true;
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

/** What is open at first, with what stands above the nodes that are wanted in sight. */
export function initialExpansion(
  graph: Graph,
  childrenOf: ChildrenOf,
  hidden: ReadonlySet<NodeState>,
  wanted: Iterable<number> = callingForALook(graph, hidden),
): ReadonlySet<number> {
  const expanded = new Set(defaultExpansion(graph, childrenOf));
  let rows = visibleRows(childrenOf, expanded).length;
  for (const id of wanted) {
    const closed = closedAbove(graph, expanded, id);
    const more = closed.reduce((sum, ancestor) => sum + childrenOf(ancestor).length, 0);
    if (rows + more <= MAX_REVEALED_ROWS) {
      rows += more;
      for (const ancestor of closed) {
        expanded.add(ancestor);
      }
    }
    if (rows >= MAX_REVEALED_ROWS) {
      break;
    }
  }
  return expanded;
}

/** The nodes of the problems; then, once the others are hidden, all that remain for their state. */
export function* callingForALook(
  graph: Graph,
  hidden: ReadonlySet<NodeState>,
): Generator<number, void> {
  const { overlay } = graph;
  if (overlay === null) {
    return;
  }
  const isShown = (id: number) => isQuiet(overlay.state(id)) || !hidden.has(overlay.state(id));
  for (const id of overlay.pressing()) {
    if (isShown(id)) {
      yield id;
    }
  }
  if (hidden.has("matched")) {
    for (let id = 0; id < graph.size; id++) {
      if (!isQuiet(overlay.state(id)) && isShown(id)) {
        yield id;
      }
    }
  }
}

/** The closed ancestors of a node, nearest first; no more than there may be rows. */
function closedAbove(graph: Graph, expanded: ReadonlySet<number>, id: number): readonly number[] {
  const closed: number[] = [];
  let node = graph.treeParent(id);
  while (node !== null && !expanded.has(node) && closed.length <= MAX_REVEALED_ROWS) {
    closed.push(node);
    node = graph.treeParent(node);
  }
  return closed;
}

/** The ancestors of a node, nearest first. */
export function ancestors(graph: Graph, id: number): readonly number[] {
  const found: number[] = [];
  for (let node = graph.treeParent(id); node !== null; node = graph.treeParent(node)) {
    found.push(node);
  }
  return found;
}
