/** What the details show before anything is selected: the graph in a few numbers. */

import * as WORDS from "../basics/strings";
import { countWords, formatCount, visible } from "../basics/text";
import type { Graph } from "../data/graph";
import { ROOT } from "../data/graph";
import type { Kernel } from "../kernel/kernel";
import { summaryOf } from "../layout/summary";
import { parametersOf, sizeOf } from "../layout/totals";
import { freezing, TRAINED_OR_NOT, trainingsOf } from "../layout/training";
import {
  bytesWords,
  moreWords,
  notTrackedNames,
  percentWords,
  rowLabel,
  typeWords,
} from "../words/words";
import { Fact } from "./facts";
import { going } from "./jump";
import { type OnRequest, WithExtras } from "./on-request";
import type { Dispatch, Showing } from "./props";

const MAX_OPTIMIZERS = 4;
const MAX_DTYPES = 6;
const MAX_NOTES = 4;

interface SummaryProps extends Showing {
  readonly kernel: Kernel | null;
  readonly onRequest: OnRequest | null;
}

export function GraphSummary({ state, kernel, onRequest, dispatch }: SummaryProps) {
  const { graph } = state;
  const summary = summaryOf(graph);
  const all = parametersOf(graph, ROOT);
  return (
    <div class="ckv-facts ckv-summary">
      <h3 class="ckv-node-name">{WORDS.summary}</h3>
      <dl class="ckv-value">
        <Fact term={WORDS.columns.parameters}>
          {formatCount(all)}
          <TrainingWords graph={graph} />
        </Fact>
        <Fact term={WORDS.variables}>{formatCount(summary.variables)}</Fact>
        <Fact term={WORDS.columns.size}>
          {bytesWords(sizeOf(graph, ROOT).withSlots ?? 0)}
          {summary.slots === 0
            ? ""
            : `, ${WORDS.including} ${countWords(summary.slots, ...WORDS.counts.slots)}`}
        </Fact>
        <Fact term={WORDS.columns.dtype}>{dtypeWords(summary.dtypes)}</Fact>
      </dl>
      <Freezing graph={graph} dispatch={dispatch} />
      <Optimizers graph={graph} ids={summary.optimizers} {...{ kernel, onRequest, dispatch }} />
      <Warnings {...summary} dispatch={dispatch} />
      <NotTracked graph={graph} rows={summary.notes} dispatch={dispatch} />
      <Largest graph={graph} rows={summary.largest} dispatch={dispatch} />
    </div>
  );
}

/** How many parameters are trained, frozen, never trained: as signs and words. */
function TrainingWords({ graph }: { readonly graph: Graph }) {
  const of = trainingsOf(graph, ROOT);
  const kinds = TRAINED_OR_NOT.filter((kind) => of !== null && of[kind] > 0);
  return (
    <>
      {kinds.map((kind) => (
        <div key={kind}>
          <i class={`ckv-training ckv-training-${kind.split(" ")[0]}`} aria-hidden="true" />{" "}
          {formatCount(of?.[kind] ?? 0)} {WORDS.training[kind]}
        </div>
      ))}
    </>
  );
}

/** Which layers freeze what is below them. */
function Freezing({ graph, dispatch }: Omit<RowsProps, "rows">) {
  return (
    <>
      {freezing(graph)
        .slice(0, MAX_NOTES)
        .map((row) => (
          <p key={row}>
            <RowLink graph={graph} row={row} dispatch={dispatch} />{" "}
            {WORDS.freezes(formatCount(trainingsOf(graph, row)?.frozen ?? 0))}
          </p>
        ))}
    </>
  );
}

function dtypeWords(dtypes: readonly (readonly [string, number])[]): string {
  const words = dtypes
    .slice(0, MAX_DTYPES)
    .map(([dtype, count]) => `${dtype} ${formatCount(count)}`);
  return words.join(", ") || WORDS.noValues;
}

interface OptimizersProps extends Omit<SummaryProps, "state"> {
  readonly graph: Graph;
  readonly ids: readonly number[];
}

