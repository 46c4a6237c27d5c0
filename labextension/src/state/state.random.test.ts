/** The state stays consistent after any actions in any order. */

import { describe, expect, it } from "vitest";
import { NODE_STATES } from "../data/contract";
import type { Graph } from "../data/graph";
import { linesAbove } from "../data/table";
import {
  compared,
  FIXTURES,
  fullTree,
  type LineOf,
  loadGraph,
  randomFrom,
  treeGraph,
  WIDTHS,
} from "../tests/graphs.test-data";
import { tableRows } from "./lines";
import { initialState, reduce } from "./reduce";
import { type Action, isNode, type State, VIEWS } from "./state";

const QUERIES = ["", "e", "role:variable", "is:shared", "nothing at all", "(", "(root).*"];
const STEPS = ["previous", "next", "first", "last", "pageUp", "pageDown", "in", "out"] as const;

function anyAction(state: State, random: () => number): Action {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const node = () => Math.floor(random() * state.graph.size);
  const row = () => pick(state.rows).id;
  const line = () => Math.floor(random() * (state.graph.table?.count ?? 1));
  const ofTable: readonly (() => Action)[] = [
    () => ({ type: "selectLine", line: pick([line(), null]) }),
    () => ({ type: "toggleLine", line: line() }),
    () => ({ type: "sortLines" }),
    () => ({ type: "setOpenLines", lines: pick([[], [line(), line()]]) }),
  ];
  return pick<() => Action>([
    () => ({ type: "select", id: pick([node(), row(), null, -1, state.graph.size]) }),
    () => ({ type: "step", step: pick(STEPS) }),
    () => ({ type: "toggle", id: row() }),
    () => ({ type: "toggleSelected" }),
    () => ({ type: "openSiblings" }),
    () => ({ type: "showView", view: pick(VIEWS) }),
    () => ({ type: "toggleTable" }),
    ...(state.drawn === "table" ? ofTable : []),
    () => ({ type: "focus", id: pick([node(), row(), 0]) }),
    () => ({ type: "focusSelected" }),
    () => ({ type: "showBookkeeping", shows: random() < 0.5 }),
    () => ({ type: "stepChange", by: pick([1, -1]) }),
    () => ({ type: "showOnlyChanges", only: random() < 0.3 }),
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
  ])();
}

/** Each line is in sight once, below the one that holds it; what is around the selected one is open. */
function checkTable(state: State): void {
  const { line: selected, openLines } = state;
  const { table } = state.graph;
  const rows = tableRows(state);
  if (table === null) {
    expect([selected, openLines.size, rows.length, state.drawn === "table"]).toEqual([
      ...[null, 0, 0, false],
    ]);
    return;
  }
  const seen = new Set<number>();
  for (const { canOpen, isOpen, level, line } of rows) {
    const parent = table.parent(line);
    expect(seen.has(line) || !(parent === null || seen.has(parent))).toBe(false);
    expect(level).toBe(linesAbove(table, line).length);
    expect(isOpen && !canOpen).toBe(false);
    seen.add(line);
  }
  expect(selected === null || selected < table.count).toBe(true);
}

/** The selected node is visible, unless the host has hidden it, or a new graph lacks it. */
function checkHoldsTogether(state: State, mayBeHidden: boolean): void {
  const { camera, drawn, expanded, focus, graph, layout, rowOf, rows, selected, tree } = state;
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
  if (selected !== null && !mayBeHidden && drawn !== "table") {
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
    const lines = Array.from({ length: 60 }, (_, i): LineOf => {
      const inside = [3, 4].map((node) => ({ name: `${node}`, node: i * 4 + node }));
      return { name: `${i}`, plain: i % 7 === 0 ? "misfit" : "here", inside };
    });
    return compared(list, { lines, states, problems: [{ nodes: [240] }, { nodes: [] }] });
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
        done.push(action.type === "load" ? { type: "fit" } : action);
        try {
          const wasHidden = state.selected !== null && !state.rowOf.has(state.selected);
          const before = state.selected;
          state = reduce(state, action);
          const isOfHost = action.type === "setExpanded";
          checkTable(state);
          checkHoldsTogether(state, isOfHost || (wasHidden && state.selected === before));
        } catch (error) {
          throw new Error(`seed ${seed}: ${JSON.stringify(done.slice(-6))}: ${String(error)}`);
        }
      }
    }
  });
});
