/** What may come next in a query: fields, and the values of a field. */

import type { Graph } from "../data/graph";

/** What the fields of a graph may have. */
export interface Vocabulary {
  /** Each with its sign: `role:`, `size>`. */
  readonly fields: readonly string[];
  /** The values of a field that has a list of them, by its name without a sign. */
  readonly values: (field: string) => readonly string[];
}

/** Texts that may replace a part of the query. */
export interface Suggestions {
  readonly start: number;
  readonly texts: readonly string[];
}

const MOST = 30;
const NOTHING: Suggestions = { start: 0, texts: [] };
/** The term before the caret, of which a sign of negation and quotes are no part. */
const TERM = /(?:^|\s)-?([\w:|.]*)$/;

/** The suggestions at a place of a query; an empty term has all fields. */
export function suggestionsAt(query: string, caret: number, known: Vocabulary): Suggestions {
  const term = TERM.exec(query.slice(0, caret))?.[1];
  const isInside = /^[\w:|]/.test(query.slice(caret));
  if (term === undefined || isInside || isQuoted(query.slice(0, caret))) {
    return NOTHING;
  }
  const colon = term.indexOf(":");
  const begun =
    colon < 0
      ? term
      : (term
          .slice(colon + 1)
          .split("|")
          .at(-1) ?? "");
  const all = colon < 0 ? known.fields : known.values(term.slice(0, colon).toLowerCase());
  const texts = all.filter((text) => text.startsWith(begun.toLowerCase()) && text !== begun);
  return { start: caret - begun.length, texts: texts.slice(0, MOST) };
}

/** Whether a quote before the caret is still open. */
function isQuoted(before: string): boolean {
  return before.split('"').length % 2 === 0;
}

/** The types of the values in a graph, in alphabetical order. */
export function dtypesOf({ attributes, size }: Pick<Graph, "attributes" | "size">): string[] {
  const dtypes = new Set<string>();
  for (let id = 0; id < size; id++) {
    for (const { dtype } of attributes(id)) {
      if (dtype !== null) {
        dtypes.add(dtype);
      }
    }
  }
  return [...dtypes].sort();
}
