/**
 * The table of everything a user can do in the explorer. Its readers: the keyboard, the list of
 * keys behind the question mark, JupyterLab's command palette and the test of the documentation.
 */

import type { Action } from "./state";
import type * as WORDS from "./strings";

const ZOOM_STEP = 1.25;
export const ZOOM_IN: Action = { type: "zoom", factor: ZOOM_STEP };
export const ZOOM_OUT: Action = { type: "zoom", factor: 1 / ZOOM_STEP };

/** The parts of the page that actions use. */
export type Part =
  | "search"
  | "details"
  | "fix"
  | "play"
  | "change"
  | "help"
  | "copy-name"
  | "copy-key";

/** Actions that change the page but not the state of the view; draw/page.ts runs them. */
export type PageAction =
  | { readonly type: "goToSearch" }
  | { readonly type: "goToDetails" }
  /** Presses a button of the page. */
  | { readonly type: "press"; readonly part: Part };

export type Deed = Action | PageAction;

export interface Command {
  /** Names as in `KeyboardEvent.key`; the help shows the first one. */
  readonly keys: readonly string[];
  /** Null for a key that the explorer leaves to the notebook. */
  readonly does: Deed | null;
  /** Its line in the help, which neighbouring commands may share. */
  readonly help: keyof typeof WORDS.keys;
  /** The last part of the command's id in JupyterLab, which names the command in its palette. */
  readonly palette?: keyof typeof WORDS.commands;
}

const step = (direction: Extract<Action, { type: "step" }>["step"]): Action => ({
  type: "step",
  step: direction,
});

const press = (part: Part): PageAction => ({ type: "press", part });

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  { keys: ["ArrowUp"], does: step("previous"), help: "move" },
  { keys: ["ArrowDown"], does: step("next"), help: "move" },
  { keys: ["Home"], does: step("first"), help: "move" },
  { keys: ["End"], does: step("last"), help: "move" },
  { keys: ["PageUp"], does: step("pageUp"), help: "move" },
  { keys: ["PageDown"], does: step("pageDown"), help: "move" },
  { keys: ["ArrowRight"], does: step("in"), help: "enter" },
  { keys: ["ArrowLeft"], does: step("out"), help: "enter" },
  { keys: [" "], does: { type: "toggleSelected" }, help: "open" },
  { keys: ["*"], does: { type: "openSiblings" }, help: "open" },
  { keys: ["Enter"], does: { type: "goToDetails" }, help: "details" },
  { keys: ["/"], does: { type: "goToSearch" }, help: "search", palette: "search" },
  {
    keys: ["n"],
    does: { type: "stepMatch", by: 1 },
    help: "matches",
    palette: "next-match",
  },
  {
    keys: ["N"],
    does: { type: "stepMatch", by: -1 },
    help: "matches",
    palette: "previous-match",
  },
  {
    keys: ["]", "F8"],
    does: { type: "stepProblem", by: 1 },
    help: "problems",
    palette: "next-problem",
  },
  {
    keys: ["[", "Shift+F8"],
    does: { type: "stepProblem", by: -1 },
    help: "problems",
    palette: "previous-problem",
  },
  { keys: ["x"], does: press("fix"), help: "fix", palette: "fix" },
  { keys: ["p"], does: press("play"), help: "play", palette: "play" },
  { keys: ["e"], does: press("change"), help: "change", palette: "change" },
  { keys: ["t"], does: { type: "toggleOwnWay" }, help: "ownWay", palette: "own-way" },
  { keys: ["f"], does: { type: "focusSelected" }, help: "focus", palette: "focus" },
  { keys: ["s"], does: { type: "toggleSlots" }, help: "slots", palette: "slots" },
  {
    keys: ["a"],
    does: { type: "stepAround", of: "parents" },
    help: "alias",
    palette: "next-parent",
  },
  {
    keys: ["i"],
    does: { type: "stepAround", of: "inputs" },
    help: "flow",
    palette: "next-input",
  },
  {
    keys: ["o"],
    does: { type: "stepAround", of: "outputs" },
    help: "flow",
    palette: "next-output",
  },
  {
    keys: ["c"],
    does: press("copy-name"),
    help: "copy",
    palette: "copy-name",
  },
  {
    keys: ["k"],
    does: press("copy-key"),
    help: "copy",
    palette: "copy-key",
  },
  { keys: ["0"], does: { type: "fit" }, help: "zoom", palette: "fit" },
  { keys: ["+", "="], does: ZOOM_IN, help: "zoom", palette: "zoom-in" },
  { keys: ["-"], does: ZOOM_OUT, help: "zoom", palette: "zoom-out" },
  { keys: ["?"], does: press("help"), help: "help", palette: "keys" },
  { keys: ["Escape"], does: null, help: "leave" },
];

const BY_KEY = new Map(COMMANDS.flatMap(({ keys, does }) => keys.map((key) => [key, does])));

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
