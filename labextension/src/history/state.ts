/** What the view of a history shows, and how actions change it. */

import { kept } from "../basics/once";
import type { Scale } from "../basics/scale";
import type { Mistake } from "../search/syntax";
import { type Change, changeOf, marked, nearZero, rankOf, scaleOf, spreadOf } from "./changes";
import { type Cell, type History, isBroken, type Row } from "./data";
import { matching, readQuery } from "./query";

export const ORDERS = ["tree", "largest", "layer"] as const;
export type Order = (typeof ORDERS)[number];
type End = "a" | "b";

export interface State {
  readonly history: History;
  readonly scale: Scale;
  /** The numbers of the two checkpoints that are compared. */
  readonly a: number;
  readonly b: number;
  readonly order: Order;
  readonly query: string;
  /** Whether the state of optimizers is among the rows. */
  readonly hasStates: boolean;
  /** The number of a row in the history. */
  readonly selected: number | null;
  /** The kernel's answer for a and b, one cell for each row; null if it was not asked. */
  readonly between: readonly Cell[] | null;
  /** The first element that is NaN or infinite in the order of the checkpoints. */
  readonly firstBad: FirstBad | null;
  /** Whether a user has moved a or b: later checkpoints then leave them where they are. */
  readonly isMoved: boolean;
}

export interface FirstBad {
  readonly time: number;
  readonly row: number;
  readonly what: "NaN" | "Inf";
}

export type Action =
  | { readonly type: "move"; readonly end: End; readonly to: number }
  | { readonly type: "step"; readonly end: End; readonly by: 1 | -1 }
  | { readonly type: "goToBad" }
  | { readonly type: "order"; readonly order: Order }
  | { readonly type: "query"; readonly query: string }
  | { readonly type: "toggleStates" }
  | { readonly type: "select"; readonly row: number }
  /** The history was read further, or has new checkpoints. */
  | { readonly type: "update"; readonly history: History }
  | {
      readonly type: "computed";
      readonly a: number;
      readonly b: number;
      readonly cells: readonly Cell[];
    };

export function initialState(history: History): State {
  const opened = history.checkpoints.flatMap(({ error }, time) => (error === null ? [time] : []));
  return {
    history,
    scale: scaleOf(history),
    a: opened[0] ?? 0,
    b: opened.at(-1) ?? 0,
    order: "largest",
    query: "",
    hasStates: !history.rows.some((row) => !row.is_state),
    selected: null,
    between: null,
    firstBad: firstBadOf(history),
    isMoved: false,
  };
}

/** The state of a newer history that keeps what the user has chosen. */
function updated(state: State, history: History): State {
  const { order, query, isMoved, hasStates } = state;
  const fresh = initialState(history);
  const kept = { ...fresh, order, query, isMoved, hasStates: hasStates || fresh.hasStates };
  const selectedKey = state.history.rows[state.selected ?? -1]?.key;
  const selected =
    selectedKey === undefined || history.rows[state.selected ?? -1]?.key === selectedKey
      ? state.selected
      : history.rows.findIndex(({ key }) => key === selectedKey);
  const place = (time: number) => {
    const path = state.history.checkpoints[time]?.path;
    return history.checkpoints.findIndex((one) => one.path === path);
  };
  const [a, b] = isMoved ? [place(state.a), place(state.b)] : [fresh.a, fresh.b];
  const [toA, toB] = [a < 0 ? fresh.a : a, b < 0 ? fresh.b : b];
  const isSame = place(state.a) === toA && place(state.b) === toB;
  const between = isSame && sameRows(state.history, history) ? state.between : null;
  return { ...kept, a: toA, b: toB, between, selected: (selected ?? -1) < 0 ? null : selected };
}

/** The first NaN or infinity that is known selected. An earlier one may be read later. */
function atFirstBad(state: State): State {
  const { firstBad, history } = state;
  if (firstBad === null) {
    return state;
  }
  const isHidden = history.rows[firstBad.row]?.is_state === true;
  const shown = { ...state, query: "", hasStates: state.hasStates || isHidden };
  return { ...moved(shown, "b", firstBad.time), selected: firstBad.row };
}

const sameRows = (one: History, other: History): boolean =>
  one.rows.length === other.rows.length &&
  one.rows.every(({ key }, number) => other.rows[number]?.key === key);

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "move":
      return moved(state, action.end, action.to);
    case "step":
      return moved(state, action.end, nextOpened(state, state[action.end], action.by));
    case "goToBad":
      return atFirstBad(state);
    case "order":
      return { ...state, order: action.order };
    case "query":
      return { ...state, query: action.query };
    case "toggleStates":
      return { ...state, hasStates: !state.hasStates };
    case "select":
      return { ...state, selected: action.row };
    case "update":
      return updated(state, action.history);
    case "computed":
      return action.a === state.a && action.b === state.b
        ? { ...state, between: action.cells }
        : state;
  }
}

