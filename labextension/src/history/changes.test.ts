import { expect, test } from "vitest";
import { levelOf } from "../basics/scale";
import { amountOf, changeOf, marked, nearZero, rankOf, scaleOf, spreadOf } from "./changes";
import type { Row } from "./data";
import { load, row, rowOf } from "./histories.test-data";
import { changeWords } from "./words";

const history = load("training");
const kernel = rowOf(history, "block0.attention.query.kernel");

test("the change to the next checkpoint is that of its cell", () => {
  const { relative, max_abs, at } = kernel.cells[4]!;
  expect(changeOf(kernel, 3, 4)).toEqual({ kind: "exact", relative, maxAbs: max_abs, at });
});

test("the change from the first checkpoint is exact", () => {
  expect(changeOf(kernel, 0, 7)).toMatchObject({
    kind: "exact",
    relative: kernel.cells[7]?.since_first,
  });
});

test("a change between other checkpoints has a bound, which the true change keeps", () => {
  const change = changeOf(kernel, 3, 7);
  const [from, to] = [kernel.cells[3]!.values!.l2!, kernel.cells[7]!.values!.l2!];
  expect(change).toEqual({ kind: "bound", relative: Math.abs(to - from) / from });
  // The kernel moves along one direction, by 0.2 of a wave at each save.
  const each = kernel.cells[4]!.l2!;
  expect((4 * each) / from).toBeGreaterThanOrEqual((change as { relative: number }).relative);
});

test("the kernel's answer replaces the bound", () => {
  const cell = { state: "changed", l2: 3, relative: 0.5, max_abs: 2, at: [1] };
  expect(changeOf(kernel, 3, 7, cell)).toEqual({
    kind: "exact",
    relative: 0.5,
    maxAbs: 2,
    at: [1],
  });
});

test("backwards, the difference is a fraction of the norm in a", () => {
  const l2 = kernel.cells[4]!.l2!;
  const change = changeOf(kernel, 4, 3);
  expect(change).toMatchObject({ kind: "exact", relative: l2 / kernel.cells[4]!.values!.l2! });
});

test("equal bytes are equal, even unread", () => {
  const bias = rowOf(history, "block0.attention.query.bias");
  expect(changeWords(changeOf(bias, 2, 6))).toBe("equal, bit by bit");
  const unread = row({ state: "unread" }, { state: "equal" }, { state: "equal" });
  expect(changeOf(unread, 0, 2)).toMatchObject({ kind: "exact", relative: 0 });
});

test("what is in one of both only, has NaN or another shape, says that", () => {
  const head = rowOf(history, "head.bias");
  expect(changeOf(head, 3, 7).kind).toBe("new");
  expect(changeOf(head, 7, 3).kind).toBe("gone");
  expect(changeOf(head, 1, 2).kind).toBe("absent");
  const broken = rowOf(history, "block2.attention.query.kernel");
  expect(changeOf(broken, 0, 8)).toEqual({ kind: "bad", what: "NaN" });
  expect(changeOf(broken, 0, 7).kind).toBe("exact");
  const reshaped = row({ state: "first" }, { state: "reshaped" }, { state: "changed" });
  expect(changeOf(reshaped, 0, 2).kind).toBe("reshaped");
  expect(changeOf(row({ state: "first" }, { state: "damaged" }), 0, 1).kind).toBe("damaged");
  expect(changeOf(row({ state: "first" }, { state: "unread" }), 0, 1).kind).toBe("unread");
});

test("a change from zeros has no fraction, but is exact", () => {
  const bias = row(
    { state: "first", values: { l2: 5 } },
    { state: "changed", values: { l2: 0 } },
    { state: "changed", values: { l2: 1 } },
    { state: "changed", values: { l2: 3 } },
  );
  expect(changeOf(bias, 1, 3)).toMatchObject({ kind: "exact", relative: null });
  expect(changeWords(changeOf(bias, 1, 3))).toBe("from 0");
});

test("members have their spread", () => {
  const members = load("members");
  const gamma = rowOf(members, "block1.norm.gamma");
  expect(spreadOf(gamma)).toMatchObject({ kind: "exact", relative: gamma.spread });
});

test("levels rise with the change, from 1 to 8", () => {
  const scale = scaleOf(history);
  const levels = [scale.low, 0.01, 0.1, 1, scale.high].map((share) => levelOf(scale, share));
  expect(levels).toEqual([...levels].sort());
  expect([levels[0], levels.at(-1)]).toEqual([1, 8]);
  expect(levelOf(scale, 0)).toBe(0);
  expect(levelOf(scale, undefined)).toBe(0);
});

test("what is broken comes first, what is in neither last", () => {
  const ranks = [
    { kind: "bad", what: "NaN" } as const,
    { kind: "new" } as const,
    { kind: "bound", relative: 2 } as const,
    { kind: "exact", relative: null, maxAbs: null, at: null } as const,
    { kind: "exact", relative: 0, maxAbs: 0, at: null } as const,
    { kind: "absent" } as const,
  ].map(rankOf);
  expect(ranks).toEqual([...ranks].sort((one, other) => other - one));
  expect(new Set(ranks).size).toBe(ranks.length);
});

const sized = (from: number, to: number, more: Partial<Row> = {}): Row => ({
  ...row(
    { state: "first", values: { l2: from } },
    { state: "changed", l2: Math.abs(to - from), relative: (to - from) / from, values: { l2: to } },
  ),
  shape: [4],
  ...more,
});
const WEIGHTS = [sized(1, 2), sized(2, 2.2), sized(3, 3.3), sized(1e-9, 1, { is_state: true })];

test("changes from near zero have their own words, and come after the measured changes", () => {
  const bias = sized(1e-9, 0.3);
  const rows = [...WEIGHTS, bias];
  const least = nearZero(rows, 0);
  // Half of the norms are the elements of four; the median is that of 1 and 2.
  expect(least).toBeCloseTo(0.0075);
  const change = marked(changeOf(bias, 0, 1), bias, 0, 1, least);
  expect(change).toMatchObject({ kind: "exact", isFromZero: true });
  expect(changeWords(change)).toBe("from ≈ 0");
  const usual = marked(changeOf(WEIGHTS[0]!, 0, 1), WEIGHTS[0]!, 0, 1, least);
  expect(changeWords(usual)).toBe("100 %");
  expect(rankOf(usual)).toBeGreaterThan(rankOf(change));
  expect(rankOf(change)).toBeGreaterThan(0);
  expect(amountOf(change)).toBeGreaterThan(1e6);
  const state = WEIGHTS[3]!;
  expect(marked(changeOf(state, 0, 1), state, 0, 1, least)).not.toHaveProperty("isFromZero");
});

test("a small variable that stays small has its fraction", () => {
  const tiny = sized(1e-9, 1.5e-9);
  const change = marked(changeOf(tiny, 0, 1), tiny, 0, 1, nearZero([...WEIGHTS, tiny], 0));
  expect(changeWords(change)).toBe("50 %");
});

test("the scale ends at 100 %", () => {
  expect(scaleOf({ rows: [sized(1e-9, 0.3), sized(1, 1.1)] })).toMatchObject({
    high: 1,
    isCut: true,
  });
  expect(scaleOf({ rows: [sized(1, 1.25)] })).toMatchObject({ high: 0.25, isCut: false });
});
