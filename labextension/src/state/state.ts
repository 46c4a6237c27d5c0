/** The view's state: one readonly object, and one function that handles every action. */

import { type Graph, ROOT } from "../data/graph";
import { layersOf } from "../data/layers";
import type { MeasureName } from "../data/measures";
import {
  linesAbove,
  nextChange,
  openAtFirst,
  rowsOf,
  type Table,
  type TableRow,
} from "../data/table";
import { type Defaults, defaultsOf } from "../host/defaults";
import { byChange } from "../layout/changes";
import { feedsOf } from "../layout/feeds";
import { type Flows, flowsIn } from "../layout/flow";
import {
  callingForALook,
  defaultExpansion,
  initialExpansion,
  type Row,
  visibleRows,
} from "../layout/rows";
import { ancestors, isBookkeeping, type ShownTree, shownTree } from "../layout/shown";
import { nextSort, type Sort, type SortedColumn } from "../layout/sorting";
import { type Layout, PITCH, tidyTree, type Widths, withSigns } from "../layout/tidy";
import { type Found, NOTHING_FOUND, nextMatch, searched, WAITING } from "../search/found";
import type { Picture } from "../textbook/picture";

/** The part of the drawing in sight: its point (x, y) is on screen at x * scale + this.x. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** Whether a search marks its matches, or shows only the matches and their ancestors. */
export type Mode = "highlight" | "filter";

/** The tidy tree, the table of a comparison, or Graphviz's picture with every edge. */
export type Drawn = "tree" | "table" | "textbook";

/** What the explorer shows: the table, layers by name, all objects, or Graphviz's picture of them. */
export const VIEWS = ["table", "layers", "objects", "guide"] as const;
export type View = (typeof VIEWS)[number];

/** What boxes say, from the longest to the shortest. Where they are stacked, branches are, too. */
export const BREVITIES = ["all", "stacked", "names", "short"] as const;
export type Brevity = (typeof BREVITIES)[number];
const STACKED: ReadonlySet<Brevity> = new Set(["stacked", "short"]);

/** The widths of the boxes that a graph's drawing has. */
export type WidthsOf = (graph: Graph, says: Brevity) => Widths;

export interface State {
  readonly graph: Graph;
  readonly widthsOf: WidthsOf;
  /** Where boxes say less, more of them fit side by side. */
  readonly says: Brevity;
  /** How many levels open at first; 0: the view chooses. */
  readonly depth: number;
  readonly showsBookkeeping: boolean;
  /** The view hides what needs no attention in a comparison. */
  readonly onlyChanges: boolean;
  readonly tree: ShownTree;
  /** The column that siblings are sorted by; null for the order of the graph. */
  readonly sort: Sort | null;
  /** What colours the nodes and fills a column; null: the node's type, and the parameters. */
  readonly measure: MeasureName | null;
  /** The node at the top; the view shows only this node and what is below it. */
  readonly focus: number;
  /** Open nodes, and open chunks of long lists. */
  readonly expanded: ReadonlySet<number>;
  /** Whether the view chose the open nodes, and the user has not changed them yet. */
  readonly isDefaultExpansion: boolean;
  /** The open nodes from before the view left out others. */
  readonly openedBefore: ReadonlySet<number> | null;
  /** The open lines of the table, and the selected one. */
  readonly openLines: ReadonlySet<number>;
  readonly line: number | null;
  /** Whether the largest change comes first, among the lines inside of one. */
  readonly isByChange: boolean;
  readonly query: string;
  readonly mode: Mode;
  readonly found: Found;
  /** A node, or a chunk of a long list. */
  readonly selected: number | null;
  /** The node whose neighbours the user steps through, and the current one of them. */
  readonly around: { readonly id: number; readonly of: Around; readonly at: number } | null;
  readonly rows: readonly Row[];
  readonly rowOf: ReadonlyMap<number, number>;
  /** Which rows call which, below each row of a model; none while the rows are sorted. */
  readonly flows: Flows;
  readonly layout: Layout;
  readonly drawn: Drawn;
  /** Graphviz's last picture; null before the first, and while the view shows the tree. */
  readonly picture: Picture | null;
  readonly camera: Camera;
  readonly width: number;
  readonly height: number;
}

/** Other parents of a shared node, or the layers that feed a layer, or that it feeds. */
export type Around = "parents" | "inputs" | "outputs";

