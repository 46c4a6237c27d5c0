/** A query as a person types it, read into its terms; as in ckpt_viz/search/parse.py. */

import { ROLES } from "../contract";
import { regex } from "./automaton";
import { isPasted } from "./pasted";
import {
  BLANKS,
  type Comparison,
  type Dimension,
  type GlobField,
  Mistake,
  type Query,
  type Term,
} from "./syntax";

const MAX_QUERY = 1_000;
const MAX_PASTED = 20_000;
const MAX_TERMS = 50;
const MAX_STEPS = 99;
const OF_GRAPH = [
  "empty",
  "error",
  "inferred",
  "problem",
  "shared",
  "sliced",
  "trainable",
  "unsaved",
];
/** What `is:` knows of a comparison only. */
export const OF_COMPARISON: readonly string[] = [
  "changed",
  "deferred",
  "dtype",
  "failed",
  "live",
  "matched",
  "moved",
  "role",
  "saved",
  "shape",
  "unbuilt",
  "unmatched",
  "value",
  "warned",
];
const PROPERTIES = [...OF_GRAPH, ...OF_COMPARISON].sort();
const GLOBS = ["path", "key", "name", "edge", "under"];
const FIELDS = ["role", "kind", ...GLOBS, "dtype", "shape", "is", "near", "size>", "params>"];
const NAMES = FIELDS.map((field) => field.replace(">", ""));
const FIELD = /^([A-Za-z]+):/;
const AMOUNT = /^(size|params)(>=|<=|>|<|=)/i;
const NUMBER = /^([0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?)([A-Za-z]*)$/;
const SIZES: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["b", 1],
  ["kb", 1e3],
  ["mb", 1e6],
  ["gb", 1e9],
  ["tb", 1e12],
  ["kib", 2 ** 10],
  ["mib", 2 ** 20],
  ["gib", 2 ** 30],
  ["tib", 2 ** 40],
]);
const COUNTS: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["k", 1e3],
  ["m", 1e6],
  ["g", 1e9],
]);
const AROUND = new RegExp(`^[${BLANKS}]+|[${BLANKS}]+$`, "g");

/** The terms of a query, all of which are to hold; or where it is none. */
export function parse(query: string): Query | Mistake {
  const head = query.length > MAX_PASTED ? [...query].slice(0, MAX_PASTED).join("") : query;
  if (isPasted(head)) {
    return [{ type: "pasted", place: 0, text: head.replaceAll(AROUND, "") }];
  }
  const text = [...query];
  if (text.length > MAX_QUERY) {
    return new Mistake(MAX_QUERY, `at most ${MAX_QUERY} characters`);
  }
  try {
    return readQuery(text);
  } catch (error) {
    if (error instanceof Mistake) {
      return error;
    }
    throw error;
  }
}

