/** Numbers of values in few letters. */

import { formatCount } from "./text";

/** A larger number tells nothing more. */
const MOST_PERCENT = 1_000_000;

/** A share in few letters, as in Python. */
export function percent(share: number): string {
  const number = 100 * share;
  if (number > 99 && number < 100) {
    return `${Math.floor(10 * number) / 10} %`; // only the whole is 100 %
  }
  if (number > MOST_PERCENT && Number.isFinite(number)) {
    return `over ${formatCount(MOST_PERCENT)} %`;
  }
  if (number >= 10) {
    return Number.isFinite(number) ? `${formatCount(Math.round(number))} %` : "∞";
  }
  return number === 0 ? "0 %" : `${Number(number.toPrecision(2))} %`;
}

/** A number of few digits. */
export function short(number: number | undefined | null, digits = 4): string {
  if (number === undefined || number === null || Number.isNaN(number)) {
    return "–";
  }
  if (!Number.isFinite(number)) {
    return number > 0 ? "∞" : "−∞";
  }
  return Math.abs(number) >= 1e5 || (number !== 0 && Math.abs(number) < 1e-4)
    ? number.toExponential(2)
    : String(Number(number.toPrecision(digits)));
}