export type Step = "previous" | "next" | "first" | "last" | "pageUp" | "pageDown" | "in" | "out";

export type Action =
  | { readonly type: "load"; readonly graph: Graph }
  | { readonly type: "select"; readonly id: number | null }
  | { readonly type: "step"; readonly step: Step }
  | { readonly type: "toggle"; readonly id: number }
  | { readonly type: "toggleSelected" }
  | { readonly type: "openSiblings" }
  | { readonly type: "toggleSlots" }
  | { readonly type: "selectLine"; readonly line: number | null }
  | { readonly type: "toggleLine"; readonly line: number }
  | { readonly type: "sortLines" }
  | { readonly type: "setOpenLines"; readonly lines: readonly number[] }
  | { readonly type: "focus"; readonly id: number }
  | { readonly type: "focusSelected" }
  | { readonly type: "stepAround"; readonly of: Around }
  | { readonly type: "showBookkeeping"; readonly shows: boolean }
  | { readonly type: "sort"; readonly column: SortedColumn }
  | { readonly type: "setMeasure"; readonly measure: MeasureName | null }
  | { readonly type: "stepChange"; readonly by: 1 | -1 }
  | { readonly type: "showOnlyChanges"; readonly only: boolean }
  | { readonly type: "toggleTable" }
  | { readonly type: "search"; readonly query: string }
  | { readonly type: "bringQuery"; readonly query: string }
  | { readonly type: "setMode"; readonly mode: Mode }
  | { readonly type: "stepMatch"; readonly by: 1 | -1 }
  | { readonly type: "setExpanded"; readonly expanded: readonly number[] | null }
  | { readonly type: "pan"; readonly dx: number; readonly dy: number }
  | { readonly type: "centre"; readonly y: number }
  | { readonly type: "zoom"; readonly factor: number; readonly x?: number; readonly y?: number }
  | { readonly type: "fit" }
  | { readonly type: "showView"; readonly view: View }
  | { readonly type: "showPicture"; readonly picture: Picture }
  | { readonly type: "resize"; readonly width: number; readonly height: number };

const NO_LINES: ReadonlySet<number> = new Set();
const NO_NODES = { liveNode: null, savedNode: null };
const NO_FLOWS: Flows = new Map();
const PAGE = 12;
/** A search opens the ancestors of at most this many matches. */
const MAX_OPENED = 2_000;
const MARGIN = 24;
const LEAST_MARGIN = 6;
export const MIN_SCALE = 0.1;
const MAX_SCALE = 3;
/** Fitting stops where letters would be smaller than 11 px, or needlessly large. */
export const MIN_FIT_SCALE = 0.92;
const MAX_FIT_SCALE = 1.25;
/** A view of fewer rows says too little, even if a larger drawing does not fit. */
const LEAST_ROWS = 6;

