/** The selected variable: its values in a and b, its findings and its key. */

import { shortened, visible } from "../basics/text";
import { Copy } from "../draw/copy";
import { histograms } from "../draw/histogram";
import { type Cell, isBroken, type Row, type Statistic } from "./data";
import { Findings, pathOf, type Restoring } from "./remedy";
import type { Shown, State } from "./state";
import * as WORDS from "./strings";
import { Place } from "./table";
import { type AskWhere, useWhere, WhereChanged } from "./where";
import { changeWords, percent, shapeOf, short } from "./words";

interface DetailsProps {
  readonly state: State;
  readonly shown: Shown | null;
  /** The cells with their histograms; null while the kernel is asked. */
  readonly cells: readonly Cell[] | null;
  /** Asks the kernel for the changes from a to b; null without a kernel. */
  readonly compute: (() => void) | null;
  readonly ask: AskWhere | undefined;
  readonly restoring: Restoring;
}

export function Details({ shown, ...rest }: DetailsProps) {
  return (
    <section class="ckh-details" aria-label={WORDS.details}>
      {shown === null ? (
        <p class="ckh-faint">{WORDS.nothingSelected}</p>
      ) : (
        <Variable shown={shown} {...rest} />
      )}
    </section>
  );
}

interface VariableProps extends DetailsProps {
  readonly shown: Shown;
}

function Variable({ state, shown, cells, compute, ask, restoring }: VariableProps) {
  const { number, row, change } = shown;
  const { history, a, b } = state;
  const [before, after] = [cells?.[a], cells?.[b]];
  const where = useWhere(number, row, a, b, ask);
  const exact = change.kind === "exact" ? change : null;
  const [place, largest] = [exact?.at ?? where.map?.at, exact?.maxAbs ?? where.map?.max_abs];
  const at = place === undefined || place.length === 0 ? null : `[${place.join(", ")}]`;
  const max = largest === undefined ? null : short(largest);
  const told = Math.abs(a - b) === 1 ? row.cells[Math.max(a, b)] : state.between?.[number];
  const leftOut = told?.left_out ?? 0;
  return (
    <>
      <h3>
        <Place place={visible(row.place)} />
      </h3>
      <p class="ckh-faint">
        {shapeOf(row.shape)} {row.dtype}
      </p>
      {row.shape?.length === 0 ? null : cells === null ? (
        <p class="ckh-faint">{WORDS.asking}</p>
      ) : (
        (histograms({
          all: [before?.values?.histogram ?? null, after?.values?.histogram ?? null],
          label: (low, high) => `${WORDS.histogram}, ${WORDS.range(low, high)}`,
        }) ?? <p class="ckh-faint">{WORDS.noHistogram}</p>)
      )}
      <Statistics state={state} row={row} />
      <p>
        {history.distances === null && exact !== null && exact.relative !== 0
          ? WORDS.relativeChange(percent(exact.relative))
          : changeWords(change)}
        {max === null || at === null ? "" : ` · ${WORDS.maxAt(max, at)}`}
      </p>
      {leftOut === 0 ? null : (
        <p class="ckh-alarm">
          {WORDS.leftOut(leftOut)}{" "}
          {change.kind === "bad" && a < b && told?.relative !== undefined
            ? WORDS.othersChange(percent(told.relative))
            : ""}
        </p>
      )}
      {change.kind === "bound" && compute !== null ? (
        <button type="button" class="ckh-button" onClick={compute}>
          {WORDS.compute}
        </button>
      ) : null}
      {a === b ? null : (
        <WhereChanged
          {...{ where, row }}
          hasKernel={ask !== undefined}
          isCompared={history.distances !== null}
        />
      )}
      <Findings {...{ history, row, restoring }} />
      <Path keyOfRow={row.key} />
    </>
  );
}

/** The steps from the root of the checkpoint to the variable. */
function Path({ keyOfRow }: { readonly keyOfRow: string }) {
  const path = pathOf(keyOfRow);
  return (
    <>
      <h4>{path.length === 1 && path[0] === keyOfRow ? WORDS.name : WORDS.path}</h4>
      <p class="ckh-key">
        <code title={visible(keyOfRow)}>
          {path.map((step, place) => (
            <>
              {place === 0 ? null : <span class="ckh-faint"> › </span>}
              <span class={/^(_.*|\d+)$/.test(step) && place < path.length - 1 ? "ckh-faint" : ""}>
                {shortened(visible(step), MAX_NAME)}
              </span>
            </>
          ))}
        </code>
        <Copy what={WORDS.keyWhat} text={keyOfRow} />
      </p>
    </>
  );
}

const MAX_NAME = 60;
const STATISTICS: readonly Statistic[] = ["l2", "mean", "std", "min", "max", "nan", "inf"];

function Statistics({ state, row }: { readonly state: State; readonly row: Row }) {
  const ends = [state.a, state.b].map((time) => row.cells[time]);
  const titles = [state.a, state.b].map((time) => state.history.checkpoints[time]?.title ?? "");
  return (
    <table>
      <thead>
        <tr>
          <td />
          {titles.map((title, end) => (
            <th key={end} scope="col" title={visible(title)}>
              <span class={`ckh-swatch ckh-swatch-${"ab"[end]}`} aria-hidden="true" />
              {"ab"[end]} {shortened(visible(title), 14)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {STATISTICS.map((name) => (
          <tr key={name}>
            <th scope="row">{WORDS.statistics[name]}</th>
            {ends.map((cell, end) => {
              const isAlarm = (name === "nan" || name === "inf") && isBroken(cell) !== null;
              const value = cell?.values?.[name];
              return (
                <td key={end} class={isAlarm && value ? "ckh-alarm" : ""}>
                  {short(value)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
