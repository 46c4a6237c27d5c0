/** Numbers and states of a history in words. */

import { percent as inPercent } from "../basics/numbers";
import type { Change } from "./changes";
import * as WORDS from "./strings";

export { short } from "../basics/numbers";

/** A share in few letters; null for one of nothing. */
export function percent(share: number | null): string {
  return share === null ? WORDS.fromZero : inPercent(share);
}

export function changeWords(change: Change): string {
  switch (change.kind) {
    case "exact":
      return change.relative === 0
        ? WORDS.equal
        : change.isFromZero
          ? WORDS.fromNearZero
          : percent(change.relative);
    case "bound":
      return change.isFromZero ? WORDS.fromNearZero : WORDS.atLeast(percent(change.relative));
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
