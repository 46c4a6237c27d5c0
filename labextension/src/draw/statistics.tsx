/** Statistics of values as a table, and their histograms on one axis. */

import * as WORDS from "../basics/strings";
import { MEASURES, measureOf, type NumberOf } from "../data/measures";
import type { Value } from "../kernel/kernel";
import { histograms } from "./histogram";
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
  const all = known.map(({ histogram }) => histogram ?? null);
  const sides = known.map(({ of, name, statistics }) => ({
    of: of || (known.length > 1 ? name : ""),
    at: (column: Parameters<NumberOf>[0]) => statistics?.[column] ?? Number.NaN,
  }));
  return (
    <>
      {histograms({ all, label: WORDS.histogramOf })}
      {isKnown && known.length === 1 ? null : <NumbersTable sides={sides} />}
    </>
  );
}
