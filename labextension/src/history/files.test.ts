import { expect, test } from "vitest";
import { csvOf } from "./csv";
import { load, row } from "./histories.test-data";
import { type Paint, pictureOf } from "./picture";
import { initialState, listOf, reduce } from "./state";

const history = load("training");
const paint: Paint = {
  ...{ fore: "#111", back: "#fff", alarm: "#f00", line: "#888" },
  levels: [1, 2, 3, 4, 5, 6, 7, 8].map((level) => `#00000${level}`),
};

test("CSV has a line for each variable in each checkpoint", () => {
  const lines = csvOf(history).split("\r\n");
  expect(lines).toHaveLength(history.rows.length * 9 + 2);
  expect(lines[0]?.split(",")).toHaveLength(lines[1]?.split(",").length ?? 0);
  expect(lines[0]).toContain('"key","place","dtype","checkpoint","number","step","state"');
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\uff1d1", 'a",=1'])(
  "no program for tables takes the name %j for a formula",
  (name) => {
    const cell = { state: "first", values: { min: -1.5 } };
    const text = csvOf({ ...history, rows: [{ ...row(cell), key: name, place: name }] });
    const [, line = ""] = text.split("\r\n");
    const fields = [...line.matchAll(/"(?:[^"]|"")*"|[^,]+/g)].map(([field]) => field);
    expect(fields[0]).not.toMatch(/^"\s*[=+\-@\uff1d]/);
    expect(fields[0]?.slice(1, -1).replaceAll('""', '"').replace(/^'/, "")).toBe(name);
    expect(fields).toContain("-1.5");
    expect(fields.every((field) => /^("|-?[\d.]+$)/.test(field))).toBe(true);
  },
);

test("the picture has the rows on screen, and names are no markup", () => {
  const [first, ...rest] = history.rows;
  const hostile = { ...history, rows: [{ ...first!, place: "<script>&\u202e" }, ...rest] };
  const state = reduce(initialState(hostile), { type: "order", order: "layer" });
  const list = listOf(state);
  const svg = pictureOf(state, list, paint);
  expect(svg).not.toContain("<script>");
  expect(svg).not.toContain("\u202e");
  expect(svg.match(/<text/g)!.length).toBeGreaterThan(2 * list.shown.length);
  expect(svg).toContain("NaN");
  expect(svg).toContain(paint.levels[7]);
  expect(svg.match(/<(\w+)[ >]/g)!.length).toBe(svg.match(/<\/\w+>/g)!.length);
});

test("a picture of many rows says how many it leaves out", () => {
  const state = initialState({
    ...history,
    rows: Array.from({ length: 620 }, () => history.rows[0]!),
  });
  expect(pictureOf(state, listOf(state), paint)).toContain("… 120 more rows");
});
