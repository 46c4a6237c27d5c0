/** The selected node, and the view that shows it. */

import { ROOT } from "../data/graph";
import { layersOf } from "../data/layers";
import { nextChange } from "../data/table";
import { defaultExpansion, initialExpansion } from "../layout/rows";
import { ancestors, shownTree } from "../layout/shown";
import { nextMatch, searched, WAITING } from "../search/found";
import { fitted, inSight, shown } from "./camera";
import { lineOf, selectLine, tableOf, toggleLine } from "./lines";
import {
  keptBySearch,
  MAX_OPENED,
  opened,
  toggle,
  withExpanded,
  withVisibleSelection,
} from "./opening";
import { withinSight } from "./space";
import { arrange, type Drawn, isNode, type State, type View } from "./state";

export function showView(state: State, view: View): State {
  if (view === "table") {
    return state.graph.table === null ? state : draw(state, "table");
  }
  const shown = showLayers(state, view === "layers");
  return draw(shown, view === "guide" ? "textbook" : "tree");
}

/** Changes between the layers of a graph and all its objects; the selected node stays in sight. */
function showLayers(state: State, shows: boolean): State {
  const graph = shows ? layersOf(state.graph) : (state.graph.objects ?? state.graph);
  if (graph === null || graph === state.graph) {
    return state;
  }
  const { depth, found, onlyChanges, mode, selected, showsBookkeeping } = state;
  const again = found.isWaiting ? WAITING : searched(graph, state.query);
  const kept = keptBySearch({ found: again, mode });
  const tree = shownTree(graph, showsBookkeeping, onlyChanges, kept, state.sort);
  const next = arrange({
    ...state,
    ...{ graph, tree, focus: ROOT, selected: null, found: again },
    drawn: state.drawn === "table" ? "table" : "tree",
    picture: null,
    openedBefore: null,
    expanded: initialExpansion(
      { graph, tree, onlyChanges, depth },
      kept === null ? [] : again.matches.slice(0, MAX_OPENED),
    ),
    isDefaultExpansion: true,
  });
  const row = selected === null || !isNode(state, selected) ? null : graph.shownAs(selected);
  const first = fitted(withinSight(next));
  return row === null ? shown(first) : select(first, row);
}

export function toggleSelected(state: State): State {
  const { line, selected } = state;
  if (tableOf(state) !== null) {
    return line === null ? state : toggleLine(state, line);
  }
  return selected === null ? state : toggle(state, selected);
}

/** Goes to the next part that a comparison does not find well; in a drawing, to its node. */
export function stepChange(state: State, by: 1 | -1): State {
  const { table } = state.graph;
  if (table === null) {
    return state;
  }
  const line = nextChange(table, state.line, by);
  if (line === null || state.drawn === "table") {
    return line === null ? state : selectLine(state, line);
  }
  const [live] = table.nodesIn(line, "live");
  const [node] = live === undefined ? table.nodesIn(line, "saved") : [live];
  return { ...select(state, node ?? null), line };
}

/** Selects the next match; wraps around. */
export function stepMatch(state: State, by: 1 | -1): State {
  const match = nextMatch(state.found, state.selected, by);
  return match === null ? state : select(state, match);
}

export function openSiblings(state: State): State {
  const table = tableOf(state);
  if (table !== null) {
    const siblings = state.line === null ? [] : table.inside(table.parent(state.line));
    return { ...state, openLines: new Set([...state.openLines, ...siblings]) };
  }
  if (state.selected === null) {
    return state;
  }
  const parent = state.tree.parent(state.selected);
  const siblings = parent === null ? [ROOT] : Array.from(state.tree.children(parent));
  return withExpanded(state, new Set([...state.expanded, ...siblings]), state.selected);
}

export function select(state: State, id: number | null): State {
  const isRow = id !== null && id >= 0 && id < state.graph.treeSize;
  const table = tableOf(state);
  if (table !== null) {
    const isKnown = id !== null && isNode(state, id);
    return { ...selectLine(state, lineOf(state, id)), selected: isKnown ? id : null };
  }
  if (id === null || !(isRow || state.rowOf.has(id))) {
    return state.selected === null ? state : { ...state, line: null, selected: null };
  }
  if (id === state.selected && state.rowOf.has(id)) {
    return state;
  }
  // What has no row of its own among the layers is there among the objects.
  if (isNode(state, id) && state.graph.shownAs(id) !== id) {
    return select(showLayers(state, false), id);
  }
  return inSight({ ...opened(state, id), selected: id, line: lineOf(state, id) }, id);
}

/** Shows only a node and what is below it. */
export function focused(state: State, id: number): State {
  if (id === state.focus || !isNode(state, id)) {
    return state;
  }
  const isInside = id === ROOT || state.rowOf.has(id) || state.tree.parent(id) !== null;
  if (!isInside) {
    return state;
  }
  const { tree } = state;
  const own = defaultExpansion(state.graph, tree.children, id);
  const isOpen = Array.from(tree.children(id)).some((child) => state.expanded.has(child));
  const expanded = new Set([...state.expanded, id, ...(isOpen ? [] : own)]);
  const next = arrange({ ...state, focus: id, expanded, isDefaultExpansion: false });
  return shown(fitted(withVisibleSelection(next, id)));
}

/** Focuses on the selected node; if it already has the focus, on its parent. */
export function focusSelected(state: State): State {
  const { focus, selected, tree } = state;
  const id = selected ?? focus;
  if (id !== focus) {
    return focused(state, isNode(state, id) ? id : (tree.chunk(id)?.parent ?? focus));
  }
  return focused(state, ancestors(tree, focus).find((above) => isNode(state, above)) ?? ROOT);
}

/** Switches between the drawings; Graphviz's picture arrives later. */
function draw(state: State, drawn: Drawn): State {
  if (drawn === state.drawn) {
    return state;
  }
  const next = { ...state, drawn, picture: null };
  // The table selects nodes that may be folded away in a drawing, or shown by another row.
  const { graph, selected } = state;
  const isNodeOf = selected !== null && isNode(state, selected) && drawn !== "table";
  const row = isNodeOf ? (graph.shownAs(selected) ?? selected) : selected;
  const again = row === null ? next : select({ ...next, selected: null }, row);
  return drawn === "tree" ? shown(fitted(again)) : again;
}
