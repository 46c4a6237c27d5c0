import { describe, expect, it } from "vitest";
import { type LineOf, loadGraph, tableOf } from "../tests/graphs.test-data";
import { linesAbove, makeTable, nextChange, openAtFirst, rowsOf, type Table } from "./table";

// 0 net ─┬─ 1 a
//        └─ 2 b ── 3 w
// 4 old
// 5 head ── 6 w
const LINES: readonly LineOf[] = [
  {
    ...{ name: "net", node: 1, values: 3 },
    inside: [
      { name: "a", node: 2 },
      { name: "b", node: 3, inside: [{ name: "w", node: 4 }] },
    ],
  },
  { name: "old", live: "", savedNode: 9, plain: "nowhere" },
  {
    ...{ name: "head", node: 5, plain: "fails", guess: 0 },
    inside: [{ name: "w", live: "v", savedNode: 10, node: 6, plain: "fails", guess: 0 }],
  },
];
const TABLE = tableOf(LINES);

const shown = (table: Table, ...rest: [open: readonly number[], is?: (line: number) => boolean]) =>
  rowsOf(table, new Set(rest[0]), rest[1]).map(({ line }) => line);

describe("a table", () => {
  it("is absent from a payload without one", () => {
    expect(makeTable({ strings: [], table: null })).toBe(null);
  });

  it("knows what is inside of each line, and what holds it", () => {
    expect([null, 0, 2, 3].map((id) => TABLE.inside(id))).toEqual([[0, 4, 5], [1, 2], [3], []]);
    expect([0, 1, 3].map(TABLE.parent)).toEqual([null, 0, 2]);
    expect([0, 1, 3].map((id) => linesAbove(TABLE, id))).toEqual([[], [0], [2, 0]]);
  });

  it("has the names, nodes and cells of each side", () => {
    expect(TABLE.line(4)).toEqual({
      ...{ id: 4, saved: "old", live: "", savedFacts: "", liveFacts: "" },
      ...{ savedNode: 9, liveNode: null, values: 1, guess: null },
      plain: { sign: "nowhere", words: "nowhere" },
      fixed: null,
    });
    expect(TABLE.line(6)).toMatchObject({ saved: "w", live: "v", savedNode: 10, liveNode: 6 });
    expect(TABLE.line(6).guess).toBe(0);
  });

  it("finds the innermost line of a node, on either side", () => {
    expect([1, 4, 9, 10, 6, 7].map(TABLE.lineOf)).toEqual([0, 3, 4, 6, 6, null]);
    const moved = tableOf([
      { name: "a", live: "", savedNode: 1 },
      { name: "", live: "b", node: 1 },
    ]);
    expect(moved.lineOf(1)).toBe(1); // the program's, where both could be meant
  });

  it("has the nodes of a line and of those inside of it", () => {
    expect(TABLE.nodesIn(0, "live")).toEqual([1, 2, 3, 4]);
    expect([TABLE.nodesIn(4, "saved"), TABLE.nodesIn(4, "live")]).toEqual([[9], []]);
    expect([TABLE.nodesIn(5, "saved"), TABLE.nodesIn(5, "live")]).toEqual([
      [5, 10],
      [5, 6],
    ]);
  });

  it("is quiet where both ways put each value into its place", () => {
    const ways = [[undefined], ["here"], ["keeps"]] as const;
    const lines = ways.map(([fixed]): LineOf => ({ name: "a", ...(fixed && { fixed }) }));
    const table = tableOf([...lines, { name: "b", plain: "elsewhere", fixed: "here" }]);
    expect([0, 1, 2, 3].map(table.isQuiet)).toEqual([true, true, false, false]);
  });
});

