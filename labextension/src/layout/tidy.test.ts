import { describe, expect, it } from "vitest";
import type { Graph } from "../data/graph";
import { fullTree, randomFrom, treeGraph } from "../tests/graphs.test-data";
import { defaultExpansion, visibleRows } from "./rows";
import { shownTree } from "./shown";
import { BOX_HEIGHT, type Layout, PITCH, tidyTree, type Widths } from "./tidy";

const WIDTHS: Widths = {
  box: (row) => 40 + (row.id % 7) * 13,
  behind: (row) => (row.id % 5) * 17,
};
const all = (graph: Graph) => new Set(Array.from({ length: graph.size }, (_, id) => id));

const randomTree = (seed: number): Graph => {
  const next = randomFrom(seed);
  return treeGraph(Array.from({ length: 60 }, (_, i) => Math.floor(next() * (i + 1))));
};

/** All drawn rectangles: outlines with what is behind them. */
function rectangles(graph: Graph, layout: Layout) {
  const rows = visibleRows(graph.treeChildren, all(graph));
  return rows.map((row, i) => {
    const box = layout.boxes[i]!;
    return {
      what: `box ${row.id}`,
      left: box.x,
      right: box.x + box.outline + WIDTHS.behind(row),
      top: box.y - BOX_HEIGHT / 2,
      bottom: box.y + BOX_HEIGHT / 2,
    };
  });
}

describe.each([1, 2, 3, 4, 5, 6, 7, 8])("a random tree (seed %i)", (seed) => {
  const graph = randomTree(seed);
  const rows = visibleRows(graph.treeChildren, all(graph));
  const layout = tidyTree(rows, WIDTHS);

  it("has every node once", () => {
    expect(rows.map((row) => row.id).sort((a, b) => a - b)).toEqual([...all(graph)]);
  });

  it("has no collisions", () => {
    const drawn = rectangles(graph, layout);
    for (const [i, a] of drawn.entries()) {
      for (const b of drawn.slice(i + 1)) {
        const apart =
          a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        expect(apart, `${a.what} meets ${b.what}`).toBe(true);
      }
    }
  });

  it("makes siblings equally wide, and none narrower than its text", () => {
    for (const [i, row] of rows.entries()) {
      expect(layout.boxes[i]!.outline).toBeGreaterThanOrEqual(WIDTHS.box(row));
      for (const [j, other] of rows.entries()) {
        if (other.parentRow === row.parentRow) {
          expect(layout.boxes[j]!.outline).toBe(layout.boxes[i]!.outline);
        }
      }
    }
  });

  it("keeps the order of children from top to bottom", () => {
    for (const row of rows) {
      const ys = [...graph.treeChildren(row.id)].map(
        (child) => layout.boxes[rows.findIndex((other) => other.id === child)]!.y,
      );
      expect(ys).toEqual([...ys].sort((a, b) => a - b));
    }
  });
});

it("lays out a chain of 50,000 nodes without recursion", () => {
  const chain = treeGraph(Array.from({ length: 50_000 }, (_, i) => i));
  const rows = visibleRows(chain.treeChildren, all(chain));
  expect(rows).toHaveLength(50_001);
  expect(tidyTree(rows, WIDTHS).boxes[50_000]?.y).toBe(PITCH / 2);
});

describe("the open nodes at first", () => {
  const rowsOf = (graph: Graph) =>
    visibleRows(graph.treeChildren, defaultExpansion(graph, graph.treeChildren));

  it("are all nodes of a small graph", () => {
    expect(rowsOf(fullTree(3, 2))).toHaveLength(13);
  });
  it("are a readable part of a large graph", () => {
    expect(rowsOf(fullTree(10, 4)).length).toBeLessThanOrEqual(25);
  });
  it("show at least the root's children", () => {
    expect(rowsOf(fullTree(1000, 1))).toHaveLength(1001);
  });
});

it("hides bookkeeping and its subtrees until the user asks for it", () => {
  const tree: Graph = {
    ...treeGraph([0, 0, 1]),
    role: (id) => (id === 1 || id === 3 ? "bookkeeping" : "object"),
  };
  const ids = (showsBookkeeping: boolean) =>
    visibleRows(shownTree(tree, showsBookkeeping).children, all(tree)).map((row) => [
      row.id,
      row.siblings,
    ]);
  expect(ids(false)).toEqual([
    [0, 1],
    [2, 1],
  ]);
  expect(ids(true)).toEqual([
    [0, 1],
    [1, 2],
    [3, 1],
    [2, 2],
  ]);
});

it("in a narrow drawing, open nodes are only as wide as their words", () => {
  const graph = treeGraph([0, 0, 1]);
  const rows = visibleRows(graph.treeChildren, all(graph));
  const outlines = (isNarrow: boolean) =>
    tidyTree(rows, WIDTHS, isNarrow).boxes.map(({ outline }) => outline);
  const own = rows.map(WIDTHS.box);
  const widest = Math.max(WIDTHS.box(rows[1]!), WIDTHS.box(rows[3]!));
  expect(outlines(false)).toEqual([own[0], widest, own[2], widest]);
  expect(outlines(true)).toEqual([own[0], own[1], own[2], widest]);
});
