import { describe, expect, it } from "vitest";
import type { NodeState } from "../contract";
import type { Graph } from "../graph";
import { compared, loadGraph, treeGraph } from "../graphs.test-data";
import { visibleRows } from "../layout/rows";
import { shownTree } from "../layout/shown";
import { sidesOf } from "../layout/sides";
import { factsOf, labelOf, markOf } from "./lines";

// 0 ─┬─ 1 ─┬─ 3
//    │     └─ 4
//    └─ 2 ─── 5
const TREE = treeGraph([0, 0, 1, 1, 2]);
const valued = (graph: Graph): Graph => ({
  ...graph,
  attributes: (id) =>
    id < 3
      ? []
      : [
          {
            ...{ name: "VALUE", fullName: "", checkpointKey: "", dtype: "float32" },
            ...{ shape: [id], nbytes: null, slices: 0, error: null },
          },
        ],
});

function lines(
  change: Parameters<typeof compared>[1],
  expanded: readonly number[] = [0],
  graph = valued(TREE),
) {
  const known = { isValued: (id: number) => id > 2, ...change };
  const states = { 0: "plain", 1: "plain", 2: "plain", ...change.states } as Record<
    number,
    NodeState
  >;
  const shown = compared(graph, { ...known, states });
  const rows = visibleRows((id) => shown.treeChildren(id), new Set(expanded));
  const sides = sidesOf(rows, shown.overlay!);
  const marks = sides.lines.map((line) => {
    const { sign, stroke, words } = markOf(shown, rows, line);
    return [sign?.glyph ?? "", words, stroke].join("|");
  });
  const longer = sides.lines.flatMap((line) => markOf(shown, rows, line).longer || []);
  return { longer, marks, rows, shown };
}

describe("the sign of a line", () => {
  it("is that of everything below while the line is folded", () => {
    expect(lines({}).marks).toEqual(["||none", "✓||restored", "✓||restored"]);
    expect(lines({ states: { 3: "shape" } }).marks[1]).toBe("≠|1 shape differs|differs");
    expect(lines({ states: { 3: "shape", 4: "shape" } }).marks[1]).toBe("≠|shape differs|differs");
  });

  it("is its own while it is open", () => {
    const { marks } = lines({ states: { 3: "shape" } }, [0, 1]);
    expect(marks.slice(1, 4)).toEqual(["||none", "≠|shape differs|differs", "✓||restored"]);
  });

  it("says once for a whole part that the other side lacks it", () => {
    const states = { 2: "saved only", 5: "saved only" } as const;
    const isPaired = (id: number) => id !== 2 && id !== 5;
    const { marks } = lines({ baseSize: 6, isPaired, states }, [0, 2]);
    expect(marks.slice(2)).toEqual(["−|not used by program|alone", "−||alone"]);
  });

  it("names the cause of what fails", () => {
    const { marks } = lines({
      states: { 1: "warned" },
      problems: [{ nodes: [1] }],
      causes: [{ title: "Not tracked", problems: [0] }],
    });
    expect(marks[1]).toBe("!|not tracked|differs");
  });

  it("says once for a whole part that it has moved", () => {
    const { marks } = lines({ states: { 1: "moved", 3: "moved", 4: "moved" } }, [0, 1]);
    expect(marks.slice(1, 4)).toEqual(["↷|moved|differs", "↷||differs", "↷||differs"]);
  });

  it("says where a plain restore puts a value, and whose value another part gets", () => {
    const { marks } = lines(
      {
        states: { 1: "moved", 3: "moved", 5: "shape" },
        details: { 5: "3 ≠ 5" },
        goesTo: { 3: 5 },
      },
      [0, 1, 2],
    );
    expect([marks[2], marks[5]]).toEqual([
      "↷|goes into edge 2.edge 5|differs",
      "≠|gets edge 1.edge 3|differs",
    ]);
  });

  it("is that of the pair for a variable, whatever its slot variables need", () => {
    const slots = treeGraph([0, 1, 1]);
    const graph = { ...valued(slots), attributes: (id: number) => valued(TREE).attributes(id + 3) };
    const { longer, marks } = lines(
      { isValued: () => true, states: { 0: "plain", 1: "matched", 2: "saved only" } },
      [0],
      graph,
    );
    expect(marks[1]).toBe("✓|−1|restored");
    expect(longer).toEqual(["1 not used by program"]);
  });
});

it("a folded part of a long list has the sign of everything in it", () => {
  const long = treeGraph(Array.from({ length: 250 }, () => 0));
  const graph = compared(long, { states: { 0: "plain", 120: "shape" } });
  const tree = shownTree(graph, false);
  const rows = visibleRows(tree.children, new Set([0]), 0, tree.chunk);
  const { lines: found } = sidesOf(rows, graph.overlay!);
  const words = found.map((line) => {
    const { sign, words: of } = markOf(graph, rows, line);
    return `${sign?.glyph ?? ""} ${of}`;
  });
  expect(words).toEqual([" ", "✓ ", "≠ 1 shape differs", "✓ "]);
});

describe("the text in a box", () => {
  it("has the two values that differ on their sides", () => {
    const { rows, shown } = lines(
      { states: { 3: "dtype" }, savedTensors: { 3: "float16 8×10" } },
      [0, 1],
    );
    expect((["saved", "live"] as const).map((side) => factsOf(shown, rows[2]!, side))).toEqual([
      "float16 8×10",
      "float32 3",
    ]);
  });

  it("has the shapes below a folded layer, or the number of its variables", () => {
    const { rows, shown } = lines({});
    expect(factsOf(shown, rows[1]!, "live")).toBe("3, 4");
    const folded = lines({}, []);
    expect(factsOf(folded.shown, folded.rows[0]!, "saved")).toBe("3 values");
    expect(factsOf(shown, rows[0]!, "saved")).toBe("");
  });

  it("counts on each side only what that side has", () => {
    const states = { 3: "live only", 5: "saved only" } as const;
    const { rows, shown } = lines({ states }, []);
    expect((["saved", "live"] as const).map((side) => factsOf(shown, rows[0]!, side))).toEqual([
      "2 values",
      "2 values",
    ]);
  });

  it("has the name that each side uses", () => {
    const { rows, shown } = lines({ savedLabels: { 1: "old" } });
    expect(labelOf(shown, rows[2]!, "saved")).toBe(labelOf(shown, rows[2]!, "live"));
    expect((["saved", "live"] as const).map((side) => labelOf(shown, rows[1]!, side))).toEqual([
      "old",
      "edge 1",
    ]);
  });

  it("escapes hostile characters", async () => {
    const graph = await loadGraph("hostile_check");
    const rows = visibleRows((id) => graph.treeChildren(id), new Set(graph.order));
    const sides = sidesOf(rows, graph.overlay!);
    const words = sides.lines.map((line) => markOf(graph, rows, line).words);
    const texts = rows.flatMap((row) => [
      labelOf(graph, row, "saved"),
      labelOf(graph, row, "live"),
      factsOf(graph, row, "saved"),
    ]);
    for (const text of [...words, ...texts]) {
      expect(text).not.toMatch(/[\n\0\u202e]/);
    }
  });
});
