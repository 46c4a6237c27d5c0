/** A logarithmic scale of positive numbers in eight levels, as in Python. */

export interface Scale {
  readonly low: number;
  readonly high: number;
}

export const LEVELS = 8;

/** The scale of some numbers; those below a ten thousandth of the largest share its lowest level. */
export function scaleOver(numbers: Iterable<number>): Scale {
  let [low, high] = [Number.POSITIVE_INFINITY, 0];
  for (const number of numbers) {
    if (number > 0 && Number.isFinite(number)) {
      low = Math.min(low, number);
      high = Math.max(high, number);
    }
  }
  high ||= 1;
  return { low: Math.min(high, Math.max(low, high / 1e4)), high };
}

/** 0 for nothing, 8 for the largest number of the scale and above. */
export function levelOf({ low, high }: Scale, number: number | undefined): number {
  if (!number) {
    return 0;
  }
  if (number >= high || low >= high) {
    return LEVELS;
  }
  const share = Math.log(Math.max(number, low) / low) / Math.log(high / low);
  return Math.min(LEVELS, 1 + Math.floor(share * LEVELS));
}
