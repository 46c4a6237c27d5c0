import { expect, it } from "vitest";
import type { Cell, Checkpoint, History } from "./data";
import { row } from "./histories.test-data";
import { merged } from "./merge";

const checkpoint = (path: string): Checkpoint => ({
  ...{ title: path, path, step: null, saved_at: null, error: null },
});

const first: Cell = { state: "first", values: { l2: 1 } };
const changed = (relative: number, since_first: number): Cell => ({
  ...{ state: "changed", relative, since_first, l2: relative },
});

function historyOf(paths: string, ...cells: readonly Cell[]): History {
  return {
    ...{ sentences: [], notes: [], order: "", marks: [], findings: [], distances: null },
    checkpoints: [...paths].map(checkpoint),
    rows: [row(...cells)],
  };
}

const cellsOf = ({ history }: { readonly history: History }) => history.rows[0]?.cells;
const titlesOf = ({ history }: { readonly history: History }) =>
  history.checkpoints.map(({ title, isGone }) => (isGone ? `-${title}` : title)).join(" ");

it("is the newer history if nothing was deleted", () => {
  const old = historyOf("abc", first, changed(0.1, 0.1), changed(0.2, 0.3));
  const next = historyOf("abcd", first, changed(0.1, 0.1), changed(0.2, 0.3), changed(0.4, 0.7));
  expect(merged(next, old)).toEqual({ history: next, times: [0, 1, 2, 3], rows: [0] });
  expect(merged(next, null).history).toBe(next);
});

it("keeps deleted checkpoints in their places, marked", () => {
  const old = historyOf("abc", first, changed(0.1, 0.1), changed(0.2, 0.3));
  const next = historyOf("acd", first, changed(0.25, 0.3), changed(0.4, 0.7));
  const found = merged(next, old);
  expect(titlesOf(found)).toBe("a -b c d");
  expect(found.times).toEqual([0, null, 1, 2]);
  expect(cellsOf(found)?.[1]).toEqual(changed(0.1, 0.1));
  expect(cellsOf(found)?.[3]).toEqual(changed(0.4, 0.7));
  expect(titlesOf(merged(historyOf("de", first, first), old))).toBe("-a -b -c d e");
  expect(titlesOf(merged(historyOf("bd", first, first), old))).toBe("-a b -c d");
  // Also when it is read once more.
  expect(titlesOf(merged(next, found.history))).toBe("a -b c d");
});

it("does not take changes from a different first checkpoint for changes from the first", () => {
  const old = historyOf("abc", first, changed(0.1, 0.1), changed(0.2, 0.3));
  const next = historyOf("bcd", first, changed(0.2, 0.2), changed(0.4, 0.6));
  const cells = cellsOf(merged(next, old));
  expect(cells?.[1]).toEqual(changed(0.1, 0.1)); // against the deleted one
  expect(cells?.[2]).toEqual(changed(0.2, 0.3));
  expect(cells?.[3]?.relative).toBe(0.4);
  expect(cells?.[3]?.since_first).toBeUndefined();
});

it("moves marks and findings with their checkpoints", () => {
  const old = historyOf("ab", first, changed(0.1, 0.1));
  const finding = { kind: "nan", first: 1, why: "", is_alarm: true, names: [] };
  const next = {
    ...historyOf("bc", first, changed(0.2, 0.2)),
    marks: [{ at: 1, why: "" }],
    findings: [finding],
  };
  const { history } = merged(next, old);
  expect([history.marks[0]?.at, history.findings[0]?.first]).toEqual([2, 2]);
});

it("shows what was known of rows that are still read", () => {
  const old = historyOf("ab", first, changed(0.1, 0.1));
  const waiting: Cell = { state: "waiting" };
  const found = merged(historyOf("abc", waiting, waiting, waiting), old);
  expect(cellsOf(found)).toEqual([first, changed(0.1, 0.1), waiting]);
});

it("keeps rows that only deleted checkpoints have", () => {
  const old = historyOf("ab", first, { state: "absent" });
  const other = { ...row(first), key: "other", place: "other" };
  const next: History = { ...historyOf("b", first), rows: [other] };
  const found = merged(next, old);
  expect(found.rows).toEqual([0, null]);
  expect(found.history.rows.map(({ key }) => key)).toEqual(["other", "k"]);
  expect(found.history.rows[0]?.cells[0]?.state).toBe("absent");
});
