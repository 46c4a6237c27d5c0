import { describe, expect, it } from "vitest";
import type { Graph } from "./graph";
import { compared, fullTree, loadGraph, treeGraph } from "./graphs.test-data";
import type { Widths } from "./layout/tidy";
import {
  type Action,
  firstProblemNode,
  initialState,
  isAtProblem,
  reduce,
  type State,
  showsOnlyProblems,
} from "./state";

const WIDTHS: Widths = { box: () => 80, label: () => 40 };

/** A view of 600 by 400, the first two levels open. */
function start(graph = fullTree(4, 5)): State {
  const state = reduce(
    initialState(graph, () => WIDTHS),
    { type: "resize", width: 600, height: 400 },
  );
  return reduce(state, { type: "setExpanded", expanded: [0, ...graph.treeChildren(0)] });
}

const play = (state: State, ...actions: Action[]): State => actions.reduce(reduce, state);

/** Where a node's box stands on the screen. */
function onScreen(state: State, id: number): { x: number; y: number } {
  const box = state.layout.boxes[state.rowOf.get(id)!]!;
  const { x, y, scale } = state.camera;
  return { x: box.x * scale + x, y: box.y * scale + y };
}

describe("opening and closing", () => {
  it("leaves the node where it is", () => {
    let state = play(start(), { type: "zoom", factor: 0.9 }, { type: "pan", dx: 13, dy: -7 });
    for (const id of [2, 1, 1, 5, 2]) {
      const before = onScreen(state, id);
      state = reduce(state, { type: "toggle", id });
      expect(onScreen(state, id).x).toBeCloseTo(before.x);
      expect(onScreen(state, id).y).toBeCloseTo(before.y);
    }
  });

  it("of what holds the selection moves the selection up to it", () => {
    const state = play(start(), { type: "select", id: 21 }, { type: "toggle", id: 1 });
    expect(state.selected).toBe(1);
  });

  it("does nothing to a leaf", () => {
    const state = start(fullTree(2, 1));
    expect(reduce(state, { type: "toggle", id: 1 })).toBe(state);
  });
});

describe("selecting", () => {
  it("a hidden node opens the way to it and brings it into sight", () => {
    const graph = fullTree(4, 5);
    const state = reduce(start(graph), { type: "select", id: graph.size - 1 });
    const { x, y } = onScreen(state, graph.size - 1);
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + 80).toBeLessThanOrEqual(600);
    expect(y).toBeGreaterThan(0);
    expect(y).toBeLessThan(400);
  });

  it("nothing, or what is not there, selects nothing", () => {
    expect(play(start(), { type: "select", id: 3 }, { type: "select", id: null }).selected).toBe(
      null,
    );
    expect(play(start(), { type: "select", id: 10 ** 9 }).selected).toBe(null);
  });
});

it("the other place of what was moved is found, also where it is folded away or filtered out", () => {
  const graph = compared(fullTree(2, 2), {
    ...{ comparison: "diff", baseSize: 5, states: { 4: "moved", 6: "moved" } },
    otherPlaces: { 4: 6, 6: 4 },
  });
  const folded = play(start(graph), { type: "select", id: 4 }, { type: "toggle", id: 2 });
  const hidden = play(folded, { type: "showState", state: "moved", shows: false });
  for (const state of [folded, hidden]) {
    expect(state.rowOf.has(6)).toBe(false);
    const there = play(state, { type: "select", id: graph.overlay!.otherPlace(4) });
    expect([there.selected, there.rowOf.has(6)]).toEqual([6, true]);
  }
});

it("selecting bookkeeping shows bookkeeping, and hiding it drops the selection", () => {
  const tree: Graph = {
    ...fullTree(2, 1),
    role: (id) => (id === 1 ? "bookkeeping" : "object"),
  };
  const state = reduce(start(tree), { type: "select", id: 1 });
  expect([state.showsBookkeeping, state.rowOf.has(1)]).toEqual([true, true]);
  const hidden = reduce(state, { type: "showBookkeeping", shows: false });
  expect([hidden.selected, hidden.rowOf.has(1)]).toEqual([null, false]);
});

