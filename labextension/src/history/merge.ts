/** A history that was read again, with what the one before had: deleted checkpoints stay. */

import { type Cell, type Checkpoint, type History, isThere, type Row } from "./data";

export interface Merged {
  readonly history: History;
  /** The number of each checkpoint in the newer history; null for deleted ones. */
  readonly times: readonly (number | null)[];
  /** The number of each row in the newer history; null if only deleted checkpoints have it. */
  readonly rows: readonly (number | null)[];
}

const ABSENT: Cell = { state: "absent" };

/** The newer history with the checkpoints of the older one that are gone. */
export function merged(next: History, old: History | null): Merged {
  const paths = new Set(next.checkpoints.map(({ path }) => path));
  const gone = (old?.checkpoints ?? []).filter(({ path }) => !paths.has(path));
  const isWaiting = next.rows.some(({ cells }) => cells.some(({ state }) => state === "waiting"));
  if (old === null || (gone.length === 0 && !isWaiting)) {
    const times = next.checkpoints.map((_, time) => time);
    return { history: next, times, rows: next.rows.map((_, number) => number) };
  }
  const checkpoints = inOrder(next.checkpoints, old.checkpoints);
  const numbers = new Map(next.checkpoints.map(({ path }, time) => [path, time]));
  const times = checkpoints.map(({ path }) => numbers.get(path) ?? null);
  const before = new Map(old.checkpoints.map(({ path }, time) => [path, time]));
  const known = checkpoints.map(({ path }) => before.get(path) ?? null);
  const isSameStart = old.checkpoints[0]?.path === next.checkpoints[0]?.path;
  const older = new Map(old.rows.map((row) => [row.key, row]));
  const join = (row: Row, was: Row | undefined, now: readonly Cell[]): Row => ({
    ...row,
    cells: times.map((time, place) =>
      cellOf(
        time === null ? undefined : now[time],
        was?.cells[known[place] ?? -1],
        was === undefined || isSameStart,
      ),
    ),
  });
  const keys = new Set(next.rows.map(({ key }) => key));
  const left = old.rows.filter(({ key }) => !keys.has(key));
  const rows = [
    ...next.rows.map((row) => join(row, older.get(row.key), row.cells)),
    ...left.map((row) => join(row, row, [])),
  ];
  const place = (time: number) => Math.max(0, times.indexOf(time));
  const history = {
    ...next,
    checkpoints,
    rows,
    marks: next.marks.map((mark) => ({ ...mark, at: place(mark.at) })),
    findings: next.findings.map((one) => ({ ...one, first: place(one.first) })),
  };
  const numbersOfRows = [...next.rows.map((_, number) => number), ...left.map(() => null)];
  return { history, times, rows: numbersOfRows };
}

/** The newer checkpoints, with each deleted one before those that came after it. */
function inOrder(next: readonly Checkpoint[], old: readonly Checkpoint[]): readonly Checkpoint[] {
  const paths = new Set(next.map(({ path }) => path));
  const places = new Map(old.map(({ path }, time) => [path, time]));
  const left = old.flatMap((one, time) => (paths.has(one.path) ? [] : [{ one, time }]));
  const result: Checkpoint[] = [];
  const takeBefore = (end: number) => {
    while (left.length > 0 && (left[0]?.time ?? end) < end) {
      result.push(...left.splice(0, 1).map(({ one }) => ({ ...one, isGone: true })));
    }
  };
  const last = next.reduce((found, { path }, time) => (places.has(path) ? time : found), -1);
  for (const [time, one] of next.entries()) {
    // New checkpoints at the end come after all that were there before.
    takeBefore(time > last ? Number.POSITIVE_INFINITY : (places.get(one.path) ?? -1));
    result.push(one);
  }
  takeBefore(Number.POSITIVE_INFINITY);
  return result;
}

function cellOf(now: Cell | undefined, was: Cell | undefined, isSameStart: boolean): Cell {
  if (now === undefined) {
    return was ?? ABSENT;
  }
  if (now.state === "waiting" || now.state === "unread") {
    return was ?? now;
  }
  if (isSameStart) {
    return now;
  }
  // What it is compared with is gone: the earlier reading knows that change.
  const isKnown = was !== undefined && isThere(was) && was.state !== "unread";
  if (isKnown && was.state !== "waiting") {
    const { since_first: _, ...rest } = now;
    const total = was.since_first === undefined ? {} : { since_first: was.since_first };
    return now.state === "first" ? was : { ...rest, ...total };
  }
  const { since_first: _, ...rest } = now;
  return rest;
}
