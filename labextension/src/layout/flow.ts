/**
 * How results flow between the layers of one model. The rows that call each other have ranks from top
 * to bottom, and their branches have columns from left to right.
 */

import { kept } from "../basics/once";
import type { Graph } from "../data/graph";
import { nearestRow, type Row } from "./rows";
import type { ShownTree } from "./shown";

/**
 * How a line goes. Within a branch it goes straight down. Where a branch begins or ends, it goes
 * across. Other lines pass rows by, beside their column.
 */
type Way = "straight" | "begins" | "ends" | "beside";

/**
 * A row below the open row, or a port. There a result from outside passes the top of the frame, or
 * one from inside its bottom. The numbers of ports come before and after those of all rows.
 */
type Place = number;

/** A part of the way that a result takes, between two places of one frame. */
export interface FlowEdge {
  readonly from: Place;
  readonly to: Place;
}

interface Part extends FlowEdge {
  /** The row whose result it is, and the rows that take it. */
  readonly source: number;
  readonly takers: readonly number[];
}

export interface FlowLine extends Part {
  readonly way: Way;
  /** For a line beside its column: the lane, from the column outwards; null if all are taken. */
  readonly lane: number | null;
}

/** The ports of a frame, by the row whose result passes there. */
export interface Ports {
  readonly inputs: ReadonlyMap<number, Place>;
  readonly outputs: ReadonlyMap<number, Place>;
}

/** The rows below one open row that call each other, by their places in the list of rows. */
export interface Flow extends Ports {
  readonly rows: readonly number[];
  readonly lines: readonly FlowLine[];
  /** By place: how far down it is, and in which column. */
  readonly rank: ReadonlyMap<Place, number>;
  readonly column: ReadonlyMap<Place, number>;
  /** By place: the one that continues its branch. */
  readonly heir: ReadonlyMap<Place, Place>;
  /** By column: the number of lanes beside it. */
  readonly lanes: readonly number[];
}

/** The flow below each open row that has one. */
export type Flows = ReadonlyMap<number, Flow>;

/** More lines would only be noise. */
const MAX_EDGES = 5_000;
/** Beside a column. */
const MAX_LANES = 12;

interface Shown {
  readonly graph: Graph;
  readonly tree: ShownTree;
  readonly rows: readonly Row[];
  readonly rowOf: ReadonlyMap<number, number>;
}

/** The flows of all frames. A stacked one has a single column, for drawings with little width. */
export function flowsIn(shown: Shown, isStacked = false): Flows {
  const { graph, rows } = shown;
  const frames = graph.calls === null || graph.objects === null ? new Map() : framesIn(shown);
  const below = new Map<number, number[]>();
  rows.forEach(({ parentRow }, row) => {
    if (frames.has(parentRow)) {
      kept(below, parentRow, () => []).push(row);
    }
  });
  return new Map(
    Array.from(frames, ([row, frame]) => [row, flowOf(below.get(row) ?? [], frame, isStacked)]),
  );
}

