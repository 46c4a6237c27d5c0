/**
 * Regular expressions and globs that no text can make slow: a lazy automaton, as in
 * ckpt_viz/search/automaton.py, which tells more. Texts are to be given in lower case.
 */

import { BLANKS, Mistake } from "./syntax";

/** Steps in finding out states. */
const BUDGET = 1_000_000;
/** Of a pattern, repeated ones as often as they are. */
const MAX_PARTS = 3_000;
const MAX_REPEATS = 100;
const MAX_DEPTH = 50;
const COUNT = /^\{([0-9]{1,4})(?:(,)([0-9]{0,4}))?\}/;
const NOT_ESCAPED = /^[a-z0-9]$/i;

type Ranges = readonly (readonly [low: number, high: number])[];

const code = (character: string): number => character.codePointAt(0) ?? -1;
const range = (low: string, high: string) => [code(low), code(high)] as const;
const DIGITS: Ranges = [range("0", "9")];
const CLASSES: ReadonlyMap<string, Ranges> = new Map<string, Ranges>([
  ["d", DIGITS],
  ["w", [...DIGITS, range("a", "z"), range("_", "_")]],
  ["s", [...BLANKS].map((blank) => range(blank, blank))],
]);
const CONTROLS: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["f", "\f"],
  ["v", "\v"],
]);

/** Says that the budget is spent. */
export class TooComplex extends Error {}

type Part =
  | { readonly type: "set"; readonly ranges: Ranges; readonly isNegated: boolean }
  | { readonly type: "edge"; readonly isEnd: boolean }
  | { readonly type: "row"; readonly parts: readonly Part[] }
  | { readonly type: "or"; readonly parts: readonly Part[] }
  | {
      readonly type: "repeat";
      readonly part: Part;
      readonly least: number;
      readonly most: number;
    };
type Instruction =
  | Extract<Part, { readonly type: "set" | "edge" }>
  | { readonly type: "fork"; targets: readonly number[] };

export interface AutomatonState {
  readonly waiting: readonly number[];
  readonly accepts: boolean;
  readonly acceptsAtEnd: boolean;
  readonly next: Map<string, AutomatonState>;
}

const ANY: Part = { type: "set", ranges: [], isNegated: true };
const ANYTHING: Part = { type: "repeat", part: ANY, least: 0, most: Number.POSITIVE_INFINITY };

/** A compiled pattern; a search begins anew at every character. */
export class Automaton {
  readonly start: AutomatonState;
  /** Whether the pattern was found in the text that was run last, on the way or at its end. */
  found = false;
  readonly #program: readonly Instruction[];
  readonly #isSearch: boolean;
  readonly #states = new Map<string, AutomatonState>();
  #left = BUDGET;

  constructor(part: Part, isSearch: boolean) {
    this.#program = compiled(part);
    this.#isSearch = isSearch;
    this.start = this.#state([0], true);
  }

  /** The state after a text. */
  run(from: AutomatonState, text: string): AutomatonState {
    let state = from;
    let found = false;
    for (const character of text) {
      state = state.next.get(character) ?? this.#step(state, character);
      found ||= state.accepts;
    }
    this.found = found || state.acceptsAtEnd;
    return state;
  }

  finds(text: string): boolean {
    this.run(this.start, text);
    return this.start.accepts || this.found;
  }

  /** Whether the pattern is the whole text. */
  fits(text: string): boolean {
    return this.run(this.start, text).acceptsAtEnd;
  }

  #step(state: AutomatonState, character: string): AutomatonState {
    const moved = this.#isSearch ? [0] : [];
    for (const place of state.waiting) {
      const instruction = this.#program[place];
      if (instruction?.type === "set" && has(instruction, character)) {
        moved.push(place + 1);
      }
    }
    this.#spend(10 + state.waiting.length);
    const following = this.#state(moved, false);
    state.next.set(character, following);
    return following;
  }

  #state(places: readonly number[], atStart: boolean): AutomatonState {
    const waiting = this.#closure(places, atStart, false);
    const sorted = [...waiting].sort((a, b) => a - b);
    const key = `${sorted.join()}${atStart ? "^" : ""}`;
    let state = this.#states.get(key);
    if (state === undefined) {
      const ending = this.#closure(sorted, atStart, true);
      const last = this.#program.length;
      state = {
        waiting: sorted,
        accepts: waiting.has(last),
        acceptsAtEnd: ending.has(last),
        next: new Map(),
      };
      this.#states.set(key, state);
    }
    return state;
  }

  /** Where a character, the end of the text or that of the program is waited for. */
  #closure(places: readonly number[], atStart: boolean, atEnd: boolean): ReadonlySet<number> {
    const stack = [...places];
    const seen = new Set<number>();
    const waiting = new Set<number>();
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      if (seen.has(place)) {
        continue;
      }
      seen.add(place);
      const instruction = this.#program[place];
      if (instruction?.type === "fork") {
        stack.push(...instruction.targets);
      } else if (instruction?.type === "edge" && (instruction.isEnd ? atEnd : atStart)) {
        stack.push(place + 1);
      } else if (instruction?.type !== "edge" || instruction.isEnd) {
        waiting.add(place);
      }
    }
    this.#spend(seen.size);
    return waiting;
  }

  #spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) {
      throw new TooComplex();
    }
  }
}