describe("arrow keys", () => {
  const step = (...steps: Extract<Action, { type: "step" }>["step"][]): Action[] =>
    steps.map((name) => ({ type: "step", step: name }));

  it("start at the root", () => {
    expect(play(start(), ...step("next")).selected).toBe(0);
  });
  it("go down and up in reading order", () => {
    const state = play(start(), ...step("next", "next", "next", "previous"));
    expect(state.selected).toBe(1);
  });
  it("go in: first open, then to the first child", () => {
    const closed = play(start(), { type: "select", id: 5 });
    expect(closed.rows.find((row) => row.id === 5)?.isExpanded).toBe(false);
    const opened = play(closed, ...step("in"));
    expect([opened.selected, opened.rows.find((row) => row.id === 5)?.isExpanded]).toEqual([
      5,
      true,
    ]);
    expect(play(opened, ...step("in")).selected).toBe(21);
  });
  it("go out: first close, then to the parent", () => {
    const state = play(start(), { type: "select", id: 5 }, ...step("in", "out"));
    expect(state.selected).toBe(5);
    expect(play(state, ...step("out")).selected).toBe(1);
  });
  it("reach both ends and stop there", () => {
    const state = play(start(), ...step("next", "last"));
    expect(state.selected).toBe(state.rows.at(-1)?.id);
    expect(play(state, ...step("next")).selected).toBe(state.selected);
    expect(play(state, ...step("first", "previous")).selected).toBe(0);
  });
});

describe("zooming", () => {
  it("keeps the point under the pointer", () => {
    const state = start();
    const zoomed = reduce(state, { type: "zoom", factor: 1.5, x: 200, y: 100 });
    const under = ({ camera }: State) => [
      (200 - camera.x) / camera.scale,
      (100 - camera.y) / camera.scale,
    ];
    expect(under(zoomed)[0]).toBeCloseTo(under(state)[0]!);
    expect(under(zoomed)[1]).toBeCloseTo(under(state)[1]!);
  });
  it("stays within bounds", () => {
    const zooms = (factor: number) =>
      Array.from({ length: 50 }, (): Action => ({ type: "zoom", factor }));
    expect(play(start(), ...zooms(0.5)).camera.scale).toBe(0.1);
    expect(play(start(), ...zooms(2)).camera.scale).toBe(3);
  });
});

it("shows a saved Keras optimizer with slots folded into their variables", async () => {
  const state = start(await loadGraph("keras3_adam"));
  expect(state.rows.map((row) => state.graph.role(row.id))).not.toContain("slot");
  const opened = reduce(state, { type: "toggle", id: 7 });
  expect(
    opened.rows.filter((row) => state.graph.role(row.id) === "slot").map((row) => row.id),
  ).toEqual([9]);
});

it("says null for what is open until somebody chose", () => {
  const state = initialState(fullTree(4, 5), () => WIDTHS);
  expect(state.isDefaultExpansion).toBe(true);
  const chosen = reduce(state, { type: "setExpanded", expanded: [0] });
  expect([chosen.isDefaultExpansion, chosen.rows.length]).toEqual([false, 5]);
  expect(reduce(chosen, { type: "setExpanded", expanded: null }).isDefaultExpansion).toBe(true);
});

const rowIds = (state: State) => state.rows.map((row) => row.id);

/** A view of 600 by 400 of what opens by itself. */
const fresh = (graph: Graph): State =>
  reduce(
    initialState(graph, () => WIDTHS),
    { type: "resize", width: 600, height: 400 },
  );

function expectInSight(state: State, id: number): void {
  const { x, y } = onScreen(state, id);
  expect(x).toBeGreaterThanOrEqual(0);
  expect(x + 80 * state.camera.scale).toBeLessThanOrEqual(600);
  expect(y).toBeGreaterThan(0);
  expect(y).toBeLessThan(400);
}

