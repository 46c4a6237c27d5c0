/** The lines of the help: what each key does, and what each sign says. */

import * as WORDS from "../basics/strings";
import { CELL_SIGNS } from "../data/contract";
import { COPY_KEYS } from "../kernel/copies";
import { cellSign, type Sign } from "../words/signs";
import { COMMANDS } from "./commands";

type Help = keyof typeof WORDS.keys;

/** A line of the help: the keys, by their names on a keyboard, and what they do. */
export interface HelpLine {
  readonly keys: string;
  readonly does: string;
}

interface HelpGroup {
  readonly title: string;
  readonly lines: readonly HelpLine[];
}

const GROUPS: readonly (readonly [group: keyof typeof WORDS.keyGroups, helps: readonly Help[]])[] =
  [
    ["moving", ["move", "enter", "open", "details", "leave"]],
    ["finding", ["search", "matches"]],
    ["showing", ["focus", "zoom", "help"]],
    ["checking", ["changes", "tick", "table", "fix", "play", "change"]],
    ["copying", ["copy", "copies", "copiesOfMatches"]],
  ];

/** One key of each command, by its line. */
const KEYS: readonly (readonly [help: Help, key: string])[] = [
  ...COMMANDS.map(({ help, keys: [key = ""] }) => [help, key] as const),
  ...COPY_KEYS.map(([, ofRow]) => ["copies", ofRow] as const),
  ...COPY_KEYS.map(([, , ofMatches]) => ["copiesOfMatches", ofMatches] as const),
];

/** The lines by what they are for. */
export function helpGroups(): readonly HelpGroup[] {
  return GROUPS.map(([group, helps]) => ({
    title: WORDS.keyGroups[group],
    lines: helps.map((help) => ({
      keys: KEYS.flatMap(([of, key]) => (of === help ? WORDS.keyLabel(key) : [])).join(" "),
      does: WORDS.keys[help],
    })),
  }));
}

/** What each sign of a comparison says. */
export function signLines(): readonly Sign[] {
  return CELL_SIGNS.map(cellSign);
}