/** Reads a query from left to right; throws a Mistake. */
function readQuery(text: readonly string[]): Query {
  let place = 0;
  const fail = (at: number, expected: string): never => {
    throw new Mistake(at, expected);
  };
  const at = (ahead = 0): string => text[place + ahead] ?? "";
  const isBlank = (character: string): boolean => BLANKS.includes(character); // and the end
  const rest = (from: number): string => {
    let end = from;
    while (!isBlank(text[end] ?? "")) {
      end += 1;
    }
    return text.slice(from, end).join("");
  };
  const word = (): string => {
    const found = rest(place);
    place += [...found].length;
    return found;
  };
  const skipBlanks = () => {
    while (place < text.length && isBlank(at())) {
      place += 1;
    }
  };
  const filled = (value: string, from: number): string =>
    value === "" ? fail(from, "something to look for") : value;

  const chain = (start: number): Term => {
    const terms: Term[] = [isArrow() ? fail(start, "a term before ->") : term()];
    skipBlanks();
    while (isArrow()) {
      const arrow = place;
      place += 2;
      skipBlanks();
      if (place >= text.length || isArrow() || terms.length === MAX_TERMS) {
        fail(arrow, "a term behind ->");
      }
      terms.push(term());
      skipBlanks();
    }
    const [first] = terms;
    return terms.length === 1 && first !== undefined
      ? first
      : { type: "chain", place: start, terms };
  };
  const isArrow = (): boolean => at() === "-" && at(1) === ">" && isBlank(at(2));
  const term = (): Term => {
    const start = place;
    if (at() !== "-" || at(1) === "-" || isBlank(at(1))) {
      return simple();
    }
    place += 1;
    return { type: "not", place: start, term: simple() };
  };
  const simple = (): Term => {
    const start = place;
    if (at() === '"') {
      return { type: "text", place: start, text: filled(quoted(), start), isQuoted: true };
    }
    if (at() === "/") {
      return pattern(start);
    }
    const ahead = rest(place);
    const amountOf = AMOUNT.exec(ahead);
    if (amountOf !== null) {
      place += amountOf[0].length;
      const field = amountOf[1]?.toLowerCase() === "size" ? "size" : "params";
      return amount(start, field, amountOf[2] as Comparison);
    }
    const [whole, name = ""] = FIELD.exec(ahead) ?? [""];
    const field = name.toLowerCase();
    // `kernel:0` is the name of a tensor.
    const isTensor = /^[0-9]+$/.test(ahead.slice(whole.length)) && !NAMES.includes(field);
    if (whole === "" || isTensor) {
      return { type: "text", place: start, text: word(), isQuoted: false };
    }
    place += whole.length;
    return ofField(start, field);
  };
  const ofField = (start: number, field: string): Term => {
    const from = place;
    switch (field) {
      case "role":
      case "kind":
        return { type: "choice", place: start, field: "role", values: choices(roleOf) };
      case "is":
        return { type: "choice", place: start, field, values: choices(propertyOf) };
      case "dtype":
        return {
          type: "choice",
          place: start,
          field,
          values: choices((one) => one.toLowerCase()),
        };
      case "shape":
        return { type: "shape", place: start, dimensions: shape() };
      case "near":
        return near(start);
      case "size":
      case "params":
        return fail(from - 1, `one of > < >= <= = after ${field}`);
    }
    if (GLOBS.includes(field)) {
      return { type: "glob", place: start, field: field as GlobField, glob: filled(value(), from) };
    }
    const known = FIELDS.map((one) => (one.endsWith(">") ? one : `${one}:`)).join(", ");
    return fail(start, `one of ${known}; or quotes around a word with a colon`);
  };
  const choices = (known: (word: string, at: number) => string): readonly string[] => {
    let from = place;
    return filled(value(), from)
      .split("|")
      .map((one) => {
        const found = known(filled(one, from), from);
        from += [...one].length + 1;
        return found;
      });
  };
  const roleOf = (one: string, from: number): string => {
    const found = ROLES.filter((role) => role.startsWith(one.toLowerCase()));
    return found.length === 1 && found[0] !== undefined
      ? found[0]
      : fail(from, `one of ${ROLES.join(", ")}, or the beginning of one`);
  };
  const propertyOf = (one: string, from: number): string =>
    PROPERTIES.includes(one.toLowerCase())
      ? one.toLowerCase()
      : fail(from, `one of ${PROPERTIES.join(", ")}`);
  const shape = (): readonly Dimension[] => {
    const from = place;
    const said = value();
    if (said.toLowerCase() === "scalar") {
      return [];
    }
    const inner = /^(\[[^\n]*\]|\([^\n]*\))$/.test(said) ? said.slice(1, -1) : said;
    const words = inner.split(/[,x×]/).map((one) => one.replaceAll(AROUND, ""));
    if (words.at(-1) === "" && (words.length > 1 || inner !== said)) {
      words.pop(); // as Python writes: (), (5,)
    }
    const dimensions = words.map((one): Dimension => {
      if (one === "*" || one === "...") {
        return one;
      }
      return /^[0-9]{1,15}$/.test(one)
        ? Number(one)
        : fail(from, "a shape like [3,*], with * or ... or numbers");
    });
    return dimensions.filter((one) => one === "...").length > 1
      ? fail(from, "... at most once in a shape")
      : dimensions;
  };
  const near = (start: number): Term => {
    const from = place;
    const said = filled(value(), from);
    const tilde = said.lastIndexOf("~");
    const [name, steps] = tilde < 0 ? [said, "1"] : [said.slice(0, tilde), said.slice(tilde + 1)];
    if (!/^[0-9]{1,2}$/.test(steps)) {
      fail(from + [...name].length + 1, `a number of steps from 0 to ${MAX_STEPS}`);
    }
    return { type: "near", place: start, glob: filled(name, from), steps: Number(steps) };
  };
  const amount = (start: number, field: "size" | "params", comparison: Comparison): Term => {
    const from = place;
    const [, digits, unit = ""] = NUMBER.exec(word()) ?? [];
    const factor = (field === "size" ? SIZES : COUNTS).get(unit.toLowerCase());
    if (digits === undefined || factor === undefined) {
      return fail(from, `a number like ${field === "size" ? "1MB or 64KiB" : "1e6 or 5M"}`);
    }
    return { type: "amount", place: start, field, comparison, number: Number(digits) * factor };
  };
  const pattern = (start: number): Term => {
    place += 1;
    let isInSet = false;
    while (at() !== "/" || isInSet) {
      const sign = at();
      if (sign === "") {
        fail(start, "a closing / for this pattern");
      }
      isInSet = sign === "[" || (isInSet && sign !== "]");
      place += sign === "\\" ? 2 : 1;
    }
    const found = text.slice(start + 1, place).join("");
    place += 1;
    if (!isBlank(at())) {
      fail(place, "a blank behind the pattern; a / in it is written \\/");
    }
    if (found === "") {
      fail(start + 1, "a pattern between / and /");
    }
    const compiled = regex(found, start + 1);
    if (compiled instanceof Mistake) {
      throw compiled;
    }
    return { type: "regex", place: start, pattern: found };
  };
  /** What stands behind a field: quoted, in brackets, or up to a blank. */
  const value = (): string => {
    if (at() === '"') {
      return quoted();
    }
    const closing = at() === "[" ? "]" : at() === "(" ? ")" : "none";
    const end = text.indexOf(closing, place);
    // `[3, 4]`, but not `(root).a (or)`
    if (end >= 0 && isBlank(text[end + 1] ?? "")) {
      const found = text.slice(place, end + 1).join("");
      place = end + 1;
      return found;
    }
    return word();
  };
  const quoted = (): string => {
    const start = place;
    const characters: string[] = [];
    for (place += 1; at() !== '"'; place += 1) {
      if (at() === "\\" && (at(1) === '"' || at(1) === "\\")) {
        place += 1;
      }
      characters.push(at() === "" ? fail(start, 'a closing "') : at());
    }
    place += 1;
    return characters.join("");
  };

  const terms: Term[] = [];
  skipBlanks();
  while (place < text.length) {
    if (terms.length === MAX_TERMS) {
      fail(place, `at most ${MAX_TERMS} terms`);
    }
    terms.push(chain(place));
    skipBlanks();
  }
  return terms;
}
