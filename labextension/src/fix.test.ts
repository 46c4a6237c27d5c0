import { describe, expect, it } from "vitest";
import { type FixAnswer, makeFix, movesAlong } from "./fix";
import { fixOf } from "./graphs.test-data";

const ANSWER: FixAnswer = {
  restored: 2,
  unused: 1,
  is_applied: false,
  code: "status = ckpt.restore(path)\n",
  source: "ckpt",
  evidence: ["both have the same path", "they come in the same order"],
  changes: [],
};
const column = (...numbers: number[]) => new DataView(Int32Array.from(numbers).buffer);
const NONE = column();

describe("the fix in an answer", () => {
  it("tells where values go, where they come from, and why", () => {
    const pairs = column(5, 2, 0, 0, 5, 3, 1, 1);
    const fix = makeFix(
      ANSWER,
      [pairs, column(6, 4, 0, 0), column(4), column(6), column(6, 5)],
      7,
    )!;
    expect(fix.goesTo(5).map(({ live, bond }) => [live, bond])).toEqual([
      [2, "certain"],
      [3, "likely"],
    ]);
    expect(fix.comesFrom(3)?.why).toBe("they come in the same order");
    expect(fix.comesFrom(4)?.bond).toBe("misfit");
    expect([fix.keeps(4), fix.keeps(2), fix.isUnused(6), fix.isUnused(5)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect([fix.guessOf(6), fix.guessOf(5), fix.guessOf(4)]).toEqual([0, 1, undefined]);
    expect([fix.kept, fix.unused, fix.changes]).toEqual([1, 1, []]);
  });

  it("may begin anywhere in a message", () => {
    const inside = new DataView(Int32Array.from([9, 1, 0, 0, 0]).buffer, 4);
    const bytes = new Uint8Array(17);
    bytes.set(new Uint8Array(inside.buffer, 4), 1);
    const odd = new DataView(bytes.buffer, 1);
    expect(makeFix(ANSWER, [odd, NONE, NONE, NONE, NONE], 2)?.pairs).toHaveLength(1);
  });

  it.each([
    ["a column is missing", [NONE, NONE, NONE, NONE]],
    ["a number is cut", [new DataView(new ArrayBuffer(3)), NONE, NONE, NONE, NONE]],
    ["a node does not exist", [NONE, NONE, column(7), NONE, NONE]],
    ["a node is negative", [column(-1, 0, 0, 0), NONE, NONE, NONE, NONE]],
  ])("is none if %s", (_, buffers) => {
    expect(makeFix(ANSWER, buffers, 7)).toBeNull();
  });

  it.each([
    { code: 3 },
    { restored: "2" },
    { unused: null },
    { source: 5 },
    { evidence: null },
    { changes: null },
  ])("is none with %o", (change) => {
    const answer = { ...ANSWER, ...change } as unknown as FixAnswer;
    expect(makeFix(answer, [NONE, NONE, NONE, NONE, NONE], 7)).toBeNull();
  });

  it("is read in a moment for 50,000 pairs", () => {
    const numbers = Int32Array.from({ length: 200_000 }, (_, i) =>
      i % 4 === 0 ? i / 4 : i % 4 === 1 ? 50_000 + (i - 1) / 4 : 0,
    );
    const fix = makeFix(ANSWER, [new DataView(numbers.buffer), NONE, NONE, NONE, NONE], 100_000)!;
    expect(fix.comesFrom(99_999)?.saved).toBe(49_999);
  }, 10_000);
});

it("a part moves along if its holder goes to the holder of its new place", () => {
  // 1 ─ 2 goes to 3 ─ 4, and the lone 5 into 6.
  const parents = new Map([
    [2, 1],
    [4, 3],
    [5, 1],
    [6, 0],
  ]);
  const fix = fixOf({
    pairs: [
      { saved: 1, live: 3 },
      { saved: 2, live: 4 },
      { saved: 5, live: 6 },
    ],
  });
  const along = fix.pairs.map((pair) => movesAlong(fix, pair, (id) => parents.get(id) ?? null));
  expect(along).toEqual([false, true, false]);
});
