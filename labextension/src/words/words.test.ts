import { expect, it } from "vitest";
import type { Graph } from "../data/graph";
import { layersOf, lostIn } from "../data/layers";
import { shownTree } from "../layout/shown";
import { NOTHING_FOUND, searched } from "../search/found";
import { loadGraph, treeGraph } from "../tests/graphs.test-data";
import {
  boxText,
  bytesWords,
  chunkCount,
  heldBy,
  percentWords,
  placeName,
  rowLabel,
  sentence,
  shortCount,
  sizeCell,
  sizeSentence,
  tensorWords,
  typeWords,
} from "./words";

it("writes bytes with the usual units", () => {
  expect([0, 20, 1500, 123_456_789, null].map(bytesWords)).toEqual([
    "0 B",
    "20 B",
    "1.5 kB",
    "123 MB",
    "",
  ]);
});

it("writes counts in short", () => {
  expect([0, 9999, 31_360, 728_808, 1_281_000].map(shortCount)).toEqual([
    "0",
    "9,999",
    "31.4 k",
    "729 k",
    "1.3 M",
  ]);
});

it("does not round a part up to all", () => {
  expect([1, 0.9997, 0.994, 0.05, 0].map(percentWords)).toEqual([
    "100 %",
    "> 99 %",
    "99 %",
    "5.0 %",
    "0 %",
  ]);
});

it("describes a node in its box", async () => {
  const graph = await loadGraph("keras3_adam");
  expect([0, 1, 2, 7, 9].map((id) => boxText(graph, id))).toEqual([
    "root",
    "optimizer",
    "object · 2",
    "7×2 float32",
    "9×2 float32",
  ]);
});

it("adds the name of its variables to an object whose name is only a number", async () => {
  const graph = await loadGraph("keras3_adam");
  const layer = (label: string, fullName: string): Graph => ({
    ...graph,
    label: () => label,
    attributes: () => [{ ...graph.attributes(7)[0]!, fullName }],
  });
  expect(boxText(layer("3", "block/stem_conv/kernel"), 2)).toBe("“stem_conv” · 2");
  expect(boxText(layer("l1", "net/kernel"), 2)).toBe("object · 2");
  expect(boxText(layer("3", "kernel"), 2)).toBe("object · 2");
});

it("describes a node in one sentence", async () => {
  const graph = await loadGraph("keras3_adam");
  expect(sentence(graph, 7)).toBe("_kernel, variable, float32 7 by 2, 1 child");
});

it("gives the sum as the size of a row, but a variable's own size beside a variable", async () => {
  const graph = await loadGraph("keras3_adam");
  const words = (id: number) => [sizeCell(graph, id), sizeSentence(graph, id)];
  // Its momentum, of 72 B, counts at the node above the kernel, not beside the kernel's shape.
  expect([boxText(graph, 7), ...words(7)]).toEqual([
    "7×2 float32",
    "56 B",
    "56 B, 128 B with its slot variables",
  ]);
  expect(words(9)).toEqual(["72 B", "72 B"]);
  expect(words(2)).toEqual(["272 B", "272 B in all"]);
  expect(words(3)).toEqual(["", ""]);
});

it("names a variable by its path in the model, not by that in an optimizer's list", async () => {
  const graph = await loadGraph("keras3_adam");
  expect(placeName(graph, 7)).toBe("layer.v7");
  const layers = layersOf(graph)!;
  expect(placeName(layers, 7)).toBe(placeName(graph, 7));
  expect(placeName(graph, 0)).toBe("(root)");
  const lost = await loadGraph("circles_and_lost_nodes");
  const names = Array.from({ length: lost.size }, (_, id) => placeName(lost, id));
  expect(names.some((name) => name.startsWith("(unreachable node"))).toBe(true);
});
it("counts at a closed row the nodes below or, while a search runs, the matches below", () => {
  const many = 15_625;
  const graph = treeGraph([0, ...Array(many).fill(1), 2, 2, 200]);
  const tree = shownTree(graph, false);
  const [first = 0, ...others] = Array.from(tree.children(1));
  const held = (query: string, ...ids: number[]) => {
    const found = query === "" ? NOTHING_FOUND : searched(graph, query);
    return ids.map((id) => heldBy(tree, found, id));
  };
  const nodes = (count: number) => ({ count, areMatches: false });
  const matches = (count: number) => ({ count, areMatches: true });
  const all = many + 3;
  expect(held("", 0, 1, first, 2)).toEqual([all + 1, all, 10_000 + 3, 2].map(nodes));
  expect(held("/^edge \\d{5}$/", 0, 1, first, ...others)).toEqual(
    [many - 9998 + 3, many - 9998 + 3, 5, many - 10_000].map(matches),
  );
  expect(held("/^edge 2$/", 0, 1, 2)).toEqual([1, 1, 0].map(matches));
});

