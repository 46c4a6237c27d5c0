/** The state stays consistent after any actions in any order. */

import { describe, expect, it } from "vitest";
import { NODE_STATES } from "./contract";
import { fixMarkOf } from "./draw/fix-lines";
import { BONDS, type Fix } from "./fix";
import type { Graph } from "./graph";
import {
  compared,
  FIXTURES,
  fixOf,
  fullTree,
  loadGraph,
  randomFrom,
  treeGraph,
} from "./graphs.test-data";
import { endsOfMoves } from "./layout/fates";
import { detoursOf } from "./layout/sides";
import { type Action, initialState, isNode, reduce, type State } from "./state";

const WIDTHS = { box: () => 80, behind: () => 18 };

const QUERIES = ["", "e", "role:variable", "is:shared", "nothing at all", "(", "(root).*"];
const STEPS = ["previous", "next", "first", "last", "pageUp", "pageDown", "in", "out"] as const;

function anyAction(state: State, random: () => number): Action {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const node = () => Math.floor(random() * state.graph.size);
  const row = () => pick(state.rows).id;
  return pick<() => Action>([
    () => ({ type: "select", id: pick([node(), row(), null, -1, state.graph.size]) }),
    () => ({ type: "step", step: pick(STEPS) }),
    () => ({ type: "toggle", id: row() }),
    () => ({ type: "toggleSelected" }),
    () => ({ type: "openSiblings" }),
    () => ({ type: "toggleSlots" }),
    () => ({ type: "showView", view: random() < 0.5 ? "layers" : "objects" }),
    () => ({ type: "focus", id: pick([node(), row(), 0]) }),
    () => ({ type: "focusSelected" }),
    () => ({ type: "stepAround", of: pick(["parents", "inputs", "outputs"]) }),
    () => ({ type: "showBookkeeping", shows: random() < 0.5 }),
    () => ({ type: "stepProblem", by: pick([1, -1]) }),
    () => ({ type: "showState", state: pick(NODE_STATES), shows: random() < 0.7 }),
    () => ({ type: "showOnlyProblems", only: random() < 0.3 }),
    () => ({ type: "search", query: pick(QUERIES) }),
    () => ({ type: "setMode", mode: pick(["highlight", "filter"]) }),
    () => ({ type: "stepMatch", by: pick([1, -1]) }),
    () => ({ type: "setExpanded", expanded: pick([null, [0], [0, node(), node()]]) }),
    () => ({ type: "pan", dx: random() * 200 - 100, dy: random() * 200 - 100 }),
    () => ({ type: "centre", y: random() * 1000 }),
    () => ({ type: "zoom", factor: random() * 2 + 0.1 }),
    () => ({ type: "fit" }),
    () => ({ type: "resize", width: pick([0, 300, 800]), height: pick([0, 200, 600]) }),
    () => ({ type: "load", graph: state.graph }),
    () => showingFix(state, anyFix(state, random)),
  ])();
}

function showingFix({ graph }: State, fix: Fix | null): Action {
  const ends = fix === null ? [] : endsOfMoves(graph, fix);
  return { type: "showFix", fix, of: graph.objects ?? graph, ends };
}

/** Any nodes in any pairs: the view must not rely on a fix that makes sense. */
function anyFix({ graph }: State, random: () => number): Fix | null {
  const node = () => Math.floor(random() * graph.size);
  const pairs = Array.from({ length: Math.floor(random() * 12) }, () => ({
    saved: node(),
    live: node(),
    bond: BONDS[Math.floor(random() * BONDS.length)] ?? "guess",
  }));
  return random() < 0.3 ? null : fixOf({ pairs, kept: [node(), node()], unused: [node()] });
}

/** Each row is on one line, on its side or both, and has a mark; moves lead from line to line. */
function checkSides({ fix, graph, rowOf, rows, sides }: State): void {
  if (sides === null) {
    return;
  }
  const drawn = sides.lines.flatMap(({ live, saved }) => [...new Set([live, saved])]);
  expect(drawn.filter((row) => row !== null).sort((a, b) => a - b)).toEqual([...rows.keys()]);
  if (fix !== null) {
    for (const line of sides.lines) {
      expect(fixMarkOf(graph, rows, line, fix).words).not.toMatch(/undefined|NaN/);
    }
  }
  for (const { from, to } of graph.overlay ? detoursOf(rows, rowOf, sides, graph.overlay) : []) {
    expect(sides.lines[from] !== undefined && sides.lines[to] !== undefined).toBe(true);
    expect(from).not.toBe(to);
  }
}

/** The selected node is visible, unless the host has hidden it, or a new graph lacks it. */
function checkHoldsTogether(state: State, mayBeHidden: boolean): void {
  const { camera, expanded, focus, graph, layout, rowOf, rows, selected, tree } = state;
  expect(rows[0]?.id).toBe(focus);
  expect(rowOf.size).toBe(rows.length); // no node twice
  expect(layout.boxes.length).toBe(rows.length);
  for (const row of rows) {
    const above = row.parentRow < 0 ? null : (rows[row.parentRow]?.id ?? null);
    expect(row.id === focus ? null : tree.parent(row.id)).toBe(above);
    expect(row.isExpanded).toBe(expanded.has(row.id) && tree.children(row.id).length > 0);
    expect(row.chunk === null).toBe(isNode(state, row.id));
    const held = Array.from(
      tree.children(row.id),
      (id) => tree.nodesBelow(id) + (id < graph.size ? 1 : 0),
    );
    expect(tree.nodesBelow(row.id)).toBe(held.reduce((sum, count) => sum + count, 0));
  }
  if (selected !== null && !mayBeHidden) {
    expect(rowOf.has(selected)).toBe(true);
  }
  expect([camera.x, camera.y, camera.scale].every(Number.isFinite)).toBe(true);
  expect(focus).toBeLessThan(graph.size);
}

const MADE: Readonly<Record<string, () => Graph>> = {
  "a full tree": () => fullTree(4, 4),
  "a long list": () => treeGraph([0, ...Array(250).fill(1), 150, 151]),
  "a long list compared": () => {
    const list = treeGraph([0, ...Array(250).fill(1), 150]);
    const states = Object.fromEntries(
      Array.from({ length: 120 }, (_, i) => [i * 2 + 2, NODE_STATES[5 + (i % 3)] ?? "shape"]),
    );
    return compared(list, { states, problems: [{ nodes: [240] }, { nodes: [] }] });
  },
};

describe.each([...FIXTURES, ...Object.keys(MADE)])("%s", (name) => {
  it("stays consistent", async () => {
    const graph = MADE[name]?.() ?? (await loadGraph(name));
    for (let seed = 1; seed <= 12; seed++) {
      const random = randomFrom(seed);
      const [depth, bookkeeping, matched] = [seed % 4, seed % 2 === 0, seed % 3 > 0];
      const view = seed % 5 === 0 ? "objects" : "layers";
      let state = initialState(graph, () => WIDTHS, { view, depth, bookkeeping, matched });
      const done: Action[] = [];
      for (let i = 0; i < 60; i++) {
        const action = anyAction(state, random);
        done.push(action.type === "load" || action.type === "showFix" ? { type: "fit" } : action);
        try {
          const wasHidden = state.selected !== null && !state.rowOf.has(state.selected);
          const before = state.selected;
          state = reduce(state, action);
          const isOfHost = action.type === "setExpanded";
          checkSides(state);
          checkHoldsTogether(state, isOfHost || (wasHidden && state.selected === before));
        } catch (error) {
          throw new Error(`seed ${seed}: ${JSON.stringify(done.slice(-6))}: ${String(error)}`);
        }
      }
    }
  });
});
