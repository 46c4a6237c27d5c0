/** The lines of the help: what each key does. */

import { COMMANDS, type Command } from "./commands";
import * as WORDS from "./strings";

/** A line of the help: the keys, by their names on a keyboard, and what they do. */
export interface HelpLine {
  readonly keys: string;
  readonly does: string;
}

export function helpLines(): readonly HelpLine[] {
  const keysOf = new Map<Command["help"], string[]>();
  for (const { help, keys } of COMMANDS) {
    const [key = ""] = keys;
    keysOf.set(help, [...(keysOf.get(help) ?? []), KEY_NAMES[key] ?? key]);
  }
  return Array.from(keysOf, ([help, keys]) => ({ keys: keys.join(" "), does: WORDS.keys[help] }));
}

const KEY_NAMES: Readonly<Record<string, string>> = WORDS.keyNames;
