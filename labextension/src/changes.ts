/** Changes of the program of a check, as a page asks for them: ckpt_viz/jupyter/changed.py. */

export type EditKind =
  | "rename"
  | "remove"
  | "move"
  | "insert"
  | "exchange"
  | "build"
  | "up"
  | "down";

/** What else than the program may differ. */
export interface Conditions {
  readonly method: string | null;
  readonly partial: boolean;
  readonly reordered: boolean;
}

/** An edit, by nodes of the picture that the edits before have made. */
export interface Edit {
  readonly kind: EditKind;
  readonly node?: number;
  /** The new local name. */
  readonly to?: string;
  /** What is to hold the part, or the part to exchange it with. */
  readonly other?: number;
}

export interface Changes extends Conditions {
  readonly edits: readonly MadeEdit[];
}

/** An edit, and the picture in which someone made it: after so many edits, under conditions. */
interface MadeEdit extends Edit, Conditions {
  readonly after: number;
}

export const NO_CHANGES: Changes = { edits: [], method: null, partial: false, reordered: false };

/**
 * The changes with an edit more, by nodes of the picture that other changes have made. If someone
 * has undone an edit of that picture since, the changes stay.
 */
export function withEdit(changes: Changes, shown: Changes, edit: Edit): Changes {
  const { edits, method, partial, reordered } = shown;
  return edits.some((one, place) => one !== changes.edits[place])
    ? changes
    : {
        ...changes,
        edits: [...changes.edits, { ...edit, after: edits.length, method, partial, reordered }],
      };
}

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

export type ChangeDeed = EditKind | "undo" | "confirm" | "cancel";

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
