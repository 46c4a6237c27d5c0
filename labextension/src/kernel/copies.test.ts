import { expect, it } from "vitest";
import { COPY_KEYS, copyDeedOf, question, sideOf } from "./copies";

const press = (key: string, isOfMatches: boolean, modifiers: Partial<KeyboardEvent> = {}) =>
  copyDeedOf({ key, ...modifiers } as KeyboardEvent, isOfMatches);

it("tells the keys of the row from those of the matches", () => {
  for (const [kind, ofRow, ofMatches] of COPY_KEYS) {
    expect([press(ofRow, false), press(ofMatches, false)]).toEqual([kind, undefined]);
    expect([press(ofRow, true), press(ofMatches, true)]).toEqual([undefined, kind]);
  }
});

it("leaves combinations to the notebook and the browser", () => {
  expect(press("r", false, { ctrlKey: true })).toBe(undefined);
  expect(press("w", false, { metaKey: true })).toBe(undefined);
  expect(press("l", false, { altKey: true })).toBe(undefined);
});

it("asks about a node or a query, and sends a name only for a renaming", () => {
  expect(question("without", { query: "role:slot" }, "")).toEqual({
    ask: "copy",
    kind: "without",
    query: "role:slot",
  });
  expect(question("renamed", { nodes: [3], side: "a" }, "net")).toEqual({
    ask: "copy",
    kind: "renamed",
    nodes: [3],
    side: "a",
    to: "net",
  });
});

it("copies what was saved, never what is live alone", () => {
  expect(sideOf("saved", null, null)).toEqual({});
  expect(sideOf("live", null, null)).toBeNull();
  expect(sideOf("live", "diff", "matched")).toBeNull();
  expect(sideOf("live", "check", "matched")).toEqual({});
  expect(sideOf("live", "check", "live only")).toBeNull();
});

it("copies b of a diff, and a where b lacks the part", () => {
  expect(sideOf("saved", "diff", "only in a")).toEqual({ side: "a" });
  for (const state of ["only in b", "matched", null] as const) {
    expect(sideOf("saved", "diff", state)).toEqual({ side: "b" });
  }
});
