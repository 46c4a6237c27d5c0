/** Statistics of values as a table, and their histograms on one axis. */

import type { Histogram, Value } from "../kernel";
import { MEASURES, measureOf, type NumberOf } from "../measures";
import { short } from "../numbers";
import * as WORDS from "../strings";
import { measureWords } from "./measuring";

interface ColumnOfNumbers {
  /** The side of a comparison; "" for a single graph. */
  readonly of: string;
  readonly at: NumberOf;
}

/** A row for each measure that any side has. */
export function NumbersTable({ sides }: { readonly sides: readonly ColumnOfNumbers[] }) {
  const rows = MEASURES.map((name) => ({
    name,
    numbers: sides.map(({ at }) => measureOf(name, at)),
  })).filter(({ numbers }) => numbers.some((number) => !Number.isNaN(number)));
  return rows.length === 0 ? null : (
    <table class="ckv-numbers">
      {sides.some(({ of }) => of !== "") ? (
        <tr>
          <td />
          {sides.map(({ of }, side) => (
            <th key={of} scope="col">
              <i class={`ckv-swatch ckv-side-${side}`} aria-hidden="true" /> {of}
            </th>
          ))}
        </tr>
      ) : null}
      {rows.map(({ name, numbers }) => (
        <tr key={name} title={WORDS.measureHints[name]}>
          <th scope="row">{WORDS.measures[name]}</th>
          {numbers.map((number, side) => (
            <td
              key={side}
              class={(name === "nan" || name === "inf") && number > 0 ? "ckv-error" : undefined}
            >
              {measureWords(name, number)}
            </td>
          ))}
        </tr>
      ))}
    </table>
  );
}

interface StatisticsProps {
  readonly values: readonly Value[];
  /** Whether the view shows the same numbers already. */
  readonly isKnown: boolean;
}

/** The statistics that the kernel sent with the values of a node. */
export function ValueStatistics({ values, isKnown }: StatisticsProps) {
  // A scalar is its own statistics.
  const known = values.filter(({ shape, statistics }) => statistics && shape.length > 0);
  if (known.length === 0) {
    return null;
  }
  const sides = known.map(({ of, name, statistics }) => ({
    of: of || (known.length > 1 ? name : ""),
    at: (column: Parameters<NumberOf>[0]) => statistics?.[column] ?? Number.NaN,
  }));
  return (
    <>
      <Histograms all={known.map(({ histogram }) => histogram ?? null)} />
      {isKnown && known.length === 1 ? null : <NumbersTable sides={sides} />}
    </>
  );
}

const PLOT = { width: 290, height: 74 } as const;

/** Histograms over each other. Their bins differ, so a height is a density. */
function Histograms({ all }: { readonly all: readonly (Histogram | null)[] }) {
  const edges = all.flatMap((one) =>
    one === null ? [] : [one.edges[0] ?? 0, one.edges.at(-1) ?? 0],
  );
  const [low, high] = [Math.min(...edges), Math.max(...edges)];
  if (!(high > low)) {
    return null;
  }
  const densities = all.map((one) => (one === null ? [] : densitiesOf(one)));
  const most = Math.max(...densities.flat());
  const { width, height } = PLOT;
  const x = (value: number) => ((width * (value - low)) / (high - low)).toFixed(1);
  const zero = low < 0 && high > 0 ? x(0) : null;
  const area = (side: number) => {
    const ends = all[side]?.edges ?? [];
    const steps = (densities[side] ?? []).map((density, bin) => {
      const y = (height - ((height - 2) * density) / (most || 1)).toFixed(1);
      return `V${y}H${x(ends[bin + 1] ?? 0)}`;
    });
    return `M${x(ends[0] ?? low)} ${height}${steps.join("")}V${height}Z`;
  };
  return (
    <figure class="ckv-histogram">
      <svg
        viewBox={`0 0 ${width} ${height + 1}`}
        role="img"
        aria-label={WORDS.histogramOf(short(low), short(high))}
      >
        {all.map((one, side) =>
          one === null ? null : <path key={side} class={`ckv-side-${side}`} d={area(side)} />,
        )}
        <path
          class="ckv-axis"
          d={`M0 ${height}H${width}${zero === null ? "" : `M${zero} 0V${height}`}`}
        />
      </svg>
      <figcaption>
        <span>{short(low)}</span>
        {zero === null ? null : <span style={{ left: `${(100 * Number(zero)) / width}%` }}>0</span>}
        <span>{short(high)}</span>
      </figcaption>
    </figure>
  );
}

function densitiesOf({ counts, edges }: Histogram): readonly number[] {
  const all = counts.reduce((sum, count) => sum + count, 0) || 1;
  return counts.map((count, bin) => {
    const size = (edges[bin + 1] ?? 0) - (edges[bin] ?? 0);
    return size > 0 ? count / all / size : 0;
  });
}
