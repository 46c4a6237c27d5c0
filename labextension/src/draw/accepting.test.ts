import { expect, it } from "vitest";
import type { Guess } from "../data/overlay";
import { withAccepted } from "./accepting";
import { shortCode } from "./code-pane";

const GUESSES: readonly Guess[] = ["a", "it's", "c"].map((saved, place) => ({
  ...{ place, code: JSON.stringify(saved) },
}));
const [FIRST, , LAST] = GUESSES as [Guess, Guess, Guess];

it("accepts guesses and leaves them again, in the order of the check", () => {
  const last = withAccepted(new Set(), [LAST], true);
  const both = withAccepted(last, [FIRST], true);
  expect([[...last], [...both]]).toEqual([[2], [0, 2]]);
  expect([...withAccepted(both, GUESSES, true)]).toEqual([0, 1, 2]);
  expect([...withAccepted(both, GUESSES, false)]).toEqual([]);
});

it("writes the call that takes the accepted guesses", () => {
  const code = (...accepted: number[]) =>
    shortCode(GUESSES, { accepted: new Set(accepted), accept: () => undefined });
  expect(code()).toBe("check.fix().apply()");
  expect(code(0, 1)).toBe(`check.fix(guesses=["a", "it's"]).apply()`);
});
