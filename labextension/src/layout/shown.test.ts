import { describe, expect, it } from "vitest";
import { ROOT } from "../data/graph";
import { compared, treeGraph } from "../tests/graphs.test-data";
import { visibleRows } from "./rows";
import { ancestors, MAX_CHILDREN, shownTree } from "./shown";

const wide = (count: number) => treeGraph(Array.from({ length: count }, () => 0));
const ids = (children: ArrayLike<number>) => Array.from(children);

describe("long lists", () => {
  it("have no chunks up to a hundred nodes", () => {
    const tree = shownTree(wide(MAX_CHILDREN), false);
    expect(ids(tree.children(ROOT))).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  });

  it.each([101, 816, 10_000, 10_001, 16_667, 50_000])("of %i nodes have chunks", (count) => {
    const graph = wide(count);
    const tree = shownTree(graph, false);
    const seen: number[] = [];
    const visit = (id: number, above: number | null) => {
      expect(tree.parent(id)).toBe(above);
      const children = ids(tree.children(id));
      expect(children.length).toBeLessThanOrEqual(MAX_CHILDREN);
      if (id < graph.size) {
        seen.push(id);
      } else {
        const chunk = tree.chunk(id);
        expect(chunk?.parent).toBe(ROOT);
        expect(chunk?.of).toBe(count);
      }
      for (const child of children) {
        visit(child, id);
      }
    };
    visit(ROOT, null);
    expect(seen).toEqual(Array.from({ length: graph.size }, (_, id) => id));
  });

  it("have labels with the part of the list in each chunk", () => {
    const tree = shownTree(wide(250), false);
    const chunks = ids(tree.children(ROOT)).map((id) => tree.chunk(id));
    expect(chunks.map((chunk) => [chunk?.first, chunk?.last])).toEqual([
      [0, 99],
      [100, 199],
      [200, 249],
    ]);
    expect(chunks[1]).toMatchObject({ firstChild: 101, lastChild: 200, of: 250 });
  });

  it("give the parent of any node, even before its children", () => {
    const tree = shownTree(treeGraph([...Array(250).fill(0), 250]), false);
    const [chunk, ...rest] = ancestors(tree, 250);
    expect(rest).toEqual([ROOT]);
    expect(ids(tree.children(chunk ?? ROOT))).toContain(250);
    expect(ancestors(tree, 251)).toEqual([250, chunk, ROOT]);
  });

  it("add rows only for the nodes in open chunks", () => {
    const tree = shownTree(wide(250), false);
    const [, second = ROOT] = ids(tree.children(ROOT));
    const rows = visibleRows(tree.children, new Set([ROOT, second]), ROOT, tree.chunk);
    expect(rows.map((row) => row.chunk?.first ?? row.id)).toEqual([
      ROOT,
      0,
      100,
      ...Array.from({ length: 100 }, (_, i) => i + 101),
      200,
    ]);
  });

  it("are shorter if a filter hides some nodes", () => {
    const states = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [i + 1, "shape"]));
    const graph = compared(wide(250), { states: states as Record<number, "shape"> });
    const tree = shownTree(graph, false, true);
    expect(ids(tree.children(ROOT)).map((id) => tree.chunk(id)?.of)).toEqual([150, 150]);
    expect(tree.shows(150)).toBe(true);
    expect(tree.shows(151)).toBe(false);
  });
});

it("a chunk never has the id of a node", () => {
  const graph = wide(250);
  const tree = shownTree(graph, true);
  expect(ids(tree.children(ROOT))).toHaveLength(3); // this makes the chunks
  for (let id = 0; id < graph.size; id++) {
    expect(tree.chunk(id)).toBeNull();
  }
});

describe("the number of nodes below", () => {
  it.each([100, 101, 16_667])("a list of %i nodes counts nodes and no chunks", (count) => {
    const graph = treeGraph([0, ...Array.from({ length: count }, () => 1), 5, 5]);
    const tree = shownTree(graph, false);
    expect(tree.nodesBelow(ROOT)).toBe(count + 3);
    expect(tree.nodesBelow(1)).toBe(count + 2);
    const chunks = ids(tree.children(1)).filter((id) => tree.chunk(id) !== null);
    for (const id of chunks) {
      const { first, last } = tree.chunk(id)!;
      expect(ids(tree.members(id))).toEqual(
        Array.from({ length: last - first + 1 }, (_, i) => first + i + 2),
      );
      expect(tree.nodesBelow(id)).toBe(last - first + 1 + (first === 0 ? 2 : 0));
    }
  });

  it("leaves out what a filter hides", () => {
    const graph = compared(treeGraph([0, 1, 1, 1]), { states: { 3: "shape" } });
    expect(shownTree(graph, false).nodesBelow(1)).toBe(3);
    expect(shownTree(graph, false, true).nodesBelow(1)).toBe(1);
  });
});
