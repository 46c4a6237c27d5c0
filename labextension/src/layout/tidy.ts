/**
 * The drawing's places: blocks within blocks, without collisions by construction.
 *
 * The block of a row has its box and the blocks of all rows below it. In a tidy tree, children are
 * behind their parent, one below the other, and the parent is at their middle. An open group, or
 * part of a long list, is a panel around its rows. So is a model whose layers call each other:
 * there, ranks go from top to bottom and branches side by side.
 */

import type { Graph } from "../data/graph";
import type { Flow, Flows } from "./flow";
import { allBad, BAD_SIGN, type Bad, badIn } from "./measured";
import { childRows, type Row } from "./rows";
import type { ShownTree } from "./shown";

/** Distances in pixels at scale 1. */
export const PITCH = 27;
export const BOX_HEIGHT = 22;
const BUS = 11;
const GAP = 15;
/** From the edges of a panel to its content. */
export const PANEL_MARGIN = 8;
/** Between the ranks of a flow: the space for arrows, and for shapes beside them. */
export const RANK_GAP = 20;
/** From the left edge of a box to the lines into it, in the middle of a layer's tab. */
export const SPINE = 10;
/** From a line into a frame to the name of the frame. */
const BEFORE_NAME = 6;
/** Left of a column: the lines that pass rows by, each in a lane of this width. */
export const LANE = 8;
const COLUMN_GAP = 22;

/** A node's place: left edge, vertical middle and width. Also where its edge turns vertical. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** The width of the outline alone. */
  readonly outline: number;
  /** The x of the vertical line from which its children's edges branch. */
  readonly bus: number;
  /** The y of its first and last child; its own y if no child is visible, or in a panel. */
  readonly firstChildY: number;
  readonly lastChildY: number;
  /** The edges of a panel; the box is at its top. */
  readonly panel: Panel | null;
}

export interface Panel {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Where a flow has its ranks and columns. */
export interface Grid {
  readonly top: readonly number[];
  readonly bottom: readonly number[];
  /** By column: its left edge, and the x of the line down its rows. */
  readonly left: readonly number[];
  readonly spine: readonly number[];
}

export interface Layout {
  /** By row. */
  readonly boxes: readonly Box[];
  /** By the row of the model. */
  readonly grids: ReadonlyMap<number, Grid>;
  readonly width: number;
  readonly height: number;
}

/** The drawn widths: of a row's outline, and of what is drawn behind it. */
export interface Widths {
  box(row: Row): number;
  behind(row: Row): number;
}

/** The widths of rows with the signs for what is bad behind them. */
export function withSigns(widths: Widths, graph: Graph, tree: ShownTree): Widths {
  const isBad = ({ nan, inf, lost }: Bad) => nan + inf + lost > 0;
  if (!isBad(allBad(graph, tree))) {
    return widths;
  }
  const sign = BAD_SIGN.gap + BAD_SIGN.width;
  return {
    ...widths,
    behind: (row) => widths.behind(row) + (isBad(badIn(graph, tree, row)) ? sign : 0),
  };
}

export function tidyTree(
  rows: readonly Row[],
  widths: Widths,
  isNarrow = false,
  flows: Flows = NO_FLOWS,
): Layout {
  const outline = outlines(rows, widths, isNarrow);
  const blocks = rows.map((row, i) => new Block(at(outline, i) + widths.behind(row)));
  const children = childRows(rows);
  const isAround = (row: number) =>
    rows[row]?.isExpanded === true && (rows[row].chunk !== null || flows.has(row));
  const own = new Map<number, Grid>();
  // From the back, so that the blocks of children are ready.
  for (let row = rows.length - 1; row >= 0; row--) {
    const block = blocks[row];
    const below = (children[row] ?? []).map((child) => blocks[child] as Block);
    const flow = flows.get(row);
    if (block === undefined || below.length === 0) {
      continue;
    }
    if (flow !== undefined) {
      own.set(row, placeFlow(block, flow, blocks));
    } else if (isAround(row)) {
      placeInPanel(block, below);
    } else {
      placeBehind(block, below);
    }
  }
  for (const [row, { parentRow }] of rows.entries()) {
    blocks[row]?.moveBy(blocks[parentRow]);
  }
  const boxes = rows.map((_, row) => boxOf(blocks, children, at(outline, row), row, isAround(row)));
  const grids = [...own].map(([row, grid]) => [row, moved(grid, blocks[row] as Block)] as const);
  const { height = 0, width = 0 } = blocks[0] ?? {};
  return { boxes, grids: new Map(grids), width, height };
}

const NO_FLOWS: Flows = new Map();

/** A row with everything below it; its place is first that in its parent's block. */
class Block {
  readonly own: number;
  width: number;
  height = PITCH;
  /** The middle of the row's box, its left edge, and the x of the lines into the block. */
  middle = PITCH / 2;
  head = 0;
  spine = SPINE;
  x = 0;
  y = 0;

  constructor(own: number) {
    this.own = own;
    this.width = own;
  }

  placeAt(x: number, y: number): void {
    this.x = x;
    this.y = y;
  }

