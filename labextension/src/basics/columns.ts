/** Columns that store the parts of all nodes in one array, one after the other. */

/** Where each node's part of a column begins. The last offset is the end of the last part. */
export function starts(counts: ArrayLike<number>): Int32Array {
  const offsets = new Int32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) {
    offsets[i + 1] = (offsets[i] ?? 0) + (counts[i] ?? 0);
  }
  return offsets;
}

/** For each element of a column, the node that has it. */
export function ownersOf(offsets: Int32Array): Int32Array {
  const owners = new Int32Array(offsets.at(-1) ?? 0);
  for (let id = 0; id < offsets.length - 1; id++) {
    owners.fill(id, offsets[id], offsets[id + 1]);
  }
  return owners;
}

/** What finds all items with a key below `size`, in their order. Items with other keys are lost. */
export function groupedBy(
  keys: ArrayLike<number>,
  size: number,
  items: ArrayLike<number>,
): (key: number) => Int32Array {
  const counts = new Int32Array(size);
  for (let place = 0; place < keys.length; place++) {
    const key = keys[place] ?? -1;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  const offsets = starts(counts);
  const next = offsets.slice();
  const grouped = new Int32Array(offsets[size] ?? 0);
  for (let place = 0; place < keys.length; place++) {
    const key = keys[place] ?? -1;
    const at = next[key] ?? -1;
    grouped[at] = items[place] ?? 0;
    next[key] = at + 1;
  }
  return (key) => grouped.subarray(offsets[key], offsets[key + 1]);
}
