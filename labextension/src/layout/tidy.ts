/**
 * The containment tidy tree: left to right, in order, without collisions by construction.
 *
 * Every subtree has its own band, as high as its leaves. A parent is at the middle of its
 * children's bands. Children start behind their parent, after a gap as wide as the widest of their
 * edge names. So neither boxes nor names can collide, and opening a node moves only what is beside
 * its band.
 */

import type { Row } from "./rows";

/** Distances in pixels at scale 1. */
export const PITCH = 30;
export const BOX_HEIGHT = 24;
const BUS = 14;
const LABEL_GAP = 14;

/** A node's place: left edge, vertical middle and width. Also where its edge turns vertical. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** The x of the vertical line from which its children's edges branch. */
  readonly bus: number;
  /** The y of its first and last child; its own y if no child is visible. */
  readonly firstChildY: number;
  readonly lastChildY: number;
}

export interface Layout {
  /** By row. */
  readonly boxes: readonly Box[];
  readonly width: number;
  readonly height: number;
}

/** The drawn widths: of a row's box, and of the name on the edge to it. */
export interface Widths {
  box(row: Row): number;
  label(row: Row): number;
}

export function tidyTree(rows: readonly Row[], widths: Widths): Layout {
  const width = new Float64Array(rows.length);
  const labels = new Float64Array(rows.length);
  rows.forEach((row, i) => {
    width[i] = widths.box(row);
    if (row.parentRow >= 0) {
      labels[row.parentRow] = Math.max(labels[row.parentRow] ?? 0, widths.label(row));
    }
  });
  const x = leftEdges(rows, width, labels);
  const { y, first, last, height } = middles(rows);
  const boxes = rows.map((_, i) => {
    const right = at(x, i) + at(width, i);
    return {
      x: at(x, i),
      y: at(y, i),
      width: at(width, i),
      bus: right + BUS,
      firstChildY: at(first, i),
      lastChildY: at(last, i),
    };
  });
  const extent = boxes.reduce((most, box) => Math.max(most, box.x + box.width), 0);
  return { boxes, width: extent, height };
}

/** Parents come before their children, so one pass from the front suffices. */
function leftEdges(rows: readonly Row[], width: Float64Array, labels: Float64Array): Float64Array {
  const x = new Float64Array(rows.length);
  rows.forEach(({ parentRow: p }, i) => {
    x[i] = p < 0 ? 0 : at(x, p) + at(width, p) + BUS + at(labels, p) + LABEL_GAP;
  });
  return x;
}

/** Leaves take the next free line; then, from the back, each parent takes its children's middle. */
function middles(rows: readonly Row[]) {
  const y = new Float64Array(rows.length);
  const first = new Float64Array(rows.length).fill(Number.POSITIVE_INFINITY);
  const last = new Float64Array(rows.length).fill(Number.NEGATIVE_INFINITY);
  let height = 0;
  rows.forEach((row, i) => {
    if (!row.isExpanded) {
      y[i] = height + PITCH / 2;
      height += PITCH;
    }
  });
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i];
    if (row?.isExpanded === true) {
      y[i] = (at(first, i) + at(last, i)) / 2;
    } else {
      first[i] = last[i] = at(y, i);
    }
    const p = row?.parentRow ?? -1;
    if (p >= 0) {
      first[p] = Math.min(at(first, p), at(y, i));
      last[p] = Math.max(at(last, p), at(y, i));
    }
  }
  return { y, first, last, height };
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? 0;
}