/** What passes through an open row, before its rows have places. */
class Frame implements Ports {
  readonly inputs = new Map<number, Place>();
  readonly outputs = new Map<number, Place>();
  readonly #parts = new Map<string, Part & { readonly takers: number[] }>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  input(source: number): Place {
    return kept(this.inputs, source, () => -2 - this.inputs.size);
  }

  output(source: number): Place {
    return kept(this.outputs, source, () => this.#size + this.outputs.size);
  }

  add(from: Place, to: Place, source: number, taker: number): void {
    const key = `${from} ${to} ${source}`;
    kept(this.#parts, key, () => ({ from, to, source, takers: [] })).takers.push(taker);
  }

  /** Sorted so that all parts into a place come before those out of it. */
  get parts(): readonly Part[] {
    return [...this.#parts.values()].sort((a, b) => a.to - b.to || a.from - b.from);
  }
}

/** The frames that calls between rows pass through. Each call leads from its layer to its layer. */
function framesIn(shown: Shown): ReadonlyMap<number, Frame> {
  const { rows } = shown;
  const { from, to } = shown.graph.calls ?? { from: [], to: [] };
  const known = new Set<string>();
  const frames = new Map<number, Frame>();
  const at = (row: number): Frame => kept(frames, row, () => new Frame(rows.length));
  for (let i = 0; i < from.length && known.size < MAX_EDGES; i++) {
    const [source, taker] = [rowFor(shown, from[i] ?? 0), rowFor(shown, to[i] ?? 0)];
    const key = `${source} ${taker}`;
    const [out, into] = known.has(key) ? [[], []] : belowOneParent(rows, source, taker);
    const [last = 0, first = 0] = [out.at(-1), into.at(-1)];
    // A call backwards is one of a circle: it is no line from top to bottom.
    if (last >= first) {
      continue;
    }
    known.add(key);
    out.slice(1).forEach((frame, depth) => {
      at(frame).add(out[depth] ?? 0, at(frame).output(source), source, taker);
    });
    at(rows[last]?.parentRow ?? 0).add(last, first, source, taker);
    into.slice(1).forEach((frame, depth) => {
      at(frame).add(at(frame).input(source), into[depth] ?? 0, source, taker);
    });
  }
  return frames;
}

/** The nearest visible row that shows a node; -1 if there is none. */
function rowFor({ graph, rowOf, tree }: Shown, node: number): number {
  return rowOf.get(nearestRow(tree, rowOf, graph.shownAs(node)) ?? -1) ?? -1;
}

/**
 * Two rows and the frames around each of them, up to the parent that both have. There is nothing for
 * a row in the other one.
 */
function belowOneParent(
  rows: readonly Row[],
  one: number,
  other: number,
): readonly [readonly number[], readonly number[]] {
  const [out, into] = [[one], [other]];
  let [from, to] = [one, other];
  while (from >= 0 && to >= 0 && rows[from]?.parentRow !== rows[to]?.parentRow) {
    if ((rows[from]?.level ?? 0) > (rows[to]?.level ?? 0)) {
      from = rows[from]?.parentRow ?? -1;
      out.push(from);
    } else {
      to = rows[to]?.parentRow ?? -1;
      into.push(to);
    }
  }
  return from < 0 || to < 0 ? [[], []] : [out, into];
}

function flowOf(rows: readonly number[], frame: Frame, isStacked: boolean): Flow {
  const { inputs, outputs, parts } = frame;
  const places = [...inputs.values(), ...rows, ...outputs.values()];
  const ports = { inputs: new Set(inputs.values()), outputs: new Set(outputs.values()) };
  const ranks = isStacked ? new Map(rows.map((row, at) => [row, at])) : ranksOf(rows, parts);
  const rank = withPorts(ranks, ports);
  const isNext = ({ from, to }: Part) => (rank.get(to) ?? 0) - (rank.get(from) ?? 0) === 1;
  const heir = heirsOf(places, isStacked ? parts.filter(isNext) : parts, rank);
  const column = isStacked
    ? new Map(places.map((place) => [place, 0]))
    : columnsOf([...ports.inputs], rows, parts, rank, heir);
  const all = { inputs, outputs, rows, rank, heir, column };
  return { ...all, ...linesOf(parts, all, ports) };
}

interface PortSets {
  readonly inputs: ReadonlySet<Place>;
  readonly outputs: ReadonlySet<Place>;
}

/** Ranks from 0, with ports above and below all rows. */
function withPorts(
  rank: ReadonlyMap<Place, number>,
  { inputs, outputs }: PortSets,
): ReadonlyMap<Place, number> {
  const own = [...rank].filter(([place]) => !inputs.has(place) && !outputs.has(place));
  const first = inputs.size > 0 ? 1 : 0;
  const used = [...new Set(own.map(([, at]) => at))].sort((a, b) => a - b);
  const dense = new Map(used.map((at, place) => [at, first + place]));
  return new Map([
    ...own.map(([row, at]) => [row, dense.get(at) ?? 0] as const),
    ...[...inputs].map((port) => [port, 0] as const),
    ...[...outputs].map((port) => [port, first + used.length] as const),
  ]);
}

/** The shortest lines take the lanes nearest to their column; the longest end in stubs. */
function linesOf(
  parts: readonly Part[],
  { rank, column, heir }: Pick<Flow, "rank" | "column" | "heir">,
  { inputs, outputs }: PortSets,
): Pick<Flow, "lanes" | "lines"> {
  const at = (place: Place): number => rank.get(place) ?? 0;
  const continued = new Set(heir.values());
  const nearest = nearestAbove(parts, rank);
  const wayOf = ({ from, to }: FlowEdge): Way => {
    if (heir.get(from) === to) {
      return "straight";
    }
    if (outputs.has(to) || (inputs.has(from) && !heir.has(from))) {
      return "beside";
    }
    const isOther = column.get(from) !== column.get(to);
    if (isOther && !continued.has(to) && nearest.get(to) === at(from)) {
      return "begins";
    }
    return !isOther || heir.has(from) ? "beside" : "ends";
  };
  const lanes: number[] = [];
  const taken = new Map<number, (readonly [number, number])[][]>();
  const laneFor = ({ from, to }: FlowEdge): number | null => {
    const beside = column.get(from) ?? 0;
    const ranges = kept(taken, beside, () => Array.from({ length: MAX_LANES }, () => []));
    const [low, high] = [at(from), at(to)];
    const lane = ranges.findIndex((of) => of.every(([a, b]) => b <= low || a >= high));
    ranges[lane]?.push([low, high]);
    lanes[beside] = Math.max(lanes[beside] ?? 0, lane < 0 ? MAX_LANES : lane + 1);
    return lane < 0 ? null : lane;
  };
  const lines = [...parts]
    .sort((a, b) => at(a.to) - at(a.from) - (at(b.to) - at(b.from)))
    .map((part): FlowLine => {
      const way = wayOf(part);
      return { ...part, way, lane: way === "beside" ? laneFor(part) : null };
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

/** By place, the one that continues its branch: the first that has no longer way from elsewhere. */
function heirsOf(
  places: readonly Place[],
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
  for (const row of places) {
    const from = main.get(row);
    if (from !== undefined && !heir.has(from)) {
      heir.set(from, row);
    }
  }
  return heir;
}

/** Each branch takes the first column that is free from where it begins to where it ends. */
function columnsOf(
  inputs: readonly Place[],
  rows: readonly number[],
  edges: readonly FlowEdge[],
  rank: ReadonlyMap<Place, number>,
  heir: ReadonlyMap<Place, Place>,
): ReadonlyMap<Place, number> {
  const at = (row: number): number => rank.get(row) ?? 0;
  const nearest = nearestAbove(edges, rank);
  const end = new Map<Place, number>();
  for (const { from, to } of edges) {
    end.set(from, Math.max(end.get(from) ?? 0, at(to) - 1));
  }
  const column = new Map<number, number>();
  const taken: (readonly [number, number])[][] = [];
  for (const first of [...inputs.filter((port) => heir.has(port)), ...rows]) {
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
  // Other ports are beside the column of a row.
  for (const { from, to } of edges) {
    column.set(from, column.get(from) ?? column.get(to) ?? 0);
    column.set(to, column.get(to) ?? column.get(from) ?? 0);
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
