import { describe, expect, it } from "vitest";
import { evenly, unevenly } from "./scrolling";

describe("the heights of entries", () => {
  it("may all be the same", () => {
    const heights = evenly(20);
    expect([0, 3].map(heights.top)).toEqual([0, 60]);
    expect([0, 19, 20, 61].map(heights.at)).toEqual([0, 0, 1, 3]);
  });

  it("may differ: an entry begins where the one before ends", () => {
    const heights = unevenly([20, 50, 20]);
    expect([0, 1, 2, 3, 9].map(heights.top)).toEqual([0, 20, 70, 90, 90]);
    expect([0, 19, 20, 69, 70, 89, 500].map(heights.at)).toEqual([0, 0, 1, 1, 2, 2, 2]);
    expect([unevenly([]).at(5), unevenly([]).top(0)]).toEqual([0, 0]);
  });

  it("find an entry among many in few steps", () => {
    const sizes = Array.from({ length: 50_000 }, (_, entry) => (entry % 3 === 0 ? 50 : 28));
    const heights = unevenly(sizes);
    for (let entry = 0; entry < sizes.length; entry += 997) {
      const top = heights.top(entry);
      expect([heights.at(top), heights.at(top + (sizes[entry] ?? 0) - 1)]).toEqual([entry, entry]);
    }
  });
});
