/**
 * No function is longer than a screen. Biome's own rule counts a chain or an element as one line.
 */

import { readdirSync, readFileSync } from "node:fs";
import { parseSync } from "vite";
import { expect, it } from "vitest";

const MAX_LINES = 80;
const FUNCTIONS = new Set(["ArrowFunctionExpression", "FunctionDeclaration", "FunctionExpression"]);
const SOURCES = new URL("./", import.meta.url);

interface Tree {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && "type" in value;

const childrenOf = (tree: Tree): readonly Tree[] => Object.values(tree).flat().filter(isTree);

/** A list of tests may be as long as it has to be. */
function isDescribe(tree: Tree): tree is Tree & { readonly arguments: readonly Tree[] } {
  const called = (tree as { readonly callee?: unknown }).callee;
  return isTree(called) && (called as { readonly name?: unknown }).name === "describe";
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

const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) =>
  /\.tsx?$/.test(file),
);

it("has no function of more than 80 lines", () => {
  const long = files.flatMap((file) =>
    longOnes(file, readFileSync(new URL(file, SOURCES), "utf8")),
  );
  expect(long).toEqual([]);
});

it("finds a function of 81 lines, but not one of 80", () => {
  const ofLines = (lines: number) => `const f = () => {${"\n".repeat(lines - 1)}};`;
  expect(longOnes("a.ts", ofLines(81))).toEqual(["a.ts:1: 81 lines"]);
  expect(longOnes("a.ts", ofLines(80))).toEqual([]);
});
