/** Offsets for columns that store the parts of all nodes in one array, one after the other. */

/** Where each node's part of a column begins. The last offset is the end of the last part. */
export function starts(counts: ArrayLike<number>): Int32Array {
  const offsets = new Int32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) {
    offsets[i + 1] = (offsets[i] ?? 0) + (counts[i] ?? 0);
  }
  return offsets;
}
