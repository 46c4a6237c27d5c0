import { expect, it } from "vitest";
import type { Graph } from "./graph";
import { loadGraph } from "./graphs.test-data";
import { layersOf } from "./layers";
import { boxText, bytesWords, placeName, sentence, sizeCell, sizeSentence } from "./words";

it("writes bytes with the usual units", () => {
  expect([0, 20, 1500, 123_456_789, null].map(bytesWords)).toEqual([
    "0 B",
    "20 B",
    "1.5 kB",
    "123 MB",
    "",
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
  expect(placeName(graph, 7)).toBe("(root).layer._kernel");
  const layers = layersOf(graph)!;
  expect(placeName(layers, 7)).toBe(placeName(graph, 7));
  expect(placeName(graph, 0)).toBe("(root)");
  const lost = await loadGraph("circles_and_lost_nodes");
  const names = Array.from({ length: lost.size }, (_, id) => placeName(lost, id));
  expect(names.some((name) => name.startsWith("(unreachable node"))).toBe(true);
});