function has({ ranges, isNegated }: Extract<Part, { type: "set" }>, character: string): boolean {
  const point = code(character);
  const raised = [...character.toUpperCase()];
  const upper = raised.length === 1 ? code(raised[0] ?? "") : point;
  const found = ranges.some(
    ([low, high]) => (low <= point && point <= high) || (low <= upper && upper <= high),
  );
  return found !== isNegated;
}

function compiled(whole: Part): readonly Instruction[] {
  const program: Instruction[] = [];
  let parts = 0;
  const reserve = () => {
    const fork: Extract<Instruction, { type: "fork" }> = { type: "fork", targets: [] };
    program.push(fork);
    return fork;
  };
  const append = (part: Part): void => {
    parts += 1;
    if (parts > MAX_PARTS) {
      throw new TooComplex();
    }
    switch (part.type) {
      case "row":
        part.parts.forEach(append);
        return;
      case "or": {
        const fork = reserve();
        const starts: number[] = [];
        const ends = part.parts.map((one) => {
          starts.push(program.length);
          append(one);
          return reserve();
        });
        fork.targets = starts;
        for (const end of ends) {
          end.targets = [program.length];
        }
        return;
      }
      case "repeat": {
        const { least, most } = part;
        for (let i = 0; i < least; i++) {
          append(part.part);
        }
        if (most === Number.POSITIVE_INFINITY) {
          const place = program.length;
          const fork = reserve();
          append(part.part);
          reserve().targets = [place];
          fork.targets = [place + 1, program.length];
          return;
        }
        const forks: [ReturnType<typeof reserve>, number][] = [];
        for (let i = least; i < most; i++) {
          forks.push([reserve(), program.length]);
          append(part.part);
        }
        for (const [fork, next] of forks) {
          fork.targets = [next, program.length];
        }
        return;
      }
      default:
        program.push(part);
    }
  };
  append(whole);
  return program;
}

/** What searches for a text. */
export function literal(text: string): Automaton {
  return new Automaton({ type: "row", parts: [...text].map(one) }, true);
}

/** How a glob stands in a text: whole, at its end from a separator on, or at its beginning. */
export type GlobKind = "whole" | "end" | "beginning";

/** What a glob fits: `*` is anything but the separator, `**` anything at all. */
export function glob(pattern: string, separator: string, kind: GlobKind = "whole"): Automaton {
  const parts: Part[] = kind === "end" ? [orNothing(ANYTHING, ...[...separator].map(one))] : [];
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? "";
    if (character !== "*") {
      parts.push(one(character));
    } else if (characters[i + 1] !== "*") {
      const ranges = separator === "" ? [] : [range(separator, separator)];
      const part: Part = { type: "set", ranges, isNegated: true };
      parts.push({ type: "repeat", part, least: 0, most: Number.POSITIVE_INFINITY });
    } else if (separator !== "" && characters[i + 2] === separator) {
      parts.push(orNothing(ANYTHING, one(separator)));
      i += 2;
    } else {
      parts.push(ANYTHING);
      i += 1;
    }
  }
  if (kind === "beginning") {
    parts.push(orNothing(one(separator), ANYTHING));
  }
  return new Automaton({ type: "row", parts }, false);
}

/** What searches for a regular expression; `place` is where it stands in its query. */
export function regex(pattern: string, place: number): Automaton | Mistake {
  try {
    return new Automaton(readRegex([...pattern], place), true);
  } catch (error) {
    if (error instanceof Mistake) {
      return error;
    }
    return tooComplex(error, place);
  }
}

/** What to say of a pattern that takes too long; throws any other error again. */
export function tooComplex(error: unknown, place: number): Mistake {
  if (error instanceof TooComplex) {
    return new Mistake(place, "a simpler pattern; this one takes too many steps");
  }
  throw error;
}

function one(character: string): Part {
  const lower = [...character.toLowerCase()];
  const point = code(lower.length === 1 ? (lower[0] ?? "") : character);
  return { type: "set", ranges: [[point, point]], isNegated: false };
}

