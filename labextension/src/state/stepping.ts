/** Where the keys lead from the selected row. */

import type { Row } from "../layout/rows";
import { PAGE } from "./lines";
import { toggle } from "./opening";
import type { State, Step } from "./state";

/** The effect of an arrow key: inwards may open a node, outwards may close one. */
export function step(state: State, direction: Step): State {
  const row = selectedRow(state);
  if (row === undefined || state.selected === null) {
    return state;
  }
  const opens = direction === "in" && !row.isExpanded;
  const closes = direction === "out" && row.isExpanded;
  return opens || closes ? toggle(state, state.selected) : state;
}

/** The row to which a step leads from the selected row. */
export function target(state: State, direction: Step): number {
  const row = selectedRow(state);
  if (row === undefined) {
    return state.focus;
  }
  const index = state.rowOf.get(row.id) ?? 0;
  switch (direction) {
    case "previous":
      return idAt(state, index - 1);
    case "next":
      return idAt(state, index + 1);
    case "first":
      return idAt(state, 0);
    case "last":
      return idAt(state, state.rows.length - 1);
    case "pageUp":
      return idAt(state, index - PAGE);
    case "pageDown":
      return idAt(state, index + PAGE);
    case "in":
      return row.isExpanded ? idAt(state, index + 1) : row.id;
    case "out":
      return row.isExpanded ? row.id : (state.rows[row.parentRow]?.id ?? row.id);
  }
}

function selectedRow(state: State): Row | undefined {
  return state.selected === null ? undefined : state.rows[state.rowOf.get(state.selected) ?? -1];
}

function idAt(state: State, index: number): number {
  const place = Math.min(Math.max(index, 0), state.rows.length - 1);
  return state.rows[place]?.id ?? state.focus;
}
