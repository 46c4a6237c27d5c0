/**
 * The containment tidy tree: left to right, in order, without collisions by construction.
 *
 * Every subtree has its own band, as high as its leaves. A parent is at the middle of its
 * children's bands. Children start behind their parent, and siblings are equally wide. So boxes
 * cannot collide, and opening a node moves only what is beside its band.
 *
 * An open group, or part of a long list, is no object: it is a panel around its rows, which keep
 * its column.
 */

import type { Graph } from "../graph";
import { allBad, BAD_SIGN, type Bad, badIn } from "./measured";
import type { Row } from "./rows";
import type { ShownTree } from "./shown";

/** Distances in pixels at scale 1. */
export const PITCH = 27;
export const BOX_HEIGHT = 22;
const BUS = 11;
const GAP = 15;
/** From the edges of a panel to its content. */
export const PANEL_MARGIN = 8;

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
  /** The right and lower edge of a panel; it begins at the box. */
  readonly panel: { readonly right: number; readonly bottom: number } | null;
}

export interface Layout {
  /** By row. */
  readonly boxes: readonly Box[];
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

export function isPanel(row: Row | undefined): boolean {
  return row?.chunk != null && row.isExpanded;
}

export function tidyTree(rows: readonly Row[], widths: Widths, isNarrow = false): Layout {
  const outline = outlines(rows, widths, isNarrow);
  const width = outline.map((own, i) => own + (rows[i] === undefined ? 0 : widths.behind(rows[i])));
  const x = leftEdges(rows, width);
  const { y, first, last, bottom, height } = middles(rows);
  const rightmost = rightEdges(rows, x, width);
  const boxes = rows.map((row, i) => {
    const right = at(x, i) + at(width, i);
    return {
      x: at(x, i),
      y: at(y, i),
      width: at(width, i),
      outline: at(outline, i),
      bus: right + BUS,
      firstChildY: at(first, i),
      lastChildY: at(last, i),
      panel: isPanel(row) ? { right: at(rightmost, i), bottom: at(bottom, i) } : null,
    };
  });
  return { boxes, width: at(rightmost, 0), height };
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

/** Parents come before their children, so one pass from the front suffices. */
function leftEdges(rows: readonly Row[], width: Float64Array): Float64Array {
  const x = new Float64Array(rows.length);
  rows.forEach(({ parentRow: p }, i) => {
    const start = isPanel(rows[p]) ? PANEL_MARGIN : at(width, p) + BUS + GAP;
    x[i] = p < 0 ? 0 : at(x, p) + start;
  });
  return x;
}

/** The right edge of each row with everything below it. */
function rightEdges(rows: readonly Row[], x: Float64Array, width: Float64Array): Float64Array {
  const right = x.map((left, i) => left + at(width, i));
  for (let i = rows.length - 1; i > 0; i--) {
    const p = rows[i]?.parentRow ?? 0;
    right[p] = Math.max(at(right, p), at(right, i) + (isPanel(rows[p]) ? PANEL_MARGIN : 0));
  }
  return right;
}

/**
 * Leaves and panels take the next free line; then, from the back, each parent takes its children's
 * middle. A panel ends below its last row.
 */
function middles(rows: readonly Row[]) {
  const y = new Float64Array(rows.length);
  const bottom = new Float64Array(rows.length);
  const panels: number[] = [];
  const first = new Float64Array(rows.length).fill(Number.POSITIVE_INFINITY);
  const last = new Float64Array(rows.length).fill(Number.NEGATIVE_INFINITY);
  let height = 0;
  const close = (level: number) => {
    while ((rows[panels.at(-1) ?? -1]?.level ?? 0) >= level) {
      height += PANEL_MARGIN;
      bottom[panels.pop() ?? 0] = height - PANEL_MARGIN / 2;
    }
  };
  rows.forEach((row, i) => {
    close(row.level);
    if (!row.isExpanded || isPanel(row)) {
      y[i] = height + PITCH / 2;
      height += PITCH;
    }
    if (isPanel(row)) {
      panels.push(i);
    }
  });
  close(1);
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i];
    if (row?.isExpanded === true && !isPanel(row)) {
      y[i] = (at(first, i) + at(last, i)) / 2;
    } else {
      first[i] = last[i] = at(y, i);
    }
    const p = row?.parentRow ?? -1;
    if (p >= 0 && !isPanel(rows[p])) {
      first[p] = Math.min(at(first, p), at(y, i));
      last[p] = Math.max(at(last, p), at(y, i));
    }
  }
  return { y, first, last, bottom, height };
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? 0;
}
