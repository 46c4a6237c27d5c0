/**
 * How results flow between the layers of one model. The rows that call each other have ranks from top
 * to bottom, and their branches have columns from left to right.
 */

import type { Graph } from "../graph";
import type { Row } from "./rows";
import type { ShownTree } from "./shown";

/**
 * How a line goes. Within a branch it goes straight down. Where a branch begins or ends, it goes
 * across. Other lines pass rows by, beside their column.
 */
type Way = "straight" | "begins" | "ends" | "beside";

/** A call between two rows of one parent. */
export interface FlowEdge {
  readonly from: number;
  readonly to: number;
}

export interface FlowLine extends FlowEdge {
  readonly way: Way;
  /** For a line beside its column: the lane, from the column outwards; null if all are taken. */
  readonly lane: number | null;
}

/** The rows below one open row that call each other, by their places in the list of rows. */
export interface Flow {
  readonly rows: readonly number[];
  readonly lines: readonly FlowLine[];
  /** By row: how far down it is, and in which column. */
  readonly rank: ReadonlyMap<number, number>;
  readonly column: ReadonlyMap<number, number>;
  /** By row: the one that continues its branch. */
  readonly heir: ReadonlyMap<number, number>;
  /** By column: the number of lanes beside it. */
  readonly lanes: readonly number[];
}

/** The flow below each open row that has one. */
export type Flows = ReadonlyMap<number, Flow>;

/** More lines would only be noise. */
const MAX_EDGES = 5_000;
/** Beside a column. */
const MAX_LANES = 5;

interface Shown {
  readonly graph: Graph;
  readonly tree: ShownTree;
  readonly rows: readonly Row[];
  readonly rowOf: ReadonlyMap<number, number>;
}

export function flowsIn(shown: Shown): Flows {
  const { graph, rows } = shown;
  const edges = graph.calls === null || graph.objects === null ? new Map() : edgesByParent(shown);
  const below = new Map<number, number[]>();
  rows.forEach(({ parentRow }, row) => {
    if (edges.has(parentRow)) {
      below.set(parentRow, [...(below.get(parentRow) ?? []), row]);
    }
  });
  return new Map([...edges].map(([parent, of]) => [parent, flowOf(below.get(parent) ?? [], of)]));
}

/** The calls whose two ends are in different rows below one parent, each once. */
function edgesByParent(shown: Shown): ReadonlyMap<number, readonly FlowEdge[]> {
  const { from, to } = shown.graph.calls ?? { from: [], to: [] };
  const known = new Set<string>();
  const byParent = new Map<number, FlowEdge[]>();
  for (let i = 0; i < from.length && known.size < MAX_EDGES; i++) {
    const edge = belowOneParent(shown.rows, rowFor(shown, from[i] ?? 0), rowFor(shown, to[i] ?? 0));
    const key = `${edge?.from} ${edge?.to}`;
    // A call backwards is one of a circle: it is no line from top to bottom.
    if (edge !== null && edge.from < edge.to && !known.has(key)) {
      known.add(key);
      const parent = shown.rows[edge.from]?.parentRow ?? 0;
      const edges = byParent.get(parent) ?? [];
      edges.push(edge);
      byParent.set(parent, edges);
    }
  }
  return byParent;
}

/** The nearest visible row that shows a node; -1 if there is none. */
function rowFor({ graph, rowOf, tree }: Shown, node: number): number {
  let id = graph.shownAs(node);
  while (id !== null && !rowOf.has(id)) {
    id = tree.parent(id);
  }
  return id === null ? -1 : (rowOf.get(id) ?? -1);
}

/** The rows below one parent that two rows are in; null if one of them is in the other. */
function belowOneParent(rows: readonly Row[], one: number, other: number): FlowEdge | null {
  let [from, to] = [one, other];
  while (from >= 0 && to >= 0 && rows[from]?.parentRow !== rows[to]?.parentRow) {
    if ((rows[from]?.level ?? 0) > (rows[to]?.level ?? 0)) {
      from = rows[from]?.parentRow ?? -1;
    } else {
      to = rows[to]?.parentRow ?? -1;
    }
  }
  return from < 0 || to < 0 || from === to ? null : { from, to };
}

function flowOf(rows: readonly number[], edges: readonly FlowEdge[]): Flow {
  const sorted = [...edges].sort((a, b) => a.to - b.to || a.from - b.from);
  const rank = ranksOf(rows, sorted);
  const heir = heirsOf(rows, sorted, rank);
  const column = columnsOf(rows, sorted, rank, heir);
  return { rows, rank, heir, column, ...linesOf(sorted, rank, column, heir) };
}

