/** What a query says, as a tree; ckpt_viz/search/syntax.py is the same for the kernel. */

/** The same in both languages. */
export const BLANKS = " \t\n\r\f\v\u00a0\u2028\u2029\ufeff";

/** Where a query is not one, in characters from its start, and what would have been. */
export class Mistake {
  constructor(
    readonly place: number,
    readonly expected: string,
  ) {}
}

export type GlobField = "path" | "key" | "name" | "edge" | "under";
export type Comparison = ">" | "<" | ">=" | "<=" | "=";

/** Every term with its place in the query. */
export type Term = { readonly place: number } & (
  | { readonly type: "text"; readonly text: string; readonly isQuoted: boolean }
  | { readonly type: "regex"; readonly pattern: string }
  | { readonly type: "glob"; readonly field: GlobField; readonly glob: string }
  | {
      readonly type: "choice";
      readonly field: "role" | "is" | "dtype";
      readonly values: readonly string[];
    }
  | { readonly type: "shape"; readonly dimensions: readonly Dimension[] }
  | {
      readonly type: "amount";
      readonly field: "size" | "params";
      readonly comparison: Comparison;
      readonly number: number;
    }
  | { readonly type: "near"; readonly glob: string; readonly steps: number }
  | { readonly type: "not"; readonly term: Term }
  | { readonly type: "chain"; readonly terms: readonly Term[] }
  | { readonly type: "pasted"; readonly text: string }
);
export type TermOf<Type extends Term["type"]> = Extract<Term, { readonly type: Type }>;
/** A size, any one dimension, or any number of them. */
export type Dimension = number | "*" | "...";
/** All of them hold. */
export type Query = readonly Term[];
