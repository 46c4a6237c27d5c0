/** The lines of the help: what each key does. */

import { COMMANDS } from "./commands";
import { COPY_KEYS, MARK_KEY } from "./copies";
import * as WORDS from "./strings";

/** A line of the help: the keys, by their names on a keyboard, and what they do. */
export interface HelpLine {
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
    keysOf.set(help, [...(keysOf.get(help) ?? []), KEY_NAMES[key] ?? key]);
  }
  return Array.from(keysOf, ([help, keys]) => ({ keys: keys.join(" "), does: WORDS.keys[help] }));
}

const KEY_NAMES: Readonly<Record<string, string>> = WORDS.keyNames;
