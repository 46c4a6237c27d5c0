/**
 * What the values of each node measure: ckpt_viz/graphs/search/measures.py derives the same measures from
 * the same columns.
 */

import table from "../../../ckpt_viz/graphs/search/grammar.json";
import type { Column, MeasureColumnName, Payload } from "./contract";

export type MeasureName = keyof typeof table.measures;

/** In the order of the menu. */
export const MEASURES = Object.keys(table.measures) as MeasureName[];

/** Shares of a whole, which people read in percent. */
export function isShare(name: MeasureName): boolean {
  return table.measures[name] === "share";
}

/** Whether only a comparison has a measure, or a property of `is:`. */
export function isOfComparison(name: string): boolean {
  return table.compared.includes(name);
}

/** A number of a node's values; NaN if it has no such number. */
export type NumberOf = (column: MeasureColumnName) => number;

export interface Measures {
  /** The number of tensors that are unread, and of those that cannot be read. */
  readonly unread: number;
  readonly unreadable: number;
  of(id: number): NumberOf;
}

export function makeMeasures(measures: Payload["measures"]): Measures | null {
  if (measures === null) {
    return null;
  }
  const { unread, unreadable } = measures;
  const columns = Object.fromEntries(
    Object.entries(measures.columns).map(([name, column]) => [name.slice("value_".length), column]),
  ) as Record<MeasureColumnName, Column>;
  return { unread, unreadable, of: (id) => (name) => columns[name][id] ?? Number.NaN };
}

export function measureOf(name: MeasureName, at: NumberOf): number {
  switch (name) {
    case "change":
      return share(at("moved"), at("before"));
    case "zeros":
      return share(at("zeros"), at("count"));
    default:
      return at(name);
  }
}

/** A fraction; of nothing, everything is infinitely much. */
function share(part: number, whole: number): number {
  return part === 0 && whole === 0 ? 0 : part / whole;
}

const ARE = {
  inf: (at) => at("inf") > 0,
  nan: (at) => at("nan") > 0,
  unchanged: (at) => at("changed") === 0,
  unreadable: (at) => at("unreadable") > 0,
  zero: (at) => at("count") > 0 && at("zeros") === at("count"),
} satisfies Record<string, (at: NumberOf) => boolean>;
export type Property = keyof typeof ARE;

/** The values of `is:` about values. */
export const PROPERTIES = Object.keys(ARE) as Property[];

export function isSo(property: Property, at: NumberOf): boolean {
  return ARE[property](at);
}
