/** The sources of the front end, for tests of their form. */

import { readdirSync, readFileSync } from "node:fs";

export interface Source {
  /** The path below `src/` or `style/`. */
  readonly name: string;
  readonly code: string;
}

function filesIn(folder: URL, suffix: RegExp): readonly Source[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => suffix.test(name))
    .map((name) => ({ name, code: readFileSync(new URL(name, folder), "utf8") }));
}

/** All modules, and those without tests. */
export const SOURCES = filesIn(new URL("../", import.meta.url), /\.tsx?$/);
export const MODULES = SOURCES.filter(({ name }) => !/\.test(-data)?\./.test(name));
export const STYLES = filesIn(new URL("../../style/", import.meta.url), /(?<!generated)\.css$/);

/** A part of a parsed module. */
export interface Tree {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [name: string]: unknown;
}

export const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && "type" in value;

export const childrenOf = (tree: Tree): readonly Tree[] =>
  Object.values(tree).flat().filter(isTree);
