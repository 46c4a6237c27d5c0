import { describe, expect, it } from "vitest";
import { defaultsOf } from "../host/defaults";
import { initialState, reduce } from "../state/reduce";
import type { State } from "../state/state";
import { loadGraph, WIDTHS } from "../tests/graphs.test-data";
import { nextSort, sorted } from "./sorting";
import { parametersOf } from "./totals";

const start = async (name: string, view = "layers"): Promise<State> =>
  initialState(await loadGraph(name), () => WIDTHS, defaultsOf({ view }));
const labels = ({ graph, rows }: State): readonly string[] => rows.map(({ id }) => graph.label(id));

describe("the order of rows", () => {
  it("changes from the usual direction to the other, and back to that of the graph", () => {
    const first = nextSort(null, "parameters");
    expect(first).toEqual({ column: "parameters", isDescending: true });
    expect(nextSort(first, "parameters")).toEqual({ column: "parameters", isDescending: false });
    expect(nextSort(nextSort(first, "parameters"), "parameters")).toBe(null);
    expect(nextSort(first, "name")).toEqual({ column: "name", isDescending: false });
  });

  it("is that of the column among siblings, and children stay below their parent", async () => {
    const before = await start("blocks");
    const after = reduce(before, { type: "sort", column: "parameters" });
    for (const { id } of after.rows) {
      const below = Array.from(after.tree.children(id), (child) =>
        parametersOf(after.graph, child),
      );
      expect(below).toEqual([...below].sort((a, b) => b - a));
    }
    expect([...labels(after)].sort()).toEqual([...labels(before)].sort());
    const again = reduce(reduce(after, { type: "sort", column: "parameters" }), {
      type: "sort",
      column: "parameters",
    });
    expect(labels(again)).toEqual(labels(before));
  });

  it("keeps rows that are equal in the order of the graph", async () => {
    const { graph } = await start("keras3_adam", "objects");
    const children = [...graph.treeChildren(0)];
    expect(sorted(graph, children, { column: "state", isDescending: true })).toEqual(children);
  });

  it("reads numbers in names as numbers", async () => {
    const { graph } = await start("keras3_adam", "objects");
    const named = { ...graph, label: (id: number) => `block${[10, 9, 1][id]}` };
    expect(sorted(named, [0, 1, 2], { column: "name", isDescending: false })).toEqual([2, 1, 0]);
  });
});

describe("parameters", () => {
  it("are the elements of a model's variables, without optimizers, slots and counters", async () => {
    const { graph } = await start("keras3_adam", "objects");
    const counted = Array.from({ length: graph.size }, (_, id) => parametersOf(graph, id));
    const own = [...graph.order].filter(
      (id) => graph.role(id) === "variable" && graph.treeParent(id) === 2,
    );
    expect(own.map((id) => counted[id])).toEqual([14, 16]);
    expect(counted[2]).toBe(30);
    expect(counted[0]).toBe(30);
    expect(counted[1]).toBe(0);
    expect([...graph.order].filter((id) => graph.role(id) === "slot" && counted[id] !== 0)).toEqual(
      [],
    );
  });
});
