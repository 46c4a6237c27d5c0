import { expect, test } from "vitest";
import { onOneLine } from "../basics/text";
import { isPasted, named } from "../search/pasted";
import { stripped } from "../search/syntax";

const LONG = 0.03; // seconds; then a text is long enough to compare it with a shorter one
const MOST = 20_000; // characters, as in grammar.json

/** Whether a text takes about as long as four of a fourth of it; quadratic work takes four times that. */
function isLinear(use: (size: number) => unknown): boolean {
  const duration = (size: number, times: number) => {
    const begin = process.cpuUsage();
    for (let n = 0; n < times; n++) {
      use(size);
    }
    return process.cpuUsage(begin).user / 1e6;
  };
  const quickest = (size: number, times: number) =>
    Math.min(...[1, 2, 3].map(() => duration(size, times)));
  let size = 64;
  while (size < MOST && duration(size, 1) < LONG) {
    size *= 2;
  }
  const taken = quickest(size, 1);
  return taken < 0.002 || taken <= 2.5 * quickest(size / 4, 4);
}

test.each<[string, (size: number) => unknown]>([
  ["brackets in the search", (size) => isPasted("(".repeat(size))],
  ["ends of keys in the search", (size) => isPasted("ATTRIBUTES/'".repeat(size / 12))],
  ["quotes around nothing", (size) => named(`x${"'".repeat(size)}x`)],
  ["blanks in a query", (size) => stripped(`x${" ".repeat(size)}x`)],
  ["tabs in an error", (size) => onOneLine(`x${"\t".repeat(size)}x`)],
])("%s take time in proportion to their number", (_, use) => {
  expect(isLinear(use)).toBe(true);
});

test("a text is TensorFlow's by a key, but not by one behind a field", () => {
  for (const key of ["a/.ATTRIBUTES/", "x 'a:b/.ATTRIBUTES/V", "k:'a/.ATTRIBUTES/"]) {
    expect(isPasted(key), key).toBe(!key.includes("a:b"));
  }
  expect(isPasted("under:a/.ATTRIBUTES/")).toBe(false);
});

test("ends of lines and the white space around them are one space", () => {
  expect(onOneLine(" a \r\n\t b\t\tc\n")).toBe("a b\\t\\tc");
});
