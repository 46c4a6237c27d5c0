import { describe, expect, it } from "vitest";
import { compared, fixOf, treeGraph } from "../graphs.test-data";
import { visibleRows } from "./rows";
import { detoursOf, type Line, sidesOf } from "./sides";

// 0 ─┬─ 1 ─┬─ 3
//    │     └─ 4
//    ├─ 2
//    └─ 5 ─┬─ 6
//          └─ 7
const TREE = treeGraph([0, 0, 1, 1, 0, 5, 5]);
const ALL = new Set([0, 1, 5]);

function sides(change: Parameters<typeof compared>[1], fix = fixOf({}), expanded = ALL) {
  const { overlay } = compared(TREE, {
    baseSize: 5,
    isPaired: (id) => id === 0 || id === 2,
    ...change,
  });
  const rows = visibleRows((id) => TREE.treeChildren(id), expanded);
  const found = sidesOf(rows, overlay!, fix);
  const idOf = (row: number | null) => (row === null ? null : (rows[row]?.id ?? null));
  const pair = ({ live, saved }: Line) => [idOf(saved), idOf(live)];
  const rowOf = new Map(rows.map(({ id }, index) => [id, index]));
  return {
    pairs: found.lines.map(pair),
    detours: detoursOf(rows, rowOf, found, overlay!),
    rows,
    found,
  };
}

describe("the lines of both sides", () => {
  it("have a box on each side that has the node", () => {
    expect(sides({}).pairs).toEqual([
      [0, 0],
      [null, 1],
      [null, 3],
      [null, 4],
      [2, 2],
      [5, null],
      [6, null],
      [7, null],
    ]);
  });

  it("have what a fix pairs on the line of the program, wherever it was", () => {
    const pairs = [
      { saved: 5, live: 1 },
      { saved: 7, live: 3 },
    ];
    expect(sides({}, fixOf({ pairs })).pairs).toEqual([
      [0, 0],
      [5, 1],
      [7, 3],
      [null, 4],
      [2, 2],
      [6, null],
    ]);
    expect(sides({}, fixOf({ pairs }), new Set([0, 5])).pairs).toEqual([
      [0, 0],
      [5, 1],
      [2, 2],
      [6, null],
      [7, null],
    ]);
  });

  it("have every row once, and know its line, also if a fix gives one value to several", () => {
    for (const pairs of [
      [],
      [{ saved: 5, live: 1 }],
      [
        { saved: 6, live: 3 },
        { saved: 6, live: 4 },
        { saved: 2, live: 1 },
      ],
    ]) {
      const { found, rows } = sides({}, fixOf({ pairs }));
      const drawn = found.lines.flatMap(({ live, saved }) => [...new Set([live, saved])]);
      expect(drawn.filter((row) => row !== null).sort()).toEqual([...rows.keys()]);
      for (const [row, line] of found.lineOf.entries()) {
        expect(Object.values(found.lines[line]!)).toContain(row);
      }
    }
  });

  it("have a group on both sides if any of its layers is", () => {
    // The ends of the group are layers that only the program has.
    const { overlay } = compared(TREE, { isPaired: (id) => id !== 1 && id !== 5 });
    const [root, ...rest] = visibleRows((id) => TREE.treeChildren(id), ALL);
    const ends = { parent: 0, firstChild: 1, lastChild: 5, level: 1 };
    const group = { ...rest[0]!, id: 0, chunk: { ...ends, group: { name: "g", isAlike: false } } };
    const lines = (chunk: object) =>
      sidesOf([root!, { ...group, chunk } as typeof root & object], overlay!).lines[1];
    expect(lines(group.chunk)).toEqual({ saved: 1, live: 1 });
    expect(lines({ ...ends, group: null })).toEqual({ saved: null, live: 1 });
  });

  it("know where a plain restore puts a value, if that is in sight on another line", () => {
    expect(sides({ goesTo: { 6: 3, 2: 2 } }).detours).toEqual([
      { saved: 6, live: 3, from: 6, to: 2 },
    ]);
    expect(sides({ goesTo: { 6: 3 } }, fixOf({}), new Set([0, 5])).detours).toEqual([]);
  });

  it("are made for a chain of 50,000 nodes", () => {
    const chain = treeGraph(Array.from({ length: 50_000 }, (_, i) => i));
    const rows = visibleRows((id) => chain.treeChildren(id), new Set(chain.order));
    const { lines } = sidesOf(rows, compared(chain, {}).overlay!);
    expect(lines).toHaveLength(50_001);
    expect(lines.at(-1)).toEqual({ saved: 50_000, live: 50_000 });
  });
});
