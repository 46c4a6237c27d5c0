/** The lines of a flow as paths between the boxes of a drawing. */

import type { Flow, FlowLine, Flows } from "./flow";
import { BOX_HEIGHT, type Box, type Grid, LANE, type Layout, RANK_GAP, SPINE } from "./tidy";

/** A line, from the row whose result it carries to rows that take it, or a part of such a line. */
export interface FlowPath extends Pick<FlowLine, "source" | "takers"> {
  readonly path: string;
  /** Its first and last height. */
  readonly top: number;
  readonly bottom: number;
}

const CORNER = 5;
const ARROW = 3;
const STUB = 10;
/** From a rank to the lines across below it, which are above the shapes. */
const BEND = 2;
/** Lines out of the side of a box are below those into it. */
const OUT = 5;

type Point = readonly [x: number, y: number];

export function flowPaths(flows: Flows, layout: Layout): readonly FlowPath[] {
  const frames = new Map<number, Drawn>();
  for (const [row, flow] of flows) {
    const [box, grid] = [layout.boxes[row], layout.grids.get(row)];
    if (box !== undefined && grid !== undefined) {
      frames.set(row, { box, flow, grid });
    }
  }
  return [...frames.values()].flatMap((frame) =>
    frame.flow.lines.map((line) => pathOf(line, frame, frames, layout.boxes)),
  );
}

/** An open row whose rows call each other. */
interface Drawn {
  readonly box: Box;
  readonly flow: Flow;
  readonly grid: Grid;
}

/** An end of a line: where it leaves or reaches its place, from above or below. */
interface End {
  /** Null where the lines of a port have no lane. */
  readonly x: number | null;
  readonly y: number;
  /** The side of the box, where lines from lanes end; null for a port. */
  readonly side: Point | null;
}

function pathOf(
  line: FlowLine,
  frame: Drawn,
  frames: ReadonlyMap<number, Drawn>,
  boxes: readonly Box[],
): FlowPath {
  const { flow, grid } = frame;
  const { from, lane, source, takers, to, way } = line;
  const [a, b] = (["from", "to"] as const).map((which) =>
    endOf(line, which, frame, frames, boxes),
  ) as [End, End];
  const ends = { source, takers, top: a.y, bottom: b.y };
  if (a.x === null || b.x === null || (way === "beside" && lane === null)) {
    return { ...ends, path: stubs(a, b) };
  }
  const [rankOfA = 0, rankOfB = 0] = [flow.rank.get(from), flow.rank.get(to)];
  const below = (grid.bottom[rankOfA] ?? 0) + BEND;
  const above = (grid.top[rankOfB] ?? 0) - RANK_GAP / 3;
  const arrow = b.side === null ? "" : ARROW_DOWN;
  if (way !== "beside") {
    const bend = way === "begins" ? below : above;
    const points: readonly Point[] = [
      [a.x, a.y],
      [a.x, bend],
      [b.x, bend],
      [b.x, b.y],
    ];
    return { ...ends, path: `${rounded(points)}${arrow}` };
  }
  const x = laneX(line, flow, grid);
  const out: readonly Point[] =
    a.side === null
      ? [
          [a.x, a.y],
          [a.x, below],
          [x, below],
        ]
      : [a.side, [x, a.side[1]]];
  if (b.side !== null && flow.column.get(from) === flow.column.get(to)) {
    return { ...ends, path: `${rounded([...out, [x, b.side[1]], b.side])}${ARROW_RIGHT}` };
  }
  return { ...ends, path: `${rounded([...out, [x, above], [b.x, above], [b.x, b.y]])}${arrow}` };
}

/** Where a line leaves its first place, or reaches its last one. */
function endOf(
  line: FlowLine,
  which: "from" | "to",
  { box, flow, grid }: Drawn,
  frames: ReadonlyMap<number, Drawn>,
  boxes: readonly Box[],
): End {
  const place = line[which];
  const [own, other, near, far] =
    which === "from"
      ? (["inputs", "outputs", "top", "bottom"] as const)
      : (["outputs", "inputs", "bottom", "top"] as const);
  if (flow[own].get(line.source) === place) {
    return { x: portX(flow, grid, place), y: box.panel?.[near] ?? box.y, side: null };
  }
  const inner = frames.get(place);
  const port = inner?.flow[other].get(line.source);
  const { panel = null, x = 0, y = 0 } = boxes[place] ?? {};
  if (inner !== undefined && port !== undefined) {
    return { x: portX(inner.flow, inner.grid, port), y: panel?.[far] ?? y, side: null };
  }
  return which === "from"
    ? { x: x + SPINE, y: panel?.bottom ?? y + BOX_HEIGHT / 2, side: [x, y + OUT] }
    : { x: x + SPINE, y: y - BOX_HEIGHT / 2, side: [x, y] };
}

/** A port of a branch is in the column of that branch, another one in the first lane of its lines. */
function portX(flow: Flow, grid: Grid, port: number): number | null {
  const own = flow.lines.filter(({ from, to }) => from === port || to === port);
  if (own.some(({ way }) => way !== "beside")) {
    return grid.spine[flow.column.get(port) ?? 0] ?? 0;
  }
  const first = own.find(({ lane }) => lane !== null);
  return first === undefined ? null : laneX(first, flow, grid);
}

function laneX({ from, lane }: FlowLine, flow: Flow, grid: Grid): number {
  return (grid.left[flow.column.get(from) ?? 0] ?? 0) - LANE * ((lane ?? 0) + 0.75);
}

const ARROW_DOWN = `m${-ARROW} ${-ARROW}l${ARROW} ${ARROW}l${ARROW} ${-ARROW}`;
const ARROW_RIGHT = `m${-ARROW} ${-ARROW}l${ARROW} ${ARROW}l${-ARROW} ${ARROW}`;

/** The ends of a line that has no lane. */
function stubs({ side: a }: End, { side: b }: End): string {
  const out = a === null ? "" : `M${a[0]} ${a[1]}h${-STUB}`;
  return b === null ? out : `${out}M${b[0] - STUB} ${b[1]}H${b[0]}${ARROW_RIGHT}`;
}

/** Horizontal and vertical lines through points, with round corners. */
function rounded(points: readonly Point[]): string {
  const own = points.filter(
    ([x, y], i) => i === 0 || x !== points[i - 1]?.[0] || y !== points[i - 1]?.[1],
  );
  return own
    .map(([x, y], i) => {
      const [before, next] = [own[i - 1], own[i + 1]];
      if (before === undefined) {
        return `M${x} ${y}`;
      }
      if (next === undefined) {
        return x === before[0] ? `V${y}` : `H${x}`;
      }
      const [inX, inY] = toward([x, y], before);
      const [outX, outY] = toward([x, y], next);
      const line = x === before[0] ? `V${inY}` : `H${inX}`;
      return inX === outX || inY === outY ? line : `${line}Q${x} ${y} ${outX} ${outY}`;
    })
    .join("");
}

/** The point near a corner where its curve begins or ends: before the middle of a short line. */
function toward([x, y]: Point, [toX, toY]: Point): Point {
  const part = Math.min(CORNER / Math.max(Math.abs(toX - x) + Math.abs(toY - y), 1), 0.5);
  return [x + (toX - x) * part, y + (toY - y) * part];
}
