/** Changes of the program of a check, as a page asks for them: ckpt_viz/jupyter/changed.py. */

export type EditKind = "rename" | "remove" | "move" | "insert" | "exchange" | "build";

/** An edit, by nodes of the picture that the edits before have made. */
export interface Edit {
  readonly kind: EditKind;
  readonly node?: number;
  /** The new local name, or the place in a list. */
  readonly to?: string;
  /** What is to hold the part, or the part to exchange it with. */
  readonly other?: number;
}

export interface Changes {
  readonly edits: readonly Edit[];
  readonly method: string | null;
  readonly partial: boolean;
  readonly reordered: boolean;
}

export const NO_CHANGES: Changes = { edits: [], method: null, partial: false, reordered: false };

/** Whether there is another program, or another call. */
export function isChanged({ edits, method, partial, reordered }: Changes): boolean {
  return edits.length > 0 || method !== null || partial || reordered;
}

/** What a restore comes to. */
export interface Result {
  readonly method: string;
  /** The class of the error that the call raises; "" for none. */
  readonly raises: string;
  readonly consumed: boolean;
  readonly existing_objects_matched: boolean;
  readonly nontrivial_match: boolean;
  readonly restored: number;
  readonly warnings: number;
  readonly steps: number;
}

export const ASSERTS = ["consumed", "existing_objects_matched", "nontrivial_match"] as const;
export const COUNTS = ["restored", "warnings", "steps"] as const;

export interface ChangedAnswer {
  /** Each edit in words, and as the Python that does the same to the program. */
  readonly edits: readonly { readonly text: string; readonly code: string }[];
  readonly before: Result;
  readonly now: Result;
  /** The first step that differs, from 0 on. */
  readonly first: number | null;
  /** The node that the last edit was about. */
  readonly node: number | null;
}

/** The answer of a kernel; null for a malformed one. */
export function readChanged(answer: ChangedAnswer | undefined): ChangedAnswer | null {
  return answer !== undefined &&
    Array.isArray(answer.edits) &&
    answer.edits.every(({ code, text }) => typeof code === "string" && typeof text === "string") &&
    [answer.before, answer.now].every(isResult)
    ? answer
    : null;
}

function isResult(result: Result | undefined): boolean {
  return (
    result !== undefined &&
    typeof result.method === "string" &&
    typeof result.raises === "string" &&
    ASSERTS.every((name) => typeof result[name] === "boolean") &&
    COUNTS.every((name) => Number.isSafeInteger(result[name]))
  );
}

// --- keys

export type ChangeDeed = EditKind | "up" | "down" | "undo" | "confirm" | "cancel";

/** The keys while someone changes the program, in the order of the buttons. */
export const CHANGE_KEYS: readonly (readonly [key: string, deed: ChangeDeed])[] = [
  ["F2", "rename"],
  ["Delete", "remove"],
  ["Insert", "insert"],
  ["I", "insert"],
  ["m", "move"],
  ["X", "exchange"],
  ["Alt+ArrowUp", "up"],
  ["Alt+ArrowDown", "down"],
  ["u", "undo"],
];

const BY_KEY = new Map(CHANGE_KEYS);

/** What a key does; `isPending`: while a user selects the second part of an edit. */
export function changeDeedOf(
  { altKey, ctrlKey, key, metaKey }: KeyboardEvent,
  isPending: boolean,
): ChangeDeed | undefined {
  if (ctrlKey || metaKey) {
    return undefined;
  }
  if (isPending && (key === "Enter" || key === "Escape")) {
    return key === "Enter" ? "confirm" : "cancel";
  }
  return BY_KEY.get(altKey ? `Alt+${key}` : key);
}
