import { describe, expect, it } from "vitest";
import { compared, treeGraph } from "../graphs.test-data";
import { visibleRows } from "./rows";
import { type Line, movesOf, sidesOf } from "./sides";

// 0 ─┬─ 1 ─┬─ 3
//    │     └─ 4
//    ├─ 2
//    └─ 5 ─┬─ 6
//          └─ 7
const TREE = treeGraph([0, 0, 1, 1, 0, 5, 5]);
const NAMES = ["", "head", "norm", "kernel", "bias", "old", "bias", "extra"];
const label = (id: number) => NAMES[id] ?? "";
const LABELS = { label, savedLabel: label };
const ALL = new Set([0, 1, 5]);

function sides(otherPlaces: Record<number, number>, expanded = ALL) {
  const { overlay } = compared(TREE, {
    baseSize: 5,
    otherPlaces,
    isPaired: (id) => id === 0 || id === 2,
  });
  const rows = visibleRows((id) => TREE.treeChildren(id), expanded);
  const found = sidesOf(rows, overlay!, LABELS);
  const idOf = (row: number | null) => (row === null ? null : (rows[row]?.id ?? null));
  const pair = ({ live, saved }: Line) => [idOf(saved), idOf(live)];
  const rowOf = new Map(rows.map(({ id }, index) => [id, index]));
  return {
    pairs: found.lines.map(pair),
    lineOf: [...found.lineOf],
    moves: movesOf(rows, rowOf, found, overlay!),
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

  it("have the two places of a renamed part beside each other, and children of one name", () => {
    expect(sides({ 1: 5, 5: 1 }).pairs).toEqual([
      [0, 0],
      [5, 1],
      [null, 3],
      [6, 4],
      [7, null],
      [2, 2],
    ]);
  });

  it("keep a renamed part together if one place of it is folded", () => {
    const { pairs } = sides({ 1: 5, 5: 1 }, new Set([0, 5]));
    expect(pairs).toEqual([
      [0, 0],
      [5, 1],
      [6, null],
      [7, null],
      [2, 2],
    ]);
  });

  it("have every row once, and know its line", () => {
    for (const otherPlaces of [{}, { 1: 5, 5: 1 }, { 4: 7, 7: 4 }]) {
      const { found, rows } = sides(otherPlaces);
      const drawn = found.lines.flatMap(({ live, saved }) => [...new Set([live, saved])]);
      expect(drawn.filter((row) => row !== null).sort()).toEqual([...rows.keys()]);
      for (const [row, line] of found.lineOf.entries()) {
        expect(Object.values(found.lines[line]!)).toContain(row);
      }
    }
  });

  it("lead from one place to the other if these have two parents", () => {
    const { moves, pairs } = sides({ 3: 6, 6: 3 });
    expect(pairs).toContainEqual([null, 3]);
    expect(moves).toEqual([{ savedId: 6, liveId: 3, from: 6, to: 2, bond: null }]);
    expect(sides({ 1: 5, 5: 1 }).moves).toEqual([]);
  });

  it("lead from a part that moved, and not from each node in it", () => {
    const deep = treeGraph([0, 1, 2, 0, 4]);
    const { overlay } = compared(deep, {
      baseSize: 4,
      otherPlaces: { 2: 4, 3: 5, 4: 2, 5: 3 },
      isPaired: (id) => id < 2,
    });
    const rows = visibleRows((id) => deep.treeChildren(id), new Set([0, 1, 2, 4]));
    const rowOf = new Map(rows.map(({ id }, index) => [id, index]));
    const moves = movesOf(rows, rowOf, sidesOf(rows, overlay!, LABELS), overlay!);
    expect(moves.map(({ savedId }) => savedId)).toEqual([4]);
  });

  it("are made for a chain of 50,000 nodes", () => {
    const chain = treeGraph(Array.from({ length: 50_000 }, (_, i) => i));
    const rows = visibleRows((id) => chain.treeChildren(id), new Set(chain.order));
    const { lines } = sidesOf(rows, compared(chain, {}).overlay!, chain);
    expect(lines).toHaveLength(50_001);
    expect(lines.at(-1)).toEqual({ saved: 50_000, live: 50_000 });
  });
});
