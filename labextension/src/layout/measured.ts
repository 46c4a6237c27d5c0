/** What rows measure: their own values, or those folded into them and below, added up once. */

import { kept, oncePer } from "../basics/once";
import { levelOf, type Scale, scaleOver } from "../basics/scale";
import type { MeasureColumnName } from "../data/contract";
import { type Graph, isUnreadable, ROOT } from "../data/graph";
import { type MeasureName, type Measures, measureOf, type NumberOf } from "../data/measures";
import { summedUp } from "../data/sums";
import { summaryOf } from "./summary";

interface Totals {
  /** The statistics of all values in a row and below it. */
  of(row: number): NumberOf;
  /** Whether these are those of parameters, or of the only kind of values that there is. */
  isFilled(row: number): boolean;
  readonly nan: Float64Array;
  readonly inf: Float64Array;
}

const NOTHING: NumberOf = () => Number.NaN;

/**
 * The statistics of a row. A model's norm is that of its parameters: slot variables, counters and
 * other state count only in rows that hold nothing else. Means are those of single values.
 */
export function numbersOf(graph: Graph, id: number): NumberOf {
  return totalsOf(graph)?.of(id) ?? NOTHING;
}

export function measured(graph: Graph, tree: Tree, row: RowOfTree, name: MeasureName): number {
  return measureOf(name, listOf(graph, tree, row)?.numbers ?? numbersOf(graph, row.id));
}

export interface Bad {
  readonly nan: number;
  readonly inf: number;
  /** The nodes without a row of their own that cannot be read: a row shows its own error. */
  readonly lost: number;
}

/** What the rows of a list of siblings are, and those below a row. */
interface Tree {
  readonly children: (id: number) => ArrayLike<number>;
  members(id: number): ArrayLike<number>;
  chunk(id: number): object | null;
}

interface RowOfTree {
  readonly id: number;
  readonly chunk: object | null;
  readonly isExpanded: boolean;
}

const NO_BAD: Bad = { nan: 0, inf: 0, lost: 0 };

/** The NaNs and infinities of a row, and all that is bad among what is folded into it. */
export function badIn(graph: Graph, tree: Tree, { chunk, id, isExpanded }: RowOfTree): Bad {
  const [totals, lost] = [totalsOf(graph), lostOf(graph)];
  if (totals === null && lost === null) {
    return NO_BAD;
  }
  if (chunk !== null && id >= graph.treeSize) {
    return isExpanded ? NO_BAD : inList(graph, tree, chunk, id);
  }
  const told =
    lost !== null && chunk === null && id < graph.size && isUnreadable(graph, id) ? 1 : 0;
  const bad = {
    nan: totals?.nan[id] ?? 0,
    inf: totals?.inf[id] ?? 0,
    lost: (lost?.[id] ?? 0) - told,
  };
  for (const one of isExpanded ? Array.from(tree.children(id)) : []) {
    const list = tree.chunk(one);
    const below =
      list !== null && one >= graph.treeSize
        ? inList(graph, tree, list, one)
        : { nan: totals?.nan[one] ?? 0, inf: totals?.inf[one] ?? 0, lost: lost?.[one] ?? 0 };
    bad.nan -= below.nan;
    bad.inf -= below.inf;
    bad.lost -= below.lost;
  }
  return bad;
}

const badLists = new WeakMap<object, Bad>();

/** All that is bad in a part of a long list, added up once. */
function inList(graph: Graph, tree: Tree, chunk: object, id: number): Bad {
  const rows = Array.from(tree.members(id));
  const totals = totalsOf(graph);
  const sum = (of: Float64Array | undefined) =>
    of === undefined ? 0 : rows.reduce((all, row) => all + (of[row] ?? 0), 0);
  return kept(badLists, chunk, () => ({
    nan: sum(totals?.nan),
    inf: sum(totals?.inf),
    lost: sum(lostOf(graph) ?? undefined),
  }));
}

/** All that is bad in all rows, without what the root's own row says. */
export function allBad(graph: Graph, tree: Tree): Bad {
  return badIn(graph, tree, { id: ROOT, chunk: null, isExpanded: false });
}

/** By row, the nodes in it and below that cannot be read; null if all can. */
const lostOf = oncePer((graph: Graph) =>
  summaryOf(graph).broken === 0 ? null : ofNodes(graph, (id) => Number(isUnreadable(graph, id))),
);

/** The sums of numbers of nodes, in the rows that show them and in all above. */
function ofNodes(graph: Graph, of: (id: number) => number): Float64Array {
  const own = new Float64Array(graph.treeSize);
  for (let id = 0; id < graph.size; id++) {
    const number = of(id);
    const row = number > 0 ? rowOf(graph, graph.objects ?? graph, id) : null;
    if (row !== null) {
      own[row] = (own[row] ?? 0) + number;
    }
  }
  return summedUp(graph, own);
}

/** The sign for what is bad: its width, and the gap before all that is behind a box. */
export const BAD_SIGN = { width: 32, gap: 8 } as const;

const scalesOf = oncePer((_: Graph) => new Map<MeasureName, Scale>());

/** The scale of a measure: from the smallest to the largest magnitude that a parameter has. */
export function scaleOfMeasure(graph: Graph, name: MeasureName): Scale {
  const objects = graph.objects ?? graph;
  return kept(scalesOf(objects), name, () => scaleIn(objects, name));
}

