import { describe, expect, it } from "vitest";
import { CELL_SIGNS, NODE_STATES } from "../data/contract";
import { compared, loadGraph, treeGraph } from "../tests/graphs.test-data";
import { belowWords, besideWords, cellSign, stateSign, verdictSign } from "./signs";
import { comparedWords, partnerWords } from "./words";

const TREE = treeGraph([0, 0, 1, 1]);

it("has a sign and a word for every state", () => {
  expect(NODE_STATES.map((state) => Object.values(stateSign(state)).join("|"))).toEqual([
    "|without value|quiet",
    "✓|matched|quiet",
    "+|not in checkpoint|loud",
    "−|not used by program|loud",
    "…|waiting for variable|hollow",
    "≠|shape differs|loud",
    "≠|dtype differs|loud",
    "✗|fails|loud",
    "!|restored, but…|loud",
    "−|only in a|loud",
    "+|only in b|loud",
    "≠|role differs|loud",
    "Δ|value differs|loud",
    "↷|moved|loud",
  ]);
});

it("sums up the nodes below by sign", () => {
  const { overlay } = compared(TREE, { states: { 1: "shape", 3: "dtype", 4: "saved only" } });
  expect(belowWords(overlay!, 0)).toBe("≠2 −1");
  expect(belowWords(overlay!, 3)).toBe("");
});

it("describes the node beside its box, and the nodes folded into it", () => {
  const { overlay } = compared(TREE, { states: { 1: "shape", 3: "dtype", 4: "moved" } });
  expect(besideWords(overlay, 1, false)).toBe("misfit  ≠1 ↷1");
  const alike = compared(TREE, { states: { 1: "shape", 3: "dtype" } }).overlay;
  expect(besideWords(alike, 1, false)).toBe("misfit");
  expect(besideWords(overlay, 1, true)).toBe("");
  expect(besideWords(overlay, 2, false)).toBe("");
  expect(besideWords(null, 1, false)).toBe("");
});

describe("the other name of a node", () => {
  it.each([
    ["check", "saved as"],
    ["diff", "in a"],
  ] as const)("in a %s is what people call it, or else TensorFlow's", (comparison, words) => {
    const graph = compared(TREE, { comparison, partners: { 1: "(root).out" } });
    expect(partnerWords(graph, 1)).toBe(`${words} (root).out`);
    const renamed = { ...graph, savedCalled: (id: number) => (id === 1 ? "in file" : "") };
    expect(partnerWords(renamed, 1)).toBe(`${words} in file`);
    expect(partnerWords(graph, 2)).toBe("");
  });
});

it("describes what happens to a node in a few words", async () => {
  const graph = await loadGraph("check");
  expect(comparedWords(graph, 10)).toEqual(["other shape", "float32 10 by 2 but 10 by 3"]);
});

it("does not call a difference in a diff a failure", async () => {
  const { overlay } = await loadGraph("diff");
  expect(verdictSign(overlay!, false).word).toBe("not equal");
});

it("has a sign for every cell of a table", () => {
  const signs = CELL_SIGNS.map(cellSign);
  expect(signs.map(({ glyph }) => glyph).join("")).toBe("✓≈↷−✗≠+…Δ?");
  const alarms = CELL_SIGNS.filter((sign) => cellSign(sign).look === "loud");
  expect(alarms).toEqual(["fails", "misfit", "asks"]);
});

it("escapes hostile characters in every text", async () => {
  const graph = await loadGraph("hostile_check");
  const words = Array.from({ length: graph.size }, (_, id) => comparedWords(graph, id)).flat();
  for (const text of words) {
    expect(text).not.toMatch(/[\n\0\u202e]/);
    expect(text.length).toBeLessThan(3000);
  }
});
