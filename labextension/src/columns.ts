/** What columns that lie one part after the other have in common. */

/** Where each node's part of a column begins, and after the last one, its end. */
export function starts(counts: ArrayLike<number>): Int32Array {
  const offsets = new Int32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) {
    offsets[i + 1] = (offsets[i] ?? 0) + (counts[i] ?? 0);
  }
  return offsets;
}
