/** A set with an item or without it; where nothing tells which, the other way than before. */
export function withOrWithout<T>(
  set: ReadonlySet<T>,
  item: T,
  has = !set.has(item),
): ReadonlySet<T> {
  const others = [...set].filter((one) => one !== item);
  return new Set(has ? [...others, item] : others);
}
