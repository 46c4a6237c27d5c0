/**
 * The table of everything a user can do in the explorer. Its readers: the list of keys behind the
 * question mark, JupyterLab's command palette and the test of the documentation. The keyboard needs
 * `deeds.ts` alone.
 */

import type * as WORDS from "../basics/strings";
import { DEEDS, type Deed, SAME_KEYS } from "./deeds";

export interface Command {
  /** Names as in `KeyboardEvent.key`; the help shows the first one. */
  readonly keys: readonly string[];
  /** Null for a key that the explorer leaves to the notebook. */
  readonly does: Deed | null;
  /** Its line in the help, which neighbouring commands may share. */
  readonly help: keyof typeof WORDS.keys;
  /** The last part of the command's id in JupyterLab, which names the command in its palette. */
  readonly palette: keyof typeof WORDS.commands | undefined;
}

type Row = readonly [
  key: keyof typeof DEEDS,
  help: Command["help"],
  palette?: NonNullable<Command["palette"]>,
];

/** In the order of the help. */
const ROWS: readonly Row[] = [
  ["ArrowUp", "move"],
  ["ArrowDown", "move"],
  ["Home", "move"],
  ["End", "move"],
  ["PageUp", "move"],
  ["PageDown", "move"],
  ["ArrowRight", "enter"],
  ["ArrowLeft", "enter"],
  [" ", "open"],
  ["*", "open"],
  ["Enter", "details"],
  ["/", "search", "search"],
  ["n", "matches", "next-match"],
  ["N", "matches", "previous-match"],
  ["]", "changes", "next-change"],
  ["[", "changes", "previous-change"],
  ["y", "tick", "tick"],
  ["x", "fix", "fix"],
  ["p", "play", "play"],
  ["e", "change", "change"],
  ["t", "table", "table"],
  ["f", "focus", "focus"],
  ["c", "copy", "copy-name"],
  ["k", "copy", "copy-key"],
  ["0", "zoom", "fit"],
  ["+", "zoom", "zoom-in"],
  ["-", "zoom", "zoom-out"],
  ["?", "help", "keys"],
  ["Escape", "leave"],
];

export const COMMANDS: readonly Command[] = ROWS.map(([key, help, palette]) => ({
  keys: [key, ...Object.keys(SAME_KEYS).filter((other) => SAME_KEYS[other] === key)],
  does: DEEDS[key],
  help,
  palette,
}));
