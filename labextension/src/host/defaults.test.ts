import { expect, it } from "vitest";
import { generatedStyle } from "../view/style";
import { defaultsOf, readDefaults, setDefaults } from "./defaults";

const BUILT_IN = { view: "layers", depth: 0, bookkeeping: false, matched: true };

it("reads the defaults that the page has", () => {
  const page: DOMStringMap = {};
  const set = { view: "objects" as const, depth: 2, bookkeeping: true, matched: false };
  setDefaults(page, set, false);
  expect(readDefaults(page)).toEqual(set);
});

it.each([
  [undefined, {}],
  ["{}", {}],
  ['{"depth": 2}', { depth: 2 }],
  ['{"bookkeeping": true, "matched": false}', { bookkeeping: true, matched: false }],
  ['{"depth": 1, "of another version": []}', { depth: 1 }],
  ['{"depth": null, "bookkeeping": null, "matched": null}', {}],
  ['{"depth": "2", "bookkeeping": 1, "matched": 0}', {}],
  ['{"view": "objects"}', { view: "objects" }],
  ['{"view": "guide"}', {}],
  ['{"depth": -1}', {}],
  ['{"depth": 1.5}', {}],
  ['{"depth": 1e999}', {}],
  ["", {}],
  ["{", {}],
  ["null", {}],
  ["[]", {}],
  ["7", {}],
])("missing or malformed settings leave the built-in default: %s", (ckptViz, expected) => {
  expect(readDefaults({ ckptViz })).toEqual({ ...BUILT_IN, ...expected });
});

it("setDefaults() adds or removes the attribute that turns on the classic colours", () => {
  const page: DOMStringMap = {};
  setDefaults(page, defaultsOf({}), true);
  expect(page).toHaveProperty("ckptVizClassic");
  expect(generatedStyle()).toContain("[data-ckpt-viz-classic] .ckpt-viz {");
  setDefaults(page, defaultsOf({}), false);
  expect(page).not.toHaveProperty("ckptVizClassic");
});
