/** Edited copies of a saved checkpoint, as a page asks for them: ckpt_viz/entrances/jupyter/copies.py. */

import type { Comparison, NodeState, Origin } from "../data/contract";

/** In the order of the buttons: the edit, its key for the selected row, and for all matches. */
export const COPY_KEYS = [
  ["without", "w", "W"],
  ["only", "l", "L"],
  ["renamed", "r", "R"],
] as const;

export type CopyKind = (typeof COPY_KEYS)[number][0];
export type Side = "a" | "b";

/** The key that marks the selected row for a copy of several. */
export const MARK_KEY = "v";

/** What to copy: the rows of these nodes, or what a query finds; in a diff also from which side. */
export type Meant = ({ readonly nodes: readonly number[] } | { readonly query: string }) & {
  readonly side?: Side;
};

/** The question for the code of a copy, or for the diff between the checkpoint and the copy. */
export function question(
  ask: "copy" | "copy-picture",
  kind: CopyKind,
  meant: Meant,
  to: string,
): object {
  return { ask, kind, ...meant, ...(kind === "renamed" ? { to } : {}) };
}

/** What a key asks for, of the row or of the matches; undefined for other keys. */
export function copyDeedOf(
  { altKey, ctrlKey, key, metaKey }: KeyboardEvent,
  isOfMatches: boolean,
): CopyKind | "mark" | undefined {
  if (altKey || ctrlKey || metaKey) {
    return undefined;
  }
  const place = isOfMatches ? 2 : 1;
  return key === MARK_KEY && !isOfMatches
    ? "mark"
    : COPY_KEYS.find((keys) => keys[place] === key)?.[0];
}

/**
 * The sides that a copy can be of: `state` is that of the row, or of all matches. A graph alone and a
 * check have one side, without a name. None: nothing that was saved is there.
 */
export function sidesOf(
  origin: Origin,
  comparison: Comparison | null,
  state: NodeState | null,
): readonly (Side | null)[] {
  if (comparison === "check") {
    return state === "live only" ? [] : [null];
  }
  if (origin === "live") {
    return [];
  }
  return comparison === null
    ? [null]
    : state === "only in a"
      ? ["a"]
      : state === "only in b"
        ? ["b"]
        : ["b", "a"];
}

/** The rows that a person has marked for a copy of several, after one more is marked or unmarked. */
export function withMark(marked: readonly number[], node: number): readonly number[] {
  return marked.includes(node) ? marked.filter((one) => one !== node) : [...marked, node];
}
