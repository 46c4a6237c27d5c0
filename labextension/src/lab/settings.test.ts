import { readFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import { defaultsOf, readDefaults } from "../defaults";
import { followSettings } from "./settings";

// JupyterLab's own registry, so that its rules for schemas and values hold; on import one of its
// modules asks for a page.
vi.stubGlobal("document", { createElement: () => null });
vi.stubGlobal("Element", { prototype: {} });
const { SettingRegistry } = await import("@jupyterlab/settingregistry");

const ID = "ckpt-viz:explorer";
const schema = JSON.parse(
  readFileSync(new URL("../../schema/explorer.json", import.meta.url), "utf8"),
);

/** A registry with what somebody has set. */
function registry(raw = "{}") {
  const stored = { raw };
  const plugin = () => ({
    ...{ id: ID, schema, version: "1", raw: stored.raw },
    data: { composite: {}, user: {} },
  });
  return new SettingRegistry({
    connector: {
      fetch: async () => plugin(),
      list: async () => ({ ids: [ID], values: [plugin()] }),
      remove: async () => {},
      save: async (_id, value) => {
        stored.raw = value;
      },
    },
  });
}

let page: DOMStringMap = {};
const setKeys = vi.fn();
beforeEach(() => {
  page = {};
  setKeys.mockClear();
});

test("keys are told as they are set", async () => {
  const settings = registry('{ "keys": { "j": "ArrowDown" } }');
  await followSettings(settings, ID, setKeys, page);
  await settings.set(ID, "keys", { q: "" });
  expect(setKeys.mock.calls).toEqual([[{ j: "ArrowDown" }], [{ q: "" }]]);
});

test("without settings all is as it is without JupyterLab", async () => {
  await followSettings(registry(), ID, setKeys, page);
  expect(readDefaults(page)).toEqual(defaultsOf({}));
  expect(page).not.toHaveProperty("ckptVizClassic");
});

test("the page has what is set, from the start and when it changes", async () => {
  const settings = registry('{ "expansionDepth": 3, "showMatched": false, "colours": "classic" }');
  await followSettings(settings, ID, setKeys, page);
  expect(readDefaults(page)).toEqual({ depth: 3, bookkeeping: false, matched: false });
  expect(page).toHaveProperty("ckptVizClassic");
  await settings.set(ID, "showBookkeeping", true);
  await settings.set(ID, "expansionDepth", 0);
  await settings.set(ID, "colours", "standard");
  expect(readDefaults(page)).toEqual({ depth: 0, bookkeeping: true, matched: false });
  expect(page).not.toHaveProperty("ckptVizClassic");
});

test.each([
  '{ "expansionDepth": -1 }',
  '{ "expansionDepth": 1.5 }',
  '{ "colours": "pink" }',
  '{ "showMatched": "no" }',
  '{ "unknown": true }',
])("what is no setting is refused, and the page left as it is: %s", async (raw) => {
  const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
  await followSettings(registry(raw), ID, setKeys, page);
  expect(warned).toHaveBeenCalled();
  expect(page).toEqual({});
});
