import { describe, expect, it } from "vitest";
import type { Graph } from "../graph";
import { treeGraph } from "../graphs.test-data";
import { callsIn } from "./calls";
import { visibleRows } from "./rows";
import { shownTree } from "./shown";
import { tidyTree } from "./tidy";

const WIDTHS = { box: () => 80, behind: () => 18 };

/** Layers 1 to 5 of a model, the last two below 4; calls go along the chain, and past layer 2. */
function called(pairs: readonly (readonly [number, number])[]): Graph {
  const graph = treeGraph([0, 0, 0, 0, 4]);
  const column = (place: 0 | 1) => Int32Array.from(pairs, (pair) => pair[place]);
  return { ...graph, objects: graph, calls: { from: column(0), to: column(1) } };
}

function drawn(graph: Graph, expanded: readonly number[]) {
  const tree = shownTree(graph, true);
  const rows = visibleRows(tree.children, new Set(expanded), 0, tree.chunk);
  const rowOf = new Map(rows.map(({ id }, index) => [id, index]));
  const layout = tidyTree(rows, WIDTHS);
  return callsIn({ graph, tree, rows, rowOf, layout }).map(({ from, to, isNext }) => [
    rows[from]!.id,
    rows[to]!.id,
    isNext,
  ]);
}

describe("calls between layers", () => {
  it("lead to the next row, or pass rows by", () => {
    const graph = called([
      [1, 2],
      [2, 3],
      [1, 3],
    ]);
    expect(drawn(graph, [0])).toEqual([
      [1, 2, true],
      [2, 3, true],
      [1, 3, false],
    ]);
  });

  it("end at the closed row that holds a layer, once", () => {
    const graph = called([
      [3, 5],
      [3, 4],
    ]);
    expect(drawn(graph, [0])).toEqual([[3, 4, true]]);
    // The layer below is in a column of its own, so the line still ends at the layer above.
    expect(drawn(graph, [0, 4])).toEqual([[3, 4, true]]);
  });

  it("are none within a closed row, and none without rows", () => {
    expect(drawn(called([[4, 5]]), [0])).toEqual([]);
    expect(drawn(called([[2, 2]]), [0])).toEqual([]);
    const folded = { ...called([[1, 2]]), shownAs: (id: number) => (id === 1 ? null : id) };
    expect(drawn(folded, [0])).toEqual([]);
  });

  it("belong to layers, not to the graph of objects", () => {
    expect(drawn({ ...called([[1, 2]]), objects: null }, [0])).toEqual([]);
  });
});
