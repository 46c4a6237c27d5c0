import { expect, it } from "vitest";
import type { Fix } from "./fix";
import { compared, fixOf, treeGraph } from "./graphs.test-data";
import { endsOfMoves } from "./layout/fates";
import { initialState, reduce, type State } from "./state";

// 0 ─┬─ 1 ─── 2 ─── 3      the program: only folded parts
//    └─ 4 ─── 5 ─── 6      the file
const TREE = treeGraph([0, 1, 2, 0, 4, 5]);
const GRAPH = compared(TREE, {
  baseSize: 4,
  isPaired: (id) => id === 0,
  states: { 2: "live only", 3: "live only", 5: "saved only", 6: "saved only" },
});
const FIX = fixOf({
  pairs: [
    { saved: 5, live: 2 },
    { saved: 6, live: 3 },
  ],
});
const WIDTHS = { box: () => 80, behind: () => 18 };
const showing = (fix: Fix, of = GRAPH) =>
  ({ type: "showFix", fix, of, ends: endsOfMoves(GRAPH, fix) }) as const;
const start = () => initialState(GRAPH, () => WIDTHS);

it("shows a fix between the two sides, with both ends of what moves open", () => {
  const before = reduce(start(), { type: "setExpanded", expanded: [0] });
  expect(before.rows.map(({ id }) => id)).toEqual([0, 1, 4]);
  const shown = reduce(before, showing(FIX));
  expect(shown.fix).toBe(FIX);
  expect(shown.rows.map(({ id }) => id)).toEqual([0, 1, 2, 4, 5]);
});

it("shows it from any view, and shows the verdicts again", () => {
  const objects = reduce(start(), { type: "showView", view: "objects" });
  const shown = reduce(objects, showing(FIX));
  expect(shown.drawn).toBe("sides");
  expect(reduce(shown, { type: "showFix", fix: null, of: GRAPH, ends: [] }).fix).toBeNull();
});

it("does not show the fix of a graph that is gone", () => {
  const other = { ...GRAPH };
  const late = reduce(start(), showing(FIX, other));
  expect(late.fix).toBeNull();
  const shown = reduce(start(), showing(FIX));
  expect(reduce(shown, { type: "load", graph: other }).fix).toBeNull();
});

it("has lines for what the fix pairs, as long as it is shown", () => {
  const siblings = fixOf({ pairs: [{ saved: 4, live: 1 }] });
  const before = reduce(start(), { type: "setExpanded", expanded: [0] });
  const lines = (state: State) => state.sides?.lines.length;
  const shown = reduce(before, showing(siblings));
  expect([lines(before), lines(shown)]).toEqual([3, 2]);
});
