/**
 * The table of everything a user can do in the explorer. Its readers: the keyboard, the list of
 * keys behind the question mark, JupyterLab's command palette and the test of the documentation.
 */

import type { Action } from "./state";
import * as WORDS from "./strings";

const ZOOM_STEP = 1.25;
export const ZOOM_IN: Action = { type: "zoom", factor: ZOOM_STEP };
export const ZOOM_OUT: Action = { type: "zoom", factor: 1 / ZOOM_STEP };

/** Actions that change the page but not the state of the view; draw/page.ts runs them. */
export type PageAction =
  | { readonly type: "goToSearch" }
  | { readonly type: "goToDetails" }
  | { readonly type: "toggleHelp" }
  | { readonly type: "toggleFix" }
  | { readonly type: "togglePlay" }
  | { readonly type: "copy"; readonly what: "name" | "key" };

export type Deed = Action | PageAction;

export interface Command {
  /** Names as in `KeyboardEvent.key`; the help shows the first one. */
  readonly keys: readonly string[];
  /** Null for a key that the explorer leaves to the notebook. */
  readonly does: Deed | null;
  /** The text in the help. Neighbouring commands with the same text share a line. */
  readonly help: string;
  /** The last part of the command's id in JupyterLab, which names the command in its palette. */
  readonly palette?: keyof typeof WORDS.commands;
}

const step = (direction: Extract<Action, { type: "step" }>["step"]): Action => ({
  type: "step",
  step: direction,
});

const HELP = WORDS.keys;

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  { keys: ["ArrowUp"], does: step("previous"), help: HELP.move },
  { keys: ["ArrowDown"], does: step("next"), help: HELP.move },
  { keys: ["Home"], does: step("first"), help: HELP.move },
  { keys: ["End"], does: step("last"), help: HELP.move },
  { keys: ["PageUp"], does: step("pageUp"), help: HELP.move },
  { keys: ["PageDown"], does: step("pageDown"), help: HELP.move },
  { keys: ["ArrowRight"], does: step("in"), help: HELP.enter },
  { keys: ["ArrowLeft"], does: step("out"), help: HELP.enter },
  { keys: [" "], does: { type: "toggleSelected" }, help: HELP.open },
  { keys: ["*"], does: { type: "openSiblings" }, help: HELP.open },
  { keys: ["Enter"], does: { type: "goToDetails" }, help: HELP.details },
  { keys: ["/"], does: { type: "goToSearch" }, help: HELP.search, palette: "search" },
  {
    keys: ["n"],
    does: { type: "stepMatch", by: 1 },
    help: HELP.matches,
    palette: "next-match",
  },
  {
    keys: ["N"],
    does: { type: "stepMatch", by: -1 },
    help: HELP.matches,
    palette: "previous-match",
  },
  {
    keys: ["]", "F8"],
    does: { type: "stepProblem", by: 1 },
    help: HELP.problems,
    palette: "next-problem",
  },
  {
    keys: ["[", "Shift+F8"],
    does: { type: "stepProblem", by: -1 },
    help: HELP.problems,
    palette: "previous-problem",
  },
  { keys: ["x"], does: { type: "toggleFix" }, help: HELP.fix, palette: "fix" },
  { keys: ["p"], does: { type: "togglePlay" }, help: HELP.play, palette: "play" },
  { keys: ["t"], does: { type: "toggleOwnWay" }, help: HELP.ownWay, palette: "own-way" },
  { keys: ["f"], does: { type: "focusSelected" }, help: HELP.focus, palette: "focus" },
  { keys: ["s"], does: { type: "toggleSlots" }, help: HELP.slots, palette: "slots" },
  {
    keys: ["a"],
    does: { type: "stepAround", of: "parents" },
    help: HELP.alias,
    palette: "next-parent",
  },
  {
    keys: ["i"],
    does: { type: "stepAround", of: "inputs" },
    help: HELP.flow,
    palette: "next-input",
  },
  {
    keys: ["o"],
    does: { type: "stepAround", of: "outputs" },
    help: HELP.flow,
    palette: "next-output",
  },
  {
    keys: ["c"],
    does: { type: "copy", what: "name" },
    help: HELP.copy,
    palette: "copy-name",
  },
  {
    keys: ["k"],
    does: { type: "copy", what: "key" },
    help: HELP.copy,
    palette: "copy-key",
  },
  { keys: ["0"], does: { type: "fit" }, help: HELP.zoom, palette: "fit" },
  { keys: ["+", "="], does: ZOOM_IN, help: HELP.zoom, palette: "zoom-in" },
  { keys: ["-"], does: ZOOM_OUT, help: HELP.zoom, palette: "zoom-out" },
  { keys: ["?"], does: { type: "toggleHelp" }, help: HELP.help, palette: "keys" },
  { keys: ["Escape"], does: null, help: HELP.leave },
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

/** A line of the help: the keys, by their names on a keyboard, and what they do. */
export interface HelpLine {
  readonly keys: string;
  readonly does: string;
}

export function helpLines(): readonly HelpLine[] {
  const keysOf = new Map<string, string[]>();
  for (const { help, keys } of COMMANDS) {
    const [key = ""] = keys;
    keysOf.set(help, [...(keysOf.get(help) ?? []), KEY_NAMES[key] ?? key]);
  }
  return Array.from(keysOf, ([does, keys]) => ({ keys: keys.join(" "), does }));
}

const KEY_NAMES: Readonly<Record<string, string>> = WORDS.keyNames;
