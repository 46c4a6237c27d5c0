/** How many parameters of a row a training changes, and what is frozen. */

import { oncePer } from "../basics/once";
import type { Graph } from "../data/graph";
import { perRow, summedUp } from "../data/sums";
import { parametersOf } from "./totals";

/** In the order in which the view tells them. */
export const TRAINED_OR_NOT = ["trained", "frozen", "never", "omitted"] as const;
type Kind = (typeof TRAINED_OR_NOT)[number];
/** The parameters of each kind. */
export type Trainings = Readonly<Record<Kind, number>>;

/** The parameters at and below a row; null if the source says nothing of any training. */
export function trainingsOf(graph: Graph, row: number): Trainings | null {
  const sums = sumsOf(graph);
  const ofRow = sums?.map((ofKind, place) => [TRAINED_OR_NOT[place], ofKind[row] ?? 0]);
  return ofRow === undefined ? null : (Object.fromEntries(ofRow) as Trainings);
}

/** By kind, the sums of all rows. */
const sumsOf = oncePer((graph: Graph): readonly Float64Array[] | null => {
  const isOf = (row: number, kind: Kind) =>
    row < graph.size && graph.role(row) === "variable" && graph.training(row) === kind;
  const own = TRAINED_OR_NOT.map((kind) =>
    perRow(graph, (row) => (isOf(row, kind) ? parametersOf(graph, row) : 0)),
  );
  return own.some((ofKind) => ofKind.some((count) => count > 0))
    ? own.map((ofKind) => summedUp(graph, ofKind))
    : null;
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
