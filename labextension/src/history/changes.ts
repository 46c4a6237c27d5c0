/** What changed between two checkpoints, as far as a history knows it, and the scale of the heat. */

import { type Scale, scaleOver } from "../basics/scale";
import { type Cell, type History, isBroken, isThere, type Row } from "./data";

/**
 * `relative` is a fraction of the norm in a; null if that norm is 0. `isFromZero` says that it is so
 * small that a fraction says little.
 */
export type Change =
  | {
      readonly kind: "exact";
      readonly relative: number | null;
      readonly maxAbs: number | null;
      readonly at: readonly number[] | null;
      readonly isFromZero?: true;
    }
  /** The change is at least as large as the difference of the norms. */
  | { readonly kind: "bound"; readonly relative: number | null; readonly isFromZero?: true }
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
  return computed(between) ?? known(row, saves, a, b) ?? bound(before, after);
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
  const { l2, relative, max_abs: maxAbs, at, left_out: leftOut } = cell;
  const share = relative ?? (l2 === 0 && !leftOut ? 0 : null);
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

/** Elements less than this share of the median ones are near zero, as in Python. */
const NEAR_ZERO = 0.01;
/** They begin there if they grow by this factor at least. */
const GROWTH = 10;

/** The root mean square of elements below which they are near zero at a time. */
export function nearZero(rows: readonly Row[], time: number): number {
  const sizes = rows
    .flatMap((row) => (row.is_state ? [] : [sizeOf(row, time) ?? 0]))
    .filter((size) => size > 0)
    .sort((one, other) => one - other);
  const half = sizes.length / 2;
  const median = ((sizes[Math.ceil(half) - 1] ?? 0) + (sizes[Math.floor(half)] ?? 0)) / 2;
  return NEAR_ZERO * median;
}

/** The change with a mark if the variable begins near zero in a. */
export function marked(change: Change, row: Row, a: number, b: number, least: number): Change {
  if (change.kind !== "exact" && change.kind !== "bound") {
    return change;
  }
  const [from, to] = [row.cells[a]?.values?.l2 ?? 0, row.cells[b]?.values?.l2 ?? 0];
  // What optimizers keep has sizes of its own.
  const isSmall = !row.is_state && (sizeOf(row, a) ?? Number.POSITIVE_INFINITY) < least;
  return isSmall && from > 0 && to >= GROWTH * from ? { ...change, isFromZero: true } : change;
}

function sizeOf(row: Row, time: number): number | undefined {
  const norm = row.cells[time]?.values?.l2;
  const count = (row.shape ?? []).reduce((product, size) => product * size, 1);
  return norm === undefined || count === 0 ? undefined : norm / Math.sqrt(count);
}

/** How much a variable changed, for questions such as `changed>10%`; -1 if it is not there. */
export function amountOf(change: Change): number {
  const isMeasured = change.kind === "exact" || change.kind === "bound";
  return isMeasured ? (change.relative ?? Number.POSITIVE_INFINITY) : rankOf(change);
}

/**
 * How high a row comes in the order: what is broken, then what is new, then by the change. What
 * begins near zero comes next, then what is equal.
 */
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
      return change.relative === null || change.isFromZero ? Number.MIN_VALUE : change.relative;
    default:
      return -1;
  }
}

/** The scale of the changes of variables at a save. It ends at 1; `isCut`: some are larger. */
export function scaleOf({ rows }: Pick<History, "rows">): Scale {
  const variables = rows.filter((row) => !row.is_state);
  const changes = (variables.length > 0 ? variables : rows).flatMap(({ cells }) =>
    cells.map(({ relative }) => relative ?? 0),
  );
  return scaleOver(changes, 1);
}
