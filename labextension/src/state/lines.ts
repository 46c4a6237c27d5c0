/** The table of a comparison: its lines in sight, the open ones and the selected one. */

import { withOrWithout } from "../basics/sets";
import type { Graph } from "../data/graph";
import { linesAbove, rowsOf, type Table, type TableRow } from "../data/table";
import { byChange } from "../layout/changes";
import type { State, Step } from "./state";

const NO_NODES = { liveNode: null, savedNode: null };

export const PAGE = 12;

/** The table while the view shows it. */
export function tableOf({ drawn, graph }: State): Table | null {
  return drawn === "table" ? graph.table : null;
}

/** The lines in sight; a search that hides other nodes leaves the lines with matches. */
export function tableRows(state: State): readonly TableRow[] {
  const { graph, openLines } = state;
  const { table } = graph;
  if (table === null) {
    return [];
  }
  const kept = linesOfSearch(state, table);
  const isKept = (line: number) => kept?.has(line) === true;
  const isChange = (line: number) => table.parent(line) !== null || !table.isQuiet(line);
  const ordered = state.isByChange
    ? (lines: readonly number[]) => byChange(graph, table, lines)
    : undefined;
  return kept !== null
    ? rowsOf(table, kept, isKept, ordered)
    : rowsOf(table, openLines, state.onlyChanges ? isChange : undefined, ordered);
}

/** The lines that a search leaves, all open: those with matches, and what holds them. */
function linesOfSearch({ found, graph, mode }: State, table: Table): ReadonlySet<number> | null {
  if (mode !== "filter" || found.matches.length === 0) {
    return null;
  }
  const kept = new Set<number>();
  for (const match of found.matches) {
    let line = lineAt(graph, table, match);
    while (line !== null && !kept.has(line)) {
      kept.add(line);
      line = table.parent(line);
    }
  }
  return kept;
}

/** The line of a node, or of the nearest one above it that has a line. */
export function lineAt(graph: Graph, table: Table, id: number): number | null {
  const objects = graph.objects ?? graph;
  let node: number | null = id < graph.size ? id : null;
  while (node !== null && table.lineOf(node) === null) {
    node = objects.treeParent(node);
  }
  return node === null ? null : table.lineOf(node);
}

/** The line of a node; of several ones, the selected line. */
export function lineOf({ graph, line }: State, id: number | null): number | null {
  const { table } = graph;
  if (table === null || id === null) {
    return null;
  }
  const { liveNode, savedNode } = line === null ? NO_NODES : table.line(line);
  return id === liveNode || id === savedNode ? line : lineAt(graph, table, id);
}

/** Selects a line and its node; opens the lines that hold it. */
export function selectLine(state: State, line: number | null): State {
  const { table } = state.graph;
  if (table === null || line === null) {
    return { ...state, line: null, selected: null };
  }
  const { liveNode, savedNode } = table.line(line);
  const openLines = new Set([...state.openLines, ...linesAbove(table, line)]);
  return { ...state, line, openLines, selected: liveNode ?? savedNode };
}

/** A search that hides other lines leaves the rest open. */
export function toggleLine(state: State, line: number): State {
  const { table } = state.graph;
  if (table === null || linesOfSearch(state, table) !== null) {
    return state;
  }
  return { ...state, openLines: withOrWithout(state.openLines, line) };
}

/** The effect of an arrow key in the table: inwards may open a line, outwards may close one. */
export function stepLine(state: State, direction: Step): State {
  const rows = tableRows(state);
  const at = rows.findIndex(({ line }) => line === state.line);
  const row = rows[at];
  if (row !== undefined && direction === (row.isOpen ? "out" : "in") && row.canOpen) {
    const toggled = toggleLine(state, row.line);
    if (toggled !== state) {
      return toggled;
    }
  }
  const to = { previous: at - 1, next: at + 1, pageUp: at - PAGE, pageDown: at + PAGE };
  const ends = { first: 0, last: rows.length - 1 };
  const table = state.graph.table;
  const parent = row === undefined ? null : (table?.parent(row.line) ?? row.line);
  const outer = rows.findIndex(({ line }) => line === parent);
  const places = { ...to, ...ends, in: row?.isOpen === true ? at + 1 : at, out: outer };
  const next = at < 0 ? 0 : Math.min(Math.max(places[direction], 0), rows.length - 1);
  return selectLine(state, rows[next]?.line ?? null);
}
