/** Histograms over each other, in the explorer and in the view of a history. */

import { short } from "../basics/numbers";
import type { Histogram } from "../kernel/kernel";

const PLOT = { width: 290, height: 74 } as const;

interface HistogramsProps {
  /** By side; null for a side without one. */
  readonly all: readonly (Histogram | null)[];
  /** What a screen reader says. */
  readonly label: (low: string, high: string) => string;
}

/** Histograms on one axis, or null if there is nothing to draw. */
export function histograms({ all, label }: HistogramsProps) {
  const known = all.filter((one) => one !== null);
  const edges = known.flatMap((one) => [one.edges[0] ?? 0, one.edges.at(-1) ?? 0]);
  const [low, high] = [Math.min(...edges), Math.max(...edges)];
  if (!(high > low)) {
    return null;
  }
  const most = Math.max(...known.flatMap(densities));
  const { width, height } = PLOT;
  const x = (value: number) => (width * (value - low)) / (high - low);
  const zero = low < 0 && high > 0 ? x(0) : null;
  const axis = `M0 ${height}H${width}${zero === null ? "" : `M${zero} 0V${height}`}`;
  return (
    <figure class="ckv-histogram">
      <svg
        viewBox={`0 0 ${width} ${height + 1}`}
        role="img"
        aria-label={label(short(low), short(high))}
      >
        {all.map((one, side) =>
          one === null ? null : (
            <path key={side} class={`ckv-side-${side}`} d={area(one, x, most)} />
          ),
        )}
        <path class="ckv-axis" d={axis} />
      </svg>
      <figcaption>
        <span>{short(low)}</span>
        {zero === null ? null : <span style={{ left: `${(100 * zero) / width}%` }}>0</span>}
        <span>{short(high)}</span>
      </figcaption>
    </figure>
  );
}

/** The bins of histograms differ, so a height is a density. */
function densities({ counts, edges }: Histogram): readonly number[] {
  const all = counts.reduce((sum, count) => sum + count, 0) || 1;
  return counts.map((count, bin) => {
    const size = (edges[bin + 1] ?? 0) - (edges[bin] ?? 0);
    return size > 0 ? count / all / size : 0;
  });
}

/** The outline of a histogram as an SVG path. */
export function area(histogram: Histogram, x: (value: number) => number, most: number): string {
  const { edges } = histogram;
  const { height } = PLOT;
  const steps = densities(histogram).map((density, bin) => {
    const y = (height - (height - 2) * (most > 0 ? density / most : 0)).toFixed(1);
    return `V${y}H${x(edges[bin + 1] ?? 0).toFixed(1)}`;
  });
  return `M${x(edges[0] ?? 0).toFixed(1)} ${height}${steps.join("")}V${height}Z`;
}
