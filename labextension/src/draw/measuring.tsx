/** What colours the nodes: the choice, the way to the values, and the scale with its numbers. */

import { useEffect, useRef, useState } from "preact/hooks";
import { percent, short } from "../basics/numbers";
import { LEVELS } from "../basics/scale";
import * as WORDS from "../basics/strings";
import { countWords, formatCount, whyWords } from "../basics/text";
import type { Graph } from "../data/graph";
import {
  isOfComparison,
  isShare,
  MEASURES,
  type MeasureName,
  type Property,
} from "../data/measures";
import type { Tell } from "../kernel/kernel";
import { bytesToRead } from "../layout/changes";
import { allBad, type Bad, scaleOfMeasure } from "../layout/measured";
import type { State } from "../state/state";
import { bytesWords } from "../words/words";
import { Alert } from "./alert";
import type { Dispatch, Showing } from "./props";

export type ReadsValues = ((tell: Tell, signal: AbortSignal) => Promise<void>) | null;

export interface Measuring {
  /** How far the reading is, in words and as a part; null while nothing is read. */
  readonly progress: { readonly words: string; readonly part: number | null } | null;
  readonly problem: string | null;
  /** Reads the values, then colours the nodes; null where there is no kernel. */
  readonly read: ((then?: MeasureName) => void) | null;
  /** Stops the reading; null where only the kernel can. */
  readonly stop: (() => void) | null;
}

const IDLE = { progress: null, problem: null };

export function useMeasuring(read: ReadsValues, canStop: boolean, dispatch: Dispatch): Measuring {
  const controller = useRef<AbortController | null>(null);
  const [now, setNow] = useState<Pick<Measuring, "progress" | "problem">>(IDLE);
  const begin = (then?: MeasureName) => {
    setNow({ progress: { words: "", part: null }, problem: null });
    const tell: Tell = (done, total) => {
      const words = WORDS.doneOf(bytesWords(done), bytesWords(total));
      setNow({ progress: { words, part: done / total }, problem: null });
    };
    const reading = new AbortController();
    controller.current = reading;
    read?.(tell, reading.signal).then(
      () => {
        setNow(IDLE);
        if (then !== undefined) {
          dispatch({ type: "setMeasure", measure: then });
        }
      },
      (error: unknown) =>
        setNow({ progress: null, problem: reading.signal.aborted ? null : whyWords(error) }),
    );
  };
  const stop = canStop ? () => controller.current?.abort() : null;
  return { ...now, stop, read: read === null ? null : begin };
}

interface ColourProps extends Showing {
  readonly measuring: Measuring;
}

/** The choice of a measure, and its scale; nothing where no values can be read. */
export function Colours({ state, measuring, dispatch }: ColourProps) {
  const { graph, measure } = state;
  const { progress, problem, read, stop } = measuring;
  const { measures, overlay } = graph;
  if (measures === null && read === null) {
    return null;
  }
  const names = MEASURES.filter((name) => overlay !== null || !isOfComparison(name));
  const choose = (name: string) => {
    const chosen = names.find((one) => one === name) ?? null;
    if (chosen !== null && measures === null) {
      read?.(chosen);
    } else {
      dispatch({ type: "setMeasure", measure: chosen });
    }
  };
  return (
    <div class="ckv-colours">
      <label title={WORDS.colourHint}>
        {WORDS.colourBy}{" "}
        <select
          value={measure ?? ""}
          disabled={progress !== null}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <option value="">{WORDS.nodeType}</option>
          {names.map((name) => (
            <option key={name} value={name} title={WORDS.measureHints[name]}>
              {WORDS.measures[name]}
            </option>
          ))}
        </select>
      </label>
      {progress === null ? null : (
        <span role="status" title={stop === null ? WORDS.stopHint : undefined}>
          {WORDS.readingValues} <progress value={progress.part ?? undefined} /> {progress.words}
          {stop === null ? null : (
            <button type="button" class="ckv-jump" onClick={stop}>
              {WORDS.stop}
            </button>
          )}
        </span>
      )}
      <Alert words={problem === null ? null : `! ${problem}`} isInline />
      {measures === null || measure === null ? null : <Scale state={state} measure={measure} />}
      {measures === null ? null : <Left {...{ state, measuring, dispatch }} />}
    </div>
  );
}

interface ScaleProps {
  readonly state: State;
  readonly measure: MeasureName;
}

