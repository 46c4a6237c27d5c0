import { describe, expect, it } from "vitest";
import type { Graph } from "../data/graph";
import { type Defaults, defaultsOf } from "../host/defaults";
import { ancestors } from "../layout/shown";
import { WAITING } from "../search/found";
import { compared, fullTree, loadGraph, treeGraph, WIDTHS } from "../tests/graphs.test-data";
import type { Picture } from "../textbook/picture";
import { firstProblemNode } from "./problems";
import { initialState, reduce } from "./reduce";
import type { Action, State } from "./state";

/** A view of 600 by 400 with the first two levels open. */
function start(graph = fullTree(4, 5)): State {
  const state = reduce(
    initialState(graph, () => WIDTHS),
    { type: "resize", width: 600, height: 400 },
  );
  return reduce(state, { type: "setExpanded", expanded: [0, ...graph.treeChildren(0)] });
}

const play = (state: State, ...actions: Action[]): State => actions.reduce(reduce, state);

/** The position of a node's box on the screen. */
function onScreen(state: State, id: number): { x: number; y: number } {
  const box = state.layout.boxes[state.rowOf.get(id)!]!;
  const { x, y, scale } = state.camera;
  return { x: box.x * scale + x, y: box.y * scale + y };
}

describe("opening and closing", () => {
  it("keeps the node in its place on the screen", () => {
    let state = play(start(), { type: "zoom", factor: 0.9 }, { type: "pan", dx: 13, dy: -7 });
    for (const id of [2, 1, 1, 5, 2]) {
      const before = onScreen(state, id);
      state = reduce(state, { type: "toggle", id });
      expect(onScreen(state, id).x).toBeCloseTo(before.x);
      expect(onScreen(state, id).y).toBeCloseTo(before.y);
    }
  });

  it("moves the selection up to a node that closes over it", () => {
    const state = play(start(), { type: "select", id: 21 }, { type: "toggle", id: 1 });
    expect(state.selected).toBe(1);
  });

  it("leaves a leaf unchanged", () => {
    const state = start(fullTree(2, 1));
    expect(reduce(state, { type: "toggle", id: 1 })).toBe(state);
  });
});