function orNothing(...parts: readonly Part[]): Part {
  return { type: "repeat", part: { type: "row", parts }, least: 0, most: 1 };
}

/** Reads a regular expression from left to right; throws a Mistake. */
function readRegex(text: readonly string[], offset: number): Part {
  let place = 0;
  const fail = (at: number, expected: string): never => {
    throw new Mistake(offset + at, expected);
  };
  const peek = (ahead = 0): string => text[place + ahead] ?? "";
  const skip = (character: string): boolean => {
    const isThere = peek() === character;
    place += isThere ? 1 : 0;
    return isThere;
  };
  const take = (start: number, expected: string): string => {
    const character = text[place] ?? fail(start, expected);
    place += 1;
    return character;
  };

  const choice = (depth: number): Part => {
    if (depth > MAX_DEPTH) {
      fail(place, `at most ${MAX_DEPTH} groups in each other`);
    }
    const parts = [row(depth)];
    while (skip("|")) {
      parts.push(row(depth));
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { type: "or", parts };
  };
  const row = (depth: number): Part => {
    const parts: Part[] = [];
    while (!["", "|", ")"].includes(peek())) {
      parts.push(repeated(atom(depth)));
    }
    return { type: "row", parts };
  };
  const atom = (depth: number): Part => {
    const start = place;
    const character = take(start, "a character");
    switch (character) {
      case "(": {
        if (skip("?") && !skip(":")) {
          fail(start, "( or (?:");
        }
        const part = choice(depth + 1);
        return skip(")") ? part : fail(start, "a closing ) for this one");
      }
      case "[":
        return set(start);
      case ".":
        return ANY;
      case "^":
      case "$":
        return { type: "edge", isEnd: character === "$" };
      case "\\":
        return escaped();
      case "*":
      case "+":
      case "?":
        return fail(start, `something to repeat before ${character}`);
      default:
        return one(character);
    }
  };
  const repeated = (part: Part): Part => {
    const start = place;
    const count = COUNT.exec(text.slice(place, place + 12).join(""));
    let [least, most] = [0, Number.POSITIVE_INFINITY];
    if (count !== null) {
      place += count[0].length;
      least = Number(count[1]);
      most = count[2] === undefined ? least : count[3] ? Number(count[3]) : most;
      if (
        least > MAX_REPEATS ||
        (most !== Number.POSITIVE_INFINITY && most > MAX_REPEATS) ||
        most < least
      ) {
        fail(start, `at most ${MAX_REPEATS} repeats, the fewer first`);
      }
    } else if (skip("?")) {
      most = 1;
    } else if (skip("+")) {
      least = 1;
    } else if (!skip("*")) {
      return part;
    }
    skip("?"); // as few as possible: finds the same
    return { type: "repeat", part, least, most };
  };
  const escaped = (): Part => {
    const start = place - 1;
    const character = take(place, "a character after \\");
    const lower = character.toLowerCase();
    const ranges = CLASSES.get(lower);
    if (ranges !== undefined) {
      return { type: "set", ranges, isNegated: character !== lower };
    }
    const control = CONTROLS.get(character);
    if (control === undefined && NOT_ESCAPED.test(character)) {
      fail(start, "one of \\d \\w \\s \\D \\W \\S or an escaped sign");
    }
    return one(control ?? character);
  };
  const set = (start: number): Part => {
    const isNegated = skip("^");
    const ranges: (readonly [number, number])[] = [];
    let isFirst = true;
    while (isFirst || peek() !== "]") {
      isFirst = false;
      const low = member(start);
      if (typeof low !== "string") {
        ranges.push(...low);
      } else if (peek() !== "-" || peek(1) === "]") {
        ranges.push(range(low, low));
      } else {
        place += 1;
        const high = member(start);
        if (typeof high !== "string" || code(high) < code(low)) {
          return fail(start, "ranges from a lower to a higher character");
        }
        ranges.push(range(low, high));
      }
    }
    place += 1;
    return { type: "set", ranges, isNegated };
  };
  const member = (start: number): string | Ranges => {
    const closing = "a closing ] for this one";
    const character = take(start, closing);
    if (character !== "\\") {
      return character;
    }
    const sign = take(start, closing);
    const known = CLASSES.get(sign) ?? CONTROLS.get(sign);
    if (known === undefined && NOT_ESCAPED.test(sign)) {
      fail(start, "\\d \\w \\s or an escaped sign between [ and ]");
    }
    return known ?? sign;
  };

  const part = choice(0);
  return place < text.length ? fail(place, "( before this )") : part;
}
