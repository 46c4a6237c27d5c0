/**
 * The rows of a history that match a query, in the grammar of the explorer's search as far as it fits
 * (docs/history.md). Measures are those of b, and a change is that from a to b.
 */

import { isSo, type MeasureName, type NumberOf, PROPERTIES } from "../data/measures";
import { comparison, likeOf } from "../search/amounts";
import { MEASURE_KINDS } from "../search/grammar";
import { BLANK_OR_END, BLANKS, FIELD_NAME, Mistake, Reader } from "../search/syntax";
import { amountOf, type Change } from "./changes";
import { isBroken, type Row, type Statistic } from "./data";
import * as WORDS from "./strings";

export interface Measured {
  readonly row: Row;
  readonly change: Change;
}

export type Test = (measured: Measured) => boolean;

export interface Query {
  readonly isMatch: Test;
  readonly mistake: Mistake | null;
}

/** Reads a query about the checkpoint with number b. A query with a mistake matches all rows. */
export function readQuery(query: string, b: number): Query {
  const reader = new Reader(query);
  const tests: Test[] = [];
  try {
    while (reader.hasMore()) {
      const isNot = reader.take(`-(?!-|${BLANK_OR_END})`) !== null;
      const test = term(reader, b);
      tests.push(isNot ? (one) => !test(one) : test);
    }
  } catch (error) {
    if (error instanceof Mistake) {
      return { isMatch: () => true, mistake: error };
    }
    throw error;
  }
  return { isMatch: (one) => tests.every((test) => test(one)), mistake: null };
}

/** The rows that match; all of them if the query has a mistake, or asks for what is not computed. */
export function matching<One extends Measured>(
  { isMatch, mistake }: Query,
  rows: readonly One[],
): { readonly found: readonly One[]; readonly mistake: Mistake | null } {
  try {
    return { found: rows.filter(isMatch), mistake };
  } catch (error) {
    if (error instanceof Mistake) {
      return { found: rows, mistake: error };
    }
    throw error;
  }
}

function term(reader: Reader, b: number): Test {
  const start = reader.place;
  if (reader.text[start] === '"') {
    return byWord(reader.value());
  }
  const name = reader.take(FIELD_NAME)?.[0].toLowerCase();
  if (name === "is" && reader.take(":") !== null) {
    return byProperty(reader, b);
  }
  const measure = MEASURE_KINDS.find(
    ([one]) => one === name || (one === "change" && name === "changed"),
  );
  if (measure !== undefined) {
    const [field, kind] = measure;
    const fits = comparison(reader, name ?? field, kind, likeOf(kind));
    return (one) => {
      if (field === "largest" && isUncomputed(one.change)) {
        throw new Mistake(start, WORDS.computedFirst);
      }
      return fits(measured(field, one, b));
    };
  }
  reader.take(`[^${BLANKS}]+`);
  return byWord(reader.text.slice(start, reader.place).toLowerCase());
}

function byWord(word: string): Test {
  return ({ row }) => `${row.place}\n${row.key}\n${row.name}`.toLowerCase().includes(word);
}

function byProperty(reader: Reader, b: number): Test {
  const { place } = reader;
  const value = reader.value();
  const property = PROPERTIES.find((one) => one === value);
  switch (property) {
    case undefined:
      return reader.fail(place, WORDS.oneOf(PROPERTIES.join(", ")));
    case "unchanged":
      return ({ change, row }) => !row.is_state && amountOf(change) === 0;
    case "zero":
      return ({ row }) => isSo(property, numbersOf(row, b));
    case "unreadable":
      return ({ row }) => row.cells.some(({ state }) => state === "damaged");
    default:
      // A NaN is worth finding in whatever checkpoint it is.
      return ({ row }) => row.cells.some((cell) => isBroken(cell)?.toLowerCase() === property);
  }
}

function measured(name: MeasureName, { row, change }: Measured, b: number): number {
  switch (name) {
    case "change": {
      const amount = amountOf(change);
      return amount < 0 ? Number.NaN : amount;
    }
    case "largest":
      return change.kind === "exact" ? (change.maxAbs ?? Number.NaN) : Number.NaN;
    case "zeros":
      return numbersOf(row, b)("zeros") / numbersOf(row, b)("count");
    default:
      return numbersOf(row, b)(name);
  }
}

/** Whether only the kernel can tell the largest change of an element. */
function isUncomputed(change: Change): boolean {
  return change.kind === "bound" || (change.kind === "exact" && change.maxAbs === null);
}

/** The statistics of a row at a checkpoint, under the names of the explorer's measures. */
function numbersOf({ cells, shape }: Row, time: number): NumberOf {
  const values = cells[time]?.values;
  return (name) =>
    name === "count"
      ? (shape ?? []).reduce((product, size) => product * size, 1)
      : (values?.[(name === "norm" ? "l2" : name) as Statistic] ?? Number.NaN);
}
