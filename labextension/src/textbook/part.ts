/** The content of the textbook view: the visible nodes, and every edge between two of them. */

import { shortened, visible } from "../basics/text";
import type { Graph } from "../data/graph";
import type { Row } from "../layout/rows";
import type { ShownTree } from "../layout/shown";
import { chunkLabel } from "../words/words";
import type { Sizes } from "./dot";

/** A picture of more nodes is too wide to read, and takes too long. */
export const MAX_NODES = 300;
export const MAX_EDGES = 2_000;

export interface PartEdge {
  readonly from: number;
  readonly to: number;
  /** The drawn name: the local name or, from a variable to its slot, the slot's name. */
  readonly name: string;
  readonly isSlot: boolean;
}

export interface Part {
  /** Nodes, and closed chunks of long lists. */
  readonly nodes: readonly Row[];
  readonly edges: readonly PartEdge[];
}

/** The reason why there is no picture. */
export interface TooMany {
  readonly nodes: number;
  /** Null if the nodes alone are too many. */
  readonly edges: number | null;
}

interface Shown {
  readonly graph: Graph;
  readonly rows: readonly Row[];
  readonly tree: ShownTree;
}

/**
 * The part in sight. It includes the slots of a closed variable if there is space: in the guide's
 * picture slots are nodes, not chips.
 */
export function partInSight(shown: Shown): Part | TooMany {
  const { graph, rows } = shown;
  // A picture of nodes has no place for an open chunk: its children get edges from their parent.
  const drawn = rows.filter(({ chunk, isExpanded }) => chunk === null || !isExpanded);
  if (drawn.length > MAX_NODES) {
    return { nodes: drawn.length, edges: null };
  }
  const all = drawn.flatMap((row) => withSlots(shown, row));
  const nodes = all.length <= MAX_NODES ? all : drawn;
  const edges = edgesBetween(graph, nodes);
  return edges.length > MAX_EDGES ? { nodes: nodes.length, edges: edges.length } : { nodes, edges };
}

export function isTooMany(part: Part | TooMany): part is TooMany {
  return !Array.isArray(part.nodes);
}

/** A variable without chips, and after it its slots. */
function withSlots({ graph, tree }: Shown, row: Row): readonly Row[] {
  const { chunk, id, isExpanded } = row;
  const below =
    chunk === null && graph.role(id) === "variable" ? Array.from(tree.children(id)) : [];
  if (below.length === 0 || !below.every((child) => graph.slot(child)?.variable === id)) {
    return [row];
  }
  const slots = below.map((slot) => ({ ...row, id: slot, isExpanded: false, childCount: 0 }));
  // The user can open or close nothing in it.
  return [{ ...row, isExpanded: true, childCount: 0 }, ...(isExpanded ? [] : slots)];
}

function edgesBetween(graph: Graph, nodes: readonly Row[]): readonly PartEdge[] {
  const has = new Set(nodes.map(({ id }) => id));
  const edges: PartEdge[] = [];
  const add = (from: number, to: number, name: string, isSlot: boolean) => {
    if (has.has(from) && has.has(to)) {
      edges.push({ from, to, name: shortened(visible(name)), isSlot });
    }
  };
  for (const { chunk, id } of nodes) {
    if (chunk !== null) {
      add(chunk.parent, id, chunkLabel(graph, chunk), false);
      continue;
    }
    for (const { localName, node } of graph.children(id)) {
      add(id, node, localName, false);
    }
    const slot = graph.slot(id);
    if (slot !== null) {
      add(slot.optimizer ?? -1, id, "", true);
      add(slot.variable, id, slot.name, true);
    }
  }
  return edges;
}

/** The drawn widths, in pixels. */
export interface PartWidths {
  box(row: Row): number;
  name(text: string): number;
}

/** The sizes of a part, which Graphviz needs. */
export function sizesOf({ nodes, edges }: Part, height: number, widths: PartWidths): Sizes {
  return {
    height,
    boxes: nodes.map((row) => [row.id, widths.box(row)]),
    edges: edges.map(({ from, to, name }) => [from, to, name === "" ? 0 : widths.name(name)]),
  };
}
