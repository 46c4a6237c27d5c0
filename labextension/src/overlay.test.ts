import { describe, expect, it } from "vitest";
import type { NodeState } from "./contract";
import { compared, fullTree, loadGraph, treeGraph } from "./graphs.test-data";
import { nextProblem, type Overlay } from "./overlay";

const remaining = (
  overlay: Overlay,
  hidden: readonly NodeState[],
  isLeftOut: (id: number) => boolean = () => false,
) =>
  [...overlay.remaining(new Set(hidden), isLeftOut).entries()].flatMap(([id, stays]) =>
    stays === 1 ? [id] : [],
  );

// 0 ─┬─ 1 ─┬─ 3
//    │     └─ 4
//    └─ 2 ─── 5
const TREE = treeGraph([0, 0, 1, 1, 2]);

describe("counts of what stands below", () => {
  it("have every state that calls for a look, of the whole subtree", () => {
    const { overlay } = compared(TREE, {
      states: { 0: "failed", 1: "shape", 3: "shape", 4: "plain", 5: "saved only" },
    });
    expect([0, 1, 2, 3].map((id) => overlay!.below(id))).toEqual([
      [
        { state: "saved only", count: 1 },
        { state: "shape", count: 2 },
      ],
      [{ state: "shape", count: 1 }],
      [{ state: "saved only", count: 1 }],
      [],
    ]);
  });

  it("add up in a chain of 50,000", () => {
    const chain = treeGraph(Array.from({ length: 50_000 }, (_, i) => i));
    const { overlay } = compared(chain, {
      states: Object.fromEntries([10, 20_000, 50_000].map((id) => [id, "live only" as const])),
    });
    expect(overlay!.below(0)).toEqual([{ state: "live only", count: 3 }]);
    expect(overlay!.below(20_000)).toEqual([{ state: "live only", count: 1 }]);
    expect(overlay!.below(50_000)).toEqual([]);
  });

  it("are those of all states in the fixtures", async () => {
    for (const name of ["check", "diff"]) {
      const { overlay, size } = await loadGraph(name);
      const below = overlay!.below(0).reduce((sum, { count }) => sum + count, 0);
      const all = overlay!.counts.reduce((sum, { count }) => sum + count, 0);
      const quiet = overlay!.counts
        .filter(({ state }) => state === "plain" || state === "matched")
        .reduce((sum, { count }) => sum + count, 0);
      expect([all, below]).toEqual([size, size - quiet]);
    }
  });
});

describe("problems", () => {
  const { overlay } = compared(TREE, {
    problems: [
      { severity: "info", nodes: [2] },
      { severity: "error", nodes: [4, 3, 4] },
      { severity: "warning", nodes: [] },
      { severity: "deferred", nodes: [3] },
    ],
  });

  it("are found from each node that they name, once", () => {
    expect([0, 2, 3, 4].map((id) => overlay!.problemsOf(id))).toEqual([[], [0], [1, 3], [1]]);
  });
  it("mark what they name and what holds it, notes apart", () => {
    expect([0, 1, 2, 3, 4, 5].filter((id) => overlay!.isMarked(id))).toEqual([0, 1, 3, 4]);
    expect([...overlay!.pressing()]).toEqual([4, 3, 4, 3]);
  });
  it("of a diff all call for a look", () => {
    const diff = compared(TREE, {
      comparison: "diff",
      problems: [{ severity: "info", nodes: [2] }],
    });
    expect([...diff.overlay!.pressing()]).toEqual([2]);
  });
  it("are counted by severity, the worst first", () => {
    expect(overlay!.severities).toEqual([
      { severity: "error", count: 1 },
      { severity: "deferred", count: 1 },
      { severity: "warning", count: 1 },
      { severity: "info", count: 1 },
    ]);
  });
  it("are stepped through in a circle", () => {
    expect([null, 0, 1, 2].map((current) => nextProblem(3, current, 1))).toEqual([0, 1, 2, 0]);
    expect([null, 0, 1, 2].map((current) => nextProblem(3, current, -1))).toEqual([2, 2, 0, 1]);
    expect(nextProblem(0, null, 1)).toBe(null);
  });
});

describe("what remains under a filter", () => {
  const graph = compared(TREE, {
    states: { 0: "plain", 1: "plain", 3: "shape", 2: "plain" },
    problems: [{ nodes: [5] }],
  });
  const overlay = graph.overlay!;

  it("is all that has another state, and what holds it", () => {
    expect(remaining(overlay, ["shape"])).toEqual([0, 1, 2, 4, 5]);
  });
  it("is, without the matched, also a matched node that a problem names", () => {
    expect(remaining(overlay, ["plain", "matched"])).toEqual([0, 1, 2, 3, 5]);
    expect(remaining(overlay, ["plain", "matched", "shape"])).toEqual([0, 2, 5]);
  });
  it("is nothing that is left out, nor for its sake", () => {
    expect(remaining(overlay, ["plain", "matched"], (id) => id === 1)).toEqual([0, 2, 3, 5]);
    expect(remaining(overlay, ["plain", "matched"], (id) => id === 3)).toEqual([0, 2, 5]);
  });
  it("is found in a tree of any depth", () => {
    const chain = treeGraph(Array.from({ length: 50_000 }, (_, i) => i));
    const { overlay: deep } = compared(chain, { states: { 30000: "moved" } });
    expect(remaining(deep!, ["matched"])).toHaveLength(30_001);
  });
});

it("passes if every verdict does", () => {
  const passes = (...verdicts: boolean[]) =>
    compared(fullTree(1, 1), {
      verdicts: verdicts.map((verdict, i) => ({ name: `assert ${i}`, passes: verdict })),
    }).overlay!.passes;
  expect([passes(), passes(true, true), passes(true, false)]).toEqual([true, true, false]);
});
