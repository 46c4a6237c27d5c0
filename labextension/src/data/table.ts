/** The table of a comparison: a line for each part, with the lines inside of it. */

import { ABSENT, type Payload, type TableCell, type TablePayload } from "./contract";
import type { OfSide } from "./overlay";

export interface Line {
  readonly id: number;
  /** The names on both sides; "" for what the other side alone has. */
  readonly saved: string;
  readonly live: string;
  /** Shape, class or number of parts; or why there is no name. */
  readonly savedFacts: string;
  readonly liveFacts: string;
  /** Its nodes on both sides. */
  readonly savedNode: number | null;
  readonly liveNode: number | null;
  readonly plain: TableCell;
  /** Null without a fix. */
  readonly fixed: TableCell | null;
  readonly values: number;
  /** The question about its values, by its place among all guesses. */
  readonly guess: number | null;
}

export interface Table
  extends Pick<
    TablePayload,
    "guessed" | "heads" | "is_one_column" | "notes" | "sentence" | "totals" | "verdict" | "worst"
  > {
  readonly count: number;
  line(id: number): Line;
  /** The lines inside of one; of null, the outermost ones. */
  inside(id: number | null): readonly number[];
  parent(id: number): number | null;
  /** Whether the call and the fix put each value into its own place. */
  isQuiet(id: number): boolean;
  /** The innermost line of a node; null for none. */
  lineOf(node: number): number | null;
  /** The nodes on one side of a line and of those inside of it. */
  nodesIn(id: number, side: OfSide): readonly number[];
}

export function makeTable({ table, strings }: Pick<Payload, "strings" | "table">): Table | null {
  if (table === null) {
    return null;
  }
  const { cells, columns } = table;
  const count = columns.line_parent.length;
  const at = (name: keyof typeof columns, id: number): number => columns[name][id] ?? ABSENT;
  const text = (name: keyof typeof columns, id: number): string => strings[at(name, id)] ?? "";
  const place = (name: keyof typeof columns, id: number): number | null =>
    at(name, id) === ABSENT ? null : at(name, id);
  const below: number[][] = Array.from({ length: count }, () => []);
  const outermost: number[] = [];
  const lineOf = new Map<number, number>();
  const levels = new Int32Array(count);
  for (let id = 0; id < count; id++) {
    const parent = at("line_parent", id);
    (below[parent] ?? outermost).push(id);
    levels[id] = parent === ABSENT ? 0 : (levels[parent] ?? 0) + 1;
    lineOf.set(at("line_saved_node", id), id);
  }
  for (let id = 0; id < count; id++) {
    lineOf.set(at("line_live_node", id), id);
  }
  lineOf.delete(ABSENT);
  const cell = (name: "line_plain" | "line_fixed", id: number): TableCell | null =>
    cells[at(name, id)] ?? null;
  const isHere = (of: TableCell | null) => of === null || of.sign === "here";
  const plain = (id: number) => cell("line_plain", id) ?? { sign: "asks", words: "" };
  const { guessed, heads, is_one_column, notes, sentence, totals, verdict, worst } = table;
  return {
    ...{ count, guessed, heads, is_one_column, notes, sentence, totals, verdict, worst },
    line: (id) => ({
      id,
      saved: text("line_saved", id),
      live: text("line_live", id),
      savedFacts: text("line_saved_facts", id),
      liveFacts: text("line_live_facts", id),
      savedNode: place("line_saved_node", id),
      liveNode: place("line_live_node", id),
      plain: plain(id),
      fixed: cell("line_fixed", id),
      values: at("line_values", id),
      guess: place("line_guess", id),
    }),
    inside: (id) => (id === null ? outermost : (below[id] ?? [])),
    parent: (id) => place("line_parent", id),
    isQuiet: (id) => isHere(plain(id)) && isHere(cell("line_fixed", id)),
    lineOf: (node) => lineOf.get(node) ?? null,
    nodesIn(id, side) {
      const name = side === "saved" ? "line_saved_node" : "line_live_node";
      const nodes = new Set<number>();
      let end = id + 1;
      while (end < count && (levels[end] ?? 0) > (levels[id] ?? 0)) {
        end++;
      }
      for (let line = id; line < end; line++) {
        nodes.add(at(name, line));
      }
      nodes.delete(ABSENT);
      return [...nodes];
    },
  };
}

/** A line as a view shows it. */
export interface TableRow {
  readonly line: number;
  readonly level: number;
  readonly isOpen: boolean;
  readonly canOpen: boolean;
  /** Its place among the lines of its parent, from 1 on, and their number. */
  readonly position: number;
  readonly siblings: number;
}

/**
 * The lines in sight; `shows` leaves lines out, with all that is inside of them. `ordered` has the
 * lines inside of one in another order.
 */
export function rowsOf(
  table: Table,
  open: ReadonlySet<number>,
  shows: (line: number) => boolean = () => true,
  ordered: (lines: readonly number[]) => readonly number[] = (lines) => lines,
): readonly TableRow[] {
  const rows: TableRow[] = [];
  const waiting: Omit<TableRow, "canOpen" | "isOpen">[] = [];
  const wait = (lines: readonly number[], level: number) => {
    const shown = ordered(lines).filter(shows);
    for (let place = shown.length; place > 0; place--) {
      const position = { position: place, siblings: shown.length };
      waiting.push({ line: shown[place - 1] ?? 0, level, ...position });
    }
  };
  wait(table.inside(null), 0);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const inside = table.inside(next.line);
    const canOpen = inside.some(shows);
    const isOpen = canOpen && open.has(next.line);
    rows.push({ ...next, canOpen, isOpen });
    if (isOpen) {
      wait(inside, next.level + 1);
    }
  }
  return rows;
}

/** The lines that are open at first: those around a question, since a person must see it. */
export function openAtFirst(table: Table): ReadonlySet<number> {
  const open = new Set<number>();
  for (let id = 0; id < table.count && open.size < MAX_OPEN; id++) {
    const parent = table.parent(id);
    const { guess } = table.line(id);
    if (guess !== null && parent !== null && table.line(parent).guess !== guess) {
      for (const above of linesAbove(table, id)) {
        open.add(above);
      }
    }
  }
  return open;
}

const MAX_OPEN = 40;

/** The lines that hold a line, the nearest first. */
export function linesAbove(table: Table, line: number): readonly number[] {
  const above: number[] = [];
  for (let id = table.parent(line); id !== null; id = table.parent(id)) {
    above.push(id);
  }
  return above;
}

/** The next outer line after a line, or before it, in which not all is well; wraps around. */
export function nextChange(table: Table, from: number | null, by: 1 | -1): number | null {
  const changed = table.inside(null).filter((id) => !table.isQuiet(id));
  const top = from === null ? null : (linesAbove(table, from).at(-1) ?? from);
  const next =
    by === 1
      ? changed.find((id) => top === null || id > top)
      : changed.filter((id) => top === null || id < top).at(-1);
  return next ?? (by === 1 ? changed[0] : changed.at(-1)) ?? null;
}
