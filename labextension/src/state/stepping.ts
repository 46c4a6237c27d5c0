/** Where the keys lead from the selected row. */

import type { Graph } from "../data/graph";
import { feedsOf } from "../layout/feeds";
import type { Row } from "../layout/rows";
import { PAGE } from "./lines";
import { toggle } from "./opening";
import { select } from "./selecting";
import { type Around, isNode, type State, type Step } from "./state";

/**
 * Selects the next neighbour of a node, and after the last one the node itself. From a node with one
 * neighbour, the way goes on.
 */
export function stepAround(state: State, of: Around): State {
  const { around, graph, selected } = state;
  if (selected === null || (of === "parents" && !isNode(state, selected))) {
    return state;
  }
  const before = around?.of === of ? neighbours(graph, around.id, of) : [];
  const isOnTheWay = before.length > 1 && before[around?.at ?? 0] === selected;
  const { id, at } = isOnTheWay && around !== null ? around : { id: selected, at: -1 };
  const next = neighbours(graph, id, of)[at + 1];
  return next === undefined
    ? { ...select(state, id), around: null }
    : { ...select(state, next), around: { id, of, at: at + 1 } };
}

function neighbours(graph: Graph, id: number, of: Around): readonly number[] {
  return of === "parents" ? parentsOf(graph, id) : feedsOf(graph, id)[of];
}

/** The nodes with an edge to this one, each once; the parent in the tree comes last. */
function parentsOf(graph: Graph, id: number): readonly number[] {
  const above = graph.treeParent(id);
  const others = new Set(graph.edgesTo(id).map(({ node }) => node));
  others.delete(id);
  if (above !== null && others.delete(above)) {
    others.add(above);
  }
  return [...others];
}

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