/** The colours from the smallest to the largest number, what zero looks like, and what is broken. */
function Scale({ state: { graph, tree }, measure }: ScaleProps) {
  const { low, high, isCut } = scaleOfMeasure(graph, measure);
  const { nan, inf } = allBad(graph, tree);
  return (
    <>
      <span class="ckv-scale" title={WORDS.measureHints[measure]}>
        {measureWords(measure, low)}
        {Array.from({ length: LEVELS }, (_, level) => (
          <i key={level} class={`ckv-swatch ckv-level-${level + 1}`} />
        ))}
        {measureWords(measure, high)}
        {isCut ? ` ${WORDS.andMore}` : ""} {WORDS.logScale}
      </span>
      <span class="ckv-scale">
        <i class="ckv-swatch ckv-level-0" /> {WORDS.zero}
      </span>
      {nan + inf === 0 ? null : (
        <span class="ckv-scale">
          <BadSign nan={nan} inf={inf} lost={0} />
        </span>
      )}
    </>
  );
}

/** The tensors that were not read or cannot be read, and what to do about them. */
function Left({ state: { graph }, measuring: { progress, read }, dispatch }: ColourProps) {
  const { unread = 0, unreadable = 0 } = graph.measures ?? {};
  const query = `is:${"unreadable" satisfies Property}`;
  return (
    <>
      {unread === 0 ? null : (
        <span class="ckv-error">
          ! {WORDS.unreadTensors(formatCount(unread))}{" "}
          {read === null || progress !== null ? null : (
            <button type="button" class="ckv-jump" onClick={() => read()}>
              {WORDS.readOn}
            </button>
          )}
        </span>
      )}
      {unreadable === 0 ? null : (
        <button
          type="button"
          class="ckv-jump ckv-error"
          title={query}
          onClick={() => dispatch({ type: "search", query })}
        >
          ! {WORDS.unreadableTensors(formatCount(unreadable))}
        </button>
      )}
    </>
  );
}

/** The sign and the word of what is broken in a row. */
export function BadSign(bad: Bad) {
  const { nan, inf, lost } = bad;
  const word = badWord(bad);
  const hints = [
    nan === 0 ? "" : WORDS.elementsWith(WORDS.notANumber, formatCount(nan)),
    inf === 0 ? "" : WORDS.elementsWith(WORDS.infinite, formatCount(inf)),
    lost === 0 ? "" : countWords(lost, ...WORDS.counts.broken),
  ];
  return word === "" ? null : (
    <span class="ckv-bad" title={hints.filter((one) => one !== "").join(", ")}>
      {word}
    </span>
  );
}

export function badWord({ nan, inf, lost }: Bad): string {
  const unread = lost > 999 ? "!" : `! ${formatCount(lost)}`;
  return nan > 0 ? WORDS.notANumber : inf > 0 ? WORDS.infinite : lost > 0 ? unread : "";
}

/** A number of a measure in few letters. */
export function measureWords(name: MeasureName, number: number): string {
  return Number.isNaN(number)
    ? ""
    : isShare(name)
      ? percent(number)
      : name === "nan" || name === "inf"
        ? formatCount(number)
        : short(number);
}

/** A diff reads so many bytes of both sides without a question: a kernel does it within a second. */
const READ_AT_ONCE = 250e6;

/** Reads the values of a diff as soon as it is there, if that takes no longer than a look at it. */
export function useReadAtOnce(graph: Graph, { read }: Measuring): void {
  const canRead = read !== null;
  useEffect(() => {
    if (graph.overlay?.comparison === "diff" && graph.measures === null) {
      if (bytesToRead(graph) <= READ_AT_ONCE) {
        read?.();
      }
    }
  }, [graph.objects ?? graph, canRead]);
}

interface ReadProps {
  readonly graph: Graph;
  readonly measuring: Measuring;
}

/** The button of a diff that reads the values, so that each line says by how much it differs. */
export function ReadValues({ graph, measuring }: ReadProps) {
  const { problem, progress, read, stop } = measuring;
  const { measures } = graph;
  return read === null || measures?.unread === 0 ? null : (
    <>
      <Alert words={problem} isInline />
      {progress === null || stop === null ? null : (
        <button type="button" onClick={stop}>
          {WORDS.stop}
        </button>
      )}
      <button
        type="button"
        class="ckv-restore"
        aria-disabled={progress !== null}
        onClick={() => (progress === null ? read() : undefined)}
      >
        {progress !== null
          ? `${WORDS.readingValues} ${progress.words}`
          : measures === null
            ? WORDS.table.byHowMuch(bytesWords(bytesToRead(graph)))
            : WORDS.readOn}
      </button>
    </>
  );
}

/** What a query about values says before they were read, and the button that reads them. */
export function ReadButton({ measuring }: { readonly measuring: Measuring }) {
  const { progress, read } = measuring;
  return read === null ? null : (
    <button type="button" class="ckv-jump" disabled={progress !== null} onClick={() => read()}>
      {WORDS.readValues}
    </button>
  );
}
