/** The view's state: one readonly object, and one function that answers every action. */

import { type Graph, ROOT } from "./graph";
import {
  ancestors,
  type ChildrenOf,
  childrenOf,
  defaultExpansion,
  type Row,
  visibleRows,
} from "./layout/rows";
import { type Layout, PITCH, tidyTree, type Widths } from "./layout/tidy";

/** Which part of the drawing is in sight: a point (x, y) of it stands at x * scale + this.x. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface State {
  readonly graph: Graph;
  readonly widthsOf: (graph: Graph) => Widths;
  readonly showsBookkeeping: boolean;
  readonly childrenOf: ChildrenOf;
  readonly expanded: ReadonlySet<number>;
  /** The view chose what is open; nobody has said otherwise yet. */
  readonly isDefaultExpansion: boolean;
  readonly selected: number | null;
  readonly rows: readonly Row[];
  readonly rowOf: ReadonlyMap<number, number>;
  readonly layout: Layout;
  readonly camera: Camera;
  readonly width: number;
  readonly height: number;
}

export type Step = "previous" | "next" | "first" | "last" | "pageUp" | "pageDown" | "in" | "out";

export type Action =
  | { readonly type: "load"; readonly graph: Graph }
  | { readonly type: "select"; readonly id: number | null }
  | { readonly type: "step"; readonly step: Step }
  | { readonly type: "toggle"; readonly id: number }
  | { readonly type: "toggleSelected" }
  | { readonly type: "openSiblings" }
  | { readonly type: "showBookkeeping"; readonly shows: boolean }
  | { readonly type: "setExpanded"; readonly expanded: readonly number[] | null }
  | { readonly type: "pan"; readonly dx: number; readonly dy: number }
  | { readonly type: "zoom"; readonly factor: number; readonly x?: number; readonly y?: number }
  | { readonly type: "fit" }
  | { readonly type: "resize"; readonly width: number; readonly height: number };

const PAGE = 12;
const MARGIN = 24;
const MIN_SCALE = 0.1;
const MAX_SCALE = 3;
/** Below this scale text is not worth reading, so fitting stops there. */
const MIN_FIT_SCALE = 0.7;

export function initialState(graph: Graph, widthsOf: (graph: Graph) => Widths): State {
  const children = childrenOf(graph, false);
  return fitted(
    arrange({
      graph,
      widthsOf,
      showsBookkeeping: false,
      childrenOf: children,
      expanded: defaultExpansion(graph, children),
      isDefaultExpansion: true,
      selected: null,
      camera: { x: 0, y: 0, scale: 1 },
      width: 0,
      height: 0,
    }),
  );
}

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "load":
      return load(state, action.graph);
    case "select":
      return select(state, action.id);
    case "step":
      return select(step(state, action.step), target(state, action.step));
    case "toggle":
      return toggle(state, action.id);
    case "toggleSelected":
      return state.selected === null ? state : toggle(state, state.selected);
    case "openSiblings":
      return openSiblings(state);
    case "showBookkeeping":
      return showBookkeeping(state, action.shows);
    case "setExpanded":
      return setExpanded(state, action.expanded);
    case "pan":
      return moved(state, action.dx, action.dy);
    case "zoom":
      return zoom(state, action.factor, action.x ?? state.width / 2, action.y ?? state.height / 2);
    case "fit":
      return fitted(state);
    case "resize":
      return resize(state, action.width, action.height);
  }
}

/** Fills in what follows from the graph and what is open in it. */
function arrange(state: Omit<State, "rows" | "rowOf" | "layout">): State {
  const rows = visibleRows(state.childrenOf, state.expanded);
  return {
    ...state,
    rows,
    rowOf: new Map(rows.map((row, index) => [row.id, index])),
    layout: tidyTree(rows, state.widthsOf(state.graph)),
  };
}

function load(state: State, graph: Graph): State {
  const fresh = initialState(graph, state.widthsOf);
  return resize(fresh, state.width, state.height);
}

/** Opens or closes nodes; the anchor stays where it is, the others make room. */
function withExpanded(state: State, expanded: ReadonlySet<number>, anchor: number): State {
  return rearranged(state, { expanded, isDefaultExpansion: false }, anchor);
}

function rearranged(state: State, change: Partial<State>, anchor: number): State {
  const before = box(state, anchor);
  const next = arrange({ ...state, ...change });
  const after = box(next, anchor);
  if (before === undefined || after === undefined) {
    return next;
  }
  const { scale } = state.camera;
  return moved(next, (before.x - after.x) * scale, (before.y - after.y) * scale);
}

function toggle(state: State, id: number): State {
  if (state.childrenOf(id).length === 0) {
    return state;
  }
  const expanded = new Set(state.expanded);
  if (!expanded.delete(id)) {
    expanded.add(id);
  }
  const next = withExpanded(state, expanded, id);
  const hidesSelection = next.selected !== null && !next.rowOf.has(next.selected);
  return hidesSelection ? { ...next, selected: id } : next;
}

