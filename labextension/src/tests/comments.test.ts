/** Comments use plain English, by the rules in docs/plain_english.md. */

import { readFileSync } from "node:fs";
import { parseSync } from "vite";
import { expect, it } from "vitest";
import { SOURCES, type Source, STYLES } from "./sources.test-data";

const MAX_WORDS = 25;
/** The phrases in the first column of the table there, and some that only comments have had. */
const GUIDE = readFileSync(new URL("../../../docs/plain_english.md", import.meta.url), "utf8");
const ROWS = /\| avoid \| write \|\n\|.*\n((?:\|.*\n)+)/.exec(GUIDE)?.[1]?.split("\n") ?? [];
const OF_GUIDE = ROWS.flatMap((row) => [...(row.split("|")[1]?.matchAll(/`([^`]+)`/g) ?? [])]);
const PHRASES = [...OF_GUIDE.map(([, phrase = ""]) => phrase), "anew", "look on", "looks on"];
const BANNED = new RegExp(`\\b(?:${PHRASES.join("|")})\\b|(?:^|[.!?] )Of `, "i");
/** Licences keep their own wording, and directives are for tools. */
const NOT_OURS = /^(?:!|\s*biome-ignore)/;

interface Piece {
  readonly text: string;
  readonly end: number;
}

/** Line comments that follow each other are one text. */
function commentsOfCode(name: string, code: string): readonly string[] {
  const pieces: Piece[] = [];
  for (const { type, value, start, end } of parseSync(name, code).comments) {
    const before = type === "Line" ? pieces.at(-1) : undefined;
    if (before !== undefined && /^\n[ ]*$/.test(code.slice(before.end, start))) {
      pieces[pieces.length - 1] = { text: `${before.text} ${value}`, end };
    } else {
      pieces.push({ text: value, end });
    }
  }
  return pieces.map(({ text }) => text);
}

function commentsOf(name: string, code: string): readonly string[] {
  const texts = name.endsWith(".css")
    ? Array.from(code.matchAll(/\/\*([\s\S]*?)\*\//g), ([, text = ""]) => text)
    : commentsOfCode(name, code);
  return texts
    .filter((text) => !NOT_OURS.test(text))
    .map((text) =>
      text
        .replace(/\n\s*\*?|^\*/g, " ")
        .replace(/\s+/g, " ")
        .trim(),
    );
}

/** Each comment with a banned phrase, and each sentence of a comment that is too long. */
function faults(name: string, code: string): readonly string[] {
  return commentsOf(name, code)
    .flatMap((text) => [
      ...(BANNED.test(text) ? [text] : []),
      ...text.split(/(?<=[.!?]) /).filter((sentence) => sentence.split(" ").length > MAX_WORDS),
    ])
    .map((text) => `${name}: ${text}`);
}

const faultsIn = (sources: readonly Source[]) =>
  sources.flatMap(({ name, code }) => faults(name, code));

it("the guide has the phrases", () => {
  expect(OF_GUIDE.length).toBeGreaterThan(10);
});

it("the comments of the code and the style sheets are in plain English", () => {
  expect(faultsIn([...SOURCES, ...STYLES])).toEqual([]);
});

it.each([
  ["a.ts", "/** The host wants a node. */"],
  ["a.ts", "// the kernel is\n// told of it\nlet a = 1;"],
  ["a.ts", "let a = 1; // as it stands"],
  ["a.tsx", "/**\n * A list of names.\n *\n * Of a slot, its variable.\n */"],
  ["a.ts", `/** ${"word ".repeat(MAX_WORDS)}word. */`],
  ["a.css", ".a {\n  color: red; /* nobody sees\n it */\n}"],
])("finds a fault in %s: %j", (name, code) => {
  expect(faults(name, code)).toHaveLength(1);
});

it.each([
  ["a.ts", 'const a = "The host wants a node.";'],
  ["a.ts", `/** ${"word ".repeat(MAX_WORDS - 1)}word. One more sentence. */`],
  ["a.ts", "/*! Nobody gives any warranty. */"],
  ["a.css", ".stands {\n  color: red; /* an offset */\n}"],
])("finds no fault in %s: %j", (name, code) => {
  expect(faults(name, code)).toEqual([]);
});