describe("selecting", () => {
  it("a hidden node opens its ancestors and brings it into sight", () => {
    const graph = fullTree(4, 5);
    const state = reduce(start(graph), { type: "select", id: graph.size - 1 });
    const { x, y } = onScreen(state, graph.size - 1);
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + 80).toBeLessThanOrEqual(600);
    expect(y).toBeGreaterThan(0);
    expect(y).toBeLessThan(400);
  });

  it("null or an unknown id selects nothing", () => {
    expect(play(start(), { type: "select", id: 3 }, { type: "select", id: null }).selected).toBe(
      null,
    );
    expect(play(start(), { type: "select", id: 10 ** 9 }).selected).toBe(null);
  });
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
  it("move down and up in reading order", () => {
    const state = play(start(), ...step("next", "next", "next", "previous"));
    expect(state.selected).toBe(1);
  });
  it("move inwards: first open the node, then go to its first child", () => {
    const closed = play(start(), { type: "select", id: 5 });
    expect(closed.rows.find((row) => row.id === 5)?.isExpanded).toBe(false);
    const opened = play(closed, ...step("in"));
    expect([opened.selected, opened.rows.find((row) => row.id === 5)?.isExpanded]).toEqual([
      5,
      true,
    ]);
    expect(play(opened, ...step("in")).selected).toBe(21);
  });
  it("move outwards: first close the node, then go to its parent", () => {
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

const rowIds = (state: State) => state.rows.map((row) => row.id);

/** A view of 600 by 400 with the nodes open that open by themselves. */
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

describe("a new size", () => {
  const shrink = { type: "resize", width: 300, height: 150 } as const;

  it("fits the drawing again if the user has not moved it", () => {
    const state = reduce(fresh(fullTree(1, 5)), shrink);
    expect(onScreen(state, 0).y).toBeLessThan(150);
    expect(state).toEqual(reduce(state, { type: "fit" }));
  });

  it("keeps the selected node in sight, and a moved drawing in its place", () => {
    const moved = play(start(), { type: "select", id: 8 }, { type: "pan", dx: 3, dy: -3 });
    const { x, y } = onScreen(reduce(moved, shrink), 8);
    expect([x > 0, x < 300, y > 0, y < 150]).toEqual([true, true, true, true]);
    const away = reduce(moved, { type: "pan", dx: -5000, dy: 0 });
    expect(reduce(away, shrink).camera).toEqual(away.camera);
  });
});

describe("a new comparison", () => {
  const tree = fullTree(6, 4); // 1555 nodes; the last 1296 are leaves

  it("opens the way to its problems, with the first in sight and none selected", () => {
    const state = fresh(compared(tree, { problems: [{ nodes: [1000] }, { nodes: [1400] }] }));
    expect(rowIds(state)).toEqual(expect.arrayContaining([1000, 1400]));
    expect([state.selected, state.isDefaultExpansion]).toEqual([null, true]);
    expectInSight(state, 1000);
  });

  it("opens no further for notes than any other graph", () => {
    const plain = rowIds(fresh(tree));
    const noted = fresh(compared(tree, { problems: [{ severity: "info", nodes: [1000] }] }));
    expect(rowIds(noted)).toEqual(plain);
  });

  it("has at most 400 rows, however many problems there are", () => {
    const problems = Array.from({ length: 1296 }, (_, i) => ({ nodes: [259 + i] }));
    const rows = fresh(compared(tree, { problems })).rows.length;
    expect(rows).toBeGreaterThan(380);
    expect(rows).toBeLessThanOrEqual(400);
  });

  it("shows an ancestor of the first problem if opening would add too many rows", () => {
    const rows = (length: number) => Array.from({ length }, (_, i) => i);
    const deep = treeGraph([
      0,
      ...rows(500).flatMap((i) => Array(90).fill(i < 1 ? 1 : 2 + 90 * (i - 1))),
    ]);
    const state = fresh(compared(deep, { problems: [{ nodes: [deep.size - 1] }] }));
    const first = firstProblemNode(state);
    expect(rowIds(state).length).toBeLessThanOrEqual(400);
    expect(first).not.toBe(deep.size - 1);
    expect(rowIds(state)).toContain(first);
  });

  it("shows bookkeeping that has a problem", () => {
    const lists: Graph = {
      ...treeGraph([0, 0, 1]),
      role: (id) => (id === 1 || id === 2 ? "bookkeeping" : "object"),
    };
    expect(rowIds(fresh(compared(lists, { problems: [{ nodes: [3] }] })))).toEqual([0, 1, 3]);
  });
});

describe("defaults of the page", () => {
  const opened = (graph: Graph, defaults: Partial<Defaults>): State =>
    reduce(
      initialState(graph, () => WIDTHS, defaultsOf(defaults)),
      { type: "resize", width: 600, height: 400 },
    );
  const levels = (state: State) => Math.max(...state.rows.map(({ level }) => level));
  const tree = fullTree(6, 4);
  const leaves = Array.from({ length: 1296 }, (_, i) => 259 + i);

  it("open the given number of levels", () => {
    const graph = fullTree(3, 6);
    expect([1, 2, 3, 4].map((depth) => opened(graph, { depth }).rows.length)).toEqual([
      4, 13, 40, 121,
    ]);
    expect(rowIds(opened(graph, { depth: 0 }))).toEqual(rowIds(fresh(graph)));
    expect(opened(fullTree(1, 3), { depth: 9 }).rows.length).toBe(4);
  });

  it("count as the view's own choice: the host gets null, and can return to it", () => {
    const state = opened(fullTree(3, 6), { depth: 3 });
    expect(state.isDefaultExpansion).toBe(true);
    const back = play(
      state,
      { type: "setExpanded", expanded: [0] },
      { type: "setExpanded", expanded: null },
    );
    expect(rowIds(back)).toEqual(rowIds(state));
    const again = play(state, { type: "load", graph: fullTree(3, 6) });
    expect(rowIds(again)).toEqual(rowIds(state));
  });

  it("leave variables closed, with their slots", async () => {
    const { graph, rows } = opened(await loadGraph("keras3_adam"), { depth: 9 });
    expect(rows.map(({ id }) => graph.role(id))).toContain("variable");
    expect(rows.map(({ id }) => graph.role(id))).not.toContain("slot");
  });

  it("never open more than 400 rows, and open long lists only in chunks", () => {
    const wide = treeGraph([
      ...Array(50_000).fill(0),
      ...Array.from({ length: 50_000 }, (_, i) => i + 1),
    ]);
    for (const graph of [fullTree(6, 6), fullTree(50, 3), wide]) {
      for (const depth of [2, 5, 1000]) {
        expect(opened(graph, { depth }).rows.length).toBeLessThanOrEqual(400);
      }
    }
    expect(opened(wide, { depth: 1 }).rows.every(({ id, chunk }) => id === 0 || chunk)).toBe(true);
  });

  it("still reveal the problems at any depth", () => {
    const few = compared(tree, { problems: [{ nodes: [1000] }, { nodes: [1400] }] });
    for (const depth of [1, 3, 1000]) {
      const state = opened(few, { depth });
      expect(rowIds(state)).toEqual(expect.arrayContaining([1000, 1400]));
      expectInSight(state, 1000);
    }
    const unexpanded = opened(few, { depth: 1 });
    const held = [1000, 1400].flatMap((id) => ancestors(unexpanded.tree, id));
    expect(new Set(held)).toEqual(unexpanded.expanded);
    const many = compared(tree, { problems: leaves.map((id) => ({ nodes: [id] })) });
    expect(opened(many, { depth: 1000 }).rows.length).toBeLessThanOrEqual(800);
  });

  it("show what Keras tracks for itself, and the user can hide it again", () => {
    const lists: Graph = {
      ...treeGraph([0, 0, 1]),
      role: (id) => (id === 1 ? "bookkeeping" : "object"),
    };
    const state = opened(lists, { bookkeeping: true });
    expect(rowIds(state)).toEqual([0, 1, 3, 2]);
    expect(rowIds(play(state, { type: "showBookkeeping", shows: false }))).toEqual([0, 2]);
  });

  it("reduce a comparison to what needs attention, as its button does", () => {
    const graph = compared(tree, { states: { 700: "shape" }, problems: [{ nodes: [700] }] });
    const state = opened(graph, { matched: false });
    const clicked = play(fresh(graph), { type: "showOnlyChanges", only: true });
    expect(rowIds(state)).toEqual(rowIds(clicked));
    expect([state.onlyChanges, state.isDefaultExpansion]).toEqual([true, true]);
    expectInSight(state, 700);
    const lifted = play(state, { type: "showOnlyChanges", only: false });
    expect(rowIds(lifted)).toEqual(rowIds(fresh(graph)));
  });

  it("hide nothing if nothing would remain", () => {
    for (const graph of [tree, compared(tree, {})]) {
      const state = opened(graph, { matched: false });
      expect([state.onlyChanges, rowIds(state)]).toEqual([false, rowIds(fresh(graph))]);
    }
  });

  it("show everything once a graph without problems arrives", () => {
    const wrong = compared(tree, { states: { 700: "shape" }, problems: [{ nodes: [700] }] });
    const state = opened(wrong, { matched: false });
    expect(play(state, { type: "load", graph: wrong }).onlyChanges).toBe(true);
    const solved = play(state, { type: "load", graph: compared(tree, {}) });
    expect([solved.onlyChanges, levels(solved)]).toEqual([false, 5]);
  });
});

describe("only changes, in a drawing,", () => {
  const tree = compared(fullTree(6, 4), {
    states: { 0: "plain", 2: "plain", 700: "shape", 1500: "live only" },
    problems: [{ nodes: [700] }],
  });
  const only = (shows: boolean): Action => ({ type: "showOnlyChanges", only: shows });
  const path = (id: number): number[] => (id === 0 ? [0] : [...path(tree.treeParent(id)!), id]);

  it("leave the problems and their ancestors, all open", () => {
    const state = reduce(fresh(tree), only(true));
    expect(rowIds(state)).toEqual([...path(700), ...path(1500).slice(1)]);
    expect(state.onlyChanges).toBe(true);
    expectInSight(state, 700);
  });

  it("restore the open nodes once they are off", () => {
    const before = reduce(fresh(tree), { type: "toggle", id: 1 });
    const after = play(before, only(true), { type: "toggle", id: 0 }, only(false));
    expect(rowIds(after)).toEqual(rowIds(before));
    expect(after.isDefaultExpansion).toBe(false);
  });

  it("keep the selection, and keep it in sight, if it remains", () => {
    const selected = play(fresh(tree), { type: "select", id: 1500 }, only(true));
    expect(selected.selected).toBe(1500);
    expectInSight(selected, 1500);
    expect(play(fresh(tree), { type: "select", id: 1501 }, only(true)).selected).toBe(null);
  });

  it("switch off for a hidden node that the host selects", () => {
    const state = play(fresh(tree), only(true), { type: "select", id: 1501 });
    expect([state.selected, state.onlyChanges]).toEqual([1501, false]);
    expectInSight(state, 1501);
  });

  it("leave the root if no other node remains", () => {
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

  it("marks its matches, and leaves rows and selection unchanged", () => {
    const before = play(fresh(tree), { type: "select", id: 3 });
    const { found, rows, selected } = play(before, search("name:edge*99"));
    expect(found.matches.length).toBeGreaterThan(3);
    expect(found.isMatch[99]).toBe(1);
    expect([rows, selected]).toEqual([before.rows, 3]);
  });

  it("steps through its matches in the order of the outline, and wraps around", () => {
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

  it("as a filter leaves matches and their ancestors open, and afterwards restores the rest", () => {
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

  it("as a filter switches off for a hidden node that the host selects", () => {
    const state = play(fresh(tree), filter, search("name:edge*1500"), { type: "select", id: 900 });
    expect([state.selected, state.mode, state.query]).toEqual([900, "highlight", "name:edge*1500"]);
    expectInSight(state, 900);
  });

  it("as a filter shows matching bookkeeping", () => {
    const lists: Graph = {
      ...treeGraph([0, 0, 1]),
      role: (id) => (id === 1 ? "bookkeeping" : "object"),
    };
    expect(rowIds(play(fresh(lists), filter, search("role:book")))).toEqual([0, 1]);
    expect(rowIds(play(fresh(lists), filter, search("name:edge*3")))).toEqual([0, 1, 3]);
  });

  it("waits for Enter if it came with a file, even in another graph", () => {
    const brought = play(fresh(tree), filter, { type: "bringQuery", query: "name:edge*3" });
    const loaded = play(brought, { type: "load", graph: fullTree(4, 1) }, filter, next);
    for (const { found, query, selected } of [brought, loaded]) {
      expect([query, selected, found]).toEqual(["name:edge*3", null, WAITING]);
    }
    expect(rowIds(brought)).toEqual(rowIds(fresh(tree)));
    expect(play(loaded, search("name:edge*3")).found.matches).toEqual([3]);
    expect(play(loaded, search("name:edge*2")).found.matches).toEqual([2]);
    const same: Action = { type: "bringQuery", query: "name:edge*3" };
    expect(play(loaded, search("name:edge*3"), same).found.matches).toEqual([3]);
    expect(play(fresh(tree), { type: "bringQuery", query: " " }).found.isWaiting).toBe(false);
  });
});

describe("a long list", () => {
  const graph = treeGraph([0, ...Array(250).fill(1), 150]);
  const open = play(start(graph), { type: "select", id: 1 });

  it("has chunks that open and close like nodes", () => {
    const [, , second = 0] = rowIds(open).slice(1);
    expect(open.tree.chunk(second)).toMatchObject({ first: 100, last: 199 });
    const opened = play(open, { type: "toggle", id: second });
    expect(opened.rows.length).toBe(open.rows.length + 100);
    expect(play(opened, { type: "toggle", id: second }).rows).toEqual(open.rows);
  });

  it("lets the arrow keys move through its chunks", () => {
    const at = play(open, { type: "step", step: "next" });
    expect(at.tree.chunk(at.selected ?? 0)).toMatchObject({ first: 0 });
    const inside = play(at, { type: "step", step: "in" }, { type: "step", step: "in" });
    expect(inside.selected).toBe(2);
    expect(play(inside, { type: "step", step: "out" }).selected).toBe(at.selected);
  });

  it("opens at a selected node", () => {
    const state = play(open, { type: "select", id: 251 + 1 });
    expect(rowIds(state)).toContain(252);
    expect(rowIds(state)).toContain(150);
    expect(rowIds(state)).not.toContain(20);
  });

  it("selects nothing if a search takes the selected chunk away", () => {
    const query = { type: "search", query: "name:edge*252" } as const;
    const [, , chunk = 0] = rowIds(open).slice(1);
    const at = play(open, { type: "select", id: chunk });
    const found = play(at, { type: "setMode", mode: "filter" }, query);
    expect(rowIds(found)).not.toContain(chunk);
    expect(found.selected).toBeNull();
  });

  it("keeps its open chunks when the kernel sets the open nodes", () => {
    const opened = play(open, { type: "select", id: 252 });
    const again = play(opened, {
      type: "setExpanded",
      expanded: [...opened.expanded].filter((id) => id < graph.size),
    });
    expect(again.rows).toEqual(opened.rows);
  });
});

describe("focus", () => {
  const graph = fullTree(3, 4);

  it("shows only a node and its subtree", () => {
    const state = play(start(graph), { type: "select", id: 5 }, { type: "focusSelected" });
    expect(state.focus).toBe(5);
    expect(rowIds(state)[0]).toBe(5);
    expect(state.rows[0]?.level).toBe(1);
    expect(state.rows.every(({ id }) => id === 5 || isBelow(graph, id, 5))).toBe(true);
  });

  it("moves up if its node is selected", () => {
    const state = play(start(graph), { type: "focus", id: 5 }, { type: "select", id: 5 });
    const up = play(state, { type: "focusSelected" });
    expect(up.focus).toBe(graph.treeParent(5));
    expect(rowIds(play(up, { type: "focus", id: 0 }))[0]).toBe(0);
  });

  it("ends if a node elsewhere is selected, and for a search that filters", () => {
    const state = play(start(graph), { type: "focus", id: 5 });
    expect(play(state, { type: "select", id: 3 }).focus).toBe(0);
    const mode = { type: "setMode", mode: "filter" } as const;
    expect(play(state, mode, { type: "search", query: '"edge 3"' }).focus).toBe(0);
  });

  it("selects its node if it hides the selection", () => {
    const state = play(start(graph), { type: "select", id: 3 }, { type: "focus", id: 5 });
    expect(state.selected).toBe(5);
  });
});

describe("the same graph at another time", () => {
  /** Two lists under the root. The first has grown, so every other id has changed. */
  const before = treeGraph([0, 0, 1, 1, 2, 2]);
  const after = named(treeGraph([0, 0, 1, 1, 1, 2, 2]), {
    1: "edge 1",
    2: "edge 2",
    3: "edge 3",
    4: "edge 4",
    5: "new",
    6: "edge 5",
    7: "edge 6",
  });

  function named(graph: Graph, labels: Readonly<Record<number, string>>): Graph {
    const label = (id: number) => labels[id] ?? "";
    return { ...graph, label, called: label };
  }

  it("keeps open, selected and visible nodes by their place in the tree", () => {
    const state = play(
      start(before),
      { type: "setExpanded", expanded: [0, 2] },
      { type: "select", id: 6 },
      { type: "pan", dx: 11, dy: 5 },
    );
    const next = play(state, { type: "load", graph: after });
    expect(next.selected).toBe(7);
    expect(rowIds(next)).toEqual([0, 1, 2, 6, 7]);
    expect(onScreen(next, 7).y).toBeCloseTo(onScreen(state, 6).y);
  });

  it("keeps the focus, the query and the filters", () => {
    const state = play(
      start(before),
      { type: "focus", id: 2 },
      { type: "search", query: '"edge 6"' },
    );
    const next = play(state, { type: "load", graph: after });
    expect([next.focus, next.query, next.found.matches]).toEqual([2, '"edge 6"', [7]]);
  });

  it("selects nothing if the node is gone", () => {
    const state = play(start(after), { type: "select", id: 5 });
    expect(play(state, { type: "load", graph: before }).selected).toBeNull();
  });
});

function isBelow(graph: Graph, id: number, top: number): boolean {
  const above = graph.treeParent(id);
  return above === top || (above !== null && isBelow(graph, above, top));
}

describe("the textbook view", () => {
  /** A picture with one node for each row, in a line from left to right. */
  const picture = ({ rows }: State, step = 100): Picture => ({
    width: rows.length * step,
    height: 200,
    nodes: rows,
    boxes: new Map(rows.map(({ id }, i) => [id, { x: i * step, y: 50, width: 80 }])),
    edges: [],
  });
  const left = ({ camera, picture }: State, id: number) =>
    (picture?.boxes.get(id)?.x ?? Number.NaN) * camera.scale + camera.x;
  const textbook = (state: State) => reduce(state, { type: "showView", view: "guide" });
  const shows = (state: State, step?: number) =>
    reduce(state, { type: "showPicture", picture: picture(state, step) });

  it("fits the first picture, or centres a wide one on the selected node", () => {
    const small = shows(textbook(start(fullTree(3, 1))));
    expect(small.camera).toEqual({ x: 100, y: 100, scale: 1 });
    const wide = shows(textbook(reduce(start(), { type: "select", id: 3 })));
    expect(wide.camera.scale).toBe(0.92); // letters of 11 px
    expect(left(wide, 3) + 40 * 0.92).toBeCloseTo(300);
  });

  it("keeps the node in its place once the user has moved the picture", () => {
    const state = play(shows(textbook(start())), { type: "pan", dx: 31, dy: 7 });
    const selected = reduce(state, { type: "select", id: 2 });
    const toggled = shows(reduce(selected, { type: "toggle", id: 2 }), 90);
    expect(left(toggled, 2)).toBeCloseTo(left(selected, 2));
  });

  it("fits the next picture if the user has not moved the last one", () => {
    const state = shows(textbook(start()));
    const filtered = play(state, { type: "search", query: "edge" }, { type: "toggle", id: 0 });
    expect(shows(filtered).camera).toEqual(reduce(shows(filtered), { type: "fit" }).camera);
  });

  it("brings the selected node into sight", () => {
    const state = shows(textbook(start()));
    const last = state.rows.at(-1)!.id;
    expect(left(state, last)).toBeGreaterThan(600);
    expect(left(reduce(state, { type: "select", id: last }), last)).toBeLessThan(600 - 24);
  });

  it("ignores a picture that arrives too late, and one of another graph", () => {
    const tree = play(textbook(start()), { type: "showView", view: "objects" });
    expect(shows(tree)).toBe(tree);
    const state = shows(textbook(start()));
    expect(reduce(state, { type: "load", graph: fullTree(2, 2) })).toMatchObject({
      drawn: "textbook",
      picture: null,
    });
  });

  it("returns to the tree with the selected node in sight", () => {
    const state = shows(textbook(start()));
    const last = state.rows.at(-1)!.id;
    const tree = play(state, { type: "select", id: last }, { type: "showView", view: "objects" });
    expect(tree.picture).toBeNull();
    expect(onScreen(tree, last).y).toBeLessThan(400);
  });
});
