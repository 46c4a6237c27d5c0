import { describe, expect, it } from "vitest";
import type { Graph } from "../data/graph";
import { type LineOf, tableOf, treeGraph } from "../tests/graphs.test-data";
import { lineToName, nodeToName, offeredNames, ownName, suggestedNames } from "./naming";

// 0 net ─┬─ 1 a
//        └─ 2 lm_head → head
// 3 ema
// 4 save_counter
// 5 b0 … b3 ── 6 b0
// 7 new
const LINES: readonly LineOf[] = [
  {
    ...{ name: "net", node: 1, plain: "nowhere" },
    inside: [
      { name: "a", node: 2 },
      { name: "lm_head", live: "head", node: 3, plain: "nowhere" },
    ],
  },
  { name: "ema", live: "", savedNode: 11, plain: "nowhere" },
  { name: "save_counter", live: "", savedNode: 12 },
  { name: "b0 … b3", node: 4, inside: [{ name: "b0", node: 4 }] },
  { name: "", live: "new", node: 5, plain: "keeps" },
];
const graphOf = (lines: readonly LineOf[]) =>
  ({ table: tableOf(lines), overlay: { baseSize: 10 } }) as unknown as Graph;

const GRAPH = graphOf(LINES);

describe("the part whose name a line has", () => {
  it("is that of the program, or what only the checkpoint has; not one of a run", () => {
    expect([0, 2, 3, 4, 5, 6, 7].map((line) => nodeToName(GRAPH, line))).toEqual([
      ...[1, 3, 11, 12, null, 4, 5],
    ]);
  });

  it("is none without a table", () => {
    expect(nodeToName({ ...GRAPH, table: null }, 0)).toBe(null);
  });
});

describe("the line whose name someone changes first", () => {
  it("is the selected one, if it has one", () => {
    expect([0, 3, 7].map((line) => lineToName(GRAPH, line))).toEqual([0, 3, 7]);
    expect(lineToName(GRAPH, 5)).toBe(2);
  });

  it("is one with another saved name, else a new one, and none where all names are the same", () => {
    expect(lineToName(GRAPH, null)).toBe(2);
    expect(lineToName(graphOf(LINES.slice(1)), null)).toBe(4);
    const renamed: LineOf = { name: "old", live: "young", node: 3 };
    expect(lineToName(graphOf([{ name: "a", node: 2 }, renamed]), null)).toBe(1);
    expect(lineToName(graphOf([{ name: "a", node: 2 }]), null)).toBe(null);
  });
});

describe("suggestions", () => {
  it("begin with the saved name of the line, and with those that lack a part", () => {
    expect(suggestedNames(GRAPH, 2)).toEqual(["lm_head", "a"]);
    expect(suggestedNames(GRAPH, 7)).toEqual(["ema", "net", "save_counter"]);
    expect(suggestedNames(GRAPH, 3)).toEqual(["ema", "net", "save_counter"]);
    expect(suggestedNames({ ...GRAPH, table: null }, 2)).toEqual([]);
  });

  it("have no names with hidden characters, and none of runs", () => {
    const lines: readonly LineOf[] = [{ name: "a\u202eb" }, ...LINES.slice(3, 4)];
    expect(suggestedNames(graphOf([...lines, { name: "c" }]), 3)).toEqual([]);
  });

  it("hold what someone has typed", () => {
    const names = ["lm_head", "ema", "Head"];
    expect(offeredNames(names, "")).toEqual(names);
    expect(offeredNames(names, "head")).toEqual(["lm_head", "Head"]);
    expect(offeredNames(names, "lm_head")).toEqual([]);
    expect(
      offeredNames(
        Array.from({ length: 20 }, (_, n) => `n${n}`),
        "n",
      ),
    ).toHaveLength(8);
  });
});

it("offers what people call an item of a list as its name", () => {
  const graph: Graph = { ...treeGraph([0, 0]), label: (id) => ["", "80", "head"][id] ?? "" };
  expect([1, 2].map((id) => ownName({ ...graph, called: () => "out" }, id))).toEqual([
    "out",
    "head",
  ]);
});
