import { expect, it } from "vitest";
import type { Guess } from "../data/overlay";
import { withAccepted } from "./accepting";
import { shortCode } from "./code-pane";

const GUESSES: readonly Guess[] = ["a", "it's", "c"].map((saved, place) => ({
  ...{ place, code: JSON.stringify(saved) },
}));

it("accepts guesses and leaves them again, in the order of the check", () => {
  const last = withAccepted(new Set(), 2, true);
  const both = withAccepted(last, 0, true);
  expect([[...last], [...both]]).toEqual([[2], [0, 2]]);
  expect([...withAccepted(both, 1, true)]).toEqual([0, 1, 2]);
  expect([...withAccepted(both, 2, false)]).toEqual([0]);
});

it("writes the call that takes the accepted guesses", () => {
  const code = (...accepted: number[]) =>
    shortCode(GUESSES, { accepted: new Set(accepted), accept: () => undefined });
  expect(code()).toBe("check.fix().apply()");
  expect(code(0, 1)).toBe(`check.fix(guesses=["a", "it's"]).apply()`);
});