function scaleIn({ layerColumns, measures, size }: Graph, name: MeasureName): Scale {
  const ids = Array.from({ length: size }, (_, id) => id);
  // Counters and slot variables have other magnitudes; those above the scale have its last colour.
  const parameters = ids.filter((id) => layerColumns?.layer_parameters[id] === 1);
  const { low, high, isCut } = scaleOver(
    (parameters.length > 0 ? parameters : ids).map((id) =>
      Math.abs(measureOf(name, measures?.of(id) ?? NOTHING)),
    ),
    name === "change" ? 1 : undefined, // a change from almost nothing would take the whole scale
  );
  // Numbers that hardly differ look alike.
  return { low: Math.min(low, high / 10), high, isCut };
}

/** From 0 for nothing to 8 for the most; null for a row without parameters or without this measure. */
export function levelIn(
  graph: Graph,
  tree: Tree,
  row: RowOfTree,
  name: MeasureName,
): number | null {
  const number = measured(graph, tree, row, name);
  const first = listOf(graph, tree, row)?.first ?? row.id;
  const isFilled = totalsOf(graph)?.isFilled(first) === true;
  return !isFilled || Number.isNaN(number)
    ? null
    : levelOf(scaleOfMeasure(graph, name), Math.abs(number));
}

/** A part of a long list: what all its rows measure. */
interface List {
  readonly first: number;
  readonly numbers: NumberOf;
}

const lists = new WeakMap<object, List>();

/** The part of a long list that a row is, added up once; null for any other row. */
function listOf(graph: Graph, tree: Tree, { chunk, id }: RowOfTree): List | null {
  const totals = totalsOf(graph);
  if (totals === null || chunk === null || id < graph.treeSize) {
    return null;
  }
  return kept(lists, chunk, () => addedUp(totals, Array.from(tree.members(id))));
}

function addedUp(totals: Totals, rows: readonly number[]): List {
  const [first = ROOT] = rows;
  const sums = new Sums(1);
  for (const row of rows) {
    sums.add(0, SEVERAL, totals.of(row));
  }
  const numbers = rows.length === 1 ? totals.of(first) : (column: string) => sums.at(0, column);
  return { first, numbers };
}

const totalsOf = oncePer((graph: Graph): Totals | null =>
  graph.measures === null ? null : added(graph, graph.measures),
);

const add = (a: number, b: number) => a + b;
/** How statistics of several values become one. Those of several values have no mean. */
const JOINS = {
  count: add,
  zeros: add,
  nan: add,
  inf: add,
  min: Math.min,
  max: Math.max,
  norm: Math.hypot,
  before: Math.hypot,
  moved: Math.hypot,
  largest: Math.max,
} satisfies Partial<Record<MeasureColumnName, (a: number, b: number) => number>>;
const JOINED = Object.keys(JOINS) as (keyof typeof JOINS)[];

const NONE = -1;
const SEVERAL = -2;

/** Statistics by row, and the node that a row has them of: NONE or SEVERAL if it is not one. */
class Sums {
  readonly nodes: Int32Array;
  readonly columns: Readonly<Record<string, Float64Array>>;

  constructor(rows: number) {
    this.nodes = new Int32Array(rows).fill(NONE);
    this.columns = Object.fromEntries(JOINED.map((name) => [name, new Float64Array(rows)]));
  }

  /** Adds a node's statistics, or those of a row below, to a row. */
  add(row: number, node: number, at: (column: (typeof JOINED)[number]) => number): void {
    if (node === NONE) {
      return;
    }
    const isFirst = this.nodes[row] === NONE;
    this.nodes[row] = isFirst ? node : SEVERAL;
    for (const name of JOINED) {
      const column = this.columns[name] ?? [];
      const [known, number] = [isFirst ? Number.NaN : (column[row] ?? 0), at(name)];
      column[row] = Number.isNaN(known)
        ? number
        : Number.isNaN(number)
          ? known
          : JOINS[name](known, number);
    }
  }

  at(row: number, name: string): number {
    return this.columns[name]?.[row] ?? Number.NaN;
  }
}

function added(graph: Graph, measures: Measures): Totals {
  const objects = graph.objects ?? graph;
  const [parameters, others] = [new Sums(graph.treeSize), new Sums(graph.treeSize)];
  const sumOf = (name: "nan" | "inf") => ofNodes(graph, (id) => measures.of(id)(name));
  for (let id = 0; id < graph.size; id++) {
    const at = measures.of(id);
    const row = Number.isNaN(at("count")) ? null : rowOf(graph, objects, id);
    if (row !== null) {
      (graph.layerColumns?.layer_parameters[id] === 1 ? parameters : others).add(row, id, at);
    }
  }
  for (const id of graph.order.slice().reverse()) {
    const above = graph.treeParent(id);
    if (above !== null) {
      for (const sums of [parameters, others]) {
        sums.add(above, sums.nodes[id] ?? NONE, (name) => sums.at(id, name));
      }
    }
  }
  const of = (row: number): NumberOf => {
    const sums = parameters.nodes[row] === NONE ? others : parameters;
    const node = sums.nodes[row] ?? NONE;
    return node >= 0 ? measures.of(node) : node === NONE ? NOTHING : (name) => sums.at(row, name);
  };
  const hasParameters = parameters.nodes.some((node) => node !== NONE);
  const isFilled = (row: number) => !hasParameters || parameters.nodes[row] !== NONE;
  return { of, isFilled, nan: sumOf("nan"), inf: sumOf("inf") };
}

/** The row that shows a node, or that shows the next node above it. */
function rowOf(graph: Graph, objects: Graph, id: number): number | null {
  let node: number | null = id;
  while (node !== null && graph.shownAs(node) === null) {
    node = objects.treeParent(node);
  }
  return node === null ? null : graph.shownAs(node);
}
