/** Which rows there are: open nodes, hidden ones, their order, and what a search leaves. */

import { withOrWithout } from "../basics/sets";
import { ROOT } from "../data/graph";
import type { MeasureName } from "../data/measures";
import { initialExpansion } from "../layout/rows";
import { ancestors, isBookkeeping, shownTree } from "../layout/shown";
import type { Sort } from "../layout/sorting";
import { NOTHING_FOUND, searched, WAITING } from "../search/found";
import { box, fitted, inSight, MARGIN, moved, shown } from "./camera";
import { arrange, isNode, type State } from "./state";

/** A search opens the ancestors of at most this many matches. */
export const MAX_OPENED = 2_000;

/** Opens or closes nodes; the anchor keeps its place on the screen, the others make room. */
export function withExpanded(state: State, expanded: ReadonlySet<number>, anchor: number): State {
  return rearranged(state, { expanded, isDefaultExpansion: false }, anchor);
}

function rearranged(state: State, change: Partial<State>, anchor: number): State {
  const before = box(state, anchor);
  const next = arrange({ ...state, ...change });
  const after = box(next, anchor);
  if (before === undefined || after === undefined) {
    return next;
  }
  const { scale, x } = state.camera;
  // An open frame begins further left: the left edge of the drawing stays in sight.
  const across = x === MARGIN ? 0 : before.x - after.x;
  return moved(next, across * scale, (before.y - after.y) * scale);
}

export function toggle(state: State, id: number): State {
  if (state.tree.children(id).length === 0) {
    return state;
  }
  const expanded = withOrWithout(state.expanded, id);
  return withVisibleSelection(withExpanded(state, expanded, id), id);
}

/** Selects something else if the selected node has no row any more. */
export function withVisibleSelection(state: State, instead: number | null): State {
  const { drawn, rowOf, selected } = state;
  return drawn === "table" || selected === null || rowOf.has(selected)
    ? state
    : { ...state, selected: instead };
}

export function showBookkeeping(state: State, shows: boolean): State {
  const tree = shownTree(state.graph, shows, state.onlyChanges, keptBySearch(state), state.sort);
  const change = { showsBookkeeping: shows, tree };
  return withVisibleSelection(rearranged(state, change, state.selected ?? state.focus), null);
}

export function sortedBy(state: State, sort: Sort | null): State {
  const { graph, onlyChanges, showsBookkeeping } = state;
  const tree = shownTree(graph, showsBookkeeping, onlyChanges, keptBySearch(state), sort);
  return rearranged(state, { sort, tree }, state.selected ?? state.focus);
}

export function measuredSort(sort: Sort | null, measure: MeasureName | null): Sort | null {
  return sort?.column === "measure" ? (measure === null ? null : { ...sort, measure }) : sort;
}

/** Colours the nodes by a measure; rows in the order of one get that of the new one. */
export function setMeasure(state: State, measure: MeasureName | null): State {
  const next = { ...state, measure };
  return measure === state.measure
    ? state
    : state.sort?.column === "measure"
      ? sortedBy(next, measuredSort(state.sort, measure))
      : next;
}

export function search(state: State, query: string): State {
  return query === state.query && !state.found.isWaiting
    ? state
    : withSearch(state, { query, found: searched(state.graph, query) });
}

/** Shows the query that came with a file; it runs when the user asks for it. */
export function bringQuery(state: State, query: string): State {
  const found = query.trim() === "" ? NOTHING_FOUND : WAITING;
  return query === state.query ? state : withSearch(state, { query, found });
}

/** Marks the matches, or shows them alone. */
export function withSearch(
  state: State,
  change: Partial<Pick<State, "query" | "mode" | "found">>,
): State {
  const next = { ...state, ...change };
  const hides = keptBySearch(state) !== null || keptBySearch(next) !== null;
  if (hides) {
    return narrowed(state, change);
  }
  const first = change.found?.matches.find((id) => state.rowOf.has(id));
  return first === undefined ? next : inSight(next, first);
}

/** The nodes that a search leaves visible; null while it hides nothing. */
export function keptBySearch({ found, mode }: Pick<State, "found" | "mode">): Uint8Array | null {
  return mode === "filter" ? found.kept : null;
}

/**
 * Hides nodes without a change or without a match. Few nodes remain, so it opens them all. Once those nodes return, the earlier open nodes return, too.
 */
export function narrowed(
  state: State,
  change: Partial<Pick<State, "onlyChanges" | "query" | "mode" | "found">>,
): State {
  const changed = { ...state, ...change };
  const { expanded, graph, onlyChanges, openedBefore, showsBookkeeping } = changed;
  const found = keptBySearch(changed);
  const tree = shownTree(graph, showsBookkeeping, onlyChanges, found, changed.sort);
  const isNarrow = onlyChanges || found !== null;
  const before = openedBefore ?? expanded;
  const wanted = found === null ? undefined : changed.found.matches.slice(0, MAX_OPENED);
  const next = arrange({
    ...changed,
    tree,
    // A match may be anywhere in the graph.
    focus: found === null ? changed.focus : ROOT,
    expanded: isNarrow ? initialExpansion({ ...changed, tree }, wanted) : before,
    openedBefore: isNarrow ? before : null,
  });
  const { selected } = next;
  const hidesSelection = selected !== null && isFiltered(next, selected);
  if (next.drawn === "table") {
    return next;
  }
  const kept =
    selected === null || hidesSelection
      ? { ...next, selected: null }
      : withVisibleSelection(opened(next, selected), null); // a part of a list may be gone
  return shown(fitted(kept));
}

/** Whether a filter hides the node, whether or not its ancestors are open. */
function isFiltered(state: State, id: number): boolean {
  const hides = state.onlyChanges || keptBySearch(state) !== null;
  return hides && isNode(state, id) && !state.tree.shows(id);
}

export function setExpanded(state: State, ids: readonly number[] | null): State {
  if (ids === null && state.isDefaultExpansion) {
    return state;
  }
  const chunks = [...state.expanded].filter((id) => !isNode(state, id));
  const expanded = ids === null ? initialExpansion(state) : new Set([...ids, ...chunks]);
  if (sameSet(expanded, state.expanded)) {
    return state;
  }
  const anchor = state.selected ?? state.focus;
  const next = withExpanded(state, expanded, anchor);
  return { ...next, isDefaultExpansion: ids === null, openedBefore: null };
}

function sameSet(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size === b.size && [...a].every((id) => b.has(id));
}

/** Opens the ancestors of a node and turns off what hides it. */
export function opened(state: State, id: number): State {
  if (state.rowOf.has(id)) {
    return state;
  }
  const { graph, selected, showsBookkeeping } = state;
  const above = ancestors(state.tree, id).filter((node) => isNode(state, node));
  const isLeftOut = !showsBookkeeping && [id, ...above].some((node) => isBookkeeping(graph, node));
  let shown = isLeftOut && keptBySearch(state)?.[id] !== 1 ? showBookkeeping(state, true) : state;
  if (keptBySearch(shown)?.[id] === 0) {
    shown = narrowed(shown, { mode: "highlight" });
  }
  if (graph.overlay !== null && isFiltered(shown, id)) {
    shown = narrowed(shown, { onlyChanges: false });
  }
  const way = ancestors(shown.tree, id);
  const focus = way.includes(shown.focus) ? shown.focus : ROOT;
  const expanded = new Set([...shown.expanded, ...way]);
  return rearranged(shown, { expanded, focus, isDefaultExpansion: false }, selected ?? shown.focus);
}
