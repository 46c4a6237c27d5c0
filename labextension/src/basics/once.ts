/** What is made once for each object, such as a graph, and kept as long as that. */
export function oncePer<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (of) => {
    const { value } = known.get(of) ?? { value: make(of) };
    known.set(of, { value });
    return value;
  };
}
