/** Numbers and states of a history in words. */

import { formatCount } from "../text";
import type { Change } from "./changes";
import * as WORDS from "./strings";

/** A share in few letters, as in Python. */
export function percent(share: number | null): string {
  if (share === null) {
    return WORDS.fromZero;
  }
  const number = 100 * share;
  if (number >= 10) {
    return `${formatCount(Math.round(number))} %`;
  }
  return number === 0 ? "0 %" : `${Number(number.toPrecision(2))} %`;
}

/** A number of at most four digits. */
export function short(number: number | undefined | null): string {
  if (number === undefined || number === null) {
    return "–";
  }
  return Math.abs(number) >= 1e5 || (number !== 0 && Math.abs(number) < 1e-4)
    ? number.toExponential(2)
    : String(Number(number.toPrecision(4)));
}

export function changeWords(change: Change): string {
  switch (change.kind) {
    case "exact":
      return change.relative === 0 ? WORDS.equal : percent(change.relative);
    case "bound":
      return WORDS.atLeast(percent(change.relative));
    case "bad":
      return change.what;
    default:
      return PHRASES[change.kind];
  }
}

const PHRASES = {
  new: WORDS.notInA,
  gone: WORDS.notInB,
  reshaped: WORDS.reshaped,
  damaged: WORDS.damaged,
  unread: WORDS.unread,
  waiting: WORDS.waiting,
  absent: WORDS.inNeither,
} as const;

export function shapeOf(shape: readonly number[] | null): string {
  return shape === null ? "" : shape.length === 0 ? WORDS.scalar : shape.join("×");
}
