import { expect, it } from "vitest";
import { codeIn } from "./remedy";

it.each([
  ["Call expect_partial() in place of the asserts.", "expect_partial()"],
  [
    "Call tf.train.Checkpoint(net=live.model).restore(path), where live is the checked object.",
    "tf.train.Checkpoint(net=live.model).restore(path)",
  ],
  ["Use Checkpoint(**{'a)b': x}) or restore().", "Checkpoint(**{'a)b': x})"],
  ["Make the layer with 3 units (as saved).", null],
  ["Call restore(", null],
  ["Call restore('a\u202eb').", null],
])("finds the code in: %s", (remedy, code) => {
  expect(codeIn(remedy)).toBe(code);
});

it("finds the code in a long remedy", () => {
  expect(codeIn(`${"f(".repeat(2_000)}${")".repeat(2_000)}`)).toHaveLength(6_000);
});
