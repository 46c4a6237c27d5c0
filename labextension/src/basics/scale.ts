/** A logarithmic scale of positive numbers in eight levels, as in Python. */

export interface Scale {
  readonly low: number;
  readonly high: number;
  /** Whether there are larger numbers than the last. */
  readonly isCut: boolean;
}

export const LEVELS = 8;

/**
 * The scale of some numbers, which ends at `most`. Those below a ten thousandth of the largest share
 * its lowest level.
 */
export function scaleOver(numbers: Iterable<number>, most = Number.POSITIVE_INFINITY): Scale {
  let [low, high] = [Number.POSITIVE_INFINITY, 0];
  for (const number of numbers) {
    if (number > 0 && number < Number.POSITIVE_INFINITY) {
      low = Math.min(low, number);
      high = Math.max(high, number);
    }
  }
  const isCut = high > most;
  high = Math.min(high || 1, most);
  return { low: Math.min(high, Math.max(low, high / 1e4)), high, isCut };
}

/** 0 for nothing, 8 for the largest number of the scale and above. */
export function levelOf({ low, high }: Omit<Scale, "isCut">, number: number | undefined): number {
  if (!number) {
    return 0;
  }
  if (number >= high || low >= high) {
    return LEVELS;
  }
  const share = Math.log(Math.max(number, low) / low) / Math.log(high / low);
  return Math.min(LEVELS, 1 + Math.floor(share * LEVELS));
}
