import { expect, test } from "vitest";
import { load, row, rowOf } from "./histories.test-data";
import { brokenWords, haveSlots, pathOf } from "./remedy";

const history = load("training");
const nan = history.findings.find(({ kind }) => kind === "nan");

test("a finding of NaN has the way back to the checkpoint before", () => {
  expect(nan?.restore?.checkpoint).toBe(7);
  expect(nan?.restore?.code).toContain("'runs/ckpt-7'");
  expect(history.findings.filter(({ restore }) => restore !== undefined)).toEqual([nan]);
});

test("a variable tells how many of its elements are broken", () => {
  const kernel = rowOf(history, "block2.attention.query.kernel");
  expect(brokenWords(kernel, nan!)).toBe("NaN in 12 of 192 elements");
  expect(brokenWords({ ...kernel, shape: [] }, { kind: "inf", first: 0 })).toBe(
    "Inf in 0 of 1 element",
  );
});

test("slots belong to the variable whose key they have", () => {
  const bad = row({ state: "first", values: { nan: 1 } });
  const slot = { ...bad, is_state: true };
  const value = "/.ATTRIBUTES/VARIABLE_VALUE";
  const with_ = (key: string) => ({ ...history, rows: [{ ...slot, key }] });
  const own = { ...bad, key: `model/kernel${value}` };
  expect(haveSlots(with_(`model/kernel/.OPTIMIZER_SLOT/opt/m${value}`), own, 0)).toBe(true);
  expect(haveSlots(with_(`model/kernel2/.OPTIMIZER_SLOT/opt/m${value}`), own, 0)).toBe(false);
  expect(haveSlots(with_("kernel/Adam"), { ...bad, key: "kernel" }, 0)).toBe(true);
});

test("a key tells its path, without escapes", () => {
  expect(pathOf("model/a.Sb/c..S/kernel/.ATTRIBUTES/VARIABLE_VALUE")).toEqual([
    "model",
    "a/b",
    "c.S",
    "kernel",
  ]);
  expect(pathOf("dense/kernel")).toEqual(["dense/kernel"]);
});
