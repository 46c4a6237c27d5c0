import { describe, expect, it } from "vitest";
import type { Graph } from "../graph";
import { compared, loadGraph, treeGraph } from "../graphs.test-data";
import { layersOf } from "../layers";
import { noteWords, problemWords } from "../words";
import { isWithin, type Strip, stripsOf } from "./ribbon";
import { summaryOf } from "./summary";
import { parametersOf } from "./totals";

const segmentsOf = (graph: Graph) => stripsOf(graph).flatMap(({ segments }) => segments);

describe("the ribbon", () => {
  it("has the parts of the largest model, in order, and all parameters", async () => {
    const layers = layersOf(await loadGraph("blocks"))!;
    const segments = segmentsOf(layers);
    expect(segments.map(({ row }) => layers.label(row))).toEqual([
      "embed",
      ...["mix", "norm", "mix", "norm", "mix", "norm", "mix", "norm"],
      "head",
    ]);
    expect(segments.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    for (const { row, share } of segments) {
      expect(share).toBeCloseTo(parametersOf(layers, row) / parametersOf(layers, 0));
    }
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

describe("the ribbon of a comparison", () => {
  /** Flat lists of layers: root, layers, and a variable in each. */
  const flat = (sizes: readonly number[], comparison: Parameters<typeof compared>[1]): Graph => {
    const { length } = sizes;
    const graph = treeGraph([...sizes.map(() => 0), ...sizes.map((_, place) => place + 1)]);
    const size = (id: number) => sizes[id - 1 - length];
    const isVariable = (id: number) => size(id) !== undefined;
    const columns = {
      layer_parameters: Uint8Array.from({ length: graph.size }, (_, id) => +isVariable(id)),
    };
    const value = {
      name: "v",
      fullName: "",
      checkpointKey: "",
      dtype: "float32",
      nbytes: 4,
      slices: 0,
      error: null,
    };
    const valued = {
      ...graph,
      role: (id: number) => (isVariable(id) ? ("variable" as const) : ("layer" as const)),
      attributes: (id: number) => (isVariable(id) ? [{ ...value, shape: [size(id) ?? 0] }] : []),
      layerColumns: columns as unknown as NonNullable<Graph["layerColumns"]>,
    };
    return compared(valued, { isValued: isVariable, ...comparison });
  };
  const told = ({ segments, side }: Strip) => ({
    side,
    parts: segments.map(({ parameters, row, states }) => [row, parameters, states[0]?.state]),
  });

  it("has a strip for each side, a before b, with the states and the sizes there", () => {
    const graph = flat([50, 30, 20, 10], {
      baseSize: 9,
      states: { 6: "shape", 7: "live only", 8: "saved only" },
      savedElements: { 6: 90 },
      isPaired: (id) => id !== 3 && id !== 7,
    });
    const onSaved = { ...graph, overlay: { ...graph.overlay!, side: sideOf } };
    const strips = stripsOf(onSaved);
    expect(strips.map(told)).toEqual([
      {
        side: "saved",
        parts: [
          [1, 50, "matched"],
          [2, 90, "shape"],
          [4, 10, "saved only"],
        ],
      },
      {
        side: "live",
        parts: [
          [1, 50, "matched"],
          [2, 30, "shape"],
          [3, 20, "live only"],
        ],
      },
    ]);
    expect(strips.map(({ matched }) => matched)).toEqual([50 / 150, 50 / 100]);
    for (const { segments } of strips) {
      expect(segments.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    }
  });
  const sideOf = (id: number) =>
    id === 3 || id === 7
      ? ("live" as const)
      : id === 4 || id === 8
        ? ("saved" as const)
        : ("both" as const);

  it("joins what is too narrow to see: the worst state wins, and a click leads to it", () => {
    const count = 50_000;
    const odd = 20_000;
    const graph = flat(Array(count).fill(1), {
      states: { [1 + count + odd]: "value", [2 + count + odd]: "dtype" },
    });
    const [strip] = stripsOf(graph);
    expect(strip!.segments.length).toBeLessThan(500);
    const loud = strip!.segments.filter(({ states }) => states[0]?.state !== "matched");
    expect(loud.map(({ row, states }) => [row, states[0]?.state])).toEqual([[odd + 2, "dtype"]]);
    expect(loud[0]!.states.map(({ count: one }) => one)).toEqual([1, 1, loud[0]!.rows.length - 2]);
    const rows = strip!.segments.flatMap((segment) => segment.rows);
    expect(rows).toEqual(Array.from({ length: count }, (_, place) => place + 1));
  });

  it("has states of both sides of the diff that Python wrote", async () => {
    const layers = layersOf(await loadGraph("diff"))!;
    const strips = stripsOf(layers);
    expect(strips.map(({ side }) => side)).toEqual(["saved", "live"]);
    const worst = strips.map(({ segments }) => segments.map(({ states }) => states[0]?.state));
    expect(worst[0]).toContain("only in a");
    expect(worst[0]).not.toContain("only in b");
    expect(worst[1]).toContain("only in b");
    expect(worst[1]).not.toContain("only in a");
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
