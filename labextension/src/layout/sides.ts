/**
 * Both sides of a comparison in lines: what the two have in common is one row of the graph, and on
 * one line. A fix can bring two rows together.
 */

import type { Fix } from "../fix";
import type { Overlay } from "../overlay";
import type { Row } from "./rows";

/** The distance from one line to the next. */
export const LINE_PITCH = 30;

export interface Line {
  /** The row on each side, by its index; null where a side has nothing. */
  readonly saved: number | null;
  readonly live: number | null;
}

export interface Sides {
  readonly lines: readonly Line[];
  /** The line of each row. */
  readonly lineOf: Int32Array;
}

/** The rows in lines, in their order; what a fix pairs is on the line of the program's row. */
export function sidesOf(rows: readonly Row[], overlay: Overlay, fix: Fix | null = null): Sides {
  const savedRow = fix === null ? NO_ROWS : pairedRows(rows, overlay, fix);
  const isPaired = new Set(savedRow.values());
  const lines: Line[] = [];
  const lineOf = new Int32Array(rows.length);
  rows.forEach((row, index) => {
    if (isPaired.has(index)) {
      return;
    }
    const side = sideOf(row, overlay);
    const saved = savedRow.get(index) ?? (side === "live" ? null : index);
    lineOf[index] = lines.length;
    lineOf[saved ?? index] = lines.length;
    lines.push({ saved, live: side === "saved" ? null : index });
  });
  return { lines, lineOf };
}

const NO_ROWS: ReadonlyMap<number, number> = new Map();

/** The sides that have a row; a group or a part of a list may have nodes of either side. */
function sideOf({ chunk, id }: Row, overlay: Overlay) {
  if (chunk === null || chunk.group !== null) {
    return overlay.side(id);
  }
  const [first, last] = [overlay.side(chunk.firstChild), overlay.side(chunk.lastChild)];
  return first === last ? first : "both";
}

/** By row that only the program has, the row that only the checkpoint has, if a fix pairs them. */
function pairedRows(
  rows: readonly Row[],
  overlay: Overlay,
  { comesFrom }: Fix,
): ReadonlyMap<number, number> {
  const ofSaved = new Map(
    rows.flatMap((row, index) => (sideOf(row, overlay) === "saved" ? [[row.id, index]] : [])),
  );
  const paired = new Map<number, number>();
  rows.forEach((row, index) => {
    const isOfProgram = row.chunk === null && sideOf(row, overlay) === "live";
    const node = isOfProgram ? comesFrom(row.id)?.saved : undefined;
    const saved = node === undefined ? undefined : ofSaved.get(node);
    if (node !== undefined && saved !== undefined) {
      paired.set(index, saved);
      ofSaved.delete(node);
    }
  });
  return paired;
}

/** From the line of a saved value to the line of the part into which a plain restore puts it. */
export interface Detour {
  readonly saved: number;
  readonly live: number;
  readonly from: number;
  readonly to: number;
}

/** The ways that values take in a plain restore, where these lead to another line. */
export function detoursOf(
  rows: readonly Row[],
  rowOf: ReadonlyMap<number, number>,
  { lineOf }: Sides,
  { goesTo }: Overlay,
): readonly Detour[] {
  return rows.flatMap(({ chunk, id }, index): readonly Detour[] => {
    const live = chunk === null ? goesTo(id) : null;
    const row = live === null ? undefined : rowOf.get(live);
    const [from = 0, to = 0] = [lineOf[index], lineOf[row ?? index]];
    return live === null || from === to ? [] : [{ saved: id, live, from, to }];
  });
}
