/**
 * Globs, matched in one pass over any text. The bits of one integer are all places in the glob that
 * the text so far can reach, so there is no backtracking. A text may come in parts: a path
 * continues its parent's path. ckpt_viz/graphs/search/glob.py does the same.
 */

import { kept } from "../basics/once";

export interface Glob {
  readonly start: GlobState;
  /** The state after a text. */
  run(state: GlobState, text: string): GlobState;
  /** Whether the glob matches the whole text. */
  fits(text: string): boolean;
}

export interface GlobState {
  readonly places: bigint;
  /** Whether the text that led here matches. */
  readonly accepts: boolean;
  /** By character, the next states that are known already. */
  readonly next: Map<string, GlobState>;
}

/** `*` is anything but the separator, `**` anything; `**` and a separator may be empty. */
export function makeGlob(glob: string, separator: "" | "/" | "." | ","): Glob {
  const moves = new Map<string, bigint>(); // by character, the places that it advances
  const stays = { any: 0n, butSeparator: 0n }; // places that a character may keep
  const skips = { one: 0n, two: 0n }; // places that may advance without a character
  let place = 1n;
  for (const part of partsOf(glob, separator)) {
    const isGap = separator !== "" && part.startsWith("**") && part.endsWith(separator);
    if (isGap) {
      skips.one |= place;
      skips.two |= place;
      place <<= 1n;
      stays.any |= place;
    } else if (part.startsWith("*")) {
      skips.one |= place;
      stays[part === "*" ? "butSeparator" : "any"] |= place;
    }
    if (isGap || !part.startsWith("*")) {
      const character = isGap ? separator : part;
      moves.set(character, (moves.get(character) ?? 0n) | place);
    }
    place <<= 1n;
  }
  const end = place;
  const states = new Map<bigint, GlobState>();
  const stateOf = (reached: bigint): GlobState => {
    const skipped = reached | ((reached & skips.two) << 2n);
    const places = skipped | ((skipped & skips.one) << 1n);
    const accepts = (places & end) !== 0n;
    return kept(states, places, () => ({ places, accepts, next: new Map() }));
  };
  const after = ({ places, next }: GlobState, character: string): GlobState => {
    const stay = character === separator ? stays.any : stays.any | stays.butSeparator;
    const moved = (places & (moves.get(character) ?? 0n)) << 1n;
    const state = stateOf(moved | (places & stay));
    next.set(character, state);
    return state;
  };
  const run = (state: GlobState, text: string): GlobState => {
    let now = state;
    for (let at = 0; at < text.length; at++) {
      const character = text[at] ?? "";
      now = now.next.get(character) ?? after(now, character);
    }
    return now;
  };
  const start = stateOf(1n);
  return { start, run, fits: (text) => run(start, text).accepts };
}

function partsOf(glob: string, separator: string): readonly string[] {
  const gap = separator === "" ? "\\*+" : `(?:\\*\\*\\${separator})+`;
  return glob.match(new RegExp(`${gap}|\\*+|[^]`, "g")) ?? [];
}
