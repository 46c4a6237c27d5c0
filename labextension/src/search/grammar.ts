/** The amounts and words of the grammar; Python reads the same table. */

import table from "../../../ckpt_viz/graphs/search/grammar.json";
import type { MeasureName } from "../data/measures";

/**
 * The most characters in a query, in a pasted text and in a pattern, and the most terms. `text` is
 * how much of a name, and of the end of a path, a pattern is tried on.
 */
export const LIMITS = table.limits;
export type Kind = keyof typeof table.units;
/** What one unit is worth, by kind of amount, then by unit in lower case. */
export const UNITS: Readonly<Record<Kind, Readonly<Record<string, number>>>> = table.units;
/** The kind of amount of each measure of values. */
export const MEASURE_KINDS = Object.entries(table.measures) as [MeasureName, Kind][];
/** The states of a comparison that each value of `is:` means. */
export const STATES: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(table.states));