export function initialState(
  loaded: Graph,
  widthsOf: WidthsOf,
  { bookkeeping, depth, matched, view }: Defaults = defaultsOf({}),
): State {
  const graph = (view === "layers" ? layersOf(loaded) : null) ?? loaded;
  const tree = shownTree(graph, bookkeeping);
  const state = fitted(
    arrange({
      graph,
      widthsOf,
      says: "all",
      depth,
      showsBookkeeping: bookkeeping,
      onlyChanges: false,
      tree,
      sort: null,
      measure: null,
      focus: ROOT,
      expanded: initialExpansion({ graph, tree, onlyChanges: false, depth }),
      isDefaultExpansion: true,
      openedBefore: null,
      openLines: graph.table === null ? NO_LINES : openAtFirst(graph.table),
      line: null,
      isByChange: false,
      query: "",
      mode: "highlight",
      found: NOTHING_FOUND,
      selected: null,
      around: null,
      drawn: usualDrawing(graph),
      picture: null,
      camera: { x: 0, y: 0, scale: 1 },
      width: 0,
      height: 0,
    }),
  );
  return matched || !hasDifferences(graph) ? state : narrowed(state, { onlyChanges: true });
}

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "load":
      return load(state, action.graph);
    case "select":
      return select(state, action.id);
    case "step":
      return tableOf(state) === null
        ? select(step(state, action.step), target(state, action.step))
        : stepLine(state, action.step);
    case "toggle":
      return toggle(state, action.id);
    case "toggleSelected":
      return toggleSelected(state);
    case "openSiblings":
      return openSiblings(state);
    case "selectLine":
      return selectLine(state, action.line);
    case "toggleLine":
      return toggleLine(state, action.line);
    case "sortLines":
      return { ...state, isByChange: !state.isByChange };
    case "setOpenLines":
      return { ...state, openLines: new Set(action.lines) };
    case "toggleSlots":
      return toggleSlots(state);
    case "focus":
      return focused(state, action.id);
    case "focusSelected":
      return focusSelected(state);
    case "stepAround":
      return stepAround(state, action.of);
    case "showBookkeeping":
      return showBookkeeping(state, action.shows);
    case "sort":
      return sortedBy(state, measuredSort(nextSort(state.sort, action.column), state.measure));
    case "setMeasure":
      return setMeasure(state, action.measure);
    case "stepChange":
      return stepChange(state, action.by);
    case "showOnlyChanges":
      return narrowed(state, { onlyChanges: action.only });
    case "toggleTable":
      return showView(state, state.drawn === "table" ? "layers" : "table");
    case "search":
      return search(state, action.query);
    case "bringQuery":
      return bringQuery(state, action.query);
    case "setMode":
      return action.mode === state.mode ? state : withSearch(state, { mode: action.mode });
    case "stepMatch":
      return stepMatch(state, action.by);
    case "setExpanded":
      return setExpanded(state, action.expanded);
    case "pan":
      return moved(state, action.dx, action.dy);
    case "centre":
      return centred(state, action.y);
    case "zoom":
      return zoom(state, action.factor, action.x ?? state.width / 2, action.y ?? state.height / 2);
    case "fit":
      return fitted(state);
    case "showView":
      return showView(state, action.view);
    case "showPicture":
      return showPicture(state, action.picture);
    case "resize":
      return resize(state, action.width, action.height);
  }
}

function usualDrawing({ table }: Graph): Drawn {
  return table === null ? "tree" : "table";
}

/** Adds what follows from the graph and its open nodes: rows and layout. */
function arrange(state: Omit<State, "rows" | "rowOf" | "flows" | "layout">): State {
  const { expanded, focus, graph, tree } = state;
  const rows = visibleRows(tree.children, expanded, focus, tree.chunk);
  const rowOf = new Map(rows.map((row, index) => [row.id, index]));
  const flows =
    state.sort === null ? flowsIn({ graph, rows, rowOf, tree }, STACKED.has(state.says)) : NO_FLOWS;
  return {
    ...state,
    rows,
    rowOf,
    flows,
    layout: tidyTree(
      rows,
      withSigns(state.widthsOf(graph, state.says), graph, tree),
      state.says === "short",
      flows,
    ),
  };
}

/** Whether an id is that of a node; otherwise it is that of a chunk. */
export function isNode({ graph }: Pick<State, "graph">, id: number): boolean {
  return id >= 0 && id < graph.size;
}

/**
 * Replaces the graph by another one, or by a later version of it. Open, selected and visible nodes
 * stay so if the new graph has a node at the same place in the tree.
 */
function load(state: State, loaded: Graph): State {
  const graph = (state.graph.objects === null ? null : layersOf(loaded)) ?? loaded;
  const placed = placesIn(state.graph, graph);
  const lineAgain = linesIn(state.graph.table, graph.table);
  const found = state.found.isWaiting ? WAITING : searched(graph, state.query);
  const { isDefaultExpansion, mode, showsBookkeeping } = state;
  // Once no problem is left, a view of problems alone would be empty, so it shows everything.
  const onlyChanges = state.onlyChanges && hasDifferences(graph);
  const tree = shownTree(
    graph,
    showsBookkeeping,
    onlyChanges,
    keptBySearch({ found, mode }),
    state.sort,
  );
  const again = (id: number): number | null => {
    const chunk = state.tree.chunk(id);
    const place = placed(chunk?.firstChild ?? id);
    return chunk === null || place === null
      ? place
      : (ancestors(tree, place).find((above) => tree.chunk(above)?.level === chunk.level) ?? null);
  };
  const focus = again(state.focus) ?? ROOT;
  const selected = state.selected === null ? null : again(state.selected);
  const kept = [...state.expanded].map(again).filter((id) => id !== null);
  const expanded = isDefaultExpansion
    ? new Set([...initialExpansion({ ...state, graph, tree, onlyChanges }), ...kept])
    : new Set(kept);
  const next = arrange({
    ...state,
    ...{ graph, onlyChanges, tree, focus, found, selected, expanded },
    drawn: isOfOneKind(state.graph, graph) ? state.drawn : usualDrawing(graph),
    openedBefore: null,
    openLines: new Set([...state.openLines].map(lineAgain).filter((line) => line !== null)),
    line: state.line === null ? null : lineAgain(state.line),
    around: null,
    picture: null,
    // A file that was read again comes without what its values measure.
    measure: graph.measures === null ? null : state.measure,
  });
  const anchor = state.selected ?? state.rows[firstRowInSight(state)]?.id ?? ROOT;
  const before = box(state, anchor);
  const after = box(next, again(anchor) ?? ROOT);
  const { scale } = state.camera;
  return before === undefined || after === undefined
    ? next
    : moved(next, (before.x - after.x) * scale, (before.y - after.y) * scale);
}