function moved(state: State, end: End, to: number): State {
  const isNumber = Number.isInteger(to) && to >= 0 && to < state.history.checkpoints.length;
  return !isNumber || state[end] === to
    ? state
    : { ...state, [end]: to, between: null, isMoved: true };
}

/** The next checkpoint that can be opened; the same one at the ends. */
function nextOpened({ history: { checkpoints } }: State, from: number, by: 1 | -1): number {
  for (let to = from + by; to >= 0 && to < checkpoints.length; to += by) {
    if (checkpoints[to]?.error === null) {
      return to;
    }
  }
  return from;
}

function firstBadOf({ checkpoints, rows }: History): FirstBad | null {
  for (let time = 0; time < checkpoints.length; time++) {
    const broken = rows.map(({ cells }) => isBroken(cells[time]));
    // Weights matter more than what optimizers keep of them.
    const ofWeights = rows.findIndex(({ is_state }, row) => !is_state && broken[row] !== null);
    const row = ofWeights >= 0 ? ofWeights : broken.findIndex((what) => what !== null);
    const what = broken[row];
    if (what) {
      return { time, row, what };
    }
  }
  return null;
}

export interface Shown {
  /** The number of the row in the history. */
  readonly number: number;
  readonly row: Row;
  readonly change: Change;
}

/** The line above the variables of a layer. */
export interface Layer {
  readonly layer: string;
  readonly count: number;
  /** The change that comes first among those of its variables. */
  readonly largest: Change;
}

export interface List {
  readonly shown: readonly Shown[];
  /** The same with a line above each layer, if they are in the order of layers. */
  readonly lines: readonly (Shown | Layer)[];
  /** How many variables there are, without the state of optimizers. */
  readonly variables: number;
  /** How many rows of optimizers match the query. */
  readonly states: number;
  /** Whether some changes are bounds that the kernel could compute. */
  readonly hasBounds: boolean;
  readonly mistake: Mistake | null;
}

/** The rows in their order. For members without an order, a change is the spread. */
export function listOf(state: State): List {
  const { history, a, b, between, order, hasStates } = state;
  const query = readQuery(state.query, b);
  const isCompared = history.distances !== null;
  const least = nearZero(history.rows, a);
  const all = history.rows.map((row, number) => {
    const change = isCompared
      ? spreadOf(row)
      : marked(changeOf(row, a, b, between?.[number]), row, a, b, least);
    return { number, row, change };
  });
  const { found, mistake } = matching(query, all);
  const asksMore = mistake !== query.mistake;
  let shown = found.filter(({ row }) => hasStates || !row.is_state);
  const layers = order === "layer" ? layersOf(shown) : null;
  shown = layers === null ? shown : layers.flat();
  if (order === "largest") {
    // Variables before state, as in Python.
    const place = ({ row }: Shown) => (row.is_state ? 1 : 0);
    shown.sort(
      (one, other) => place(one) - place(other) || rankOf(other.change) - rankOf(one.change),
    );
  }
  return {
    shown,
    lines: layers === null ? shown : layers.flatMap((one) => [layerOf(one), ...one]),
    variables: history.rows.filter(({ is_state }) => !is_state).length,
    states: found.filter(({ row }) => row.is_state).length,
    hasBounds: asksMore || shown.some(({ change }) => change.kind === "bound"),
    mistake,
  };
}

/** The owner of a variable, as the explorer names it; "" for one of the root. */
export const ownerOf = ({ place }: Row): string =>
  place.slice(0, Math.max(0, place.lastIndexOf(".")));

/** The rows by their owner, in the order of the first row of each. */
function layersOf(shown: readonly Shown[]): Shown[][] {
  const found = new Map<string, Shown[]>();
  for (const one of shown) {
    kept(found, ownerOf(one.row), () => []).push(one);
  }
  return [...found.values()];
}

/** The line of a layer: counters and what optimizers keep change by more than its variables do. */
function layerOf(shown: readonly Shown[]): Layer {
  const variables = shown.filter(({ row }) => !row.is_state);
  const changes = (variables.length > 0 ? variables : shown).map(({ change }) => change);
  const largest = changes.reduce((one, other) => (rankOf(other) > rankOf(one) ? other : one));
  const [first] = shown;
  return { layer: first === undefined ? "" : ownerOf(first.row), count: shown.length, largest };
}
