/** Changes of the program of a check, as a page asks for them: ckpt_viz/entrances/jupyter/changed.py. */

import * as WORDS from "../basics/strings";
import { formatCount, visible } from "../basics/text";

/** `name` is what someone has typed: the kernel knows which edit that means. */
type EditKind = "name" | "insert" | "build" | "up" | "down" | "drop";

/** What else than the program may differ. */
export interface Conditions {
  readonly method: string | null;
  readonly partial: boolean;
  readonly reordered: boolean;
}

/** An edit, by nodes of the picture that the edits before have made. */
export interface Edit {
  readonly kind: EditKind;
  /** A `drop` has the place of the edit that it takes back. */
  readonly node?: number;
  /** The typed name; none removes the part. */
  readonly to?: string;
  /** What it is in place of. */
  readonly was?: string;
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

const ASSERTS = ["consumed", "existing_objects_matched", "nontrivial_match"] as const;
const COUNTS = ["restored", "warnings", "steps"] as const;

export interface ChangedAnswer {
  /** Each edit in words, as the Python that does the same to the program, and its place. */
  readonly edits: readonly {
    readonly text: string;
    readonly code: string;
    readonly place: number;
  }[];
  readonly before: Result;
  readonly now: Result;
  /** The first step that differs, from 0 on. */
  readonly first: number | null;
  /** The node that the last edit was about. */
  readonly node: number | null;
}

/** What differs between two results: each call, assert and number with both of its values. */
export function differenceWords(before: Result, now: Result): readonly string[] {
  const { changing } = WORDS;
  const ending = ({ raises }: Result) =>
    raises === "" ? changing.passes : changing.raises(visible(raises));
  const rows = [
    ["", `${before.method}()`, `${now.method}()`],
    [`${now.method}() `, ending(before), ending(now)],
    ...ASSERTS.map((name) => [
      `assert_${name}() `,
      ...[before, now].map((of) => (of[name] ? changing.passes : changing.fails)),
    ]),
    ...COUNTS.map((name) => [
      `${changing.counts[name]} `,
      ...[before, now].map((of) => formatCount(of[name])),
    ]),
  ];
  return rows
    .filter(([, past, present]) => past !== present)
    .map(([name, past, present]) => `${name}${past} → ${present}`);
}

// --- keys

export type ChangeDeed = Exclude<EditKind, "drop"> | "remove" | "undo";

/** The keys while someone changes the program. */
export const CHANGE_KEYS: readonly (readonly [key: string, deed: ChangeDeed])[] = [
  ["F2", "name"],
  ["Delete", "remove"],
  ["Insert", "insert"],
  ["I", "insert"],
  ["Alt+ArrowUp", "up"],
  ["Alt+ArrowDown", "down"],
  ["u", "undo"],
];

const BY_KEY = new Map(CHANGE_KEYS);

/** What a key does; in the table, Enter types a name. */
export function changeDeedOf(
  { altKey, ctrlKey, key, metaKey }: KeyboardEvent,
  isInTable: boolean,
): ChangeDeed | undefined {
  if (ctrlKey || metaKey) {
    return undefined;
  }
  return isInTable && key === "Enter" ? "name" : BY_KEY.get(altKey ? `Alt+${key}` : key);
}
