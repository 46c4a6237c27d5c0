/**
 * Both sides of a comparison in lines. What the two have in common is on one line, and so are the
 * two places of a part that was renamed.
 */

import type { Bond, Fix } from "../fix";
import type { Graph } from "../graph";
import type { Overlay } from "../overlay";
import { childRows, type Row } from "./rows";

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

/**
 * The rows in lines, in their order; `labels` gives a row's name on each side. With a fix, what it
 * pairs is on one line; else what seems to be the same.
 */
export function sidesOf(
  rows: readonly Row[],
  overlay: Overlay,
  labels: Pick<Graph, "label" | "savedLabel">,
  fix: Fix | null = null,
): Sides {
  const children = childRows(rows);
  const idOf = (row: number): number => rows[row]?.id ?? 0;
  const places =
    fix === null ? overlay.otherPlace : (id: number) => fix.goesTo(id)[0]?.live ?? null;
  const partner = renamedSiblings(rows, overlay, places);
  const keys: Keys =
    fix === null
      ? {
          live: (row) => labels.label(idOf(row)),
          saved: (row) => labels.savedLabel(idOf(row)),
        }
      : { live: (row) => fix.comesFrom(idOf(row))?.saved, saved: idOf };
  const isPartner = new Set(partner.values());
  const lines: Line[] = [];
  const lineOf = new Int32Array(rows.length);
  const stack: Line[] = rows.length === 0 ? [] : [lineOfRow(rows, overlay, 0)];
  for (let line = stack.pop(); line !== undefined; line = stack.pop()) {
    const { live, saved } = line;
    for (const row of [live, saved]) {
      if (row !== null) {
        lineOf[row] = lines.length;
      }
    }
    lines.push(line);
    const below =
      live !== null && saved !== null && live !== saved
        ? zipped(children[live] ?? [], children[saved] ?? [], keys)
        : (children[live ?? saved ?? 0] ?? [])
            .filter((row) => !isPartner.has(row))
            .map((row) => {
              const ghost = partner.get(row);
              return ghost === undefined
                ? lineOfRow(rows, overlay, row)
                : { saved: ghost, live: row };
            });
    for (let index = below.length - 1; index >= 0; index--) {
      stack.push(below[index] as Line);
    }
  }
  return { lines, lineOf };
}

function lineOfRow(rows: readonly Row[], overlay: Overlay, index: number): Line {
  const row = rows[index];
  const side = row === undefined ? "both" : sideOf(row, overlay);
  return { saved: side === "live" ? null : index, live: side === "saved" ? null : index };
}

/** The sides that have a row; a part of a list may have nodes of either side. */
function sideOf({ chunk, id }: Row, overlay: Overlay) {
  if (chunk === null) {
    return overlay.side(id);
  }
  const [first, last] = [overlay.side(chunk.firstChild), overlay.side(chunk.lastChild)];
  return first === last ? first : "both";
}

/** By row of the program (of b), the row of the checkpoint (of a) that seems to be the same part. */
function renamedSiblings(
  rows: readonly Row[],
  overlay: Overlay,
  otherPlace: (id: number) => number | null,
): ReadonlyMap<number, number> {
  const rowOf = new Map(rows.map(({ id }, index) => [id, index]));
  const partner = new Map<number, number>();
  rows.forEach(({ chunk, id, parentRow }, index) => {
    const place = chunk === null && overlay.side(id) === "saved" ? otherPlace(id) : null;
    const other = place === null ? undefined : rowOf.get(place);
    if (place === null || other === undefined || partner.has(other)) {
      return;
    }
    if (rows[other]?.parentRow === parentRow && overlay.side(place) === "live") {
      partner.set(other, index);
    }
  });
  return partner;
}

/** What rows of the two sides have in common if they are the same. */
interface Keys {
  live(row: number): string | number | undefined;
  saved(row: number): string | number;
}

/** The children of two parts in lines: what is the same together, the others apart. */
function zipped(live: readonly number[], saved: readonly number[], keys: Keys): readonly Line[] {
  const rest = new Map<string | number | undefined, number>(
    saved.map((row) => [keys.saved(row), row]),
  );
  const common = live.map((row): Line => {
    const key = keys.live(row);
    const other = rest.get(key) ?? null;
    rest.delete(key);
    return { saved: other, live: row };
  });
  const matched = new Set(common.map((line) => line.saved));
  return [
    ...common,
    ...saved.filter((row) => !matched.has(row)).map((row): Line => ({ saved: row, live: null })),
  ];
}

/** A part at two lines: where it was, and where it is. */
export interface Move {
  readonly savedId: number;
  readonly liveId: number;
  readonly from: number;
  readonly to: number;
  /** How sure a fix is that they are the same; null without a fix. */
  readonly bond: Bond | null;
}

/** The moves between two lines; below a part that moved as a whole, none. */
export function movesOf(
  rows: readonly Row[],
  rowOf: ReadonlyMap<number, number>,
  { lineOf }: Sides,
  overlay: Overlay,
): readonly Move[] {
  return rows.flatMap(({ chunk, id, parentRow }, index): readonly Move[] => {
    const place = chunk === null && overlay.isOther(id) ? overlay.otherPlace(id) : null;
    const other = place === null ? undefined : rowOf.get(place);
    if (place === null || other === undefined || lineOf[other] === lineOf[index]) {
      return [];
    }
    const above = rows[parentRow];
    const movedWith = above === undefined ? null : overlay.otherPlace(above.id);
    if (movedWith !== null && movedWith === rows[rows[other]?.parentRow ?? -1]?.id) {
      return [];
    }
    const ends = { from: lineOf[index] ?? 0, to: lineOf[other] ?? 0 };
    return [{ savedId: id, liveId: place, ...ends, bond: null }];
  });
}
