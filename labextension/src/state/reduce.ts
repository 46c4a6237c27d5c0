/** The first state of a view, and one function that handles every action. */

import { type Graph, ROOT } from "../data/graph";
import { layersOf } from "../data/layers";
import { openAtFirst } from "../data/table";
import { type Defaults, defaultsOf } from "../host/defaults";
import { initialExpansion } from "../layout/rows";
import { shownTree } from "../layout/shown";
import { nextSort } from "../layout/sorting";
import { NOTHING_FOUND } from "../search/found";
import { load } from "./again";
import { centred, fitted, moved, showPicture, zoom } from "./camera";
import { selectLine, stepLine, tableOf, toggleLine } from "./lines";
import {
  bringQuery,
  measuredSort,
  narrowed,
  search,
  setExpanded,
  setMeasure,
  showBookkeeping,
  sortedBy,
  toggle,
  withSearch,
} from "./opening";
import { hasDifferences } from "./problems";
import {
  focused,
  focusSelected,
  openSiblings,
  select,
  showView,
  stepChange,
  stepMatch,
  toggleSelected,
} from "./selecting";
import { resize } from "./space";
import { type Action, arrange, type State, usualDrawing, type WidthsOf } from "./state";
import { step, target } from "./stepping";

const NO_LINES: ReadonlySet<number> = new Set();

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
    case "focus":
      return focused(state, action.id);
    case "focusSelected":
      return focusSelected(state);
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
