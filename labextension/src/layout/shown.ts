/** The visible tree: the nodes that filters and search leave, with long lists in chunks. */

import { kept } from "../basics/once";
import { type Graph, ROOT } from "../data/graph";
import { lostIn } from "../data/layers";
import { perRow, summedUp } from "../data/sums";
import { nodesBelow } from "./feeds";
import { type Sort, sorted } from "./sorting";

/** The visible children of a node. */
export type ChildrenOf = (id: number) => ArrayLike<number>;

/** Rows that the tree shows as one: neighbours in a long list of children, or a group of layers. */
export interface Chunk {
  /** The parent of these nodes. */
  readonly parent: number;
  /** Indices of the first and the last node in the list, from 0, and the length of the list. */
  readonly first: number;
  readonly last: number;
  readonly of: number;
  /** 1 for a chunk of nodes, 2 for a chunk of such chunks, and so on. */
  readonly level: number;
  readonly firstChild: number;
  readonly lastChild: number;
  /** For a group: its own name and its layers; null for a chunk of a list. */
  readonly group: ShownGroup | null;
  /** Whether its rows are like the row before it. */
  readonly isMoreAlike: boolean;
}

interface ShownGroup {
  readonly name: string;
  /** Whether its rows are alike. */
  readonly isAlike: boolean;
  /** The number of layers in it, also in groups of it, or of variables that no layer holds. */
  readonly parts: number;
  readonly isOfVariables: boolean;
  /** How much no checkpoint holds, if it is an attribute and no group; else "". */
  readonly lost: string;
}

/** The tree on screen. The ids of chunks come after those of the nodes and groups. */
export interface ShownTree {
  /** The children of a node or chunk: nodes, or the chunks that hold them. */
  readonly children: ChildrenOf;
  /** The parent of a node or a chunk; null for the root. */
  parent(id: number): number | null;
  chunk(id: number): Chunk | null;
  /** Whether the node is visible below its parent: no filter and no search hides it. */
  shows(id: number): boolean;
  /** The nodes that a chunk of a long list holds; empty for anything else. */
  members(id: number): ArrayLike<number>;
  /** The number of visible nodes below a node, a group or a chunk, open or not. */
  nodesBelow(id: number): number;
}

/** A longer list of parts that are alike has its first part, and a chunk of all others. */
const ALIKE_IN_FULL = 3;
/** A longer list of children has chunks of at most this many. */
export const MAX_CHILDREN = 100;
const MAX_LEVELS = 8;

/**
 * The children in the tree, all of them or only what needs attention. Lists that Keras keeps for itself are
 * visible only on request, or if they contain a problem. A search keeps all its matches and their
 * ancestors, and nothing else. Siblings have the order of the tree, or that of a column.
 */
export function shownTree(
  graph: Graph,
  showsBookkeeping: boolean,
  onlyChanges = false,
  kept: Uint8Array | null = null,
  sort: Sort | null = null,
): ShownTree {
  const isHidden = hiddenNodes(graph, showsBookkeeping, onlyChanges, kept);
  const filtered = filteredChildren(graph, isHidden, sort);
  const { above: chunkAbove, chunks, divide, shown } = chunksOf(graph);
  const children: ChildrenOf = (id) => {
    const known = shown.get(id);
    if (known !== undefined || id >= graph.treeSize) {
      return known ?? [];
    }
    const all = filtered(id);
    const isAlike = graph.group(id)?.isAlike === true;
    if (all.length <= (isAlike ? ALIKE_IN_FULL : MAX_CHILDREN)) {
      return all;
    }
    const made = isAlike
      ? [all[0] ?? ROOT, ...divide(id, id, all, 1, all.length - 1)]
      : divide(id, id, all, 0, all.length - 1);
    shown.set(id, made);
    return made;
  };
  const members = (id: number): readonly number[] => {
    const chunk = chunks.get(id);
    return chunk === undefined
      ? []
      : Array.from(filtered(chunk.parent)).slice(chunk.first, chunk.last + 1);
  };
  let sums: Float64Array | null = null;
  const own = (id: number) => (id < graph.size ? 1 : 0); // a group itself does not count
  /** The number of visible nodes below a node or group. */
  const countBelow = (id: number): number => {
    sums ??= summedUp(graph, perRow(graph, own), isHidden ?? undefined);
    return (sums[id] ?? 0) - own(id);
  };
  return {
    children,
    members,
    nodesBelow: (id) =>
      id < graph.treeSize
        ? countBelow(id)
        : members(id).reduce((sum, row) => sum + countBelow(row) + own(row), 0),
    parent: (id) => {
      const known = chunkAbove.get(id);
      if (known !== undefined || id >= graph.treeSize) {
        return known ?? null;
      }
      const above = graph.treeParent(id);
      const most =
        above !== null && graph.group(above)?.isAlike === true ? ALIKE_IN_FULL : MAX_CHILDREN;
      if (above !== null && graph.treeChildren(above).length > most) {
        children(above); // this records the chunk of the node
      }
      return chunkAbove.get(id) ?? above;
    },
    chunk: (id) => chunks.get(id) ?? groupAt(graph, id),
    shows: (id) => {
      const above = graph.treeParent(id);
      return above === null || Array.from(filtered(above)).includes(id);
    },
  };
}