function showBookkeeping(state: State, shows: boolean): State {
  const change = { showsBookkeeping: shows, childrenOf: childrenOf(state.graph, shows) };
  const next = rearranged(state, change, state.selected ?? ROOT);
  const hidesSelection = next.selected !== null && !next.rowOf.has(next.selected);
  return hidesSelection ? { ...next, selected: null } : next;
}

function openSiblings(state: State): State {
  if (state.selected === null) {
    return state;
  }
  const parent = state.graph.treeParent(state.selected);
  const siblings = parent === null ? [ROOT] : Array.from(state.childrenOf(parent));
  return withExpanded(state, new Set([...state.expanded, ...siblings]), state.selected);
}

function setExpanded(state: State, ids: readonly number[] | null): State {
  const expanded = ids === null ? defaultExpansion(state.graph, state.childrenOf) : new Set(ids);
  if (sameSet(expanded, state.expanded)) {
    return state;
  }
  const anchor = state.selected ?? ROOT;
  return { ...withExpanded(state, expanded, anchor), isDefaultExpansion: ids === null };
}

function sameSet(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size === b.size && [...a].every((id) => b.has(id));
}

function select(state: State, id: number | null): State {
  if (id === null || id < 0 || id >= state.graph.size) {
    return state.selected === null ? state : { ...state, selected: null };
  }
  if (id === state.selected && state.rowOf.has(id)) {
    return state;
  }
  return inSight({ ...opened(state, id), selected: id }, id);
}

/** Opens what stands in the way of seeing a node. */
function opened(state: State, id: number): State {
  if (state.rowOf.has(id)) {
    return state;
  }
  const isHidden = state.graph.role(id) === "bookkeeping" && !state.showsBookkeeping;
  const shown = isHidden ? showBookkeeping(state, true) : state;
  const expanded = new Set([...shown.expanded, ...ancestors(state.graph, id)]);
  return withExpanded(shown, expanded, state.selected ?? ROOT);
}

/** What a step does besides moving: inwards opens, outwards closes. */
function step(state: State, direction: Step): State {
  const row = selectedRow(state);
  if (row === undefined || state.selected === null) {
    return state;
  }
  const opens = direction === "in" && !row.isExpanded;
  const closes = direction === "out" && row.isExpanded;
  return opens || closes ? toggle(state, state.selected) : state;
}

/** Where a step leads from the row that is selected. */
function target(state: State, direction: Step): number {
  const row = selectedRow(state);
  if (row === undefined) {
    return ROOT;
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
  return state.rows[Math.min(Math.max(index, 0), state.rows.length - 1)]?.id ?? ROOT;
}

function box(state: State, id: number) {
  return state.layout.boxes[state.rowOf.get(id) ?? -1];
}

function moved(state: State, dx: number, dy: number): State {
  const { x, y, scale } = state.camera;
  return dx === 0 && dy === 0 ? state : { ...state, camera: { x: x + dx, y: y + dy, scale } };
}

/** Moves as little as needed for the node's box to be in sight. */
function inSight(state: State, id: number): State {
  const found = box(state, id);
  if (found === undefined || state.width === 0) {
    return state;
  }
  const { x, y, scale } = state.camera;
  const left = found.x * scale + x;
  const middle = found.y * scale + y;
  const half = (PITCH / 2) * scale;
  return moved(
    state,
    shift(left, left + found.width * scale, state.width),
    shift(middle - half, middle + half, state.height),
  );
}

/** How far [low, high] must move to lie within the size; its start wins where it cannot. */
function shift(low: number, high: number, size: number): number {
  if (low < MARGIN) {
    return MARGIN - low;
  }
  return high > size - MARGIN ? Math.max(size - MARGIN - high, MARGIN - low) : 0;
}

function zoom(state: State, factor: number, atX: number, atY: number): State {
  const { x, y, scale } = state.camera;
  const next = Math.min(Math.max(scale * factor, MIN_SCALE), MAX_SCALE);
  const ratio = next / scale;
  return {
    ...state,
    camera: { x: atX - (atX - x) * ratio, y: atY - (atY - y) * ratio, scale: next },
  };
}

/** Shows all of the drawing, or, where that would be too small to read, its root. */
function fitted(state: State): State {
  const { layout, width, height } = state;
  const whole = Math.min(
    (width - 2 * MARGIN) / Math.max(layout.width, 1),
    (height - 2 * MARGIN) / Math.max(layout.height, 1),
  );
  const scale = Math.min(Math.max(whole, MIN_FIT_SCALE), 1);
  const rootY = layout.boxes[0]?.y ?? 0;
  const y = layout.height * scale <= height ? (height - layout.height * scale) / 2 : undefined;
  return { ...state, camera: { x: MARGIN, y: y ?? height / 2 - rootY * scale, scale } };
}

function resize(state: State, width: number, height: number): State {
  if (width === state.width && height === state.height) {
    return state;
  }
  const next = { ...state, width, height };
  return state.width === 0 ? shown(fitted(next)) : next;
}

function shown(state: State): State {
  return state.selected === null ? state : inSight(state, state.selected);
}
