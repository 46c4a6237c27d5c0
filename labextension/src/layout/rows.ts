/** The visible nodes and chunks: the tree without what is folded away, in reading order. */

import type { CellSign } from "../data/contract";
import { type Graph, ROOT } from "../data/graph";
import { isQuiet } from "../data/overlay";
import type { ChildrenOf, Chunk, ShownTree } from "./shown";

export interface Row {
  readonly id: number;
  /** The chunk that the row shows; null for a node. */
  readonly chunk: Chunk | null;
  /** Depth in the tree; 1 for the root, as ARIA counts. */
  readonly level: number;
  /** Position among its siblings, from 1, and their number. */
  readonly position: number;
  readonly siblings: number;
  /** The row of its parent; -1 for the root. */
  readonly parentRow: number;
  readonly childCount: number;
  readonly isExpanded: boolean;
}

/** The view opens nodes by itself as long as this many rows suffice. */
const COMFORTABLE_ROWS = 25;
/** The same for layers: a person should see all kinds of layers at first. */
const COMFORTABLE_LAYERS = 40;
/** A problem of more nodes shows itself in the first of them. */
const MAX_OF_PROBLEM = 8;
/** The most rows that the view opens for problems, or for the levels that the user asked for. */
const MAX_REVEALED_ROWS = 400;

/** The rows from `top` down. */
export function visibleRows(
  childrenOf: ChildrenOf,
  expanded: ReadonlySet<number>,
  top = ROOT,
  chunkOf: (id: number) => Chunk | null = () => null,
): readonly Row[] {
  const rows: Row[] = [];
  const stack: Omit<Row, "chunk" | "childCount" | "isExpanded">[] = [
    { id: top, level: 1, position: 1, siblings: 1, parentRow: -1 },
  ];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const children = childrenOf(next.id);
    const isExpanded = children.length > 0 && expanded.has(next.id);
    const parentRow = rows.length;
    const { level } = next;
    rows.push({ ...next, chunk: chunkOf(next.id), childCount: children.length, isExpanded });
    if (isExpanded) {
      for (let i = children.length - 1; i >= 0; i--) {
        const id = children[i] ?? ROOT;
        stack.push({ id, level: level + 1, position: i + 1, siblings: children.length, parentRow });
      }
    }
  }
  return rows;
}

/** A node or, while it is folded away, the nearest one above it with a row; null for none. */
export function nearestRow(
  tree: Pick<ShownTree, "parent">,
  rowOf: ReadonlyMap<number, number>,
  id: number | null,
): number | null {
  let node = id;
  while (node !== null && !rowOf.has(node)) {
    node = tree.parent(node);
  }
  return node;
}

/** By row, the rows just below it. */
export function childRows(rows: readonly Row[]): readonly (readonly number[])[] {
  const children: number[][] = rows.map(() => []);
  rows.forEach(({ parentRow }, row) => {
    children[parentRow]?.push(row);
  });
  return children;
}

/**
 * The nodes that are open at first. Opens breadth first while the rows stay few; or the given
 * number of levels while the rows stay within bounds. Variables stay closed, and chips show their
 * slots. Layers open by whole levels. If layers are alike, only the first opens.
 */
export function defaultExpansion(
  graph: Graph,
  childrenOf: ChildrenOf,
  top = ROOT,
  depth = 0,
): ReadonlySet<number> {
  const areLayers = graph.objects !== null;
  const comfortable = areLayers ? COMFORTABLE_LAYERS : COMFORTABLE_ROWS;
  const maxRows = depth === 0 ? comfortable : MAX_REVEALED_ROWS;
  const expanded = new Set<number>();
  let rows = 1;
  let layer = [top];
  for (let level = 1; layer.length > 0 && (depth === 0 || level <= depth); level++) {
    const next: number[] = [];
    const candidates = layer.filter((id) => id === top || opensByItself(graph, id));
    const all = candidates.reduce((sum, id) => sum + childrenOf(id).length, 0);
    if (areLayers && level > 1 && rows + all > maxRows) {
      break;
    }
    for (const id of candidates) {
      const children = Array.from(childrenOf(id));
      if (id === top || (children.length > 0 && rows + children.length <= maxRows)) {
        expanded.add(id);
        rows += children.length;
        next.push(...(graph.group(id)?.isAlike === true ? children.slice(0, 1) : children));
      }
    }
    layer = next;
  }
  return expanded;
}

