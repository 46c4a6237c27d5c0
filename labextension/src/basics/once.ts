/** What is made once, and kept. */

/** A map, or a weak one. */
interface Known<K, V> {
  has(key: K): boolean;
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** The value of a key; the first time, it is made. */
export function kept<K, V>(known: Known<K, V>, key: K, make: (key: K) => V): V {
  if (!known.has(key)) {
    known.set(key, make(key));
  }
  return known.get(key) as V;
}

/** What is made once for each object, such as a graph, and kept as long as that. */
export function oncePer<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, V>();
  return (of) => kept(known, of, make);
}