describe("a comparison at first", () => {
  const tree = fullTree(6, 4); // 1555 nodes, the last 1296 of them leaves

  it("is open where the problems are, the first of them in sight, none selected", () => {
    const state = fresh(compared(tree, { problems: [{ nodes: [1000] }, { nodes: [1400] }] }));
    expect(rowIds(state)).toEqual(expect.arrayContaining([1000, 1400]));
    expect([state.selected, state.problem, state.isDefaultExpansion]).toEqual([null, null, true]);
    expectInSight(state, 1000);
  });

  it("is open for notes only as far as any graph", () => {
    const plain = rowIds(fresh(tree));
    const noted = fresh(compared(tree, { problems: [{ severity: "info", nodes: [1000] }] }));
    expect(rowIds(noted)).toEqual(plain);
  });

  it("has 400 rows at most, however many problems there are", () => {
    const problems = Array.from({ length: 1296 }, (_, i) => ({ nodes: [259 + i] }));
    const rows = fresh(compared(tree, { problems })).rows.length;
    expect(rows).toBeGreaterThan(380);
    expect(rows).toBeLessThanOrEqual(400);
  });

  it("shows what holds the first problem where that would be too many", () => {
    const wide = treeGraph([0, ...Array.from({ length: 5000 }, () => 1)]);
    const state = fresh(compared(wide, { problems: [{ nodes: [3000] }] }));
    expect([rowIds(state), firstProblemNode(state)]).toEqual([[0, 1], 1]);
  });

  it("shows bookkeeping in which something is wrong", () => {
    const lists: Graph = {
      ...treeGraph([0, 0, 1]),
      role: (id) => (id === 1 || id === 2 ? "bookkeeping" : "object"),
    };
    expect(rowIds(fresh(compared(lists, { problems: [{ nodes: [3] }] })))).toEqual([0, 1, 3]);
  });
});

describe("stepping through problems", () => {
  const tree = compared(fullTree(6, 4), {
    problems: [{ nodes: [1500, 3] }, { nodes: [] }, { nodes: [700] }],
  });
  const next: Action = { type: "stepProblem", by: 1 };
  const previous: Action = { type: "stepProblem", by: -1 };

  it("selects each problem's first node, opens the way to it and brings it into sight", () => {
    let state = reduce(fresh(tree), { type: "setExpanded", expanded: [] });
    state = reduce(state, next);
    expect([state.problem, state.selected, isAtProblem(state)]).toEqual([0, 1500, true]);
    expectInSight(state, 1500);
    state = play(state, next, next);
    expect([state.problem, state.selected]).toEqual([2, 700]);
    expectInSight(state, 700);
    expect(reduce(state, next).problem).toBe(0);
    expect(reduce(state, previous).problem).toBe(1);
  });

  it("selects nothing for a problem of the comparison as a whole", () => {
    const state = play(fresh(tree), next, next);
    expect([state.problem, state.selected, isAtProblem(state)]).toEqual([1, null, true]);
  });

  it("goes on from the problem of the node that was selected meanwhile", () => {
    const state = play(fresh(tree), { type: "select", id: 700 });
    expect(state.problem).toBe(2);
    const elsewhere = reduce(state, { type: "select", id: 5 });
    expect([elsewhere.problem, isAtProblem(elsewhere)]).toEqual([2, false]);
  });

  it("stays at one of several problems of a node", () => {
    const both = compared(fullTree(2, 2), { problems: [{ nodes: [3] }, { nodes: [3] }] });
    expect(play(fresh(both), next, next).problem).toBe(1);
  });

  it("does nothing without problems, or to one that is not there", () => {
    for (const state of [fresh(fullTree(2, 2)), fresh(compared(fullTree(2, 2), {}))]) {
      expect(play(state, next, previous, { type: "goToProblem", problem: 7 })).toBe(state);
    }
  });
});

describe("filters by state", () => {
  const tree = compared(fullTree(6, 4), {
    states: { 0: "plain", 2: "plain", 700: "shape", 1500: "live only" },
    problems: [{ nodes: [700] }],
  });
  const only = (shows: boolean): Action => ({ type: "showOnlyProblems", only: shows });
  const path = (id: number): number[] => (id === 0 ? [0] : [...path(tree.treeParent(id)!), id]);

  it("leave the problems and what holds them, all open", () => {
    const state = reduce(fresh(tree), only(true));
    expect(rowIds(state)).toEqual([...path(700), ...path(1500).slice(1)]);
    expect(showsOnlyProblems(state)).toBe(true);
    expectInSight(state, 700);
  });

  it("leave less with each state that is switched off", () => {
    const state = play(fresh(tree), only(true), {
      type: "showState",
      state: "shape",
      shows: false,
    });
    expect(rowIds(state)).toEqual(path(1500));
    expect(showsOnlyProblems(state)).toBe(false);
  });

  it("leave what was open as it was, once they are lifted", () => {
    const before = reduce(fresh(tree), { type: "toggle", id: 1 });
    const after = play(before, only(true), { type: "toggle", id: 0 }, only(false));
    expect(rowIds(after)).toEqual(rowIds(before));
    expect(after.isDefaultExpansion).toBe(false);
  });

  it("keep the selection if it remains, and in sight", () => {
    const selected = play(fresh(tree), { type: "select", id: 1500 }, only(true));
    expect(selected.selected).toBe(1500);
    expectInSight(selected, 1500);
    expect(play(fresh(tree), { type: "select", id: 1501 }, only(true)).selected).toBe(null);
  });

  it("give way to a node that is selected from elsewhere", () => {
    const state = play(fresh(tree), only(true), { type: "select", id: 1501 });
    expect([state.selected, state.hidden.has("matched")]).toEqual([1501, false]);
    expectInSight(state, 1501);
  });

  it("leave the root of what has no other", () => {
    const well = compared(fullTree(3, 2), {});
    expect(rowIds(reduce(fresh(well), only(true)))).toEqual([0]);
  });
});

