/**
 * The graph as people think of it: the same nodes in another tree. Python decides which nodes have a
 * row, and which rows form a group (ckpt_viz/graphs/layers/layers.py).
 */

import { oncePer } from "../basics/once";
import { ABSENT } from "./contract";
import { childLists, type Graph, type Group } from "./graph";
import { inOtherTree } from "./overlay";

/** The layers of a graph; null if the payload has none. A graph of layers has itself. */
export function layersOf(graph: Graph): Graph | null {
  if (graph.objects !== null) {
    return graph;
  }
  return layered(graph);
}

const layered = oncePer((objects: Graph): Graph | null => {
  const columns = objects.layerColumns;
  if (columns === null) {
    return null;
  }
  const { group_is_alike, layer_name, layer_order, layer_parent, layer_saved_name, layer_shown } =
    columns;
  const label = (row: number) => objects.text(layer_name[row] ?? ABSENT);
  const treeChildren = childLists(layer_order, layer_parent);
  const tree = { size: objects.size, order: layer_order, parents: layer_parent };
  return {
    ...objects,
    objects,
    overlay: objects.overlay && inOtherTree(objects.overlay, tree),
    treeSize: layer_parent.length,
    order: Int32Array.from(layer_order),
    label,
    savedLabel: (row) => objects.text(layer_saved_name[row] ?? ABSENT) || label(row),
    treeParent: (row) => (layer_parent[row] === ABSENT ? null : (layer_parent[row] ?? null)),
    treeChildren,
    shownAs: (id) => (layer_shown[id] === ABSENT ? null : (layer_shown[id] ?? null)),
    group: (row): Group | null =>
      row < objects.size || row >= layer_parent.length
        ? null
        : { isAlike: group_is_alike[row - objects.size] === 1, size: treeChildren(row).length },
  };
});

/** How many variables of a row of layers an optimizer alone holds; 0 for other rows. */
export function hangingIn({ layerColumns, objects }: Graph, row: number): number {
  return objects === null ? 0 : (layerColumns?.layer_hanging[row] ?? 0);
}

/** How much an attribute has that no checkpoint holds, in words; "" for other rows. */
export function lostIn({ layerColumns, text }: Graph, row: number): string {
  return text(layerColumns?.layer_lost[row] ?? ABSENT);
}

/** The number of nodes that no row of the layers shows; 0 for a graph of objects. */
export const foldedCount = oncePer(({ layerColumns, objects }: Graph): number =>
  objects === null || layerColumns === null
    ? 0
    : layerColumns.layer_shown.filter((row) => row === ABSENT).length,
);
