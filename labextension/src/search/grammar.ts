/** The amounts and words of the grammar; Python reads the same table. */

import table from "../../../ckpt_viz/search/grammar.json";

/**
 * The most characters in a query, in a pasted text and in a pattern, and the most terms. `text` is
 * how much of a name, and of the end of a path, a pattern is tried on.
 */
export const LIMITS = table.limits;
/** What one unit is worth, by field, then by unit in lower case. */
export const UNITS = {
  size: new Map<string, number>(Object.entries(table.units.size)),
  params: new Map<string, number>(Object.entries(table.units.params)),
};
/** The states of a comparison that each value of `is:` means. */
export const STATES: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(table.states));
