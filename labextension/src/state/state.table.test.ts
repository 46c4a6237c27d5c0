import { describe, expect, it } from "vitest";
import type { Graph } from "../data/graph";
import { defaultsOf } from "../host/defaults";
import { compared, type LineOf, treeGraph, WIDTHS } from "../tests/graphs.test-data";
import { tableRows } from "./lines";
import { initialState, reduce } from "./reduce";
import { type Action, type State, viewOf } from "./state";

// 0 ─┬─ 1 net ─┬─ 2 a
//    │         └─ 3 b ── 4 w
//    ├─ 5 old
//    ├─ 6 head ── 7 w
//    └─ 8
const TREE = treeGraph([0, 1, 1, 3, 0, 0, 6, 0]);
// The lines: 0 net ─┬─ 1 a
//                   └─ 2 b ── 3 w
//            4 old
//            5 head ── 6 w
const LINES: readonly LineOf[] = [
  {
    ...{ name: "net", node: 1 },
    inside: [
      { name: "a", node: 2 },
      { name: "b", node: 3, inside: [{ name: "w", node: 4 }] },
    ],
  },
  { name: "old", live: "", savedNode: 5, plain: "nowhere" },
  { name: "head", node: 6, plain: "fails", inside: [{ name: "w", node: 7, plain: "fails" }] },
];
const states = { 0: "plain", 5: "saved only", 7: "shape", 8: "plain" } as const;
const check = (lines = LINES): Graph => compared(TREE, { lines, states });

/** A table as it opens, in a view of 600 by 400. */
const fresh = (graph = check()): State =>
  reduce(
    initialState(graph, () => WIDTHS),
    { type: "resize", width: 600, height: 400 },
  );
const play = (state: State, ...actions: Action[]): State => actions.reduce(reduce, state);
const step = (...steps: Extract<Action, { type: "step" }>["step"][]): Action[] =>
  steps.map((name) => ({ type: "step", step: name }));
const selectLine = (line: number | null): Action => ({ type: "selectLine", line });
const lines = (state: State) => tableRows(state).map(({ line }) => line);
const at = ({ line, selected }: State) => [line, selected];

describe("a table", () => {
  it("is how a comparison opens, with closed lines and none selected", () => {
    const state = fresh();
    expect([state.drawn, viewOf(state), lines(state)]).toEqual(["table", "table", [0, 4, 5]]);
    expect(at(state)).toEqual([null, null]);
    expect([fresh(TREE).drawn, lines(fresh(TREE))]).toEqual(["tree", []]);
  });

  it("opens lines around a question", () => {
    const inside = [{ name: "b", plain: "asks", guess: 0 }] as const;
    expect(lines(fresh(check([{ name: "a", inside }])))).toEqual([0, 1]);
  });

  it("shows only changes at first if the page says so", () => {
    const state = initialState(check(), () => WIDTHS, defaultsOf({ matched: false }));
    expect(lines(state)).toEqual([4, 5]);
  });
});

describe("selecting", () => {
  it("a line selects its node: that of the program, or else of the file", () => {
    expect([0, 4].map((line) => at(play(fresh(), selectLine(line))))).toEqual([
      [0, 1],
      [4, 5],
    ]);
    expect(at(play(fresh(), selectLine(0), selectLine(null)))).toEqual([null, null]);
  });

  it("a line or a node opens the lines that hold it", () => {
    const opened = [0, 1, 2, 3, 4, 5];
    expect(lines(play(fresh(), selectLine(3)))).toEqual(opened);
    const state = play(fresh(), { type: "select", id: 4 });
    expect([lines(state), at(state)]).toEqual([opened, [3, 4]]);
  });

  it("a node without a line selects the nearest line above, and a node without any none", () => {
    const more = compared(treeGraph([0, 1, 1, 3, 0, 0, 6, 0, 7]), { lines: LINES });
    expect(at(play(fresh(more), { type: "select", id: 9 }))).toEqual([6, 9]);
    expect(at(play(fresh(), { type: "select", id: 8 }))).toEqual([null, 8]);
    expect(at(play(fresh(), selectLine(0), { type: "select", id: null }))).toEqual([null, null]);
    expect(at(play(fresh(), { type: "select", id: 10 ** 9 }))).toEqual([null, null]);
  });

  it("a match of a search goes to its line", () => {
    const found = play(fresh(), { type: "search", query: 'name:"edge 4"' });
    expect(at(play(found, { type: "stepMatch", by: 1 }))).toEqual([3, 4]);
  });
});

