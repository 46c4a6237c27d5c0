/** The lanes of a flow in the outline, where its rows are one below the other. */

import type { Flow, FlowEdge, Flows } from "./flow";
import type { Row } from "./rows";

/** A call with the lane that its line goes down in; null if there is none left. */
interface LaneEdge extends FlowEdge {
  readonly lane: number | null;
}

interface Lanes {
  /** The lane of each row. */
  readonly of: ReadonlyMap<number, number>;
  readonly edges: readonly LaneEdge[];
  readonly count: number;
}

/** The distance between two lanes, in pixels. */
export const LANE_WIDTH = 11;
const MAX_LANES = 5;
const known = new WeakMap<Flow, Lanes>();

function lanesOf(flow: Flow): Lanes {
  const lanes = known.get(flow) ?? laidOut(flow);
  known.set(flow, lanes);
  return lanes;
}

/** A row stays in the lane of the row before it in its branch; a line takes the nearest free one. */
function laidOut({ heir, lines, rows: all }: Flow): Lanes {
  const isRow = new Set(all);
  const own = lines.filter(({ from, to }) => isRow.has(from) && isRow.has(to));
  const called = new Set(own.flatMap(({ from, to }) => [from, to]));
  const rows = all.filter((row) => called.has(row));
  const outOf = new Map<number, FlowEdge[]>();
  for (const line of own) {
    outOf.set(line.from, [...(outOf.get(line.from) ?? []), line]);
  }
  const of = new Map<number, number>();
  const edges: LaneEdge[] = [];
  const until = Array.from({ length: MAX_LANES }, () => -1);
  const inherited = new Map<number, number>();
  for (const row of rows) {
    const free = until.findIndex((end) => end <= row);
    const own = inherited.get(row) ?? (free < 0 ? MAX_LANES - 1 : free);
    of.set(row, own);
    const heirOf = heir.get(row);
    const next = heirOf !== undefined && isRow.has(heirOf) ? heirOf : undefined;
    if (next !== undefined) {
      inherited.set(next, own);
      until[own] = Math.max(until[own] ?? 0, next);
    }
    for (const { from, to } of outOf.get(row) ?? []) {
      const isOwn = to === next || (next === undefined && (until[own] ?? 0) <= row);
      const place = isOwn ? own : until.findIndex((end, lane) => end <= row && lane !== own);
      const lane = place < 0 ? null : place;
      if (lane !== null) {
        until[lane] = Math.max(until[lane] ?? 0, to);
      }
      edges.push({ from, to, lane });
    }
  }
  const used = [...of.values(), ...edges.map(({ lane }) => lane ?? 0)];
  return { of, edges, count: Math.max(...used) + 1 };
}

/** By row, the width that the lanes left of it take. */
export function gutters(rows: readonly Row[], flows: Flows): Int32Array {
  const widths = new Int32Array(rows.length);
  rows.forEach(({ parentRow }, row) => {
    const flow = flows.get(parentRow);
    const lanes = flow === undefined ? 0 : lanesOf(flow).count * LANE_WIDTH + LANE_WIDTH / 2;
    widths[row] = (widths[parentRow] ?? 0) + lanes;
  });
  return widths;
}

/** What a row draws of lanes: its own dot, and lines through its height. */
export interface LanePieces {
  readonly dot: number | null;
  readonly quiet: string;
  readonly lit: string;
}

const CORNER = 6;

/**
 * The pieces of the rows from `first` to before `last`. `left` gives the x of a row's lanes; calls
 * of the row `lit` are apart.
 */
export function pieces(
  flows: Flows,
  left: (parentRow: number) => number,
  height: number,
  first: number,
  last: number,
  lit: number | undefined,
): readonly LanePieces[] {
  const all = Array.from({ length: last - first }, () => ({
    dot: null as number | null,
    quiet: "",
    lit: "",
  }));
  for (const [parent, flow] of flows) {
    const { edges, of } = lanesOf(flow);
    const xOf = (lane: number) => left(parent) + LANE_WIDTH * (lane + 0.5);
    for (const [row, lane] of of) {
      const piece = all[row - first];
      if (piece !== undefined) {
        piece.dot = xOf(lane);
      }
    }
    for (const { from, to, lane } of edges) {
      if (lane === null) {
        continue;
      }
      const look = from === lit || to === lit ? "lit" : "quiet";
      const x = xOf(lane);
      for (let row = Math.max(from, first); row <= Math.min(to, last - 1); row++) {
        const own = xOf(of.get(row) ?? lane);
        const piece = all[row - first];
        if (piece !== undefined) {
          piece[look] +=
            row === from
              ? bent(own, x, height / 2, height)
              : row === to
                ? bent(own, x, height / 2, 0)
                : `M${x} 0V${height}`;
        }
      }
    }
  }
  return all;
}

/** From the dot of a row to the edge of the row in another lane. */
function bent(own: number, x: number, middle: number, edge: number): string {
  if (own === x) {
    return `M${x} ${middle}V${edge}`;
  }
  const across = Math.sign(x - own) * CORNER;
  const along = Math.sign(edge - middle) * CORNER;
  return `M${own} ${middle}H${x - across}Q${x} ${middle} ${x} ${middle + along}V${edge}`;
}