/** The shortest lines take the lanes nearest to their column; the longest end in stubs. */
function linesOf(
  edges: readonly FlowEdge[],
  rank: ReadonlyMap<number, number>,
  column: ReadonlyMap<number, number>,
  heir: ReadonlyMap<number, number>,
): Pick<Flow, "lanes" | "lines"> {
  const at = (row: number): number => rank.get(row) ?? 0;
  const continued = new Set(heir.values());
  const nearest = nearestAbove(edges, rank);
  const wayOf = ({ from, to }: FlowEdge): Way => {
    if (heir.get(from) === to) {
      return "straight";
    }
    if (!continued.has(to) && nearest.get(to) === at(from)) {
      return "begins";
    }
    return heir.has(from) ? "beside" : "ends";
  };
  const lanes: number[] = [];
  const taken = new Map<number, (readonly [number, number])[][]>();
  const laneFor = ({ from, to }: FlowEdge): number | null => {
    const beside = column.get(from) ?? 0;
    const ranges = taken.get(beside) ?? Array.from({ length: MAX_LANES }, () => []);
    taken.set(beside, ranges);
    const [low, high] = [at(from), at(to)];
    const lane = ranges.findIndex((of) => of.every(([a, b]) => b <= low || a >= high));
    ranges[lane]?.push([low, high]);
    lanes[beside] = Math.max(lanes[beside] ?? 0, lane < 0 ? MAX_LANES : lane + 1);
    return lane < 0 ? null : lane;
  };
  const lines = [...edges]
    .sort((a, b) => at(a.to) - at(a.from) - (at(b.to) - at(b.from)))
    .map((edge): FlowLine => {
      const way = wayOf(edge);
      return { ...edge, way, lane: way === "beside" ? laneFor(edge) : null };
    });
  return { lines, lanes };
}

/** Each row just above the first row that it feeds. Rows without calls come last. */
function ranksOf(rows: readonly number[], edges: readonly FlowEdge[]): ReadonlyMap<number, number> {
  const depth = new Map<number, number>(
    edges.flatMap(({ from, to }) => [
      [from, 0],
      [to, 0],
    ]),
  );
  for (const { from, to } of edges) {
    depth.set(to, Math.max(depth.get(to) ?? 0, (depth.get(from) ?? 0) + 1));
  }
  const rank = new Map(depth);
  const first = new Map<number, number>();
  for (const { from, to } of [...edges].sort((a, b) => b.from - a.from)) {
    const below = Math.min(first.get(from) ?? Number.POSITIVE_INFINITY, (rank.get(to) ?? 0) - 1);
    first.set(from, below);
    rank.set(from, below);
  }
  let next = Math.max(...depth.values()) + 1;
  for (const row of rows) {
    if (!rank.has(row)) {
      rank.set(row, next++);
    }
  }
  return rank;
}

/** By row, the one that continues its branch: the first that has no longer way from elsewhere. */
function heirsOf(
  rows: readonly number[],
  edges: readonly FlowEdge[],
  rank: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const main = new Map<number, number>();
  for (const { from, to } of edges) {
    const before = main.get(to);
    if (before === undefined || (rank.get(from) ?? 0) > (rank.get(before) ?? 0)) {
      main.set(to, from);
    }
  }
  const heir = new Map<number, number>();
  for (const row of rows) {
    const from = main.get(row);
    if (from !== undefined && !heir.has(from)) {
      heir.set(from, row);
    }
  }
  return heir;
}

/** Each branch takes the first column that is free from where it begins to where it ends. */
function columnsOf(
  rows: readonly number[],
  edges: readonly FlowEdge[],
  rank: ReadonlyMap<number, number>,
  heir: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const at = (row: number): number => rank.get(row) ?? 0;
  const nearest = nearestAbove(edges, rank);
  const end = new Map<number, number>();
  for (const { from, to } of edges) {
    end.set(from, Math.max(end.get(from) ?? 0, at(to) - 1));
  }
  const column = new Map<number, number>();
  const taken: (readonly [number, number])[][] = [];
  for (const first of rows) {
    if (column.has(first)) {
      continue;
    }
    const branch = [first];
    for (let next = heir.get(first); next !== undefined; next = heir.get(next)) {
      branch.push(next);
    }
    const last = branch.at(-1) ?? first;
    const low = Math.min((nearest.get(first) ?? at(first)) + 1, at(first));
    const high = Math.max(end.get(last) ?? 0, at(last));
    const isFree = (ranges: (typeof taken)[number]) =>
      ranges.every(([from, to]) => to < low || from > high);
    const place = taken.findIndex(isFree);
    const free = place < 0 ? taken.push([]) - 1 : place;
    taken[free]?.push([low, high]);
    for (const row of branch) {
      column.set(row, free);
    }
  }
  return column;
}

/** By row, the rank of the lowest row that feeds it. */
function nearestAbove(
  edges: readonly FlowEdge[],
  rank: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const nearest = new Map<number, number>();
  for (const { from, to } of edges) {
    nearest.set(to, Math.max(nearest.get(to) ?? 0, rank.get(from) ?? 0));
  }
  return nearest;
}
