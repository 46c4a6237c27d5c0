import { describe, expect, it } from "vitest";
import { compared, fullTree, loadGraph, payload, treeGraph } from "../tests/graphs.test-data";
import { decode, type Origin } from "./contract";
import { makeGraph } from "./graph";
import type { Overlay } from "./overlay";

const changes = (overlay: Overlay, isLeftOut: (id: number) => boolean = () => false) =>
  [...overlay.changes(isLeftOut).entries()].flatMap(([id, stays]) => (stays === 1 ? [id] : []));

// 0 ─┬─ 1 ─┬─ 3
//    │     └─ 4
//    └─ 2 ─── 5
const TREE = treeGraph([0, 0, 1, 1, 2]);

describe("the counts below a node", () => {
  it("include every sign that needs attention in the whole subtree", () => {
    const { overlay } = compared(TREE, {
      states: { 0: "failed", 1: "shape", 3: "shape", 5: "saved only" },
    });
    expect([0, 1, 2, 3].map((id) => overlay!.below(id))).toEqual([
      [
        { sign: "nowhere", count: 1 },
        { sign: "misfit", count: 2 },
      ],
      [{ sign: "misfit", count: 1 }],
      [{ sign: "nowhere", count: 1 }],
      [],
    ]);
  });

  it("add up in a chain of 50,000", () => {
    const chain = treeGraph(Array.from({ length: 50_000 }, (_, i) => i));
    const { overlay } = compared(chain, {
      states: Object.fromEntries([10, 20_000, 50_000].map((id) => [id, "live only" as const])),
    });
    expect(overlay!.below(0)).toEqual([{ sign: "keeps", count: 3 }]);
    expect(overlay!.below(20_000)).toEqual([{ sign: "keeps", count: 1 }]);
    expect(overlay!.below(50_000)).toEqual([]);
  });

  it("count each variable of the fixtures once", async () => {
    for (const name of ["check", "diff"]) {
      const graph = await loadGraph(name);
      const overlay = graph.overlay!;
      const ids = Array.from({ length: graph.size }, (_, id) => id);
      const isVariable = (id: number) =>
        graph.attributes(id).length > 0 && overlay.cell(id) !== null;
      const values = ids.filter(isVariable).length;
      const below = overlay.below(0).reduce((sum, { count }) => sum + count, 0);
      expect(below + overlay.matchedBelow(0)).toBe(values);
    }
  });

  it("are those of values: a part counts by what is in it", () => {
    const { overlay } = compared(TREE, {
      states: { 0: "plain", 1: "saved only", 3: "saved only", 4: "saved only", 2: "failed" },
      isValued: (id) => id > 2,
    });
    expect(overlay!.below(0)).toEqual([{ sign: "nowhere", count: 2 }]);
    expect([0, 2, 5].map((id) => overlay!.matchedBelow(id))).toEqual([1, 1, 1]);
  });

  it("are those of the line around a value that has none", () => {
    const lines = [{ name: "one", node: 1, plain: "waits" }] as const;
    const { overlay } = compared(TREE, { lines, isValued: (id) => id > 2 });
    expect([0, 1, 3, 4, 5].map((id) => overlay!.cell(id)?.sign)).toEqual([
      ...[undefined, "waits", "waits", "waits", undefined],
    ]);
    expect(overlay!.below(0)).toEqual([{ sign: "waits", count: 2 }]);
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

  it("belong to each node that they name, once", () => {
    expect([0, 2, 3, 4].map((id) => overlay!.problemsOf(id))).toEqual([[], [0], [1, 3], [1]]);
  });
  it("name the fix in the words of the view if that can show it", async () => {
    const said = async (origin: Origin, canAsk: boolean) => {
      const check = { ...(await decode(payload("check"))), origin };
      return [0, 1].map((index) => makeGraph(check, canAsk).overlay!.problem(index).remedy);
    };
    const [inPython, code] = await said("live", false);
    expect(inPython).toBe(
      "Make the layer with 3 units, or restore the rest with check.fix().apply().",
    );
    expect(await said("live", true)).toEqual([
      "Make the layer with 3 units, or restore the rest with the button Restore.",
      code,
    ]);
    expect(await said("saved", true)).toEqual([inPython, code]); // a program in a file has no fix
  });
  it("mark the nodes that they name and their ancestors, except for notes", () => {
    expect([0, 1, 2, 3, 4, 5].filter((id) => overlay!.isMarked(id))).toEqual([0, 1, 3, 4]);
    expect([...overlay!.pressing()]).toEqual([4, 3, 4, 3]);
  });
  it("all need attention in a diff", () => {
    const diff = compared(TREE, {
      comparison: "diff",
      problems: [{ severity: "info", nodes: [2] }],
    });
    expect([...diff.overlay!.pressing()]).toEqual([2]);
  });
});

describe("the changes", () => {
  const { overlay } = compared(TREE, {
    states: { 0: "plain", 1: "plain", 3: "shape", 2: "plain" },
    problems: [{ nodes: [5] }],
  });

  it("are the nodes that need attention, those that problems name, and their ancestors", () => {
    expect(changes(overlay!)).toEqual([0, 1, 2, 3, 5]);
  });
  it("include no left-out node, and no ancestor because of one", () => {
    expect(changes(overlay!, (id) => id === 1)).toEqual([0, 2, 3, 5]);
    expect(changes(overlay!, (id) => id === 3)).toEqual([0, 2, 5]);
  });
  it("are found in a tree of any depth", () => {
    const chain = treeGraph(Array.from({ length: 50_000 }, (_, i) => i));
    const { overlay: deep } = compared(chain, { states: { 30000: "moved" } });
    expect(changes(deep!)).toHaveLength(30_001);
  });
});

it("a comparison passes if every verdict passes", () => {
  const passes = (...verdicts: boolean[]) =>
    compared(fullTree(1, 1), {
      verdicts: verdicts.map((verdict, i) => ({
        name: `assert ${i}`,
        passes: verdict,
        message: "",
      })),
    }).overlay!.passes;
  expect([passes(), passes(true, true), passes(true, false)]).toEqual([true, true, false]);
});
