/** The keys of the explorer: a table from key to action, the same in outline and drawing. */

import type { Action } from "./state";

const ZOOM_STEP = 1.25;

const KEYS: Readonly<Record<string, Action>> = {
  ArrowUp: { type: "step", step: "previous" },
  ArrowDown: { type: "step", step: "next" },
  ArrowRight: { type: "step", step: "in" },
  ArrowLeft: { type: "step", step: "out" },
  Home: { type: "step", step: "first" },
  End: { type: "step", step: "last" },
  PageUp: { type: "step", step: "pageUp" },
  PageDown: { type: "step", step: "pageDown" },
  " ": { type: "toggleSelected" },
  "*": { type: "openSiblings" },
  "0": { type: "fit" },
  "+": { type: "zoom", factor: ZOOM_STEP },
  "=": { type: "zoom", factor: ZOOM_STEP },
  "-": { type: "zoom", factor: 1 / ZOOM_STEP },
  "]": { type: "stepProblem", by: 1 },
  "[": { type: "stepProblem", by: -1 },
  a: { type: "stepAlias" },
  f: { type: "focusSelected" },
  s: { type: "toggleSlots" },
  n: { type: "stepMatch", by: 1 },
  N: { type: "stepMatch", by: -1 },
  F8: { type: "stepProblem", by: 1 },
  "Shift+F8": { type: "stepProblem", by: -1 },
};

/**
 * Whether a key belongs to the explorer while it has the focus. With Ctrl, Alt or Meta, as
 * Shift+Enter or Escape it belongs to the notebook or the browser.
 */
export function isOurs(event: KeyboardEvent): boolean {
  const isTheirs = event.key === "Escape" || (event.key === "Enter" && event.shiftKey);
  return !(event.ctrlKey || event.metaKey || event.altKey || isTheirs);
}

/** What a key does; undefined for keys without a meaning here. */
export function actionOf(event: KeyboardEvent): Action | undefined {
  const isShifted = event.shiftKey && event.key.length > 1;
  const shifted = isShifted ? KEYS[`Shift+${event.key}`] : undefined;
  return isOurs(event) ? (shifted ?? KEYS[event.key]) : undefined;
}
