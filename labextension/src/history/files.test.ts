import { expect, test } from "vitest";
import { csvOf } from "./csv";
import { load, row } from "./histories.test-data";

const history = load("training");

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
