import { expect, test } from "vitest";
import type { ChangeMap } from "./data";
import { bytesOf, cellWords, crossed, highestOf, squares } from "./where";

const cells = [
  [0, 0.5, null],
  [1, 0.13, 0.12],
];

test("levels are equal steps from 0 to the largest mean", () => {
  expect(highestOf(cells)).toBe(1);
  const paths = squares(cells, 1);
  expect(paths).toHaveLength(8);
  expect(paths[0]).toBe("M2 1h1v1h-1z");
  expect(paths[1]).toBe("M1 1h1v1h-1z");
  expect(paths[3]).toBe("M1 0h1v1h-1z");
  expect(paths[7]).toBe("M0 1h1v1h-1z");
  expect(paths.join("")).not.toContain("M0 0");
});

test("a map of zeros, or of nothing finite, has no colour", () => {
  expect(squares([[0, null]], highestOf([[0, null]])).join("")).toBe("");
});

test("broken cells have stripes of their size", () => {
  expect(crossed([[1, 2, 7]], 10, 5)).toBe("M20.00 5.00h10.00v5.00h-10.00z");
});

test("a cell tells its part of the matrix as Python cuts it", () => {
  const map: ChangeMap = {
    state: "mapped",
    words: "",
    matrix: [130, 3],
    broken: [[63, 2, 1]],
    cells: Array.from({ length: 64 }, () => [0.25, 0.5, null]),
  };
  const words = (i: number, j: number) => cellWords(map, map.cells ?? [], i, j);
  // Row r is in the cell row floor(r * 64 / 130).
  const rows = Array.from({ length: 130 }, (_, r) => r);
  for (const i of [0, 1, 31, 63]) {
    const own = rows.filter((r) => Math.floor((r * 64) / 130) === i);
    expect(words(i, 1)).toBe(`rows ${own[0]}–${own.at(-1)}, columns 1: mean 0.5`);
  }
  expect(words(63, 2)).toContain("1 element is NaN or infinite");
  expect(cellWords({ ...map, matrix: [1, 3] }, [[1, 2, 3]], 0, 0)).toBe("columns 0: mean 1");
});

test("the bytes of a tensor follow from its dtype", () => {
  const of = (dtype: string | null, ...shape: number[]) => bytesOf({ dtype, shape });
  expect([
    of("float32", 3, 5),
    of("bfloat16", 4),
    of("complex128", 2),
    of("int4", 2),
    of("bool", 7),
    of(null, 7),
    bytesOf({ dtype: "float32", shape: null }),
  ]).toEqual([60, 8, 32, 1, 7, 7, 4]);
});
