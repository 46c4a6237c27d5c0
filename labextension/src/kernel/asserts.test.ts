import { describe, expect, it } from "vitest";
import { readAsserts } from "./asserts";

const FAILS = { name: "assert_consumed", passes: false, text: "b waits.", node: 2 };
const PASSES = { name: "assert_nontrivial_match", passes: true, text: "It passes.", node: null };

describe("the asserts in an answer", () => {
  it("are taken as they are", () => {
    expect(readAsserts([FAILS, PASSES], 3)).toEqual([FAILS, PASSES]);
    expect(readAsserts([], 3)).toEqual([]);
  });

  it("are none if one of them is malformed, or names a node that the picture lacks", () => {
    const others = [
      ...[undefined, null, 5, "x", { length: 1 }, [null], [5]],
      ...[[{ ...FAILS, node: 3 }], [{ ...FAILS, node: -1 }], [{ ...FAILS, node: 0.5 }]],
      ...[[{ ...FAILS, name: 1 }], [{ ...FAILS, passes: "no" }], [FAILS, { ...FAILS, text: {} }]],
      [{ ...FAILS, node: undefined }],
    ];
    for (const data of others) {
      expect(readAsserts(data, 3)).toEqual([]);
    }
  });
});