  moveBy(parent: Block | undefined): void {
    this.x += parent?.x ?? 0;
    this.y += parent?.y ?? 0;
  }
}

/** One below the other, behind their parent, which is at the middle of the first and the last. */
function placeBehind(block: Block, below: readonly Block[]): void {
  const x = block.own + BUS + GAP;
  block.height = stacked(below, x, 0);
  block.width = x + widest(below);
  const [first, last] = [below[0] as Block, below.at(-1) as Block];
  block.middle = (first.y + first.middle + last.y + last.middle) / 2;
}

function placeInPanel(block: Block, below: readonly Block[]): void {
  block.height = stacked(below, PANEL_MARGIN, PITCH) + PANEL_MARGIN;
  block.width = Math.max(block.own, widest(below) + 2 * PANEL_MARGIN);
}

function stacked(below: readonly Block[], x: number, start: number): number {
  let y = start;
  for (const block of below) {
    block.placeAt(x, y);
    y += block.height;
  }
  return y;
}

function widest(below: readonly Block[]): number {
  return below.reduce((most, { width }) => Math.max(most, width), 0);
}

/**
 * Ranks from top to bottom, each as high as its highest block, and columns side by side. Lines go
 * straight down into frames, so frames begin further left than the boxes in their column.
 */
function placeFlow(block: Block, flow: Flow, blocks: readonly Block[]): Grid {
  const rankOf = (row: number): number => flow.rank.get(row) ?? 0;
  const columnOf = (row: number): number => flow.column.get(row) ?? 0;
  const hasPorts = flow.inputs.size + flow.outputs.size > 0;
  const [heights, before, behind]: number[][] = [[], [], []];
  const most = (of: number[] = [], place: number, value: number) => {
    of[place] = Math.max(of[place] ?? 0, value);
  };
  for (const row of flow.rows) {
    const { height = 0, spine = 0, width = 0 } = blocks[row] ?? {};
    most(heights, rankOf(row), height);
    most(before, columnOf(row), spine);
    most(behind, columnOf(row), width - spine);
  }
  const ranks = Math.max(...flow.rank.values()) + 1;
  const { bottom, top } = stackedRanks(heights ?? [], ranks, flow.inputs.size > 0);
  const left: number[] = [];
  const spines: number[] = [];
  let x = PANEL_MARGIN;
  behind?.forEach((width, column) => {
    x += LANE * (flow.lanes[column] ?? 0);
    const spine = x + (before?.[column] ?? 0);
    left.push(x);
    spines.push(spine);
    if (column === 0 && hasPorts) {
      block.spine = spine;
      block.head = spine + BEFORE_NAME;
    }
    // Lines into other columns pass the name of the frame.
    const name = column === 0 && flow.inputs.size > 0 ? block.head + block.own : 0;
    x = Math.max(spine + width, name) + COLUMN_GAP;
  });
  for (const row of flow.rows) {
    const spine = spines[columnOf(row)] ?? 0;
    blocks[row]?.placeAt(spine - (blocks[row]?.spine ?? 0), top[rankOf(row)] ?? 0);
  }
  block.height = (bottom.at(-1) ?? PITCH) + PANEL_MARGIN;
  block.width = Math.max(block.head + block.own, x - COLUMN_GAP + PANEL_MARGIN);
  return { top, bottom, left, spine: spines };
}

function stackedRanks(heights: readonly number[], count: number, hasInputs: boolean) {
  const top: number[] = [];
  const bottom: number[] = [];
  let y = PITCH + (hasInputs ? 0 : RANK_GAP / 2);
  for (let rank = 0; rank < count; rank++) {
    top.push(y);
    y += heights[rank] ?? 0;
    bottom.push(y);
    y += RANK_GAP - (PITCH - BOX_HEIGHT);
  }
  return { top, bottom };
}

function moved({ top, bottom, left, spine }: Grid, { x, y }: Block): Grid {
  const by = (places: readonly number[], way: number) => places.map((place) => place + way);
  return { top: by(top, y), bottom: by(bottom, y), left: by(left, x), spine: by(spine, x) };
}

function boxOf(
  blocks: readonly Block[],
  children: readonly (readonly number[])[],
  outline: number,
  row: number,
  isAround: boolean,
): Box {
  const block = blocks[row] as Block;
  const middle = (child: number | undefined): number => {
    const { middle: own = 0, y = 0 } = child === undefined ? block : (blocks[child] ?? {});
    return y + own;
  };
  const below = isAround ? [] : (children[row] ?? []);
  const x = block.x + block.head;
  return {
    x,
    y: middle(row),
    width: block.own,
    outline,
    bus: x + block.own + BUS,
    firstChildY: middle(below[0]),
    lastChildY: middle(below.at(-1)),
    panel: isAround
      ? {
          left: block.x - PANEL_MARGIN / 2,
          top: block.y + 1,
          right: block.x + block.width,
          bottom: block.y + block.height - PANEL_MARGIN / 2,
        }
      : null,
  };
}

/**
 * The widths of the outlines: siblings are as wide as the widest of them. In narrow drawings, open
 * nodes are only as wide as their words.
 */
function outlines(rows: readonly Row[], widths: Widths, isNarrow: boolean): Float64Array {
  const widest = new Float64Array(rows.length);
  for (const row of rows) {
    if (row.parentRow >= 0) {
      widest[row.parentRow] = Math.max(at(widest, row.parentRow), widths.box(row));
    }
  }
  return Float64Array.from(rows, (row) =>
    row.parentRow < 0 || (isNarrow && row.isExpanded) ? widths.box(row) : at(widest, row.parentRow),
  );
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? 0;
}
