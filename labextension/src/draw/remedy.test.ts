import { expect, it } from "vitest";
import { loadGraph } from "../graphs.test-data";
import { codeIn, messageOf } from "./remedy";

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

it("gives the words of the restore, or of the assert that names the node", async () => {
  const { overlay } = await loadGraph("check");
  const verdicts = ["restore() broke", "no (root).model.aux.kernel", ""].map((message) => ({
    ...{ name: "", passes: message === "", message },
  }));
  const said = (index: number) => messageOf({ ...overlay!, verdicts }, overlay!.problem(index));
  expect([0, 1, 2, 5].map(said)).toEqual([
    "restore() broke",
    "no (root).model.aux.kernel",
    undefined,
    undefined,
  ]);
});
