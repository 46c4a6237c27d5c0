/**
 * Globs, matched in one pass over a text, whatever they are: all places in the glob that a text can
 * have led to are the bits of one integer, so that there is nothing to go back to. A text can be
 * given in parts: a path goes on where that of its parent ends. As in ckpt_viz/search/glob.py.
 */
export interface Glob {
  readonly start: bigint;
  /** The state that a text leads to. */
  run(state: bigint, text: string): bigint;
  /** Whether what led to a state fits. */
  accepts(state: bigint): boolean;
  /** Whether the glob fits the whole text. */
  fits(text: string): boolean;
}

/** `*` is anything but the separator, `**` anything; `**` and a separator may be nothing. */
export function makeGlob(glob: string, separator: "" | "/" | "."): Glob {
  const moves = new Map<string, bigint>(); // by character, the places that it leads on from
  const stays = { any: 0n, butSeparator: 0n }; // places at which characters may stay
  const skips = { one: 0n, two: 0n }; // places that lead on by themselves
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
  const withSkips = (state: bigint): bigint => {
    const skipped = state | ((state & skips.two) << 2n);
    return skipped | ((skipped & skips.one) << 1n);
  };
  const step = (state: bigint, character: string): bigint => {
    const stay = character === separator ? stays.any : stays.any | stays.butSeparator;
    return withSkips(((state & (moves.get(character) ?? 0n)) << 1n) | (state & stay));
  };
  // What a state and a character lead to is found out once.
  const known = new Map<bigint, Map<string, bigint>>();
  const run = (state: bigint, text: string): bigint => {
    let now = state;
    for (let at = 0; at < text.length && now !== 0n; at++) {
      const character = text[at] ?? "";
      const steps = known.get(now) ?? new Map<string, bigint>();
      const next = steps.get(character) ?? step(now, character);
      known.set(now, steps.set(character, next));
      now = next;
    }
    return now;
  };
  const start = withSkips(1n);
  const accepts = (state: bigint): boolean => (state & end) !== 0n;
  return { start, run, accepts, fits: (text) => accepts(run(start, text)) };
}

function partsOf(glob: string, separator: "" | "/" | "."): readonly string[] {
  const gap = separator === "" ? "\\*+" : `(?:\\*\\*\\${separator})+`;
  return glob.match(new RegExp(`${gap}|\\*+|[^]`, "g")) ?? [];
}
