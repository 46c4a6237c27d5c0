/**
 * The nodes in a graph that match a query. ckpt_viz/graphs/search/evaluate.py does the same, and
 * tests/data/search.json has the results that both must give. docs/search.md has the grammar.
 */

import type { Graph } from "../data/graph";
import { FIELDS } from "./fields";
import { LIMITS } from "./grammar";
import { atOrBelow, both, either, type Index, indexOf, type Marks, pathsOf, where } from "./index";
import { findNamed, isPasted, withoutOutput } from "./pasted";
import { BLANK_OR_END, BLANKS, FIELD_NAME, Reader, stripped } from "./syntax";
import { withWholeName } from "./whole-names";

const REGEX = /\/((?:\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[^/[\\])*)\//;

/**
 * The matches of a query: first the nodes of which it is the whole name, then all others, in the
 * order of the outline. Throws a Mistake.
 */
export function find(graph: Graph, query: string): readonly number[] {
  const head = query.length > LIMITS.pasted ? [...query].slice(0, LIMITS.pasted).join("") : query;
  const pasted = stripped(head);
  if (pasted === "") {
    return [];
  }
  const { whole, others } = matchesOf(query, pasted, indexOf(graph));
  const inOrder = (isMatch: (id: number) => boolean) => graph.order.filter(isMatch);
  return [
    ...inOrder((id) => whole[id] === 1),
    ...inOrder((id) => others[id] === 1 && whole[id] !== 1),
  ];
}

/** The nodes that have the query as a whole name, and all that it finds. */
function matchesOf(query: string, pasted: string, index: Index): Record<"whole" | "others", Marks> {
  const nothing = where(index, () => false);
  const isText = isPasted(pasted);
  const named = isText ? findNamed(pasted, index) : nothing;
  if (named.includes(1)) {
    return { whole: nothing, others: named };
  }
  const whole = withWholeName(pasted, index);
  try {
    return { whole, others: isText ? nothing : byTerms(new Reader(query), index) };
  } catch (error) {
    if (whole.includes(1)) {
      return { whole, others: nothing }; // a name may have any sign in it
    }
    throw error;
  }
}

/**
 * The nodes that match all terms. A word also matches everything below its matches. A query of only
 * words and negated terms must match at least one word at the node itself. Otherwise a word would
 * match whole subtrees.
 */
function byTerms(reader: Reader, index: Index): Marks {
  if ([...reader.text].length > LIMITS.query) {
    const start = [...reader.text].slice(0, LIMITS.query).join("");
    reader.fail(start.length, `at most ${LIMITS.query} characters`);
  }
  const types: ("word" | "not" | "field")[] = [];
  let marks = where(index, () => true);
  let atWords = where(index, () => false);
  while (reader.hasMore()) {
    if (types.length === LIMITS.terms) {
      reader.fail(reader.place, `at most ${LIMITS.terms} terms`);
    }
    const isNot = reader.take(`-(?!-|${BLANK_OR_END})`) !== null;
    const { isWord, own } = term(reader, index);
    const found = isWord ? atOrBelow(index, own) : own;
    marks = both(marks, isNot ? found.map((mark) => 1 - mark) : found);
    atWords = isWord && !isNot ? either(atWords, own) : atWords;
    types.push(isNot ? "not" : isWord ? "word" : "field");
  }
  return types.includes("word") && !types.includes("field") ? both(marks, atWords) : marks;
}

/** The matches of the next term, and whether it is a word or a regular expression. */
function term(reader: Reader, index: Index): { readonly isWord: boolean; readonly own: Marks } {
  const start = reader.place;
  reader.start = start;
  if (reader.text[start] === '"') {
    return { isWord: true, own: byWord(new Set([reader.value()]), index) };
  }
  if (reader.text[start] === "/") {
    return { isWord: true, own: byRegex(reader, index) };
  }
  const name = reader.take(FIELD_NAME)?.[0].toLowerCase();
  for (const sign of [":", ">"]) {
    const field = FIELDS.get(`${name}${sign}`);
    if (field !== undefined && (sign === ">" || reader.take(":") !== null)) {
      return { isWord: false, own: field(reader, index) };
    }
  }
  const isTensor = reader.take(`:[0-9]+${BLANK_OR_END}`) !== null;
  if (name !== undefined && !isTensor && reader.take(":") !== null) {
    const known = [...FIELDS.keys()].join(", ");
    reader.fail(start, `one of ${known}; or quotes around a word with a colon`);
  }
  reader.take(`[^${BLANKS}]+`);
  const text = reader.text.slice(start, reader.place).toLowerCase();
  const bare = withoutOutput(text) || text; // TensorFlow prints tensors with their output: kernel:0
  return { isWord: true, own: byWord(new Set([bare, bare.replaceAll(".", "/")]), index) };
}

/** The nodes with a word in their names. A word with a slash may begin in their path. */
function byWord(spellings: ReadonlySet<string>, index: Index): Marks {
  const found = Array.from(spellings, (text) => {
    const paths = text.includes("/") ? pathsOf(index) : [];
    return where(index, (id) => {
      const ends = paths.map(({ [id]: path }, way) =>
        path?.slice(-text.length - (index.ways[way]?.names[id]?.length ?? 0)),
      );
      return [...(index.names[id] ?? []), ...ends].some((name) => name?.includes(text));
    });
  });
  return found.reduce(either);
}

/**
 * The nodes whose names or path match a regular expression. A match in the path must end in the
 * local name: otherwise everything below the node would match too.
 */
function byRegex(reader: Reader, index: Index): Marks {
  const start = reader.place;
  const [, pattern = ""] = reader.take(REGEX) ?? reader.fail(start, "a closing / for this pattern");
  if (reader.take(BLANK_OR_END) === null) {
    reader.fail(reader.place, "a blank behind the pattern; a / in it is written \\/");
  }
  if (pattern === "") {
    reader.fail(start + 1, "a pattern between / and /");
  }
  if ([...pattern].length > LIMITS.pattern) {
    reader.fail(start + 1, `a pattern of at most ${LIMITS.pattern} characters`);
  }
  const anywhere = compiled(pattern, start + 1, reader);
  const atEnd = compiled(`(?:${pattern})(?=[^/]*$)`, start + 1, reader);
  const paths = pathsOf(index);
  return where(index, (id) => {
    const isAtEnd = paths.some(({ [id]: path = "" }) => {
      atEnd.lastIndex = Math.max(path.length - LIMITS.text, 0); // `^` does not match at the cut
      return atEnd.test(path);
    });
    const names = index.names[id] ?? [];
    return isAtEnd || names.some((name) => name.slice(0, LIMITS.text).search(anywhere) >= 0);
  });
}

function compiled(pattern: string, place: number, reader: Reader): RegExp {
  try {
    const regExp = new RegExp(pattern, "giu");
    regExp.test(""); // engines find some patterns too large only at the first test
    return regExp;
  } catch {
    return reader.fail(place, "a valid regular expression");
  }
}
