import { expect, it } from "vitest";
import type { Graph } from "../graph";
import { loadGraph, treeGraph } from "../graphs.test-data";
import type { Measures } from "../measures";
import type { Table } from "../table";
import { changeIn } from "./changes";

const table = (nodes: readonly number[]) => ({ nodesIn: () => nodes }) as unknown as Table;

function graphWith(columns: Readonly<Record<string, readonly number[]>>, slots: readonly number[]) {
  const graph: Graph = treeGraph([0, 1, 1]);
  const measures: Measures = {
    unread: 0,
    unreadable: 0,
    of: (id) => (name) => columns[name]?.[id] ?? Number.NaN,
  };
  const slot = { name: "m", variable: 1, optimizer: null, rule: "declared" };
  return { ...graph, measures, slot: (id: number) => (slots.includes(id) ? slot : null) };
}

it("adds up the squares of the variables of a part, and leaves their slot variables out", () => {
  const columns = {
    moved: [Number.NaN, 3, 4, 99],
    before: [Number.NaN, 6, 8, 1],
    nan: [0, 1, 1, 5],
  };
  expect(changeIn(graphWith(columns, [3]), table([1, 2, 3]), 0)).toEqual({
    share: 0.5,
    nan: 2,
    inf: 0,
  });
});

it("is that of slot variables where a line has nothing else", () => {
  const graph = graphWith({ moved: [0, 0, 0, 2], before: [0, 0, 0, 4] }, [3]);
  expect(changeIn(graph, table([3]), 0)?.share).toBe(0.5);
});

it("is unknown before the values were read, and where one side alone has them", async () => {
  const check = await loadGraph("check");
  expect(changeIn(check, table([1]), 0)).toBe(null);
  const moved = graphWith({ moved: [Number.NaN, Number.NaN] }, []);
  expect(changeIn(moved, table([1]), 0)).toBe(null);
});