/** Whether both are comparisons, or neither. */
function isOfOneKind(a: Graph, b: Graph): boolean {
  return (a.table === null) === (b.table === null);
}

/** Finds the line of another table with the same names, inside of lines with the same names. */
function linesIn(from: Table | null, to: Table | null): (id: number) => number | null {
  const inside = new Map<number | null, ReadonlyMap<string, number>>();
  const nameOf = (table: Table, id: number) => {
    const { live, saved } = table.line(id);
    return `${saved}\n${live}`;
  };
  const namesIn = (table: Table, parent: number | null) => {
    const names =
      inside.get(parent) ?? new Map(table.inside(parent).map((id) => [nameOf(table, id), id]));
    inside.set(parent, names);
    return names;
  };
  return (id) => {
    let place: number | null = null;
    for (const line of from === null ? [] : [id, ...linesAbove(from, id)].reverse()) {
      const next: number | undefined =
        from === null || to === null ? undefined : namesIn(to, place).get(nameOf(from, line));
      if (next === undefined) {
        return null;
      }
      place = next;
    }
    return place;
  };
}

/** Finds the node at the same place of another graph, by the names on its path in the tree. */
function placesIn(from: Graph, to: Graph): (id: number) => number | null {
  const known = new Map<number, number | null>([[ROOT, ROOT]]);
  const byName = new Map<number, ReadonlyMap<string, number>>();
  const namesOf = (id: number): ReadonlyMap<string, number> => {
    const names =
      byName.get(id) ??
      new Map(Array.from(to.treeChildren(id), (child) => [to.label(child), child]));
    byName.set(id, names);
    return names;
  };
  return (id) => {
    const way: number[] = [];
    let node: number | null = id;
    while (node !== null && !known.has(node)) {
      way.push(node);
      node = from.treeParent(node);
    }
    let place = node === null ? null : (known.get(node) ?? null);
    for (const step of way.reverse()) {
      place = place === null ? null : (namesOf(place).get(from.label(step)) ?? null);
      known.set(step, place);
    }
    return place;
  };
}

function firstRowInSight({ camera, layout }: State): number {
  return Math.max(
    layout.boxes.findIndex((one) => one.y * camera.scale + camera.y >= 0),
    0,
  );
}

/** Opens or closes nodes; the anchor keeps its place on the screen, the others make room. */
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
  const { scale, x } = state.camera;
  // An open frame begins further left: the left edge of the drawing stays in sight.
  const across = x === MARGIN ? 0 : before.x - after.x;
  return moved(next, across * scale, (before.y - after.y) * scale);
}

function toggle(state: State, id: number): State {
  if (state.tree.children(id).length === 0) {
    return state;
  }
  const expanded = new Set(state.expanded);
  if (!expanded.delete(id)) {
    expanded.add(id);
  }
  return withVisibleSelection(withExpanded(state, expanded, id), id);
}

/** Selects something else if the selected node has no row any more. */
function withVisibleSelection(state: State, instead: number | null): State {
  const { drawn, rowOf, selected } = state;
  return drawn === "table" || selected === null || rowOf.has(selected)
    ? state
    : { ...state, selected: instead };
}

function showBookkeeping(state: State, shows: boolean): State {
  const tree = shownTree(state.graph, shows, state.onlyChanges, keptBySearch(state), state.sort);
  const change = { showsBookkeeping: shows, tree };
  return withVisibleSelection(rearranged(state, change, state.selected ?? state.focus), null);
}

export function viewOf({ drawn, graph }: Pick<State, "drawn" | "graph">): View {
  if (drawn !== "tree") {
    return drawn === "table" ? "table" : "guide";
  }
  return graph.objects === null ? "objects" : "layers";
}

