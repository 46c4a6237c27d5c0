import { describe, expect, it } from "vitest";
import { compared, treeGraph } from "../graphs.test-data";
import type { Guess } from "../overlay";
import { withAccepted } from "./accepting";
import { callWith } from "./guesses";

const GUESSES: readonly Guess[] = ["a", "it's", "c"].map((saved, place) => ({
  place,
  saved,
  live: `new ${saved}`,
  code: JSON.stringify(saved),
}));

describe("the guesses of a check", () => {
  it("belong to the problems that ask about them", () => {
    const problems = [{ guesses: GUESSES.slice(1) }, {}];
    const { overlay } = compared(treeGraph([-1, 0]), { problems, guesses: GUESSES });
    expect(overlay!.guesses).toEqual(GUESSES);
    expect(overlay!.problem(0).guesses).toEqual(GUESSES.slice(1));
    expect(overlay!.problem(1).guesses).toEqual([]);
  });

  it("are accepted and left again, in the order of the check", () => {
    const last = withAccepted(new Set(), GUESSES.slice(2), true);
    const both = withAccepted(last, GUESSES.slice(0, 1), true);
    expect([[...last], [...both]]).toEqual([[2], [0, 2]]);
    expect([...withAccepted(both, GUESSES, true)]).toEqual([0, 1, 2]);
    expect([...withAccepted(both, GUESSES, false)]).toEqual([]);
  });

  it("are arguments of a call in Python", () => {
    expect(callWith(GUESSES.slice(0, 2))).toBe(`check.fix(guesses=["a", "it's"])`);
  });
});
