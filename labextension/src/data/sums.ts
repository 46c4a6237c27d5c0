/** Sums over all rows below a row of a tree. */

import type { Graph } from "./graph";

/** Adds the number of each row to the rows above it; a row that is left out adds nothing. */
export function summedUp(
  { order, treeParent }: Pick<Graph, "order" | "treeParent">,
  numbers: Float64Array,
  isLeftOut: (row: number) => boolean = () => false,
): Float64Array {
  const sums = numbers.slice();
  for (let place = order.length - 1; place >= 0; place--) {
    const row = order[place] ?? 0;
    const above = treeParent(row);
    if (above !== null && !isLeftOut(row)) {
      sums[above] = (sums[above] ?? 0) + (sums[row] ?? 0);
    }
  }
  return sums;
}

/** A number for each row of a tree. */
export function perRow({ treeSize }: Pick<Graph, "treeSize">, of: (row: number) => number) {
  return Float64Array.from({ length: treeSize }, (_, row) => of(row));
}