describe("the rows of a table", () => {
  it("may have another order inside of each line", () => {
    const rows = rowsOf(TABLE, new Set([0]), undefined, (lines) => [...lines].reverse());
    expect(rows.map(({ line }) => line)).toEqual([5, 4, 0, 2, 1]);
    expect(rows.map(({ position }) => position)).toEqual([1, 2, 3, 1, 2]);
  });

  it("are the outer lines, and those inside of open ones", () => {
    expect(shown(TABLE, [])).toEqual([0, 4, 5]);
    expect(shown(TABLE, [0])).toEqual([0, 1, 2, 4, 5]);
    expect(shown(TABLE, [2])).toEqual([0, 4, 5]); // what holds it is closed
    expect(shown(TABLE, [0, 2, 5])).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it("tell their level, their place among their siblings, and whether they can open", () => {
    const rows = rowsOf(TABLE, new Set([0, 3]));
    expect(rows.map(({ level }) => level)).toEqual([0, 1, 1, 0, 0]);
    expect(rows.map(({ position, siblings }) => `${position}/${siblings}`)).toEqual([
      ...["1/3", "1/2", "2/2", "2/3", "3/3"],
    ]);
    expect(rows.map(({ canOpen }) => canOpen)).toEqual([true, false, true, false, true]);
    expect(rows.map(({ isOpen }) => isOpen)).toEqual([true, false, false, false, false]);
  });

  it("leave lines out, and count without these", () => {
    const rows = rowsOf(TABLE, new Set([0, 2, 5]), (line) => ![1, 3, 4].includes(line));
    expect(rows.map(({ line }) => line)).toEqual([0, 2, 5, 6]);
    expect(rows.map(({ canOpen }) => canOpen)).toEqual([true, false, true, false]);
    expect(rows.map(({ siblings }) => siblings)).toEqual([2, 1, 2, 1]);
  });

  it("may be of any depth", () => {
    const count = 20_000;
    const column = (of: (line: number) => number) => Int32Array.from(Array(count), (_, i) => of(i));
    const none = column(() => -1);
    const deep = makeTable({
      strings: ["part"],
      table: {
        ...{ sentence: "", verdict: "", heads: [], notes: [], guessed: [] },
        ...{ is_one_column: false, worst: null },
        totals: { saved: 1, live: 1, restored: 1, fixed: null },
        cells: [{ sign: "here", words: "here" }],
        columns: {
          line_parent: column((line) => line - 1),
          ...{ line_saved: column(() => 0), line_live: column(() => 0) },
          ...{ line_saved_facts: none, line_live_facts: none, line_saved_node: none },
          ...{ line_live_node: none, line_plain: column(() => 0), line_fixed: none },
          ...{ line_values: column(() => 1), line_guess: none },
        },
      },
    })!;
    const open = new Set(Array.from(Array(count).keys()));
    expect(rowsOf(deep, open).at(-1)).toMatchObject({ line: count - 1, level: count - 1 });
    expect(linesAbove(deep, count - 1)).toHaveLength(count - 1);
  });
});

describe("changes", () => {
  it("follow each other, and wrap around", () => {
    const next = (from: number | null) => nextChange(TABLE, from, 1);
    const previous = (from: number | null) => nextChange(TABLE, from, -1);
    expect([null, 0, 3, 4, 5].map(next)).toEqual([4, 4, 4, 5, 4]);
    expect([null, 0, 4, 5].map(previous)).toEqual([5, 5, 5, 4]);
  });

  it("are outer lines: from one inside, the way leads to another part", () => {
    expect([nextChange(TABLE, 6, 1), nextChange(TABLE, 6, -1)]).toEqual([4, 4]);
  });

  it("are none where all is well", () => {
    expect(nextChange(tableOf([{ name: "a" }]), null, 1)).toBe(null);
    expect(nextChange(tableOf([]), null, -1)).toBe(null);
  });
});

it("opens at first what holds a question, unless the question is about all of it", async () => {
  const asked = { name: "b", plain: "asks", guess: 0 } as const;
  const hidden = tableOf([{ name: "a", inside: [{ name: "c" }, asked] }, { name: "d" }]);
  expect([...openAtFirst(hidden)]).toEqual([0]);
  expect([...openAtFirst(TABLE)]).toEqual([]);
  expect([...openAtFirst((await loadGraph("check")).table!)]).toEqual([]);
});
