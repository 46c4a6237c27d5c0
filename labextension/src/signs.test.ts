import { describe, expect, it } from "vitest";
import { CELL_SIGNS, NODE_STATES } from "./contract";
import { compared, loadGraph, treeGraph } from "./graphs.test-data";
import {
  belowWords,
  besideWords,
  cellSign,
  namesWords,
  problemHead,
  stateSign,
  verdictSign,
} from "./signs";
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
  expect(belowWords(overlay!, 0)).toBe("−1 ≠2");
  expect(belowWords(overlay!, 3)).toBe("");
});

it("describes the node beside its box, and the nodes folded into it", () => {
  const { overlay } = compared(TREE, { states: { 1: "shape", 3: "dtype" } });
  expect(besideWords(overlay, 1, false)).toBe("shape differs  ≠1");
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

it("names both sides of a problem, but repeats no name that is already there", async () => {
  const { overlay } = await loadGraph("check");
  const names = (index: number, known: string | null) =>
    namesWords(overlay!, overlay!.problem(index), known);
  expect(names(0, "(root).model.head.kernel")).toEqual([]);
  expect(names(0, null)).toEqual(["(root).model.head.kernel"]);
  expect(names(5, "(root).model.dense.bias")).toEqual(["saved as (root).model.dense.b"]);
  expect(names(6, null)).toEqual([]);
});

it("describes a mark and the kind of a problem in a few words", async () => {
  const graph = await loadGraph("check");
  const { overlay } = graph;
  expect(comparedWords(graph, 10)).toEqual(["shape differs", "float32 10 by 2 but 10 by 3"]);
  const heads = [0, 3, 4].map((index) => problemHead(overlay!, overlay!.problem(index)));
  expect(heads).toEqual(["error, shape", "error, saver unknown", "deferred, not built"]);
});

it("does not call a difference in a diff a failure", async () => {
  const { overlay } = await loadGraph("diff");
  expect(problemHead(overlay!, overlay!.problem(0))).toBe("value differs");
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
  const { overlay, size } = graph;
  const words = Array.from({ length: size }, (_, id) => comparedWords(graph, id)).flat();
  const sentences = Array.from({ length: overlay!.problemCount }, (_, index) => [
    problemHead(overlay!, overlay!.problem(index)),
    ...namesWords(overlay!, overlay!.problem(index), null),
  ]).flat();
  for (const text of [...words, ...sentences]) {
    expect(text).not.toMatch(/[\n\0\u202e]/);
    expect(text.length).toBeLessThan(3000);
  }
});
