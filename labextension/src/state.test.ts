import { describe, expect, it } from "vitest";
import type { Graph } from "./graph";
import { fullTree, loadGraph } from "./graphs.test-data";
import type { Widths } from "./layout/tidy";
import { type Action, initialState, reduce, type State } from "./state";

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
