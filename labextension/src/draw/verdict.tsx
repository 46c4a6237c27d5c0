/**
 * The line at the top of a comparison: its verdict, and the buttons to step through its problems.
 */

import type { ComponentChildren } from "preact";
import type { Verdict } from "../contract";
import type { Overlay } from "../overlay";
import { positionWords, problemSentence, problemsWord, severityWords, verdictSign } from "../signs";
import { isAtProblem, type State } from "../state";
import * as WORDS from "../strings";
import { sentenceText } from "../text";
import { moreWords } from "../words";
import { SignIcon } from "./icons";
import type { Dispatch } from "./props";

const MAX_VERDICTS = 6;

interface VerdictProps {
  readonly state: State;
  readonly dispatch: Dispatch;
}

interface LineProps extends VerdictProps {
  /** What a user can do about the result. */
  readonly button: ComponentChildren;
}

export function VerdictLine({ state, button, dispatch }: LineProps) {
  const { overlay } = state.graph;
  if (overlay === null) {
    return null;
  }
  const { headline, passes, verdicts } = overlay;
  const hidden = verdicts.length - MAX_VERDICTS;
  return (
    <section class="ckv-verdict" aria-label={WORDS.verdict}>
      <p class="ckv-headline" title={sentenceText(headline)}>
        <SignIcon sign={verdictSign(overlay, passes)} />
        <span>{sentenceText(headline)}</span>
      </p>
      {button}
      <ul class="ckv-verdicts">
        {verdicts.slice(0, MAX_VERDICTS).map((verdict, index) => (
          <VerdictChip key={index} overlay={overlay} verdict={verdict} />
        ))}
        {hidden > 0 ? <li>{moreWords(hidden)}</li> : null}
      </ul>
      {state.drawn === "sides" ? null : <Steps state={state} dispatch={dispatch} />}
    </section>
  );
}

interface ChipProps {
  readonly overlay: Overlay;
  readonly verdict: Verdict;
}

function VerdictChip({ overlay, verdict }: ChipProps) {
  const sign = verdictSign(overlay, verdict.passes);
  return (
    <li class={`ckv-tag${verdict.passes ? "" : " ckv-failing"}`}>
      <SignIcon sign={sign} />
      {overlay.comparison === "diff" ? "" : sentenceText(verdict.name)} <b>{sign.word}</b>
    </li>
  );
}

function Steps({ state, dispatch }: VerdictProps) {
  const { graph, problem } = state;
  const { overlay } = graph;
  if (overlay === null || overlay.problemCount === 0) {
    return null;
  }
  const sentence = problem === null ? severityWords(overlay) : problemSentence(overlay, problem);
  return (
    <div class="ckv-steps">
      <StepButtons state={state} dispatch={dispatch} />
      <span class={`ckv-said${isAtProblem(state) ? "" : " ckv-faint"}`} title={sentence}>
        {sentence}
      </span>
    </div>
  );
}

/** The buttons to the previous and the next problem, and to all of them. */
export function StepButtons({ state, dispatch }: VerdictProps) {
  const { graph, problem } = state;
  const { overlay } = graph;
  if (overlay === null || overlay.problemCount === 0) {
    return null;
  }
  const listAll = `${WORDS.listAll} ${problemsWord(overlay, overlay.problemCount)}`;
  return (
    <>
      <button
        type="button"
        title={WORDS.previous}
        aria-label={WORDS.previous}
        onClick={() => dispatch({ type: "stepProblem", by: -1 })}
      >
        ↑
      </button>
      <button
        type="button"
        title={WORDS.next}
        aria-label={WORDS.next}
        onClick={() => dispatch({ type: "stepProblem", by: 1 })}
      >
        ↓
      </button>
      <button
        type="button"
        class="ckv-position"
        title={listAll}
        onClick={() => dispatch({ type: "select", id: null })}
      >
        {positionWords(overlay, problem)}
      </button>
    </>
  );
}
