/** What the parts of the view draw; tests/ui looks at all of it in a browser. */

import { expect, test } from "vitest";
import { levelOf } from "../basics/scale";
import { area } from "../draw/histogram";
import { cellWidth, columnsOf, lookOf } from "./heat";
import { load } from "./histories.test-data";
import { alarmsOf, titled } from "./strip";
import { nextPlace } from "./table";
import { actionOf } from "./timeline";
import { percent, shapeOf, short } from "./words";

test("a checkpoint has an alarm with the number of its variables", () => {
  const alarms = alarmsOf(load("training"));
  expect(alarms.slice(0, 8).every((alarm) => alarm === null)).toBe(true);
  expect(alarms[8]).toEqual({ word: "NaN 2", hint: "NaN in 2 variables" });
});

test("a checkpoint that cannot be opened has an alarm with the reason", () => {
  const history = load("training");
  const [first, ...rest] = history.checkpoints;
  const checkpoints = [{ ...first!, error: "no file\u202e" }, ...rest];
  const [alarm] = alarmsOf({ ...history, checkpoints });
  expect(alarm?.hint).toBe("no file\\u202e");
});

test("the save after a NaN has changed, and not by 0 %", () => {
  const scale = { low: 0.01, high: 1, isCut: false };
  const look = (cell: object) =>
    lookOf({ state: "changed", values: { nan: 0 }, ...cell }, "ckpt-2", scale, false, false);
  expect(look({ l2: 0, left_out: 4 })).toEqual({
    look: "heat",
    level: 8,
    word: "",
    hint: "ckpt-2: 4 elements changed to or from NaN or infinity",
  });
  expect(look({ l2: 1, relative: 0.5, left_out: 1 })).toMatchObject({
    level: levelOf(scale, 0.5),
    hint: "ckpt-2: changed by 50 %, without 1 element NaN or infinite here or before",
  });
});

test("titles keep apart, and those of a and b are there", () => {
  const shown = [...titled(500, 1000, [60, 250, 0, 499])].sort((one, other) => one - other);
  expect(shown).toEqual(expect.arrayContaining([60, 250, 0, 499]));
  const gaps = shown.slice(1).map((time, place) => time - shown[place]!);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(37);
  expect(titled(9, 1344, [3, 7]).size).toBe(9);
});

test.each([1, 9, 48, 49, 1000])("%d checkpoints have columns without gaps", (count) => {
  const columns = columnsOf(count);
  expect(columns.length).toBe(Math.min(count, 48));
  expect(columns[0]?.[0]).toBe(0);
  expect(columns.at(-1)?.[1]).toBe(count);
  columns.slice(1).forEach(([from], place) => {
    expect(from).toBe(columns[place]?.[1]);
  });
  expect(columns.length * cellWidth(columns.length)).toBeLessThanOrEqual(250);
});

test("arrow keys stay among the rows", () => {
  expect(nextPlace("ArrowDown", -1, 5, 3)).toBe(0);
  expect(nextPlace("ArrowUp", 0, 5, 3)).toBe(0);
  expect(nextPlace("PageDown", 3, 5, 3)).toBe(4);
  expect(nextPlace("End", 0, 5, 3)).toBe(4);
  expect(nextPlace("Home", 4, 5, 3)).toBe(0);
  expect(nextPlace("x", 4, 5, 3)).toBe(null);
  expect(nextPlace("End", -1, 0, 3)).toBe(null);
});

test("comma and period move b, with Shift a, on any keyboard", () => {
  const key = (key: string, code: string, shiftKey = false) =>
    actionOf({ key, code, shiftKey } as KeyboardEvent);
  expect(key(",", "Comma")).toEqual({ type: "step", end: "b", by: -1 });
  expect(key(">", "Period", true)).toEqual({ type: "step", end: "a", by: 1 });
  expect(key(";", "Comma", true)).toEqual({ type: "step", end: "a", by: -1 });
  expect(key("n", "KeyN")).toEqual({ type: "goToBad" });
  expect(key("x", "KeyX")).toBe(null);
});

test("the area of a histogram goes through the densities of its bins", () => {
  const histogram = { counts: [1, 3], edges: [0, 1, 3] };
  const x = (value: number) => 10 * value;
  expect(area(histogram, x, 0.375)).toBe("M0.0 74V26.0H10.0V2.0H30.0V74Z");
});

test("numbers are short", () => {
  expect([0.813, 0.0291, 0.00042, 12.3, 0, null].map(percent)).toEqual([
    "81 %",
    "2.9 %",
    "0.042 %",
    "1,230 %",
    "0 %",
    "from 0",
  ]);
  expect([0.123456, 16.8, 123456, 0.00001, 0, undefined].map((one) => short(one))).toEqual([
    "0.1235",
    "16.8",
    "1.23e+5",
    "1.00e-5",
    "0",
    "–",
  ]);
  expect([[], [64, 4], null].map(shapeOf)).toEqual(["scalar", "64×4", ""]);
});
