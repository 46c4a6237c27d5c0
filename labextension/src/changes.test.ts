import { expect, it } from "vitest";
import {
  CHANGE_KEYS,
  type ChangedAnswer,
  changeDeedOf,
  isChanged,
  NO_CHANGES,
  readChanged,
  withEdit,
} from "./changes";

const press = (key: string, isPending = false, modifiers: Partial<KeyboardEvent> = {}) =>
  changeDeedOf({ key, ...modifiers } as KeyboardEvent, isPending);

it("has a deed for each key, and leaves those of browser and notebook alone", () => {
  for (const [key, deed] of CHANGE_KEYS) {
    const altKey = key.startsWith("Alt+");
    expect(press(key.replace("Alt+", ""), false, { altKey })).toBe(deed);
  }
  expect(press("u", false, { ctrlKey: true })).toBe(undefined);
  expect(press("Delete", false, { metaKey: true })).toBe(undefined);
  expect(press("ArrowUp")).toBe(undefined);
});

it("takes Enter and Escape only while an edit needs its second part", () => {
  expect([press("Enter"), press("Escape")]).toEqual([undefined, undefined]);
  expect([press("Enter", true), press("Escape", true)]).toEqual(["confirm", "cancel"]);
});

it("knows which changes change anything", () => {
  expect(isChanged(NO_CHANGES)).toBe(false);
  expect(isChanged(withEdit(NO_CHANGES, NO_CHANGES, { kind: "build" }))).toBe(true);
  expect(isChanged({ ...NO_CHANGES, method: "read" })).toBe(true);
  expect(isChanged({ ...NO_CHANGES, partial: true })).toBe(true);
  expect(isChanged({ ...NO_CHANGES, reordered: true })).toBe(true);
});

it("tells of an edit in which picture someone made it", () => {
  const one = withEdit(NO_CHANGES, NO_CHANGES, { kind: "remove", node: 3 });
  const two = withEdit({ ...one, partial: true }, one, { kind: "up", node: 4 });
  const { edits } = withEdit(two, NO_CHANGES, { kind: "down", node: 5 });
  expect(edits.map(({ after, kind, partial }) => [kind, after, partial])).toEqual([
    ["remove", 0, false],
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
const ANSWER: ChangedAnswer = {
  edits: [{ text: "Remove net.a", code: "del ckpt.net.a" }],
  before: RESULT,
  now: { ...RESULT, consumed: false },
  first: 4,
  node: 1,
};

it("reads an answer, and none that is malformed", () => {
  expect(readChanged(ANSWER)).toBe(ANSWER);
  const broken: readonly object[] = [
    { ...ANSWER, edits: "none" },
    { ...ANSWER, edits: [{ text: "Remove net.a" }] },
    { ...ANSWER, before: undefined },
    { ...ANSWER, now: { ...RESULT, consumed: "yes" } },
    { ...ANSWER, now: { ...RESULT, steps: 1.5 } },
    { ...ANSWER, now: { ...RESULT, method: null } },
  ];
  for (const answer of broken) {
    expect(readChanged(answer as ChangedAnswer)).toBe(null);
  }
  expect(readChanged(undefined)).toBe(null);
});
