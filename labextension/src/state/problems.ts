/** What of a comparison needs attention. */

import { type Graph, ROOT } from "../data/graph";
import { callingForALook, nearestRow } from "../layout/rows";
import type { State } from "./state";

/** Whether a comparison has anything that needs attention. */
export function hasDifferences({ overlay }: Graph): boolean {
  return overlay?.isMarked(ROOT) === true;
}

/**
 * The first node that needs attention, or its nearest ancestor in sight while it is folded away.
 */
export function firstProblemNode({ graph, onlyChanges, rowOf, tree }: State): number | null {
  const first = callingForALook(graph, onlyChanges).next();
  return nearestRow(tree, rowOf, first.done === true ? null : first.value);
}
