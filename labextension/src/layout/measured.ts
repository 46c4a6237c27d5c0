/** What rows measure: their own values, or those folded into them and below, added up once. */

import type { MeasureColumnName } from "../contract";
import type { Graph } from "../graph";
import { type MeasureName, measureOf, type NumberOf } from "../measures";
import { levelOf, type Scale, scaleOver } from "../scale";

interface Totals {
  /** By row, the statistics of all values in it and below it. */
  readonly all: readonly (NumberOf | undefined)[];
  readonly nan: Float64Array;
  readonly inf: Float64Array;
}

const known = new WeakMap<Graph, Totals>();
const NOTHING: NumberOf = () => Number.NaN;

/**
 * The statistics of a row. A model's norm is that of its parameters: slot variables, counters and
 * other state count only in rows that hold nothing else. Means are those of single values.
 */
export function numbersOf(graph: Graph, id: number): NumberOf {
  return totalsOf(graph)?.all[id] ?? NOTHING;
}

export function measured(graph: Graph, id: number, name: MeasureName): number {
  return measureOf(name, numbersOf(graph, id));
}

export interface Bad {
  readonly nan: number;
  readonly inf: number;
}

/** What the rows of a list of siblings are, and those below a row. */
interface Tree {
  readonly children: (id: number) => ArrayLike<number>;
  members(id: number): ArrayLike<number>;
}

interface RowOfTree {
  readonly id: number;
  readonly chunk: object | null;
  readonly isExpanded: boolean;
}

/** The NaNs and infinities of a row, and of all that is folded into it. */
export function badIn(graph: Graph, tree: Tree, { chunk, id, isExpanded }: RowOfTree): Bad {
  const totals = totalsOf(graph);
  const sum = (of: Float64Array | undefined) => {
    if (of === undefined) {
      return 0;
    }
    const isList = chunk !== null && id >= graph.treeSize;
    const whole = isList
      ? Array.from(tree.members(id)).reduce((all, member) => all + (of[member] ?? 0), 0)
      : (of[id] ?? 0);
    const below = isExpanded ? Array.from(tree.children(id)) : [];
    return isList && isExpanded ? 0 : below.reduce((rest, one) => rest - (of[one] ?? 0), whole);
  };
  return { nan: sum(totals?.nan), inf: sum(totals?.inf) };
}

const scales = new WeakMap<Graph, Map<MeasureName, Scale>>();

/** The scale of a measure: from the smallest to the largest magnitude that a parameter has. */
export function scaleOfMeasure(graph: Graph, name: MeasureName): Scale {
  const objects = graph.objects ?? graph;
  const ofGraph = scales.get(objects) ?? new Map<MeasureName, Scale>();
  scales.set(objects, ofGraph);
  const { layerColumns, measures, size } = objects;
  const ids = Array.from({ length: size }, (_, id) => id);
  // Counters and slot variables have other magnitudes; those above the scale have its last colour.
  const parameters = ids.filter((id) => layerColumns?.layer_parameters[id] === 1);
  const scale =
    ofGraph.get(name) ??
    scaleOver(
      (parameters.length > 0 ? parameters : ids).map((id) =>
        Math.abs(measureOf(name, measures?.of(id) ?? NOTHING)),
      ),
    );
  ofGraph.set(name, scale);
  return scale;
}

/** From 0 for nothing to 8 for the most; null for a row without this measure. */
export function levelIn(graph: Graph, id: number, name: MeasureName): number | null {
  const number = measured(graph, id, name);
  return Number.isNaN(number) ? null : levelOf(scaleOfMeasure(graph, name), Math.abs(number));
}

function totalsOf(graph: Graph): Totals | null {
  if (graph.measures === null) {
    return null;
  }
  const totals = known.get(graph) ?? added(graph);
  known.set(graph, totals);
  return totals;
}

function added(graph: Graph): Totals {
  const objects = graph.objects ?? graph;
  const parameters: (NumberOf | undefined)[] = [];
  const others: (NumberOf | undefined)[] = [];
  const [nan, inf] = [new Float64Array(graph.treeSize), new Float64Array(graph.treeSize)];
  for (let id = 0; id < graph.size; id++) {
    const at = graph.measures?.of(id) ?? NOTHING;
    const row = rowOf(graph, objects, id);
    if (row === null || Number.isNaN(at("count"))) {
      continue;
    }
    const sums = graph.layerColumns?.layer_parameters[id] === 1 ? parameters : others;
    sums[row] = joined(sums[row], at);
    nan[row] = (nan[row] ?? 0) + at("nan");
    inf[row] = (inf[row] ?? 0) + at("inf");
  }
  for (const id of graph.order.slice().reverse()) {
    const above = graph.treeParent(id);
    if (above !== null) {
      parameters[above] = joined(parameters[above], parameters[id]);
      others[above] = joined(others[above], others[id]);
      nan[above] = (nan[above] ?? 0) + (nan[id] ?? 0);
      inf[above] = (inf[above] ?? 0) + (inf[id] ?? 0);
    }
  }
  const all = Array.from({ length: graph.treeSize }, (_, id) => parameters[id] ?? others[id]);
  return { all, nan, inf };
}

/** The row that shows a node, or that shows the next node above it. */
function rowOf(graph: Graph, objects: Graph, id: number): number | null {
  let node: number | null = id;
  while (node !== null && graph.shownAs(node) === null) {
    node = objects.treeParent(node);
  }
  return node === null ? null : graph.shownAs(node);
}

function joined(a: NumberOf | undefined, b: NumberOf | undefined): NumberOf | undefined {
  if (a === undefined || b === undefined) {
    return a ?? b;
  }
  const sum = new Map(
    Object.entries(JOINS).map(([column, join]) => {
      const [one, other] = [a(column as keyof typeof JOINS), b(column as keyof typeof JOINS)];
      // One of them may be unknown.
      return [column, Number.isNaN(one) ? other : Number.isNaN(other) ? one : join(one, other)];
    }),
  );
  return (column) => sum.get(column) ?? Number.NaN;
}

const add = (a: number, b: number) => a + b;
/** How statistics of several values become one; those of the others have no mean. */
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
