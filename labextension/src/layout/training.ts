/** How many parameters of a row a training changes, and what is frozen. */

import { oncePer } from "../basics/once";
import { type Graph, ROOT } from "../data/graph";
import { parametersOf } from "./totals";

/** In the order in which the view tells them. */
export const TRAINED_OR_NOT = ["trained", "frozen", "never", "omitted"] as const;
type Kind = (typeof TRAINED_OR_NOT)[number];
/** The parameters of each kind. */
export type Trainings = Readonly<Record<Kind, number>>;

/** The parameters at and below a row; null if the source says nothing of any training. */
export function trainingsOf(graph: Graph, row: number): Trainings | null {
  const sums = sumsOf(graph);
  const width = TRAINED_OR_NOT.length;
  return sums === null
    ? null
    : (Object.fromEntries(
        TRAINED_OR_NOT.map((kind, place) => [kind, sums[row * width + place] ?? 0]),
      ) as Trainings);
}

const sumsOf = oncePer((graph: Graph): Float64Array | null => {
  const width = TRAINED_OR_NOT.length;
  const sums = new Float64Array(graph.treeSize * width);
  let isTold = false;
  for (let place = graph.order.length - 1; place >= 0; place--) {
    const row = graph.order[place] ?? ROOT;
    const isVariable = row < graph.size && graph.role(row) === "variable";
    const kind = isVariable ? TRAINED_OR_NOT.indexOf(graph.training(row) as Kind) : -1;
    const own = kind < 0 ? 0 : parametersOf(graph, row);
    isTold ||= own > 0;
    const above = graph.treeParent(row);
    for (let of = 0; of < width; of++) {
      const at = row * width + of;
      sums[at] = (sums[at] ?? 0) + (of === kind ? own : 0);
      if (above !== null) {
        sums[above * width + of] = (sums[above * width + of] ?? 0) + (sums[at] ?? 0);
      }
    }
  }
  return isTold ? sums : null;
});

/** Whether a training changes nothing of a row that it could change. */
export function isFrozen(graph: Graph, row: number): boolean {
  const of = trainingsOf(graph, row);
  return of !== null && of.frozen > 0 && of.trained + of.omitted === 0;
}

/** Whether a row is frozen, but not the row above: there the view says it once. */
export function isFrozenHere(graph: Graph, row: number): boolean {
  const above = graph.treeParent(row);
  return isFrozen(graph, row) && (above === null || !isFrozen(graph, above));
}

/** The outermost layers whose own `trainable` is False. */
export function freezing(graph: Graph): readonly number[] {
  const layers: number[] = [];
  const isBelow = new Uint8Array(graph.treeSize);
  for (const row of graph.order) {
    const above = graph.treeParent(row);
    const freezes =
      row < graph.size && graph.role(row) !== "variable" && graph.training(row) === "frozen";
    if (freezes && (above === null || isBelow[above] === 0)) {
      layers.push(row);
    }
    isBelow[row] = freezes || (above !== null && isBelow[above] === 1) ? 1 : 0;
  }
  return layers;
}
