/** The numbers of a query: `>5%`, `<=1MB`. ckpt_viz/graphs/search/fields.py reads them in the same way. */

import { type Kind, UNITS } from "./grammar";
import { BLANK_OR_END, BLANKS, type Reader } from "./syntax";

const NUMBER = `(-?(?:[0-9]{1,20}(?:\\.[0-9]{0,20})?|\\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?)([A-Za-z%]*)${BLANK_OR_END}`;
const COMPARE: Readonly<Record<string, (found: number, wanted: number) => boolean>> = {
  ">": (found, wanted) => found > wanted,
  "<": (found, wanted) => found < wanted,
  ">=": (found, wanted) => found >= wanted,
  "<=": (found, wanted) => found <= wanted,
  "=": (found, wanted) => found === wanted,
};

/** Numbers to write for a measure of values. */
export function likeOf(kind: Kind): string {
  return kind === "share" ? "5% or 0.05" : "10 or 1e-6";
}

/** What follows the name of an amount, as a test: a sign, and a number with a unit of this kind. */
export function comparison(
  reader: Reader,
  field: string,
  kind: Kind,
  like: string,
): (amount: number) => boolean {
  const [, sign = ""] =
    reader.take(`[${BLANKS}]*([<>]=?|=)[${BLANKS}]*`) ??
    reader.fail(reader.place, `one of > < >= <= = after ${field}`);
  const { place } = reader;
  const [, digits, unit = ""] = reader.take(NUMBER) ?? [];
  const units = UNITS[kind];
  const worth = Object.hasOwn(units, unit.toLowerCase()) ? units[unit.toLowerCase()] : undefined;
  const wanted = Number(digits) * (worth ?? Number.NaN);
  if (!Number.isFinite(wanted)) {
    reader.fail(place, `a number like ${like}`);
  }
  return (amount) => COMPARE[sign]?.(amount, wanted) === true;
}
