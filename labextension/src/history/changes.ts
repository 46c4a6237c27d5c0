/** What changed between two checkpoints, as far as a history knows it, and the scale of the heat. */

import { type Cell, type History, isBroken, isThere, type Row } from "./data";

/** `relative` is a fraction of the norm in a; null if that norm is 0. */
export type Change =
  | {
      readonly kind: "exact";
      readonly relative: number | null;
      readonly maxAbs: number | null;
      readonly at: readonly number[] | null;
    }
  /** The change is at least as large as the difference of the norms. */
  | { readonly kind: "bound"; readonly relative: number | null }
  | { readonly kind: "bad"; readonly what: "NaN" | "Inf" }
  | { readonly kind: "new" | "gone" | "reshaped" | "damaged" | "unread" | "waiting" | "absent" };

const EQUAL: Change = { kind: "exact", relative: 0, maxAbs: 0, at: null };

/** The change of a variable from a to b; `between` is the kernel's answer for these two. */
export function changeOf(row: Row, a: number, b: number, between?: Cell): Change {
  const [before, after] = [row.cells[a], row.cells[b]];
  if (before === undefined || after === undefined) {
    return { kind: "absent" };
  }
  if (before.state === "waiting" || after.state === "waiting") {
    return { kind: "waiting" };
  }
  if (before.state === "damaged" || after.state === "damaged") {
    return { kind: "damaged" };
  }
  if (!isThere(before)) {
    return { kind: isThere(after) ? "new" : "absent" };
  }
  if (!isThere(after)) {
    return { kind: "gone" };
  }
  const [low, high] = a < b ? [a, b] : [b, a];
  const saves = row.cells.slice(low + 1, high + 1).filter(isThere);
  if (saves.some(({ state }) => state === "reshaped")) {
    return { kind: "reshaped" };
  }
  if (saves.every(({ state }) => state === "equal")) {
    return EQUAL;
  }
  const what = isBroken(after) ?? isBroken(before);
  if (what !== null) {
    return { kind: "bad", what };
  }
  return known(row, saves, a, b) ?? computed(between) ?? bound(before, after);
}

/** The change if a cell tells it: there was one change, or the lower one is the first of all. */
function known(row: Row, saves: readonly Cell[], a: number, b: number): Change | null {
  const changed = saves.filter(({ state }) => state !== "equal");
  const [low, high] = a < b ? [a, b] : [b, a];
  const norm = row.cells[a]?.values?.l2;
  const [only] = changed;
  if (changed.length === 1 && only?.state === "changed" && only.l2 !== undefined) {
    const relative = a < b ? (only.relative ?? null) : shareOf(only.l2, norm);
    return { kind: "exact", relative, maxAbs: only.max_abs ?? null, at: only.at ?? null };
  }
  const first = row.cells.findIndex(isThere);
  const total = row.cells[high]?.since_first;
  if (low !== first || total === undefined) {
    return null;
  }
  const l2 = total * (row.cells[first]?.values?.l2 ?? 0);
  return { kind: "exact", relative: a < b ? total : shareOf(l2, norm), maxAbs: null, at: null };
}

function computed(cell: Cell | undefined): Change | null {
  if (cell?.l2 === undefined) {
    return null;
  }
  const { l2, relative, max_abs: maxAbs, at } = cell;
  const share = relative ?? (l2 === 0 ? 0 : null);
  return { kind: "exact", relative: share, maxAbs: maxAbs ?? null, at: at ?? null };
}

function bound(before: Cell, after: Cell): Change {
  const [from, to] = [before.values?.l2, after.values?.l2];
  if (from === undefined || to === undefined) {
    return { kind: "unread" };
  }
  if (from === 0 || to === 0) {
    // The norm of the difference is the other norm.
    const relative = from === 0 && to > 0 ? null : from === 0 ? 0 : 1;
    return { kind: "exact", relative, maxAbs: null, at: null };
  }
  return { kind: "bound", relative: shareOf(Math.abs(to - from), from) };
}

function shareOf(difference: number, norm: number | undefined): number | null {
  return difference === 0 ? 0 : norm ? difference / norm : null;
}

/** The change of a member's variable from the mean of all. */
export function spreadOf(row: Row): Change {
  return row.spread === undefined
    ? { kind: "unread" }
    : { kind: "exact", relative: row.spread, maxAbs: null, at: null };
}

/** How high a row comes in the order: what is broken, then what is new, then by the change. */
export function rankOf(change: Change): number {
  switch (change.kind) {
    case "bad":
    case "damaged":
      return 1e300;
    case "new":
    case "gone":
    case "reshaped":
      return 1e200;
    case "exact":
    case "bound":
      return change.relative ?? 1e100;
    default:
      return -1;
  }
}

/** The logarithmic scale of a history's changes at a save, in eight levels as in Python. */
export interface Scale {
  readonly low: number;
  readonly high: number;
}

export const LEVELS = 8;

export function scaleOf({ rows }: Pick<History, "rows">): Scale {
  let [low, high] = [Number.POSITIVE_INFINITY, 0];
  for (const { cells } of rows) {
    for (const { relative } of cells) {
      if (relative) {
        low = Math.min(low, relative);
        high = Math.max(high, relative);
      }
    }
  }
  high ||= 1;
  return { low: Math.min(high, Math.max(low, high / 1e4)), high };
}

/** 0 for no change, 8 for the largest one of the history. */
export function levelOf({ low, high }: Scale, change: number | undefined): number {
  if (!change) {
    return 0;
  }
  if (change >= high || low >= high) {
    return LEVELS;
  }
  const share = Math.log(Math.max(change, low) / low) / Math.log(high / low);
  return Math.min(LEVELS, 1 + Math.floor(share * LEVELS));
}
