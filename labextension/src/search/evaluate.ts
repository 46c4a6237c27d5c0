/**
 * The nodes in a graph that match a query. ckpt_viz/search/evaluate.py does the same, and
 * tests/data/search.json has the results that both must give. docs/search.md has the grammar.
 */

import type { Graph } from "../graph";
import { type Ask, FIELDS } from "./fields";
import {
  atOrBelow,
  both,
  either,
  type Index,
  indexOf,
  type Marks,
  where,
  wherePath,
} from "./index";
import { findNamed, isPasted, withoutOutput } from "./pasted";
import { BLANK_OR_END, BLANKS, fail, filled, Mistake, Reader } from "./syntax";

const MAX_QUERY = 1_000; // characters
const MAX_PASTED = 20_000;
const MAX_TERMS = 50;
/** The most characters in a regular expression. */
const MAX_PATTERN = 200;
/** How much of a text a regular expression sees: a name's start, or the last part of a path. */
const MAX_TEXT = 1_000;
const WORD = `[^${BLANKS}]+`;
const ARROW = `->${BLANK_OR_END}`;
const REGEX = /\/((?:\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[^/[\\])*)\//;

/** A part of a query. Words and negated terms combine with other terms by rules of their own. */
interface Term {
  readonly type: "word" | "not" | "other";
  readonly ask: Ask;
}

/** The matches of a query in the order of the outline, or the mistake in the query. */
export function find(graph: Graph, query: string): readonly number[] | Mistake {
  try {
    const terms = read(query);
    if (terms.length === 0) {
      return [];
    }
    const index = indexOf(graph);
    const marks = allOf(terms, index);
    return Array.from(index.order.filter((id) => marks[id] === 1));
  } catch (error) {
    if (error instanceof Mistake) {
      return new Mistake([...query.slice(0, error.place)].length, error.expected);
    }
    throw error;
  }
}

/**
 * The nodes that match all terms. A word also matches everything below its matches. A query of only
 * words and negated terms must match at least one word at the node itself. Otherwise a word would
 * match whole subtrees.
 */
function allOf(terms: readonly Term[], index: Index): Marks {
  const hasWords = terms.some(({ type }) => type === "word");
  let marks = where(index, () => true);
  let found = where(index, () => !hasWords);
  for (const { type, ask } of terms) {
    const own = ask(index);
    found = type === "word" ? either(found, own) : found;
    marks = both(marks, type === "word" ? atOrBelow(index, own) : own);
  }
  return terms.some(({ type }) => type === "other") ? marks : both(marks, found);
}

// Reading

function read(query: string): readonly Term[] {
  const head = query.length > MAX_PASTED ? [...query].slice(0, MAX_PASTED).join("") : query;
  if (isPasted(head)) {
    const around = new RegExp(`^[${BLANKS}]+|[${BLANKS}]+$`, "g");
    return [{ type: "other", ask: (index) => findNamed(head.replaceAll(around, ""), index) }];
  }
  if (query.length > MAX_QUERY && [...query].length > MAX_QUERY) {
    fail([...query].slice(0, MAX_QUERY).join("").length, `at most ${MAX_QUERY} characters`);
  }
  const reader = new Reader(query);
  const terms: Term[] = [];
  while (reader.hasMore()) {
    if (terms.length === MAX_TERMS) {
      fail(reader.place, `at most ${MAX_TERMS} terms`);
    }
    terms.push(chain(reader));
  }
  return terms;
}

/** Terms with arrows between them: the matches of the last term whose parents match the others. */
function chain(reader: Reader): Term {
  const { place } = reader;
  if (reader.take(ARROW) !== null) {
    fail(place, "a term before ->");
  }
  const first = term(reader);
  const following: Term[] = [];
  while (reader.hasMore()) {
    const arrow = reader.take(ARROW);
    if (arrow === null) {
      break;
    }
    const isTooLong = following.length + 1 === MAX_TERMS;
    if (!reader.hasMore() || reader.take(ARROW) !== null || isTooLong) {
      fail(arrow.index, "a term behind ->");
    }
    following.push(term(reader));
  }
  const ask = (index: Index): Marks =>
    following.reduce((above, next) => childrenOf(above, next.ask(index), index), first.ask(index));
  return following.length === 0 ? first : { type: "other", ask };
}

function term(reader: Reader): Term {
  if (reader.take(`-(?!-|${BLANK_OR_END})`) === null) {
    return simple(reader);
  }
  const { type, ask } = simple(reader);
  return {
    type: "not",
    ask(index) {
      const marks = type === "word" ? atOrBelow(index, ask(index)) : ask(index);
      return marks.map((mark) => 1 - mark);
    },
  };
}

function simple(reader: Reader): Term {
  const start = reader.place;
  reader.start = start;
  const sign = reader.text[start];
  if (sign === '"') {
    return { type: "word", ask: byWord(filled(reader.value(), start), true) };
  }
  if (sign === "/") {
    return { type: "word", ask: regex(reader) };
  }
  const name = reader.take(/[A-Za-z]+(?=[:<>=])/)?.[0].toLowerCase();
  const field = name === undefined ? undefined : FIELDS.get(name);
  if (field !== undefined && (field.sign === ">" || reader.take(":") !== null)) {
    return { type: "other", ask: field.read(reader) };
  }
  const isTensor = reader.take(`:[0-9]+${BLANK_OR_END}`) !== null;
  if (name !== undefined && !isTensor && reader.take(":") !== null) {
    const known = Array.from(FIELDS, ([one, { sign: end }]) => one + end).join(", ");
    fail(start, `one of ${known}; or quotes around a word with a colon`);
  }
  reader.take(WORD);
  return { type: "word", ask: byWord(reader.text.slice(start, reader.place), false) };
}

function regex(reader: Reader): Ask {
  const start = reader.place;
  const [, pattern = ""] = reader.take(REGEX) ?? fail(start, "a closing / for this pattern");
  if (reader.take(BLANK_OR_END) === null) {
    fail(reader.place, "a blank behind the pattern; a / in it is written \\/");
  }
  if (pattern === "") {
    fail(start + 1, "a pattern between / and /");
  }
  if ([...pattern].length > MAX_PATTERN) {
    fail(start + 1, `a pattern of at most ${MAX_PATTERN} characters`);
  }
  return byRegex(pattern, start + 1);
}

// Words, regular expressions, parents

/** The matches of a word. A word without quotes may have dots for slashes, and end in `:0`. */
function byWord(written: string, isQuoted: boolean): Ask {
  const text = written.toLowerCase();
  const bare = isQuoted ? text : withoutOutput(text) || text;
  const spellings = new Set(isQuoted ? [bare] : [bare, bare.replaceAll(".", "/")]);
  return (index) => Array.from(spellings, (one) => containing(one, index)).reduce(either);
}

function containing(text: string, index: Index): Marks {
  const { labels, texts } = index;
  const marks = where(
    index,
    (id) =>
      labels[id]?.includes(text) === true || texts[id]?.some((one) => one.includes(text)) === true,
  );
  // The part of the parent's path that we keep is too short to contain the text itself.
  return text.includes("/")
    ? either(
        marks,
        wherePath(index, text.length - 1, (path) => path.includes(text)),
      )
    : marks;
}

/** The matches of a regular expression of JavaScript. */
function byRegex(pattern: string, place: number): Ask {
  const anywhere = compiled(pattern, place);
  const known = new Map<number, RegExp>();
  /** The expression for a match that ends in the last characters of a text. */
  const inLast = (characters: number): RegExp => {
    const own =
      known.get(characters) ??
      compiled(`(?:${pattern})(?=[\\s\\S]{0,${Math.max(characters - 1, 0)}}$)`, place);
    known.set(characters, own);
    return own;
  };
  // The search starts at the cut of a path, so `^` does not match there.
  const isInPath = (path: string, own: number): boolean =>
    isFound(inLast(Math.min(own, MAX_TEXT)), path, Math.max(path.length - MAX_TEXT, 0));
  return (index) =>
    either(
      wherePath(index, MAX_TEXT, isInPath),
      where(
        index,
        (id) =>
          index.texts[id]?.some((text) => isFound(anywhere, text.slice(0, MAX_TEXT))) === true,
      ),
    );
}

function isFound(pattern: RegExp, text: string, start = 0): boolean {
  pattern.lastIndex = start;
  return pattern.test(text);
}

function compiled(pattern: string, place: number): RegExp {
  try {
    const regExp = new RegExp(pattern, "giu");
    regExp.test(""); // engines find some patterns too large only at the first test
    return regExp;
  } catch {
    return fail(place, "a valid regular expression");
  }
}

/** The matches of `fitting` with a parent in `above`: by an edge, or in the outline. */
function childrenOf(above: Marks, fitting: Marks, { graph }: Index): Marks {
  const marks = new Uint8Array(graph.size);
  for (let id = 0; id < graph.size; id++) {
    if (above[id] === 1) {
      const edges = graph.children(id).map(({ node }) => node);
      for (const child of [...edges, ...graph.treeChildren(id)]) {
        marks[child] = fitting[child] ?? 0;
      }
    }
  }
  return marks;
}
