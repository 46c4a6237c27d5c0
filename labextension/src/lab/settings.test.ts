import { readFileSync } from "node:fs";
import { beforeEach, expect, test, vi } from "vitest";
import { defaultsOf, readDefaults } from "../host/defaults";
import { followSettings } from "./settings";

// JupyterLab's own registry, so that its rules for schemas and values apply. One of its modules
// needs a page during the import.
vi.stubGlobal("document", { createElement: () => null });
vi.stubGlobal("Element", class {});
const { SettingRegistry } = await import("@jupyterlab/settingregistry");

const ID = "ckpt-viz:explorer";
const schema = JSON.parse(
  readFileSync(new URL("../../schema/explorer.json", import.meta.url), "utf8"),
);

/** A registry with the user's settings. */
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

test("followSettings() reports keys as the user sets them", async () => {
  const settings = registry('{ "keys": { "j": "ArrowDown" } }');
  await followSettings(settings, ID, setKeys, page);
  await settings.set(ID, "keys", { q: "" });
  expect(setKeys.mock.calls).toEqual([[{ j: "ArrowDown" }], [{ q: "" }]]);
});

test("without settings the defaults are the same as without JupyterLab", async () => {
  await followSettings(registry(), ID, setKeys, page);
  expect(readDefaults(page)).toEqual(defaultsOf({}));
  expect(page).not.toHaveProperty("ckptVizClassic");
});

test("the page has the settings from the start and after each change", async () => {
  const settings = registry(
    '{ "firstView": "objects", "expansionDepth": 3, "showMatched": false, "colours": "classic" }',
  );
  await followSettings(settings, ID, setKeys, page);
  expect(readDefaults(page)).toEqual({
    view: "objects",
    depth: 3,
    bookkeeping: false,
    matched: false,
  });
  expect(page).toHaveProperty("ckptVizClassic");
  await settings.set(ID, "showBookkeeping", true);
  await settings.set(ID, "expansionDepth", 0);
  await settings.set(ID, "colours", "standard");
  expect(readDefaults(page)).toEqual({
    view: "objects",
    depth: 0,
    bookkeeping: true,
    matched: false,
  });
  expect(page).not.toHaveProperty("ckptVizClassic");
});

test.each([
  '{ "expansionDepth": -1 }',
  '{ "expansionDepth": 1.5 }',
  '{ "colours": "pink" }',
  '{ "firstView": "guide" }',
  '{ "showMatched": "no" }',
  '{ "unknown": true }',
])("the registry refuses an invalid setting, and the page keeps its settings: %s", async (raw) => {
  const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
  await followSettings(registry(raw), ID, setKeys, page);
  expect(warned).toHaveBeenCalled();
  expect(page).toEqual({});
});
