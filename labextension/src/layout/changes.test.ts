import { expect, it } from "vitest";
import type { Graph } from "../data/graph";
import type { Measures } from "../data/measures";
import type { Table } from "../data/table";
import { compared, loadGraph, treeGraph } from "../tests/graphs.test-data";
import { byChange, bytesToRead, changeIn } from "./changes";

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
    isOfParameters: false,
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

it("is that of parameters, as in the sentence, where a line has any", () => {
  const graph = graphWith({ moved: [0, 1, 7, 0], before: [0, 10, 1, 1] }, []);
  const layer_parameters = Uint8Array.from([0, 1, 0, 0]);
  const layerColumns = { layer_parameters } as unknown as Graph["layerColumns"];
  const withParameters = { ...graph, layerColumns };
  expect(changeIn(withParameters, table([1, 2]), 0)?.share).toBe(0.1);
  // A counter has changed by more, but comes after them.
  const of = { nodesIn: (line: number) => [line] } as unknown as Table;
  expect(byChange(withParameters, of, [3, 2, 1])).toEqual([1, 2, 3]);
});

it("orders lines by it: NaN, the largest, and then what has none, as saved", () => {
  const columns = {
    moved: [Number.NaN, 1, 2, 1, Number.NaN, 0],
    before: [Number.NaN, 1, 0, 2, Number.NaN, 1],
    nan: [0, 0, 0, 1, 0, 0],
  };
  const of = { nodesIn: (line: number) => [line] } as unknown as Table;
  expect(byChange(graphWith(columns, []), of, [0, 1, 2, 3, 4, 5])).toEqual([3, 2, 1, 5, 0, 4]);
  const many = Array.from({ length: 50_000 }, (_, line) => line % 6);
  const order = byChange(graphWith(columns, []), of, many);
  expect([order.length, order[0], order.at(-1)]).toEqual([50_000, 3, 0]);
});

it("reads equal values and those of one side once, all others in both", () => {
  const graph = compared(treeGraph([0, 0, 0, 0]), {
    comparison: "diff",
    states: { 0: "plain", 1: "value", 2: "only in a", 3: "moved" },
  });
  const bytes = (id: number) => (id === 0 ? null : 10 ** id);
  expect(bytesToRead({ ...graph, bytes })).toBe(2 * 10 + 100 + 2 * 1_000 + 10_000);
});