it("counts at a row of layers the matches that have no row", async () => {
  const layers = layersOf(await loadGraph("blocks"))!;
  const tree = shownTree(layers, false);
  const found = searched(layers, "role:variable");
  expect(heldBy(tree, found, 0).count).toBe(found.matches.length);
  const group = Array.from(layers.order).find((id) => layers.group(id) !== null)!;
  expect(heldBy(tree, found, group)).toEqual({ count: 8, areMatches: true });
});

it("has a row for an attribute that no checkpoint holds", async () => {
  const layers = layersOf(await loadGraph("error_and_saver"))!;
  const tree = shownTree(layers, false);
  const row = Array.from(layers.order).find((id) => lostIn(layers, id) !== "")!;
  expect(rowLabel(layers, row)).toBe("blocks");
  expect(chunkCount(tree.chunk(row)!)).toBe("2 objects, in no checkpoint");
  expect(tree.children(row)).toHaveLength(0);
});

it("names a layer with all blocks that it is in", () => {
  // 1 has 2 and 3, which are alike; 2 has the layer 4.
  const groups = new Map([1, 2, 3].map((row) => [row, { isAlike: row === 3, size: 1 }]));
  const tree = treeGraph([0, 1, 3, 2]);
  const graph: Graph = { ...tree, group: (row) => groups.get(row) ?? null };
  expect(rowLabel(graph, 4)).toBe("edge 1 › edge 2 › edge 4");
  expect(sentence(graph, 4)).toContain("edge 1 › edge 2 › edge 4, object");
});

it("calls a row by the shortest path that is its alone", () => {
  // Two cells, in an encoder and in a decoder; two blocks that have numbers for names.
  const names = ["", "encoder", "decoder", "cell", "cell", "blocks", "0", "1", "kernel"];
  const tree = treeGraph([0, 0, 1, 2, 0, 5, 5, 6]);
  const graph: Graph = { ...tree, label: (id) => names[id] ?? "" };
  expect([1, 3, 4, 6, 8, 0].map((id) => rowLabel(graph, id))).toEqual([
    "encoder",
    "encoder › cell",
    "decoder › cell",
    "blocks › 0",
    "kernel",
    "root",
  ]);
});

it("counts the layers in a block, also those in its blocks", async () => {
  const groups = new Map([2, 3].map((row) => [row, { isAlike: false, size: 1 }]));
  const graph: Graph = {
    ...treeGraph([0, 1, 2, 3, 3]),
    size: 2,
    group: (row) => groups.get(row) ?? null,
    treeChildren: (row) => Int32Array.from([[1], [2], [3], [0, 1]][row] ?? []),
  };
  expect(chunkCount(shownTree(graph, true).chunk(2)!)).toBe("2 layers");
  const ofVariables: Graph = { ...graph, role: () => "variable" };
  expect(chunkCount(shownTree(ofVariables, true).chunk(2)!)).toBe("2 variables");
});

it("says that a layer makes any size, such as a sequence of any length", () => {
  expect(tensorWords("?,64;3")).toBe("any×64, 3");
});

it("tells a part of a model that an optimizer alone holds", () => {
  const graph = treeGraph([0, 1, 1]);
  const layers = {
    ...graph,
    objects: graph,
    layerColumns: { layer_hanging: Int32Array.of(0, 192, 0) } as never,
  };
  expect(typeWords(layers, 1)).toBe("192 variables, held by the optimizer alone");
  expect(typeWords(layers, 2)).toBe("");
  expect(typeWords(graph, 1)).toBe("");
});