describe("a search", () => {
  const tree = fullTree(6, 4); // the labels are `edge 1`, `edge 2`, …
  const search = (query: string): Action => ({ type: "search", query });
  const filter: Action = { type: "setMode", mode: "filter" };
  const next: Action = { type: "stepMatch", by: 1 };
  const previous: Action = { type: "stepMatch", by: -1 };

  it("marks what it finds, and leaves rows and selection alone", () => {
    const before = play(fresh(tree), { type: "select", id: 3 });
    const { found, rows, selected } = play(before, search("name:edge*99"));
    expect(found.matches.length).toBeGreaterThan(3);
    expect(found.isMatch[99]).toBe(1);
    expect([rows, selected]).toEqual([before.rows, 3]);
  });

  it("is stepped through in the order of the outline, in a circle", () => {
    const state = play(fresh(tree), search("name:edge*1500|name:x name:edge*"));
    expect(state.found.matches).toEqual([]);
    expect(play(state, next)).toBe(state);
    const some = play(fresh(tree), search("path:edge*1/edge*7/*"));
    const ids = some.found.matches;
    expect(ids).toHaveLength(6);
    expect(play(some, next).selected).toBe(ids[0]);
    expect(play(some, next, next).selected).toBe(ids[1]);
    expect(play(some, previous).selected).toBe(ids[5]);
    expect(play(some, previous, next).selected).toBe(ids[0]);
    expectInSight(play(some, next), ids[0]!);
  });

  it("as a filter leaves matches and what holds them, open; then all is as before", () => {
    const before = play(fresh(tree), { type: "toggle", id: 1 });
    const state = play(before, filter, search("name:edge*1500"));
    const path = [1500];
    while (path[0] !== 0) {
      path.unshift(tree.treeParent(path[0]!)!);
    }
    expect(rowIds(state)).toEqual(path);
    expect(rowIds(play(state, search("")))).toEqual(rowIds(before));
    expect(rowIds(play(state, { type: "setMode", mode: "highlight" }))).toEqual(rowIds(before));
    expect(rowIds(play(state, search("role:foo")))).toEqual(rowIds(before));
    expect(rowIds(play(state, search("nothing")))).toEqual([0]);
  });

  it("as a filter gives way to a node that is selected from elsewhere", () => {
    const state = play(fresh(tree), filter, search("name:edge*1500"), { type: "select", id: 900 });
    expect([state.selected, state.mode, state.query]).toEqual([900, "highlight", "name:edge*1500"]);
    expectInSight(state, 900);
  });

  it("as a filter shows bookkeeping that it finds", () => {
    const lists: Graph = {
      ...treeGraph([0, 0, 1]),
      role: (id) => (id === 1 ? "bookkeeping" : "object"),
    };
    expect(rowIds(play(fresh(lists), filter, search("role:book")))).toEqual([0, 1]);
    expect(rowIds(play(fresh(lists), filter, search("name:edge*3")))).toEqual([0, 1, 3]);
  });

  it("is made anew in another graph", () => {
    const state = play(fresh(tree), search("name:edge*3"), { type: "load", graph: fullTree(4, 1) });
    expect([state.query, state.found.matches]).toEqual(["name:edge*3", [3]]);
  });
});