/** The optimizers, each with its step if a kernel can tell it. */
function Optimizers({ graph, ids, kernel, onRequest, dispatch }: OptimizersProps) {
  return (
    <>
      {ids.slice(0, MAX_OPTIMIZERS).map((id) => {
        const step = stepOf(graph, id);
        return (
          <div key={id}>
            <h4>{visible(typeWords(graph, id)) || WORDS.optimizerWord}</h4>
            <p>
              <RowLink graph={graph} row={id} dispatch={dispatch} />
              {step === null ? null : (
                <>
                  {", "}
                  <RowLink graph={graph} row={step} dispatch={dispatch} />
                </>
              )}
            </p>
            {step === null || kernel === null ? null : (
              <WithExtras onRequest={onRequest}>
                {({ Values }) => (
                  <Values {...{ graph, kernel }} id={step} name={visible(graph.label(step))} />
                )}
              </WithExtras>
            )}
          </div>
        );
      })}
    </>
  );
}

/** The variable that counts an optimizer's steps: its only integer scalar. */
function stepOf(graph: Graph, optimizer: number): number | null {
  const counters = Array.from(graph.treeChildren(optimizer)).filter((id) => {
    const [only, ...others] = id < graph.size ? graph.attributes(id) : [];
    return (
      others.length === 0 && only?.shape?.length === 0 && only.dtype?.startsWith("int") === true
    );
  });
  return counters.length === 1 ? (counters[0] ?? null) : null;
}

interface WarningsProps {
  readonly broken: number;
  readonly unsaved: number;
  readonly dispatch: Dispatch;
}

function Warnings({ broken, unsaved, dispatch }: WarningsProps) {
  const found = [
    { count: broken, words: countWords(broken, ...WORDS.counts.broken), query: "is:error" },
    { count: unsaved, words: countWords(unsaved, ...WORDS.counts.unsaved), query: "is:unsaved" },
  ].filter(({ count }) => count > 0);
  return (
    <>
      {found.map(({ words, query }) => (
        <p key={query} class="ckv-warning">
          ! {words} <Search query={query} dispatch={dispatch} />
        </p>
      ))}
    </>
  );
}

interface RowsProps {
  readonly graph: Graph;
  readonly rows: readonly number[];
  readonly dispatch: Dispatch;
}

function Largest({ graph, rows, dispatch }: RowsProps) {
  const all = parametersOf(graph, ROOT);
  return rows.length === 0 ? null : (
    <>
      <h4>{WORDS.largest}</h4>
      <ol class="ckv-largest">
        {rows.map((row) => (
          <li key={row}>
            <RowLink graph={graph} row={row} dispatch={dispatch} />
            <span class="ckv-number">{formatCount(parametersOf(graph, row))}</span>
            <span class="ckv-share">
              {percentWords(parametersOf(graph, row) / Math.max(all, 1))}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** What a save leaves out without a loss: a line, which opens to the nodes that hold it. */
function NotTracked({ graph, rows, dispatch }: RowsProps) {
  return rows.length === 0 ? null : (
    <details class="ckv-aside">
      <summary>{WORDS.notTrackedIn(countWords(rows.length, ...WORDS.counts.objects))}</summary>
      {rows.slice(0, MAX_NOTES).map((row) => (
        <div key={row}>
          <RowLink graph={graph} row={row} dispatch={dispatch} /> ({notTrackedNames(graph, row)})
        </div>
      ))}
      {rows.length > MAX_NOTES ? moreWords(rows.length - MAX_NOTES) : ""}
    </details>
  );
}

function Search({ query, dispatch }: { readonly query: string; readonly dispatch: Dispatch }) {
  return (
    <button type="button" class="ckv-query" onClick={() => dispatch({ type: "search", query })}>
      {query}
    </button>
  );
}

/** A row by its name. The lines of a path end between its names, those of a name between words. */
function RowLink({ graph, row, dispatch }: Omit<RowsProps, "rows"> & { readonly row: number }) {
  const label = rowLabel(graph, row);
  const words = label.includes(" ") ? [label] : label.split(/(?<=[_./])/);
  return (
    <button type="button" class="ckv-jump" onClick={going(dispatch, { type: "select", id: row })}>
      {words.flatMap((word, place) => [word, <wbr key={place} />])}
    </button>
  );
}
