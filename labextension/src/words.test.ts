import { expect, it } from "vitest";
import type { Graph } from "./graph";
import { loadGraph } from "./graphs.test-data";
import { boxText, bytesWords, sentence, sizeCell, sizeSentence } from "./words";

it("writes bytes as people do", () => {
  expect([0, 20, 1500, 123_456_789, null].map(bytesWords)).toEqual([
    "0 B",
    "20 B",
    "1.5 kB",
    "123 MB",
    "",
  ]);
});

it("says in a node's box what it is", async () => {
  const graph = await loadGraph("keras3_adam");
  expect([0, 1, 2, 7, 9].map((id) => boxText(graph, id))).toEqual([
    "root",
    "optimizer",
    "object · 2",
    "7×2 float32",
    "9×2 float32",
  ]);
});

it("adds its variables' name to an object that is only a number", async () => {
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

it("says a node in one sentence", async () => {
  const graph = await loadGraph("keras3_adam");
  expect(sentence(graph, 7)).toBe("_kernel, variable, float32 7 by 2, 1 child");
});

it("says a size as the sum of a row, and beside a variable as its own", async () => {
  const graph = await loadGraph("keras3_adam");
  const words = (id: number) => [sizeCell(graph, id), sizeSentence(graph, id)];
  // Its momentum, of 72 B, is counted above the kernel and not beside its shape.
  expect([boxText(graph, 7), ...words(7)]).toEqual([
    "7×2 float32",
    "56 B",
    "56 B, 128 B with its slot variables",
  ]);
  expect(words(9)).toEqual(["72 B", "72 B"]);
  expect(words(2)).toEqual(["272 B", "272 B in all"]);
  expect(words(3)).toEqual(["", ""]);
});
