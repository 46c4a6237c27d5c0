import { expect, it } from "vitest";
import { actionOf } from "./keyboard";

const press = (key: string, modifiers: Partial<KeyboardEvent> = {}) =>
  actionOf({ key, ...modifiers } as KeyboardEvent);

it("steps through problems with brackets and with F8", () => {
  const next = { type: "stepProblem", by: 1 };
  const previous = { type: "stepProblem", by: -1 };
  expect([press("]"), press("F8")]).toEqual([next, next]);
  expect([press("["), press("F8", { shiftKey: true })]).toEqual([previous, previous]);
});

it("leaves keys with Ctrl, Alt and Meta, and Shift+Enter, to the notebook", () => {
  expect(press("]", { ctrlKey: true })).toBe(undefined);
  expect(press("F8", { altKey: true })).toBe(undefined);
  expect(press("Enter", { shiftKey: true })).toBe(undefined);
});
