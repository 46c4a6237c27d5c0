import { expect, it } from "vitest";
import {
  CHANGE_KEYS,
  changeDeedOf,
  differenceWords,
  isChanged,
  NO_CHANGES,
  withEdit,
} from "./changes";

const press = (key: string, isInTable = false, modifiers: Partial<KeyboardEvent> = {}) =>
  changeDeedOf({ key, ...modifiers } as KeyboardEvent, isInTable);

it("has a deed for each key, and leaves those of browser and notebook alone", () => {
  for (const [key, deed] of CHANGE_KEYS) {
    const altKey = key.startsWith("Alt+");
    expect(press(key.replace("Alt+", ""), false, { altKey })).toBe(deed);
  }
  expect(press("u", false, { ctrlKey: true })).toBe(undefined);
  expect(press("Delete", false, { metaKey: true })).toBe(undefined);
  expect(press("ArrowUp")).toBe(undefined);
});

it("types a name at Enter in the table alone", () => {
  expect([press("Enter"), press("Enter", true)]).toEqual([undefined, "name"]);
});

it("knows which changes change anything", () => {
  expect(isChanged(NO_CHANGES)).toBe(false);
  expect(isChanged(withEdit(NO_CHANGES, NO_CHANGES, { kind: "build" }))).toBe(true);
  expect(isChanged({ ...NO_CHANGES, method: "read" })).toBe(true);
  expect(isChanged({ ...NO_CHANGES, partial: true })).toBe(true);
  expect(isChanged({ ...NO_CHANGES, reordered: true })).toBe(true);
});

it("tells of an edit in which picture someone made it", () => {
  const one = withEdit(NO_CHANGES, NO_CHANGES, { kind: "name", node: 3, to: "" });
  const two = withEdit({ ...one, partial: true }, one, { kind: "up", node: 4 });
  const { edits } = withEdit(two, NO_CHANGES, { kind: "down", node: 5 });
  expect(edits.map(({ after, kind, partial }) => [kind, after, partial])).toEqual([
    ["name", 0, false],
    ["up", 1, false],
    ["down", 0, false],
  ]);
  // The picture of two edits is still in sight after someone has undone both.
  expect(withEdit(NO_CHANGES, two, { kind: "up", node: 4 })).toBe(NO_CHANGES);
});

const RESULT = {
  method: "restore",
  raises: "",
  consumed: true,
  existing_objects_matched: true,
  nontrivial_match: true,
  restored: 3,
  warnings: 0,
  steps: 9,
};
it("tells what differs between two results, and nothing else", () => {
  expect(differenceWords(RESULT, RESULT)).toEqual([]);
  const now = { ...RESULT, raises: "ValueError", consumed: false, restored: 1_200, steps: 4 };
  expect(differenceWords(RESULT, now)).toEqual([
    "restore() passes → raises ValueError",
    "assert_consumed() passes → fails",
    "values restored 3 → 1,200",
    "steps 9 → 4",
  ]);
  expect(differenceWords(RESULT, { ...RESULT, method: "read" })).toEqual(["restore() → read()"]);
});
