/** What the keys of the explorer do, and the parts of the page that actions use. */

import type { Action } from "./state";

const ZOOM_STEP = 1.25;

/** The parts of the page that actions use. */
export type Part =
  | "search"
  | "details"
  | "fix"
  | "code"
  | "tick"
  | "play"
  | "change"
  | "help"
  | "copy-name"
  | "copy-key";

/** Actions that change the page but not the state of the view; draw/page.ts runs them. */
export type PageAction =
  | { readonly type: "goToSearch" }
  | { readonly type: "goToDetails" }
  /** A key alone restores no values: Enter presses the button. */
  | { readonly type: "goToRestore" }
  /** Presses a button of the page. */
  | { readonly type: "press"; readonly part: Part };

export type Deed = Action | PageAction;

const step = (direction: Extract<Action, { type: "step" }>["step"]): Action => ({
  type: "step",
  step: direction,
});

const press = (part: Part): PageAction => ({ type: "press", part });

/** Names as in `KeyboardEvent.key`. Null for a key that the explorer leaves to the notebook. */
export const DEEDS = {
  ArrowUp: step("previous"),
  ArrowDown: step("next"),
  Home: step("first"),
  End: step("last"),
  PageUp: step("pageUp"),
  PageDown: step("pageDown"),
  ArrowRight: step("in"),
  ArrowLeft: step("out"),
  " ": { type: "toggleSelected" },
  "*": { type: "openSiblings" },
  Enter: { type: "goToDetails" },
  "/": { type: "goToSearch" },
  n: { type: "stepMatch", by: 1 },
  N: { type: "stepMatch", by: -1 },
  "]": { type: "stepChange", by: 1 },
  "[": { type: "stepChange", by: -1 },
  x: { type: "goToRestore" },
  p: press("play"),
  e: press("change"),
  y: { type: "press", part: "tick" },
  t: { type: "toggleTable" },
  f: { type: "focusSelected" },
  c: press("copy-name"),
  k: press("copy-key"),
  "0": { type: "fit" },
  "+": { type: "zoom", factor: ZOOM_STEP },
  "-": { type: "zoom", factor: 1 / ZOOM_STEP },
  "?": press("help"),
  Escape: null,
} satisfies Readonly<Record<string, Deed | null>>;

/** Keys that do the same as another one. */
export const SAME_KEYS: Readonly<Record<string, keyof typeof DEEDS>> = {
  F8: "]",
  "Shift+F8": "[",
  "=": "+",
};

const BY_KEY = new Map<string, Deed | null>([
  ...Object.entries(DEEDS),
  ...Object.entries(SAME_KEYS).map(([key, same]) => [key, DEEDS[same]] as const),
]);

/**
 * Whether a key belongs to the explorer while the explorer has the focus. Combinations with Ctrl,
 * Alt or Meta, Shift+Enter and Escape belong to the notebook or the browser.
 */
export function isOurs(event: KeyboardEvent): boolean {
  const isTheirs = BY_KEY.get(event.key) === null || (event.key === "Enter" && event.shiftKey);
  return !(event.ctrlKey || event.metaKey || event.altKey || isTheirs);
}

/** The action of a key; undefined for keys without a meaning here. */
export function deedOf(event: KeyboardEvent): Deed | undefined {
  const isShifted = event.shiftKey && event.key.length > 1;
  const shifted = isShifted ? BY_KEY.get(`Shift+${event.key}`) : undefined;
  return isOurs(event) ? (shifted ?? BY_KEY.get(event.key) ?? undefined) : undefined;
}
