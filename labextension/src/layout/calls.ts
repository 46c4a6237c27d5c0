/** The calls between layers of one model, as lines beside their column. */

import type { Graph } from "../graph";
import type { Row } from "./rows";
import type { ShownTree } from "./shown";
import { BOX_HEIGHT, isPanel, type Layout } from "./tidy";

/** A call between two rows of one column; `path` is its line. */
export interface DrawnCall {
  readonly from: number;
  readonly to: number;
  /** Whether it goes to the next row; another one passes rows by. */
  readonly isNext: boolean;
  readonly path: string;
}

/** More lines would only be noise. */
const MAX_CALLS = 2_000;
/** From the left edge of the boxes: the lines to the next row, and the lines beside the column. */
const SPINE = 10;
const BESIDE = 6;
const FAR_BESIDE = 11;
const ARROW = 3;

interface Shown {
  readonly graph: Graph;
  readonly tree: ShownTree;
  readonly rows: readonly Row[];
  readonly rowOf: ReadonlyMap<number, number>;
  readonly layout: Layout;
}

/** The calls whose two ends have rows in one column; the row of a closed group is their end. */
export function callsIn(shown: Shown): readonly DrawnCall[] {
  const { graph, layout, rows } = shown;
  const { calls } = graph;
  if (calls === null || graph.objects === null) {
    return [];
  }
  const columns = rows.map((_, row) => columnOf(rows, row));
  const after = nextInColumn(columns);
  const drawn = new Map<string, DrawnCall>();
  for (let i = 0; i < calls.from.length && drawn.size < MAX_CALLS; i++) {
    const [from, to] = inOneColumn(
      shown,
      columns,
      rowFor(shown, calls.from[i] ?? 0),
      rowFor(shown, calls.to[i] ?? 0),
    );
    const key = `${from} ${to}`;
    if (from >= 0 && to >= 0 && from !== to && !drawn.has(key)) {
      const isNext = after[from] === to && layout.boxes[from]?.x === layout.boxes[to]?.x;
      drawn.set(key, { from, to, isNext, path: pathOf(layout, from, to, isNext) });
    }
  }
  return [...drawn.values()];
}

/** The nearest visible row that shows a node; -1 if there is none. */
function rowFor({ graph, rowOf, tree }: Shown, node: number): number {
  let id = graph.shownAs(node);
  while (id !== null && !rowOf.has(id)) {
    id = tree.parent(id);
  }
  return id === null ? -1 : (rowOf.get(id) ?? -1);
}

/** The row that a column of boxes hangs from: a panel's rows stay in the column of the panel. */
function columnOf(rows: readonly Row[], row: number): number {
  let above = rows[row]?.parentRow ?? -1;
  while (isPanel(rows[above])) {
    above = rows[above]?.parentRow ?? -1;
  }
  return above;
}

/** The next row of each row's column; -1 for the last one. */
function nextInColumn(columns: readonly number[]): readonly number[] {
  const last = new Map<number, number>();
  const after = columns.map(() => -1);
  columns.forEach((column, row) => {
    const before = last.get(column);
    if (before !== undefined) {
      after[before] = row;
    }
    last.set(column, row);
  });
  return after;
}

/** The rows of one column that two rows are in or below. */
function inOneColumn(
  { rows }: Shown,
  columns: readonly number[],
  one: number,
  other: number,
): readonly [from: number, to: number] {
  let [from, to] = [one, other];
  while (from >= 0 && to >= 0 && columns[from] !== columns[to]) {
    if ((rows[from]?.level ?? 0) > (rows[to]?.level ?? 0)) {
      from = columns[from] ?? -1;
    } else {
      to = columns[to] ?? -1;
    }
  }
  return [from, to];
}

/** An arrow down to the next box, or a line beside the column with an arrow into the other box. */
function pathOf({ boxes }: Layout, from: number, to: number, isNext: boolean): string {
  const [a, b] = [boxes[from], boxes[to]];
  if (a === undefined || b === undefined) {
    return "";
  }
  if (isNext) {
    const x = a.x + SPINE;
    const end = b.y - BOX_HEIGHT / 2;
    return `M${x} ${a.y + BOX_HEIGHT / 2}V${end}m${-ARROW} ${-ARROW}l${ARROW} ${ARROW}l${ARROW} ${-ARROW}`;
  }
  const isNear = Math.abs(to - from) === 1 || a.x !== b.x;
  const x = Math.min(a.x, b.x) - (isNear ? BESIDE : FAR_BESIDE);
  const way = Math.sign(b.y - a.y) * ARROW;
  return (
    `M${a.x} ${a.y + way}H${x + ARROW}Q${x} ${a.y + way} ${x} ${a.y + 2 * way}` +
    `V${b.y - 2 * way}Q${x} ${b.y - way} ${x + ARROW} ${b.y - way}H${b.x}` +
    `m${-ARROW} ${-ARROW}l${ARROW} ${ARROW}l${-ARROW} ${ARROW}`
  );
}
