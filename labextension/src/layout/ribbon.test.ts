import { describe, expect, it } from "vitest";
import type { Graph } from "../data/graph";
import { layersOf } from "../data/layers";
import { loadGraph, treeGraph, VALUE } from "../tests/graphs.test-data";
import { noteWords, problemWords } from "../words/words";
import { isWithin, segmentsOf } from "./ribbon";
import { summaryOf } from "./summary";
import { parametersOf } from "./totals";

describe("the ribbon", () => {
  it("has the parts of the largest model, in order, and all parameters", async () => {
    const layers = layersOf(await loadGraph("blocks"))!;
    const segments = segmentsOf(layers);
    expect(segments.map(({ rows: [row = 0] }) => layers.label(row))).toEqual([
      "embed",
      ...["mix", "norm", "mix", "norm", "mix", "norm", "mix", "norm"],
      "head",
    ]);
    expect(segments.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    for (const {
      rows: [row = 0],
      share,
    } of segments) {
      expect(share).toBeCloseTo(parametersOf(layers, row) / parametersOf(layers, 0));
    }
  });

  it("joins neighbours that are too narrow to see", () => {
    const count = 50_000;
    const flat = treeGraph([...Array(count).fill(0), ...Array.from(Array(count), (_, i) => i + 1)]);
    const isVariable = (id: number) => id > count;
    const graph: Graph = {
      ...flat,
      layerColumns: { layer_parameters: flat.order.map((id) => +isVariable(id)) } as never,
      role: (id) => (isVariable(id) ? "variable" : "layer"),
      attributes: (id) => (isVariable(id) ? [{ ...VALUE, shape: [1] }] : []),
    };
    const segments = segmentsOf(graph);
    expect(segments.length).toBeLessThan(500);
    expect(segments.flatMap(({ rows }) => rows)).toEqual(Array.from(Array(count), (_, i) => i + 1));
  });

  it("is absent where there is nothing to compare", () => {
    expect(segmentsOf(treeGraph([0, 0]))).toEqual([]);
  });

  it("lights the part that holds a row, and the parts that a row holds", () => {
    const graph = treeGraph([0, 1, 0]);
    expect([isWithin(graph, 1, 2), isWithin(graph, 2, 1), isWithin(graph, 1, 3)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe("the summary", () => {
  it("counts variables of the program, slots and dtypes, and names the largest layers", async () => {
    const graph = await loadGraph("keras3_adam");
    const summary = summaryOf(graph);
    const roles = Array.from({ length: graph.size }, (_, id) => graph.role(id));
    expect(summary.slots).toBe(roles.filter((role) => role === "slot").length);
    expect(summary.optimizers).toEqual([1]);
    expect(summary.variables).toBe(2);
    expect(summary.largest).toEqual([2]);
    expect(summary.dtypes[0]?.[0]).toBe("float32");
    expect([summary.broken, summary.unsaved]).toEqual([0, 0]);
  });

  it("lists no part together with what is inside it", () => {
    // Nodes 1 and 4 hold a variable and a part with one: 1 → 2, 3 → 5 and 4 → 6, 7 → 8.
    const shapes: Readonly<Record<number, number>> = { 2: 100, 5: 10, 6: 10, 8: 100 };
    const tree = treeGraph([0, 1, 1, 0, 3, 4, 4, 7]);
    const graph: Graph = {
      ...tree,
      layerColumns: { layer_parameters: tree.order.map((id) => (shapes[id] ? 1 : 0)) } as never,
      role: (id) => (shapes[id] === undefined ? "object" : "variable"),
      attributes: (id) => {
        const size = shapes[id];
        const value = { name: "v", fullName: "", checkpointKey: "", dtype: "float32", slices: 0 };
        return size === undefined
          ? []
          : [{ ...value, shape: [size], nbytes: 4 * size, error: null, stored: null }];
      },
    };
    expect(summaryOf(graph).largest).toEqual([1, 7]);
  });

  it("counts what is broken and what is not saved", async () => {
    const graph = await loadGraph("keras3_adam");
    const broken = { ...graph, error: (id: number) => (id === 2 ? "gone" : null) };
    expect(summaryOf(broken).broken).toBe(1);
    const lost = { name: "x", type: "list", values: 2, isLost: true };
    const note = { ...lost, name: "seed_generator", isLost: false };
    const unsaved = {
      ...graph,
      notSaved: (id: number) => (id === 2 ? [lost, note] : id === 3 ? [note] : []),
    };
    expect(summaryOf(unsaved).unsaved).toBe(1);
    expect(summaryOf(unsaved).notes).toEqual([2, 3]);
    expect(problemWords(unsaved, 2)).toBe("not saved");
    expect(problemWords(unsaved, 3)).toBe("");
    expect(noteWords(unsaved, 3)).toBe("not tracked: seed_generator");
  });
});