function opensByItself(graph: Graph, id: number): boolean {
  const isVariable = id < graph.size && graph.role(id) === "variable";
  return !isVariable && !isAllOneCase(graph, id);
}

const WAYS: ReadonlySet<CellSign | undefined> = new Set<CellSign>([
  "nowhere",
  "keeps",
  "waits",
  "elsewhere",
]);

/** Whether a whole part has no problem, while others have, or all its values go another way. */
function isAllOneCase({ overlay }: Graph, id: number): boolean {
  if (overlay === null || !overlay.isMarked(ROOT)) {
    return false;
  }
  const [first, second] = overlay.below(id);
  const isOfOneWay =
    second === undefined && WAYS.has(first?.sign) && overlay.matchedBelow(id) === 0;
  return !overlay.isMarked(id) || isOfOneWay;
}

/** The visible part of a graph for which the view chooses the open nodes. */
interface Opening {
  readonly graph: Graph;
  readonly tree: ShownTree;
  readonly onlyChanges: boolean;
  /** How many levels to open; 0: the view chooses. */
  readonly depth: number;
}

/** The nodes that are open at first, including the ancestors of nodes that must be in sight. */
export function initialExpansion(
  { graph, tree, onlyChanges, depth }: Opening,
  wanted: Iterable<number> = callingForALook(graph, onlyChanges),
): ReadonlySet<number> {
  const expanded = defaultExpansion(graph, tree.children, ROOT, depth);
  // Requested levels take no rows away from problems.
  const rows = depth === 0 ? visibleRows(tree.children, expanded).length : 0;
  return openedTo(tree, expanded, rows, topsOf(graph, wanted));
}

function* topsOf({ overlay }: Graph, ids: Iterable<number>): Generator<number, void> {
  for (const id of ids) {
    yield overlay?.topOfUniform(id) ?? id;
  }
}

/** The open nodes with the ancestors of others, as long as the number of rows stays in bounds. */
function openedTo(
  tree: ShownTree,
  open: ReadonlySet<number>,
  rowsBefore: number,
  wanted: Iterable<number>,
): ReadonlySet<number> {
  const expanded = new Set(open);
  let rows = rowsBefore;
  for (const id of wanted) {
    const closed = closedAbove(tree, expanded, id);
    const more = closed.reduce((sum, ancestor) => sum + tree.children(ancestor).length, 0);
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

/**
 * The nodes of the problems; then, while a view shows only changes, the nodes in all states that
 * need attention.
 */
export function* callingForALook(graph: Graph, onlyChanges: boolean): Generator<number, void> {
  const { overlay } = graph;
  if (overlay === null) {
    return;
  }
  // Slot variables come and go with their optimizer: its row shows what they need.
  const shownAt = (id: number) => graph.slot(id)?.optimizer ?? id;
  for (const id of overlay.pressing(MAX_OF_PROBLEM)) {
    yield shownAt(id);
  }
  if (onlyChanges) {
    for (let id = 0; id < graph.size; id++) {
      if (!isQuiet(overlay.cell(id))) {
        yield shownAt(id);
      }
    }
  }
}

/** The closed ancestors of a node, nearest first; at most as many as there may be rows. */
function closedAbove(
  tree: ShownTree,
  expanded: ReadonlySet<number>,
  id: number,
): readonly number[] {
  const closed: number[] = [];
  let node = tree.parent(id);
  while (node !== null && !expanded.has(node) && closed.length <= MAX_REVEALED_ROWS) {
    closed.push(node);
    node = tree.parent(node);
  }
  return closed;
}
