/** What a view shows, as one readonly object; reduce.ts answers every action with the next one. */

import type { Graph } from "../data/graph";
import type { MeasureName } from "../data/measures";
import { type Flows, flowsIn } from "../layout/flow";
import { type Row, visibleRows } from "../layout/rows";
import type { ShownTree } from "../layout/shown";
import type { Sort, SortedColumn } from "../layout/sorting";
import { type Layout, tidyTree, type Widths, withSigns } from "../layout/tidy";
import type { Found } from "../search/found";
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

export type Step = "previous" | "next" | "first" | "last" | "pageUp" | "pageDown" | "in" | "out";

export type Action =
  | { readonly type: "load"; readonly graph: Graph }
  | { readonly type: "select"; readonly id: number | null }
  | { readonly type: "step"; readonly step: Step }
  | { readonly type: "toggle"; readonly id: number }
  | { readonly type: "toggleSelected" }
  | { readonly type: "openSiblings" }
  | { readonly type: "selectLine"; readonly line: number | null }
  | { readonly type: "toggleLine"; readonly line: number }
  | { readonly type: "sortLines" }
  | { readonly type: "setOpenLines"; readonly lines: readonly number[] }
  | { readonly type: "focus"; readonly id: number }
  | { readonly type: "focusSelected" }
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

const NO_FLOWS: Flows = new Map();

export function usualDrawing({ table }: Graph): Drawn {
  return table === null ? "tree" : "table";
}

/** Adds what follows from the graph and its open nodes: rows and layout. */
export function arrange(state: Omit<State, "rows" | "rowOf" | "flows" | "layout">): State {
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

export function viewOf({ drawn, graph }: Pick<State, "drawn" | "graph">): View {
  if (drawn !== "tree") {
    return drawn === "table" ? "table" : "guide";
  }
  return graph.objects === null ? "objects" : "layers";
}