/** What divides long lists into chunks, and all chunks so far. */
function chunksOf(graph: Graph) {
  const shown = new Map<number, ArrayLike<number>>();
  const chunks = new Map<number, Chunk>();
  const above = new Map<number, number>();

  const divide = (
    parent: number,
    owner: number,
    ids: ArrayLike<number>,
    first: number,
    last: number,
  ) => {
    let step = MAX_CHILDREN;
    let level = 1;
    while (step * MAX_CHILDREN <= last - first) {
      step *= MAX_CHILDREN;
      level += 1;
    }
    const made: number[] = [];
    for (let start = first; start <= last; start += step) {
      const end = Math.min(start + step - 1, last);
      const [firstChild = ROOT, lastChild = ROOT] = [ids[start], ids[end]];
      const id = graph.treeSize + firstChild * MAX_LEVELS + level;
      made.push(id);
      const of = ids.length;
      const ends = { first: start, last: end, firstChild, lastChild };
      const isMoreAlike = graph.group(parent)?.isAlike === true && start === 1 && end === of - 1;
      chunks.set(id, { ...ends, parent, of, level, group: null, isMoreAlike });
      above.set(id, owner);
      if (end - start >= MAX_CHILDREN) {
        shown.set(id, divide(parent, id, ids, start, end));
      } else {
        const own = Array.from({ length: end - start + 1 }, (_, i) => ids[start + i] ?? ROOT);
        shown.set(id, own);
        for (const child of own) {
          above.set(child, id);
        }
      }
    }
    return made;
  };
  return { above, chunks, divide, shown };
}

/** A group as a chunk of all its rows. */
function groupAt(graph: Graph, id: number): Chunk | null {
  const group = graph.group(id);
  const members = graph.treeChildren(id);
  const parts = nodesBelow(graph, id);
  return group === null
    ? null
    : {
        parent: graph.treeParent(id) ?? ROOT,
        first: 0,
        last: group.size - 1,
        of: group.size,
        level: 0,
        firstChild: members[0] ?? ROOT,
        lastChild: members.at(-1) ?? ROOT,
        group: {
          name: graph.label(id),
          isAlike: group.isAlike,
          parts: parts.length,
          isOfVariables: parts.every((part) => graph.role(part) === "variable"),
          lost: lostIn(graph, id),
        },
        isMoreAlike: false,
      };
}

/** A test for nodes that filters and search hide; null if they hide none. */
function hiddenNodes(
  graph: Graph,
  showsBookkeeping: boolean,
  onlyChanges: boolean,
  kept: Uint8Array | null,
): ((id: number) => boolean) | null {
  const isLeftOut = (id: number): boolean =>
    kept === null ? !showsBookkeeping && isBookkeeping(graph, id) : kept[id] !== 1;
  const remaining = onlyChanges ? graph.overlay?.changes(isLeftOut) : undefined;
  return showsBookkeeping && remaining === undefined && kept === null
    ? null
    : (id) => isLeftOut(id) || remaining?.[id] === 0;
}

function filteredChildren(
  graph: Graph,
  isHidden: ((id: number) => boolean) | null,
  sort: Sort | null,
): ChildrenOf {
  if (isHidden === null && sort === null) {
    return graph.treeChildren;
  }
  const known = new Map<number, ArrayLike<number>>();
  const filtered: ChildrenOf = (id) => {
    const left = graph.treeChildren(id).filter((child) => isHidden?.(child) !== true);
    return sort === null ? left : sorted(graph, left, sort);
  };
  return (id) => kept(known, id, filtered);
}

/** Whether a node is one of Keras' own lists and contains no problem. */
export function isBookkeeping(graph: Graph, id: number): boolean {
  return graph.role(id) === "bookkeeping" && graph.overlay?.isMarked(id) !== true;
}

/** The ancestors of a node, nearest first. */
export function ancestors(tree: ShownTree, id: number): readonly number[] {
  const found: number[] = [];
  for (let node = tree.parent(id); node !== null; node = tree.parent(node)) {
    found.push(node);
  }
  return found;
}
