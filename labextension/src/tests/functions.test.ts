/**
 * No function is longer than a screen. Biome's own rule counts a chain or an element as one line.
 */

import { parseSync } from "vite";
import { expect, it } from "vitest";
import { childrenOf, isTree, SOURCES, type Tree } from "./sources.test-data";

const MAX_LINES = 80;
const FUNCTIONS = new Set(["ArrowFunctionExpression", "FunctionDeclaration", "FunctionExpression"]);

/** A list of tests may be as long as it has to be. */
function isDescribe(tree: Tree): tree is Tree & { readonly arguments: readonly Tree[] } {
  return isTree(tree.callee) && tree.callee.name === "describe";
}

/** The first line and the length of each function that is too long. */
function longOnes(name: string, code: string): readonly string[] {
  const lineOf = (place: number) => code.slice(0, place).split("\n").length;
  const walk = (tree: Tree): readonly string[] => {
    if (isDescribe(tree)) {
      return tree.arguments.flatMap((test) => childrenOf(test).flatMap(walk));
    }
    const first = lineOf(tree.start);
    const lines = lineOf(tree.end) - first + 1;
    const isLong = FUNCTIONS.has(tree.type) && lines > MAX_LINES;
    return [
      ...(isLong ? [`${name}:${first}: ${lines} lines`] : []),
      ...childrenOf(tree).flatMap(walk),
    ];
  };
  return walk(parseSync(name, code).program as unknown as Tree);
}

it("has no function of more than 80 lines", () => {
  expect(SOURCES.flatMap(({ name, code }) => longOnes(name, code))).toEqual([]);
});

it("finds a function of 81 lines, but not one of 80", () => {
  const ofLines = (lines: number) => `const f = () => {${"\n".repeat(lines - 1)}};`;
  expect(longOnes("a.ts", ofLines(81))).toEqual(["a.ts:1: 81 lines"]);
  expect(longOnes("a.ts", ofLines(80))).toEqual([]);
});