describe("arrow keys", () => {
  it("start at the first line, and move from line to line", () => {
    const seen = [1, 2, 3, 4].map((count) => play(fresh(), ...step(...Array(count).fill("next"))));
    expect(seen.map(({ line }) => line)).toEqual([0, 4, 5, 5]);
    expect(play(fresh(), selectLine(4), ...step("previous")).line).toBe(0);
  });

  it("reach both ends and stop there", () => {
    const last = play(fresh(), ...step("next", "last"));
    expect([last.line, play(last, ...step("pageDown")).line]).toEqual([5, 5]);
    expect(play(last, ...step("first", "pageUp")).line).toBe(0);
  });

  it("move inwards: first open the line, then go to the first one inside", () => {
    const opened = play(fresh(), selectLine(0), ...step("in"));
    expect([opened.line, lines(opened)]).toEqual([0, [0, 1, 2, 4, 5]]);
    const inner = play(opened, ...step("in"));
    expect(inner.line).toBe(1);
    expect(play(inner, ...step("in")).line).toBe(1); // it cannot open
  });

  it("move outwards: first close the line, then go to the one that holds it", () => {
    const state = play(fresh(), selectLine(2), ...step("in", "out"));
    expect([state.line, lines(state)]).toEqual([2, [0, 1, 2, 4, 5]]);
    expect(play(state, ...step("out")).line).toBe(0);
    expect(play(fresh(), selectLine(4), ...step("out")).line).toBe(4);
  });

  it("do nothing in an empty table", () => {
    expect(at(play(fresh(check([])), ...step("next", "in", "out", "last")))).toEqual([null, null]);
  });
});

describe("opening", () => {
  it("and closing lines keeps the selection", () => {
    const toggle: Action = { type: "toggleLine", line: 0 };
    const state = play(fresh(), selectLine(4), toggle);
    expect([lines(state), state.line]).toEqual([[0, 1, 2, 4, 5], 4]);
    expect(lines(play(state, toggle))).toEqual([0, 4, 5]);
    expect(lines(play(fresh(), selectLine(5), { type: "toggleSelected" }))).toEqual([0, 4, 5, 6]);
  });

  it("all lines beside the selected one", () => {
    expect(lines(play(fresh(), selectLine(4), { type: "openSiblings" }))).toEqual([
      0, 1, 2, 4, 5, 6,
    ]);
    expect(lines(play(fresh(), { type: "openSiblings" }))).toEqual([0, 4, 5]);
  });

  it("a set of lines, as while a restore plays", () => {
    const state = play(fresh(), { type: "toggleLine", line: 0 });
    expect(lines(play(state, { type: "setOpenLines", lines: [5] }))).toEqual([0, 4, 5, 6]);
  });
});

describe("stepping through changes", () => {
  const next: Action = { type: "stepChange", by: 1 };
  const previous: Action = { type: "stepChange", by: -1 };

  it("goes from each change to the next, and wraps around", () => {
    const seen = [[next], [next, next], [next, next, next], [previous], [previous, previous]];
    expect(seen.map((actions) => play(fresh(), ...actions).line)).toEqual([4, 5, 4, 5, 4]);
  });

  it("goes on from the selected line or node", () => {
    expect(play(fresh(), selectLine(4), next).line).toBe(5);
    expect(play(fresh(), { type: "select", id: 7 }, next).line).toBe(4);
  });

  it("selects the node of a change in a drawing, from where a person is", () => {
    const drawn = play(fresh(), { type: "showView", view: "objects" });
    const first = play(drawn, next);
    expect([first.drawn, first.selected, first.rowOf.has(5)]).toEqual(["tree", 5, true]);
    expect(play(first, next).selected).toBe(6);
    expect(play(first, { type: "select", id: 7 }, next).selected).toBe(5);
    expect(play(first, { type: "select", id: 2 }, next).selected).toBe(5);
  });

  it("does nothing without changes, or without a table", () => {
    for (const state of [fresh(TREE), fresh(check([{ name: "a", node: 1 }]))]) {
      expect(play(state, next, previous)).toBe(state);
    }
  });
});

describe("the order of a table", () => {
  const moved = [0, 0, 1, 3, 3, 0, 9, 9, 0];
  const measures = {
    ...{ unread: 0, unreadable: 0 },
    of: (id: number) => (name: string) =>
      name === "moved" ? (moved[id] ?? 0) : name === "before" ? 1 : 0,
  };
  const sort: Action = { type: "sortLines" };

  it("is by change, the largest first, inside of each line; and again as saved", () => {
    const open: Action = { type: "setOpenLines", lines: [0] };
    const sorted = play(fresh({ ...check(), measures }), open, sort);
    expect(lines(sorted)).toEqual([5, 0, 2, 1, 4]);
    expect(lines(play(sorted, sort))).toEqual([0, 1, 2, 4, 5]);
    expect(play(sorted, selectLine(5), ...step("next")).line).toBe(0);
  });

  it("stays as saved before the values were read", () => {
    expect(lines(play(fresh(), sort))).toEqual([0, 4, 5]);
  });
});

