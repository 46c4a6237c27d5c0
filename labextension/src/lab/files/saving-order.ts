/** The order in which two checkpoints were saved. */

interface Saved {
  readonly name: string;
  readonly last_modified: string;
}

const BY_NUMBERS = new Intl.Collator("en", { numeric: true });

/** Returns the older one first. If both have the same time, as copies may, the names decide. */
export function inOrderOfSaving<T extends Saved>(one: T, other: T): readonly [T, T] {
  const later = Date.parse(one.last_modified) - Date.parse(other.last_modified);
  return (later || BY_NUMBERS.compare(one.name, other.name)) > 0 ? [other, one] : [one, other];
}
