/** Names of parts in the table that someone may change: which line first, and what is likely. */

import { visible } from "../basics/text";
import type { Graph } from "../data/graph";
import type { Line, Table } from "../data/table";

/** Whether a line has several parts that are alike: it then has the nodes of the first of these. */
function isRun(table: Table, line: number): boolean {
  const [first] = table.inside(line);
  const nodeOf = ({ liveNode, savedNode }: Line) => liveNode ?? savedNode;
  return first !== undefined && nodeOf(table.line(first)) === nodeOf(table.line(line));
}

/** The part whose name a line has: of the program, or what only the checkpoint has. */
export function nodeToName({ overlay, table }: Graph, line: number): number | null {
  if (table === null || isRun(table, line)) {
    return null;
  }
  const { live, liveNode, savedNode } = table.line(line);
  const isAlone = live === "" && savedNode !== null && savedNode >= (overlay?.baseSize ?? 0);
  return liveNode ?? (isAlone ? savedNode : null);
}

/** The line whose name someone changes first: the selected one, or what has changed most. */
export function lineToName(graph: Graph, line: number | null): number | null {
  const { table } = graph;
  if (table === null || (line !== null && nodeToName(graph, line) !== null)) {
    return line;
  }
  const lines = Array.from({ length: table.count }, (_, id) => table.line(id)).filter(
    ({ id, liveNode }) => liveNode !== null && !isRun(table, id),
  );
  const isRenamed = ({ live, saved }: Line) => saved !== "" && saved !== live;
  const first =
    lines.find((line) => isRenamed(line) && !table.isQuiet(line.id)) ??
    lines.find(({ id, saved }) => saved === "" && !table.isQuiet(id)) ??
    lines.find(isRenamed);
  return first?.id ?? null;
}

const MAX_NAMES = 8;

/**
 * Saved names for a line: its own, and those beside it, first of what the program lacks. Names with
 * hidden characters stay away.
 */
export function suggestedNames({ table }: Graph, line: number): readonly string[] {
  if (table === null) {
    return [];
  }
  const beside = table.inside(table.parent(line));
  const lonely = beside.filter((id) => table.line(id).live === "" && !table.isQuiet(id));
  const names = [line, ...lonely, ...beside]
    .filter((id) => !isRun(table, id))
    .map((id) => table.line(id).saved);
  return [...new Set(names)].filter(
    (name) => name !== "" && name !== table.line(line).live && visible(name) === name,
  );
}

/** The first suggestions that hold a text. */
export function offeredNames(names: readonly string[], typed: string): readonly string[] {
  const text = typed.toLowerCase();
  return names
    .filter((name) => name !== typed && name.toLowerCase().includes(text))
    .slice(0, MAX_NAMES);
}

/** The name that a rename begins with: an item of a list has none, so what people call it. */
export function ownName(graph: Graph, id: number): string {
  const label = graph.label(id);
  return /^\d+$/.test(label) ? graph.called(id) : label;
}
