/** Edited copies of a saved checkpoint, as a page asks for them: ckpt_viz/entrances/jupyter/copies.py. */

import type { Comparison, NodeState, Origin } from "../data/contract";

/** In the order of the buttons: the edit, its key for the selected row, and for all matches. */
export const COPY_KEYS = [
  ["without", "w", "W"],
  ["only", "l", "L"],
  ["renamed", "r", "R"],
] as const;

export type CopyKind = (typeof COPY_KEYS)[number][0];
type Side = "a" | "b";

/** What to copy: the row of a node, or what a query finds; in a diff also from which side. */
type Meant = ({ readonly nodes: readonly number[] } | { readonly query: string }) & {
  readonly side?: Side;
};

/** The question for the code of a copy. */
export function question(kind: CopyKind, meant: Meant, to: string): object {
  return { ask: "copy", kind, ...meant, ...(kind === "renamed" ? { to } : {}) };
}

/** What a key asks for, of the row or of the matches; undefined for other keys. */
export function copyDeedOf(
  { altKey, ctrlKey, key, metaKey }: KeyboardEvent,
  isOfMatches: boolean,
): CopyKind | undefined {
  if (altKey || ctrlKey || metaKey) {
    return undefined;
  }
  const place = isOfMatches ? 2 : 1;
  return COPY_KEYS.find((keys) => keys[place] === key)?.[0];
}

/**
 * The side of a diff that a copy is of: b, or a for what b lacks. A graph alone and a check have one
 * side, without a name. Null: nothing that was saved is there. `state` is that of the row, or of all
 * matches.
 */
export function sideOf(
  origin: Origin,
  comparison: Comparison | null,
  state: NodeState | null,
): { readonly side?: Side } | null {
  if (comparison === "check") {
    return state === "live only" ? null : {};
  }
  if (origin === "live") {
    return null;
  }
  return comparison === null ? {} : { side: state === "only in a" ? "a" : "b" };
}