describe("what a table leaves out", () => {
  const only = (shows: boolean): Action => ({ type: "showOnlyChanges", only: shows });
  const filter: Action = { type: "setMode", mode: "filter" };
  const search = (query: string): Action => ({ type: "search", query });

  it("are parts without a change; a change stays with all that is inside of it", () => {
    const state = play(fresh(), only(true));
    expect([lines(state), state.onlyChanges]).toEqual([[4, 5], true]);
    expect(tableRows(state).map(({ siblings }) => siblings)).toEqual([2, 2]);
    expect(lines(play(state, { type: "toggleLine", line: 5 }))).toEqual([4, 5, 6]);
    expect(lines(play(state, only(false)))).toEqual([0, 4, 5]);
  });

  it("are parts without a match, while a search hides these", () => {
    const state = play(fresh(), filter, search('name:"edge 4"'));
    expect(lines(state)).toEqual([0, 2, 3]);
    expect(tableRows(state).map(({ siblings }) => siblings)).toEqual([1, 1, 1]);
    expect(lines(play(state, { type: "setMode", mode: "highlight" }))).toEqual([0, 4, 5]);
    expect(lines(play(state, search("")))).toEqual([0, 4, 5]);
  });

  it("keeps all matches, however many there are", () => {
    const count = 3_000;
    const many = treeGraph(Array(count).fill(0));
    const list = Array.from({ length: count }, (_, i): LineOf => ({ name: `${i}`, node: i + 1 }));
    const state = play(fresh(compared(many, { lines: list })), filter, search("edge"));
    expect(lines(state)).toHaveLength(count);
  });

  it("lets the arrow keys move through what a search leaves, all of it open", () => {
    const state = play(fresh(), filter, search('name:"edge 4"'), ...step("next"));
    const walk = [step("in"), step("in", "in"), step("in", "in", "out")];
    expect(walk.map((steps) => play(state, ...steps).line)).toEqual([2, 3, 2]);
    expect(play(state, { type: "toggleLine", line: 0 })).toBe(state);
  });
});

describe("the table and the graph", () => {
  const toggle: Action = { type: "toggleTable" };

  it("take turns, and keep the selection", () => {
    const state = play(fresh(), selectLine(3));
    const graph = play(state, toggle);
    expect([graph.drawn, graph.selected, graph.rowOf.has(4)]).toEqual(["tree", 4, true]);
    const back = play(graph, toggle);
    expect([back.drawn, ...at(back)]).toEqual(["table", 3, 4]);
    const elsewhere = play(graph, { type: "select", id: 7 }, toggle);
    expect([lines(elsewhere).includes(6), ...at(elsewhere)]).toEqual([true, 6, 7]);
  });

  it("keep a line whose node another line has, too", () => {
    const lines = [
      { name: "a", live: "", savedNode: 1 },
      { name: "", live: "b", node: 1 },
    ];
    expect(at(play(fresh(check(lines)), selectLine(0), toggle, toggle))).toEqual([0, 1]);
  });

  it("are two only in a comparison", () => {
    const state = fresh(TREE);
    expect(play(state, toggle)).toBe(state);
    expect(play(state, { type: "showView", view: "table" })).toBe(state);
  });
});

describe("another graph", () => {
  const load = (graph: Graph): Action => ({ type: "load", graph });

  it("comes as a table if it is a comparison, and stays as the user has chosen", () => {
    expect(play(fresh(), load(TREE)).drawn).toBe("tree");
    expect(play(fresh(TREE), load(check())).drawn).toBe("table");
    const chosen = play(fresh(), { type: "showView", view: "objects" });
    expect(play(chosen, load(check())).drawn).toBe("tree");
  });

  it("keeps the open and the selected lines of the same names", () => {
    const state = play(fresh(), selectLine(3), { type: "toggleLine", line: 5 });
    const later = play(state, load(check([{ name: "new" }, ...LINES.slice(0, 2)])));
    expect(lines(later)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(later.line).toBe(4);
    const renamed = play(state, load(check([{ ...LINES[0]!, live: "body" }])));
    expect([lines(renamed), renamed.line]).toEqual([[0], null]);
    expect(play(state, load(TREE))).toMatchObject({ line: null, openLines: new Set() });
  });
});