function showView(state: State, view: View): State {
  if (view === "table") {
    return state.graph.table === null ? state : draw(state, "table");
  }
  const shown = showLayers(state, view === "layers");
  return draw(shown, view === "guide" ? "textbook" : "tree");
}

function sortedBy(state: State, sort: Sort | null): State {
  const { graph, onlyChanges, showsBookkeeping } = state;
  const tree = shownTree(graph, showsBookkeeping, onlyChanges, keptBySearch(state), sort);
  return rearranged(state, { sort, tree }, state.selected ?? state.focus);
}

function measuredSort(sort: Sort | null, measure: MeasureName | null): Sort | null {
  return sort?.column === "measure" ? (measure === null ? null : { ...sort, measure }) : sort;
}

/** Colours the nodes by a measure; rows in the order of one get that of the new one. */
function setMeasure(state: State, measure: MeasureName | null): State {
  const next = { ...state, measure };
  return measure === state.measure
    ? state
    : state.sort?.column === "measure"
      ? sortedBy(next, measuredSort(state.sort, measure))
      : next;
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
    ...{ picture: null, openedBefore: null, around: null },
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

/** Whether a comparison has anything that needs attention. */
export function hasDifferences({ overlay }: Graph): boolean {
  return overlay?.isMarked(ROOT) === true;
}

// --- the table

/** The table while the view shows it. */
function tableOf({ drawn, graph }: State): Table | null {
  return drawn === "table" ? graph.table : null;
}

/** The lines in sight; a search that hides other nodes leaves the lines with matches. */
export function tableRows(state: State): readonly TableRow[] {
  const { graph, openLines } = state;
  const { table } = graph;
  if (table === null) {
    return [];
  }
  const kept = linesOfSearch(state, table);
  const isKept = (line: number) => kept?.has(line) === true;
  const isChange = (line: number) => table.parent(line) !== null || !table.isQuiet(line);
  const ordered = state.isByChange
    ? (lines: readonly number[]) => byChange(graph, table, lines)
    : undefined;
  return kept !== null
    ? rowsOf(table, kept, isKept, ordered)
    : rowsOf(table, openLines, state.onlyChanges ? isChange : undefined, ordered);
}

/** The lines that a search leaves, all open: those with matches, and what holds them. */
function linesOfSearch({ found, graph, mode }: State, table: Table): ReadonlySet<number> | null {
  if (mode !== "filter" || found.matches.length === 0) {
    return null;
  }
  const kept = new Set<number>();
  for (const match of found.matches) {
    let line = lineAt(graph, table, match);
    while (line !== null && !kept.has(line)) {
      kept.add(line);
      line = table.parent(line);
    }
  }
  return kept;
}

/** The line of a node, or of the nearest one above it that has a line. */
export function lineAt(graph: Graph, table: Table, id: number): number | null {
  const objects = graph.objects ?? graph;
  let node: number | null = id < graph.size ? id : null;
  while (node !== null && table.lineOf(node) === null) {
    node = objects.treeParent(node);
  }
  return node === null ? null : table.lineOf(node);
}

/** The line of a node; of several ones, the selected line. */
function lineOf({ graph, line }: State, id: number | null): number | null {
  const { table } = graph;
  if (table === null || id === null) {
    return null;
  }
  const { liveNode, savedNode } = line === null ? NO_NODES : table.line(line);
  return id === liveNode || id === savedNode ? line : lineAt(graph, table, id);
}

/** Selects a line and its node; opens the lines that hold it. */
function selectLine(state: State, line: number | null): State {
  const { table } = state.graph;
  if (table === null || line === null) {
    return { ...state, line: null, selected: null };
  }
  const { liveNode, savedNode } = table.line(line);
  const openLines = new Set([...state.openLines, ...linesAbove(table, line)]);
  return { ...state, line, openLines, selected: liveNode ?? savedNode };
}

/** A search that hides other lines leaves the rest open. */
function toggleLine(state: State, line: number): State {
  const { table } = state.graph;
  if (table === null || linesOfSearch(state, table) !== null) {
    return state;
  }
  const openLines = withOrWithout(state.openLines, line, !state.openLines.has(line));
  return { ...state, openLines };
}

function toggleSelected(state: State): State {
  const { line, selected } = state;
  if (tableOf(state) !== null) {
    return line === null ? state : toggleLine(state, line);
  }
  return selected === null ? state : toggle(state, selected);
}

/** The effect of an arrow key in the table: inwards may open a line, outwards may close one. */
function stepLine(state: State, direction: Step): State {
  const rows = tableRows(state);
  const at = rows.findIndex(({ line }) => line === state.line);
  const row = rows[at];
  if (row !== undefined && direction === (row.isOpen ? "out" : "in") && row.canOpen) {
    const toggled = toggleLine(state, row.line);
    if (toggled !== state) {
      return toggled;
    }
  }
  const to = { previous: at - 1, next: at + 1, pageUp: at - PAGE, pageDown: at + PAGE };
  const ends = { first: 0, last: rows.length - 1 };
  const table = state.graph.table;
  const parent = row === undefined ? null : (table?.parent(row.line) ?? row.line);
  const outer = rows.findIndex(({ line }) => line === parent);
  const places = { ...to, ...ends, in: row?.isOpen === true ? at + 1 : at, out: outer };
  const next = at < 0 ? 0 : Math.min(Math.max(places[direction], 0), rows.length - 1);
  return selectLine(state, rows[next]?.line ?? null);
}

/** Goes to the next part that a comparison does not find well; in a drawing, to its node. */
function stepChange(state: State, by: 1 | -1): State {
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

function search(state: State, query: string): State {
  return query === state.query && !state.found.isWaiting
    ? state
    : withSearch(state, { query, found: searched(state.graph, query) });
}

/** Shows the query that came with a file; it runs when the user asks for it. */
function bringQuery(state: State, query: string): State {
  const found = query.trim() === "" ? NOTHING_FOUND : WAITING;
  return query === state.query ? state : withSearch(state, { query, found });
}

/** Marks the matches, or shows them alone. */
function withSearch(state: State, change: Partial<Pick<State, "query" | "mode" | "found">>): State {
  const next = { ...state, ...change };
  const hides = keptBySearch(state) !== null || keptBySearch(next) !== null;
  if (hides) {
    return narrowed(state, change);
  }
  const first = change.found?.matches.find((id) => state.rowOf.has(id));
  return first === undefined ? next : inSight(next, first);
}

/** Selects the next match; wraps around. */
function stepMatch(state: State, by: 1 | -1): State {
  const match = nextMatch(state.found, state.selected, by);
  return match === null ? state : select(state, match);
}

/** The nodes that a search leaves visible; null while it hides nothing. */
function keptBySearch({ found, mode }: Pick<State, "found" | "mode">): Uint8Array | null {
  return mode === "filter" ? found.kept : null;
}

/**
 * Hides nodes without a change or without a match. Few nodes remain, so it opens them all. Once those nodes return, the earlier open nodes return, too.
 */
function narrowed(
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

function withOrWithout<T>(set: ReadonlySet<T>, item: T, has: boolean): ReadonlySet<T> {
  const changed = new Set(set);
  if (has) {
    changed.add(item);
  } else {
    changed.delete(item);
  }
  return changed;
}

function openSiblings(state: State): State {
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

function setExpanded(state: State, ids: readonly number[] | null): State {
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

function select(state: State, id: number | null): State {
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

/** Opens the ancestors of a node and turns off what hides it. */
function opened(state: State, id: number): State {
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

// --- one part of the graph

/** Shows only a node and what is below it. */
function focused(state: State, id: number): State {
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
function focusSelected(state: State): State {
  const { focus, selected, tree } = state;
  const id = selected ?? focus;
  if (id !== focus) {
    return focused(state, isNode(state, id) ? id : (tree.chunk(id)?.parent ?? focus));
  }
  return focused(state, ancestors(tree, focus).find((above) => isNode(state, above)) ?? ROOT);
}

/** Unfolds the slots of the selected variable, or of all visible variables below the selection. */
function toggleSlots(state: State): State {
  const { graph, rows, rowOf, selected, tree } = state;
  const slotOf = selected !== null && isNode(state, selected) ? graph.slot(selected) : null;
  const top = slotOf === null ? (selected ?? state.focus) : slotOf.variable;
  const start = rowOf.get(top) ?? 0;
  const level = rows[start]?.level ?? 0;
  const length = rows.slice(start + 1).findIndex((row) => row.level <= level);
  const within = length < 0 ? rows.slice(start) : rows.slice(start, start + 1 + length);
  const variables = within
    .map(({ id }) => id)
    .filter(
      (id) => isNode(state, id) && graph.role(id) === "variable" && tree.children(id).length > 0,
    );
  if (variables.length === 0) {
    return state;
  }
  const opens = variables.some((id) => !state.expanded.has(id));
  const expanded = new Set(state.expanded);
  for (const id of variables) {
    if (opens) {
      expanded.add(id);
    } else {
      expanded.delete(id);
    }
  }
  return withVisibleSelection(withExpanded(state, expanded, top), top);
}

/**
 * Selects the next neighbour of a node, and after the last one the node itself. From a node with one
 * neighbour, the way goes on.
 */
function stepAround(state: State, of: Around): State {
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
function step(state: State, direction: Step): State {
  const row = selectedRow(state);
  if (row === undefined || state.selected === null) {
    return state;
  }
  const opens = direction === "in" && !row.isExpanded;
  const closes = direction === "out" && row.isExpanded;
  return opens || closes ? toggle(state, state.selected) : state;
}

/** The row to which a step leads from the selected row. */
function target(state: State, direction: Step): number {
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

function box(state: State, id: number) {
  return state.drawn === "textbook"
    ? state.picture?.boxes.get(id)
    : state.layout.boxes[state.rowOf.get(id) ?? -1];
}

function moved(state: State, dx: number, dy: number): State {
  const { x, y, scale } = state.camera;
  return dx === 0 && dy === 0 ? state : { ...state, camera: { x: x + dx, y: y + dy, scale } };
}

/** Moves the height y of the drawing to the middle of the view. */
function centred(state: State, y: number): State {
  return moved(state, 0, state.height / 2 - y * state.camera.scale - state.camera.y);
}

/** Moves the drawing just enough to bring the node's box into sight. */
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

/** How far [low, high] must move to fit into the size; if it cannot, its start must be visible. */
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

/** Fits the whole drawing; if that would be too small to read, shows its top left. */
function fitted(state: State): State {
  const { layout, picture, width, height } = state;
  if (picture !== null) {
    return fittedPicture(state, picture);
  }
  const whole = Math.min(
    (width - MARGIN - LEAST_MARGIN) / Math.max(layout.width, 1),
    (height - 2 * MARGIN) / Math.max(layout.height, 1),
  );
  const scale = Math.min(Math.max(whole, MIN_FIT_SCALE), MAX_FIT_SCALE);
  const beyond = height - layout.height * scale;
  const y = beyond >= 2 * MARGIN ? Math.min(beyond / 2, 4 * MARGIN) : MARGIN;
  return { ...state, camera: { x: MARGIN, y, scale } };
}

/** Fits the whole picture, or as much of its width around the selected node as stays readable. */
function fittedPicture(state: State, picture: Picture): State {
  const [width, height] = [state.width - 2 * MARGIN, state.height - 2 * MARGIN];
  const whole = Math.min(width / picture.width, height / picture.height);
  const scale = Math.min(Math.max(whole, MIN_FIT_SCALE), 1);
  const top = picture.boxes.get(state.selected ?? state.focus);
  const middle = top === undefined ? 0 : top.x + top.width / 2;
  const beyond = picture.width * scale - width;
  const x =
    beyond > 0
      ? Math.min(Math.max(state.width / 2 - middle * scale, MARGIN - beyond), MARGIN)
      : MARGIN - beyond / 2;
  const y = Math.max(MARGIN + (height - picture.height * scale) / 2, MARGIN);
  return { ...state, camera: { x, y, scale } };
}

/** Whether a picture that the user has not moved yet shows only a part of itself. */
export function isPartOfPicture(state: State): boolean {
  const { camera, height, picture, width } = state;
  return (
    picture !== null &&
    sameCamera(state, fitted(state)) &&
    (picture.width * camera.scale > width || picture.height * camera.scale > height)
  );
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

/**
 * Fits the first picture, and later ones until the user moves them. After that, the selected node
 * keeps its place on the screen.
 */
function showPicture(state: State, picture: Picture): State {
  if (state.drawn !== "textbook") {
    return state;
  }
  const anchor = state.selected ?? state.focus;
  const before = box(state, anchor);
  const next = { ...state, picture };
  const after = box(next, anchor);
  if (before === undefined || after === undefined || sameCamera(state, fitted(state))) {
    return shown(fitted(next));
  }
  const { scale } = state.camera;
  const [dx, dy] = [before.x - after.x, before.y - after.y];
  return inSight(moved(next, dx * scale, dy * scale), anchor);
}

function sameCamera({ camera: a }: State, { camera: b }: State): boolean {
  return a.x === b.x && a.y === b.y && a.scale === b.scale;
}

/** Whether the drawing has no space, even at the scale of the smallest letters. */
function isTooWide({ layout, width }: State): boolean {
  return layout.width > widthInSight(width);
}

function isTooHigh({ layout, height }: State): boolean {
  return layout.height * MIN_FIT_SCALE > height - 2 * MARGIN;
}

/** How wide a drawing can be at most. The button of its last box may be near the edge. */
function widthInSight(width: number): number {
  return (width - MARGIN - LEAST_MARGIN) / MIN_FIT_SCALE;
}

/** The open nodes, on the deepest level only, with children that are partly out of sight. */
function tooFarRight({ layout, rows, width }: State): ReadonlySet<number> {
  const limit = widthInSight(width);
  const parents = rows.flatMap(({ parentRow }, index) => {
    const { x = 0, width: own = 0 } = layout.boxes[index] ?? {};
    const parent = rows[parentRow];
    return parent !== undefined && parent.level > 1 && x + own > limit ? [parent] : [];
  });
  const deepest = parents.reduce((most, { level }) => Math.max(most, level), 0);
  return new Set(parents.filter(({ level }) => level === deepest).map(({ id }) => id));
}

/** The open nodes of the deepest level. */
function deepestOpen({ rows }: State): ReadonlySet<number> {
  const open = rows.filter((row) => row.isExpanded);
  const deepest = open.reduce((most, { level }) => Math.max(most, level), 0);
  return new Set(open.filter(({ level }) => level === deepest).map(({ id }) => id));
}

/**
 * Makes space for the first view: boxes say less, then nodes close that the view itself
 * opened.
 */
function withinSight(state: State): State {
  if (state.graph.objects === null || state.width === 0) {
    return state;
  }
  const isChosen = state.isDefaultExpansion && state.depth === 0;
  let next = saidInSight(state);
  while (isChosen && (isTooWide(next) || isTooHigh(next))) {
    const closed = isTooWide(next) ? tooFarRight(next) : deepestOpen(next);
    const expanded = new Set([...next.expanded].filter((id) => !closed.has(id)));
    const fewer = arrange({ ...next, expanded });
    if (closed.size === 0 || fewer.rows.length < LEAST_ROWS) {
      break;
    }
    next = fewer;
  }
  return saidInSight(next);
}

/** Whether the view shows what it chose to show first, and the user has not acted yet. */
function isFirstView({ focus, isDefaultExpansion, query, selected, width }: State): boolean {
  return isDefaultExpansion && focus === ROOT && query === "" && selected === null && width > 0;
}

/** Opens what a view of any size opens first. */
function openedFirst(state: State): State {
  return state.graph.objects === null
    ? state
    : arrange({ ...state, expanded: initialExpansion(state) });
}

/** The same rows in boxes that say as much as there is space for. */
function saidInSight(state: State): State {
  let next = state;
  for (const says of BREVITIES) {
    next = next.says === says ? next : arrange({ ...next, says });
    if (!isTooWide(next) && !(says === "stacked" && isTooHigh(next))) {
      break;
    }
  }
  return next;
}

/** Fits a drawing again that the user has not moved; otherwise keeps the selected node in sight. */
function resize(state: State, width: number, height: number): State {
  if (width === state.width && height === state.height) {
    return state;
  }
  const next = { ...state, width, height };
  if (state.width === 0) {
    return shown(fitted(withinSight(next)));
  }
  if (sameCamera(state, shown(fitted(state)))) {
    return shown(fitted(isFirstView(state) ? withinSight(openedFirst(next)) : next));
  }
  return sameCamera(state, shown(state)) ? shown(next) : next;
}

/** Brings the selected node into sight; without a selection, the first problem. */
function shown(state: State): State {
  const id = state.selected ?? firstProblemNode(state);
  return id === null ? state : inSight(state, id);
}

/**
 * The first node that needs attention, or its nearest ancestor in sight while it is folded away.
 */
export function firstProblemNode({ graph, onlyChanges, rowOf, tree }: State): number | null {
  const first = callingForALook(graph, onlyChanges).next();
  let node = first.done === true ? null : first.value;
  while (node !== null && !rowOf.has(node)) {
    node = tree.parent(node);
  }
  return node;
}
