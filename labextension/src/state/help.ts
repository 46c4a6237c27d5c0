/** The lines of the help: what each key does, and what each sign says. */

import * as WORDS from "../basics/strings";
import { CELL_SIGNS } from "../data/contract";
import { COPY_KEYS } from "../kernel/copies";
import { cellSign, type Sign } from "../words/signs";

/** A line of the help: the keys, by their names on a keyboard, and what they do. */
export interface HelpLine {
  readonly keys: string;
  readonly does: string;
}

interface HelpGroup {
  readonly title: string;
  readonly lines: readonly HelpLine[];
}

type Lines = readonly (readonly [help: keyof typeof WORDS.keys, ...keys: readonly string[]])[];

/** The keys of each line as in `deeds.ts`, by what they are for. */
const GROUPS: readonly (readonly [group: keyof typeof WORDS.keyGroups, lines: Lines])[] = [
  [
    "moving",
    [
      ["move", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"],
      ["enter", "ArrowRight", "ArrowLeft"],
      ["open", " ", "*"],
      ["details", "Enter"],
      ["leave", "Escape"],
    ],
  ],
  [
    "finding",
    [
      ["search", "/"],
      ["matches", "n", "N"],
    ],
  ],
  [
    "showing",
    [
      ["focus", "f"],
      ["zoom", "0", "+", "-"],
      ["help", "?"],
    ],
  ],
  [
    "checking",
    [
      ["changes", "]", "["],
      ["tick", "y"],
      ["table", "t"],
      ["fix", "x"],
      ["play", "p"],
      ["change", "e"],
    ],
  ],
  [
    "copying",
    [
      ["copy", "c", "k"],
      ["copies", ...COPY_KEYS.map(([, ofRow]) => ofRow)],
      ["copiesOfMatches", ...COPY_KEYS.map(([, , ofMatches]) => ofMatches)],
    ],
  ],
];

/** The lines by what they are for. */
export function helpGroups(): readonly HelpGroup[] {
  return GROUPS.map(([group, lines]) => ({
    title: WORDS.keyGroups[group],
    lines: lines.map(([help, ...keys]) => ({
      keys: keys.map(WORDS.keyLabel).join(" "),
      does: WORDS.keys[help],
    })),
  }));
}

/** What each sign of a comparison says. */
export function signLines(): readonly Sign[] {
  return CELL_SIGNS.map(cellSign);
}
