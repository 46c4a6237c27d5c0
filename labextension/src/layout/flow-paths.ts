/** The lines of a flow as paths between the boxes of a drawing. */

import type { Flow, FlowLine, Flows } from "./flow";
import { BOX_HEIGHT, type Box, type Grid, LANE, type Layout, RANK_GAP } from "./tidy";

/** A line between two rows, and its first and last height. */
export interface FlowPath {
  readonly from: number;
  readonly to: number;
  readonly path: string;
  readonly top: number;
  readonly bottom: number;
}

/** From the left edge of a box to its lines, in the middle of a layer's tab. */
export const SPINE = 10;
const CORNER = 5;
const ARROW = 3;
const STUB = 10;

export function flowPaths(flows: Flows, { boxes, grids }: Layout): readonly FlowPath[] {
  return [...flows].flatMap(([parent, flow]) => {
    const grid = grids.get(parent);
    return grid === undefined ? [] : flow.lines.map((line) => pathOf(line, flow, grid, boxes));
  });
}

function pathOf(line: FlowLine, flow: Flow, grid: Grid, boxes: readonly Box[]): FlowPath {
  const { from, to, way } = line;
  const [a, b] = [boxes[from] ?? NOWHERE, boxes[to] ?? NOWHERE];
  const ends = { from, to, top: a.y, bottom: b.y };
  const [rankOfA = 0, rankOfB = 0] = [flow.rank.get(from), flow.rank.get(to)];
  const above = (grid.top[rankOfB] ?? 0) - RANK_GAP / 3;
  const below = (grid.bottom[rankOfA] ?? 0) + RANK_GAP / 3;
  if (way === "beside") {
    return { ...ends, path: pathBeside(line, flow, grid, a, b, above) };
  }
  const [x, start, end] = [a.x + SPINE, a.panel?.bottom ?? a.y + BOX_HEIGHT / 2, b.x + SPINE];
  const bend = way === "begins" ? below : above;
  const across = x === end ? "" : `V${bend - CORNER}${corner(x, bend, end)}`;
  return { ...ends, path: `M${x} ${start}${across}${intoTop(b)}` };
}

const NOWHERE: Pick<Box, "x" | "y" | "panel"> = { x: 0, y: 0, panel: null };
type End = typeof NOWHERE;

/** Round into the horizontal line at `y`, along it, and round down again. */
function corner(x: number, y: number, end: number): string {
  const way = Math.sign(end - x) * CORNER;
  return `Q${x} ${y} ${x + way} ${y}H${end - way}Q${end} ${y} ${end} ${y + CORNER}`;
}

function intoTop({ y }: End): string {
  const half = `l${ARROW} ${ARROW}l${ARROW} ${-ARROW}`;
  return `V${y - BOX_HEIGHT / 2}m${-ARROW} ${-ARROW}${half}`;
}

const INTO_SIDE = `m${-ARROW} ${-ARROW}l${ARROW} ${ARROW}l${-ARROW} ${ARROW}`;

/** A line in a lane left of its column; without a lane, a stub at each end. */
function pathBeside(
  { from, lane, to }: FlowLine,
  flow: Flow,
  grid: Grid,
  a: End,
  b: End,
  above: number,
): string {
  if (lane === null) {
    return `M${a.x} ${a.y}h${-STUB}M${b.x - STUB} ${b.y}H${b.x}${INTO_SIDE}`;
  }
  const x = (grid.left[flow.column.get(from) ?? 0] ?? 0) - LANE * (lane + 0.75);
  const out = `M${a.x} ${a.y}H${x + CORNER}Q${x} ${a.y} ${x} ${a.y + CORNER}`;
  if (flow.column.get(from) === flow.column.get(to)) {
    return `${out}V${b.y - CORNER}Q${x} ${b.y} ${x + CORNER} ${b.y}H${b.x}${INTO_SIDE}`;
  }
  return `${out}V${above - CORNER}${corner(x, above, b.x + SPINE)}${intoTop(b)}`;
}
