import { describe, expect, it } from "vitest";
import { defaultsOf } from "../host/defaults";
import { defaultExpansion } from "../layout/rows";
import { initialState, reduce } from "../state/reduce";
import { type State, viewOf } from "../state/state";
import {
  compared,
  expected,
  FIXTURES,
  loadGraph,
  treeGraph,
  WIDTHS,
} from "../tests/graphs.test-data";
import { layersOf } from "./layers";
import { inOtherTree, isQuiet } from "./overlay";

interface Expected {
  readonly layers: {
    readonly order: readonly number[];
    readonly labels: readonly string[];
    readonly savedLabels: readonly string[];
    readonly parents: readonly (number | null)[];
    readonly groups: readonly unknown[];
    readonly shownAs: readonly (number | null)[];
  } | null;
}

const start = async (name: string): Promise<State> =>
  initialState(await loadGraph(name), () => WIDTHS, defaultsOf({ view: "objects" }));
const labels = ({ graph, rows, tree }: State): readonly string[] =>
  rows.map(({ id }) => {
    const group = tree.chunk(id)?.group;
    return group === undefined ? graph.label(id) : (group?.name ?? "…");
  });

describe("the layers of a graph", () => {
  it.each(FIXTURES)("are those that Python has: %s", async (name) => {
    const layers = layersOf(await loadGraph(name));
    const { layers: known } = expected(name) as Expected;
    expect(layers === null).toBe(known === null);
    if (layers !== null && known !== null) {
      expect([...layers.order]).toEqual(known.order);
      expect(known.order.map(layers.label)).toEqual(known.labels);
      expect(known.order.map(layers.savedLabel)).toEqual(known.savedLabels);
      expect(known.order.map(layers.treeParent)).toEqual(known.parents);
      expect(known.order.map(layers.group)).toEqual(known.groups);
      expect(known.shownAs.map((_, id) => layers.shownAs(id))).toEqual(known.shownAs);
    }
  });

  it.each(["check", "diff"])("have the counts below of their own tree: %s", async (name) => {
    const objects = await loadGraph(name);
    const layers = layersOf(objects)!;
    const { overlay, order, treeChildren, treeSize } = layers;
    expect(overlay!.below(0)).toEqual(objects.overlay!.below(0));
    const sum = (row: number) => overlay!.below(row).reduce((total, { count }) => total + count, 0);
    const isLoud = (row: number) =>
      row < layers.size && overlay!.hasValue(row) && !isQuiet(overlay!.cell(row));
    for (const row of order) {
      const below = [...treeChildren(row)].map((child) => sum(child) || Number(isLoud(child)));
      expect(sum(row)).toBe(below.reduce((total, one) => total + one, 0));
    }
    expect(overlay!.changes(() => false)).toHaveLength(treeSize);
  });

  it.each(["check", "diff"])("show each node that a finding names: %s", async (name) => {
    const layers = layersOf(await loadGraph(name))!;
    const named = [...layers.overlay!.pressing()];
    expect(named.map(layers.shownAs)).toEqual(named);
    expect(named.every(layers.overlay!.isMarked)).toBe(true);
  });

  it("give a group the marks and counts of its members", () => {
    // 0 ─┬─ 1 ─── 3
    //    └─ 2 ─── 4    the group 5 holds 1 and 2
    const { overlay } = compared(treeGraph([0, 0, 1, 2]), {
      states: { 3: "only in a", 4: "only in a" },
      baseSize: 1,
    });
    const tree = { size: 5, order: [0, 5, 1, 3, 2, 4], parents: [-1, 5, 5, 1, 2, 0] };
    const layers = inOtherTree(overlay!, tree);
    expect(layers.below(5)).toEqual([{ sign: "nowhere", count: 2 }]);
    expect([0, 5, 1].map(layers.isOther)).toEqual([false, true, true]);
    expect([layers.state(5), layers.problemsOf(5), layers.detail(5)]).toEqual(["plain", [], null]);
    expect(layers.isMarked(5)).toBe(true);
    expect([...layers.changes(() => false)]).toEqual([1, 1, 1, 1, 1, 1]);
    expect([...layers.changes((id) => id > 2)]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("are missing where the payload has none", () => {
    expect(layersOf(treeGraph([0]))).toBe(null);
    expect(layersOf(compared(treeGraph([0]), {}))).toBe(null);
  });
});

describe("the view of layers", () => {
  it("opens what a resized view has space for, until a user acts", async () => {
    const graph = await loadGraph("blocks");
    const resized = (state: State, width: number, height: number) =>
      reduce(state, { type: "resize", width, height });
    const large = resized(
      initialState(graph, () => WIDTHS),
      1500,
      900,
    );
    const small = resized(large, 300, 300);
    expect(small.rows.length).toBeLessThan(large.rows.length);
    expect(labels(resized(small, 1500, 900))).toEqual(labels(large));
    const [, first] = large.rows;
    const used = reduce(large, { type: "select", id: first!.id });
    expect(resized(used, 300, 300).rows.map(({ id }) => id)).toEqual(used.rows.map(({ id }) => id));
  });

  it("comes first, unless the settings name another", async () => {
    const graph = await loadGraph("blocks");
    const first = initialState(graph, () => WIDTHS);
    expect(viewOf(first)).toBe("layers");
    expect(labels(first)).toContain("b0 … b3");
    expect(viewOf(await start("blocks"))).toBe("objects");
    expect(viewOf(initialState(treeGraph([0]), () => WIDTHS))).toBe("objects");
  });

  it("opens all kinds of layers, and the first of those alike", async () => {
    const layers = reduce(await start("blocks"), { type: "showView", view: "layers" });
    expect(labels(layers)).toEqual([
      "",
      "model",
      "embed",
      "kernel",
      "b0 … b3",
      "b0",
      "mix",
      "kernel",
      "norm",
      "kernel",
      "…",
      "head",
      "kernel",
    ]);
  });

  it("opens a level as a whole or not at all", async () => {
    const graph = await loadGraph("blocks");
    const layers = layersOf(graph)!;
    const wide = {
      ...layers,
      treeChildren: (id: number) =>
        layers.label(id) === "head" ? new Int32Array(60).fill(8) : layers.treeChildren(id),
    };
    const opened = defaultExpansion(wide, wide.treeChildren);
    expect([...opened].map(layers.label)).toEqual(["", "model"]);
  });

  it("keeps the selected node, and returns to all objects", async () => {
    const before = await start("keras3_adam");
    const selected = reduce(before, { type: "select", id: 8 });
    const layers = reduce(selected, { type: "showView", view: "layers" });
    expect(layers.selected).toBe(8);
    expect(layers.rowOf.has(3)).toBe(false);
    const objects = reduce(layers, { type: "showView", view: "objects" });
    expect(objects.selected).toBe(8);
    expect(objects.graph).toBe(before.graph);
  });

  it("shows a node without a row among the objects", async () => {
    const layers = reduce(await start("keras3_adam"), { type: "showView", view: "layers" });
    const found = reduce(layers, { type: "select", id: 6 });
    expect(found.selected).toBe(6);
    expect(found.graph.objects).toBe(null);
  });

  it("finds what a search finds among the objects", async () => {
    const objects = reduce(await start("keras3_adam"), { type: "search", query: "momentum" });
    const layers = reduce(objects, { type: "showView", view: "layers" });
    expect(layers.found.matches).toEqual(objects.found.matches);
    const filtered = reduce(layers, { type: "setMode", mode: "filter" });
    expect(labels(filtered)).toEqual(["", "layer", "v7", "momentum", "bias", "momentum"]);
  });

  it("gives a group its place: it closes, opens, and can be the selection", async () => {
    const layers = reduce(await start("blocks"), { type: "showView", view: "layers" });
    const group = layers.rows.find(({ id }) => layers.tree.chunk(id) !== null)?.id ?? -1;
    const closed = reduce(layers, { type: "toggle", id: group });
    expect(labels(closed)).not.toContain("b0");
    expect(reduce(closed, { type: "select", id: group }).selected).toBe(group);
    expect(labels(reduce(closed, { type: "toggle", id: group }))).toEqual(labels(layers));
  });

  it("has one row for all others that are alike, until it opens", async () => {
    const layers = reduce(await start("blocks"), { type: "showView", view: "layers" });
    const others = layers.rows.find(({ id }) => layers.tree.chunk(id)?.isMoreAlike === true);
    const { chunk, id = -1 } = others ?? {};
    expect(
      [chunk?.firstChild, chunk?.lastChild].map((row) => layers.graph.label(row ?? -1)),
    ).toEqual(["b1", "b3"]);
    expect(labels(reduce(layers, { type: "toggle", id }))).toContain("b2");
  });

  it("returns to the objects for the textbook's picture", async () => {
    const layers = reduce(await start("blocks"), { type: "showView", view: "layers" });
    expect(reduce(layers, { type: "showView", view: "guide" }).graph.objects).toBe(null);
  });
});
