/** The lines of the help: what each key does, and what each sign says. */

import { kept } from "../basics/once";
import * as WORDS from "../basics/strings";
import { CELL_SIGNS } from "../data/contract";
import { COPY_KEYS, MARK_KEY } from "../kernel/copies";
import { cellSign, type Sign } from "../words/signs";
import { COMMANDS } from "./commands";

/** A line of the help: the keys, by their names on a keyboard, and what they do. */
export interface HelpLine {
  readonly help: keyof typeof WORDS.keys;
  readonly keys: string;
  readonly does: string;
}

/** One key of each command, and its line. The keys of edited copies come before those that zoom. */
const ALL: readonly (readonly [key: string, help: keyof typeof WORDS.keys])[] = COMMANDS.flatMap(
  ({ help, keys: [key = ""] }, place) =>
    help === "zoom" && COMMANDS[place - 1]?.help !== "zoom"
      ? [
          ...COPY_KEYS.map(([, ofRow]) => [ofRow, "copies"] as const),
          [MARK_KEY, "mark"] as const,
          ...COPY_KEYS.map(([, , ofMatches]) => [ofMatches, "copiesOfMatches"] as const),
          [key, help] as const,
        ]
      : [[key, help] as const],
);

export function helpLines(): readonly HelpLine[] {
  const keysOf = new Map<keyof typeof WORDS.keys, string[]>();
  for (const [key, help] of ALL) {
    kept(keysOf, help, () => []).push(WORDS.keyLabel(key));
  }
  return Array.from(keysOf, ([help, keys]) => ({
    help,
    keys: keys.join(" "),
    does: WORDS.keys[help],
  }));
}

const GROUPS: Readonly<Record<keyof typeof WORDS.keyGroups, readonly (keyof typeof WORDS.keys)[]>> =
  {
    moving: ["move", "enter", "open", "details", "leave"],
    finding: ["search", "matches", "flow", "alias"],
    showing: ["focus", "slots", "zoom", "help"],
    checking: ["changes", "tick", "table", "fix", "play", "change"],
    copying: ["copy", "copies", "mark", "copiesOfMatches"],
  };

interface HelpGroup {
  readonly title: string;
  readonly lines: readonly HelpLine[];
}

/** The lines by what they are for. */
export function helpGroups(): readonly HelpGroup[] {
  const lines = helpLines();
  return (["moving", "finding", "showing", "checking", "copying"] as const).map((group) => ({
    title: WORDS.keyGroups[group],
    lines: lines.filter(({ help }) => GROUPS[group].includes(help)),
  }));
}

/** What each sign of a comparison says. */
export function signLines(): readonly Sign[] {
  return CELL_SIGNS.map(cellSign);
}
