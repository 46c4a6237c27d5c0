/** The parts of an explorer on the page, around the state of its view. */

import { useMemo } from "preact/hooks";
import type { AskAll, Kernel } from "../kernel";
import { positionWords, problemSentence } from "../signs";
import { isAtProblem, type State } from "../state";
import * as WORDS from "../strings";
import type { LoadGraphviz } from "../textbook/engine";
import { chunkCount, chunkLabel, matchWords, sentence } from "../words";
import { Breadcrumbs } from "./breadcrumbs";
import { CauseList } from "./causes";
import { Details } from "./details";
import { Drawing } from "./drawing";
import { Evidence } from "./evidence";
import { Filters } from "./filters";
import { FixButton, FixedCheckLine, PlayButton } from "./fix-button";
import { type Fixing, useFixing } from "./fixing";
import { type Accepting, useAccepting } from "./guesses";
import { Legend } from "./legend";
import type { Typesetter } from "./measure";
import { Colours, type Measuring, type ReadValues, useMeasuring } from "./measuring";
import { Minimap } from "./minimap";
import { type OnRequest, WithExtras } from "./on-request";
import { Outline } from "./outline";
import { HeightHandle, Panes, type Shares } from "./panes";
import type { Dispatch } from "./props";
import { Ribbon } from "./ribbon";
import { QueryMistake } from "./search";
import { TwoSides } from "./sides";
import { Toolbar } from "./toolbar";
import { VerdictLine } from "./verdict";

interface ExplorerProps {
  /** The graph and what it is measured with; null while there is none. */
  readonly shown: { readonly state: State; readonly typesetter: Typesetter } | null;
  readonly problem: string | null;
  readonly note: string | undefined;
  readonly id: string;
  readonly graphviz: LoadGraphviz | undefined;
  readonly kernel: Kernel | null;
  /** Null where nothing can load them: there, no kernel answers either. */
  readonly onRequest: OnRequest | null;
  readonly insert: ((code: string) => void) | null;
  /** Shows the check of the fixed restore, and the way back from it; null if this is not it. */
  readonly showFixedCheck: () => Promise<void>;
  readonly leaveFixedCheck: (() => void) | null;
  /** What answers about the steps of a restore where no kernel does. */
  readonly played: AskAll | null;
  /** The step at which a restore plays, and what goes to another one; null: none plays. */
  readonly step: number | null;
  readonly play: (step: number | null) => void;
  readonly readValues: ReadValues;
  readonly canStop: boolean;
  readonly dispatch: Dispatch;
}

export function Explorer({ shown, problem, ...rest }: ExplorerProps) {
  const message =
    problem === null ? null : (
      <p class="ckv-problem" role="alert">
        {problem}
      </p>
    );
  if (shown === null) {
    return message ?? <p class="ckv-hint">{WORDS.loading}</p>;
  }
  return (
    <>
      {message}
      <Shown key={rest.leaveFixedCheck === null} {...shown} {...rest} />
    </>
  );
}

type ShownProps = Omit<ExplorerProps, "shown" | "problem"> & NonNullable<ExplorerProps["shown"]>;

/** Shares of the width, in percent. */
const SHARES_OF_TREE: Shares = { outline: 30, details: 20 };
const SHARES_OF_SIDES: Shares = { outline: 22, details: 21 };
const SHARES_OF_FIX: Shares = { outline: 20, details: 34 };

function Shown(props: ShownProps) {
  const { state, id, kernel, dispatch } = props;
  // Panning, zooming and a new size, also the drawing's first one, change the drawing alone.
  const { drawn, fix, found, measure, mode, problem, query, rows, selected } = state;
  const isTwoSided = drawn === "sides";
  const accepting = useAccepting(state.graph);
  const fixing = useFixing(state, kernel, accepting, props.onRequest, dispatch);
  const measuring = useMeasuring(props.readValues, props.canStop, dispatch);
  const isFixing = fixing?.isOpen === true;
  const changes = [drawn, fix, found, measure, mode, problem, query, rows, selected];
  const { progress } = measuring;
  const still = useMemo(
    () => ({
      above: <Above {...props} fixing={fixing} measuring={measuring} />,
      outline: isTwoSided ? (
        <CauseList state={state} dispatch={dispatch} />
      ) : (
        <Outline state={state} dispatch={dispatch} id={id} />
      ),
      details: <Right {...props} fixing={fixing} accepting={accepting} />,
      below: <Below state={state} measuring={measuring} dispatch={dispatch} />,
    }),
    [
      ...[...changes, isFixing, fixing?.isWaiting, fixing?.problem, progress, measuring.problem],
      ...[accepting.accepted, props.step === null],
    ],
  );
  if (props.step !== null && props.onRequest !== null) {
    const { play, step } = props;
    const shown = { state, id, extras: null, accepting, dispatch };
    return (
      <>
        {still.above}
        <WithExtras onRequest={props.onRequest}>
          {({ Play }) => (
            <Play
              state={state}
              ask={kernel?.ask ?? props.played}
              hasSources={kernel !== null}
              sides={(played) => <TwoSides {...shown} played={played} />}
              number={step}
              play={play}
              dispatch={dispatch}
            />
          )}
        </WithExtras>
        <HeightHandle />
      </>
    );
  }
  return (
    <>
      {still.above}
      <Panes
        key={`${isTwoSided} ${isFixing}`}
        id={id}
        start={isFixing ? SHARES_OF_FIX : isTwoSided ? SHARES_OF_SIDES : SHARES_OF_TREE}
        tab={isFixing ? "details" : isTwoSided ? "outline" : "drawing"}
        words={isFixing ? WORDS.tabsOfFix : isTwoSided ? WORDS.tabsOfSides : WORDS.tabs}
      >
        {{
          outline: still.outline,
          drawing: <Middle {...props} accepting={accepting} />,
          details: still.details,
        }}
      </Panes>
      {still.below}
    </>
  );
}

/** Whether there is a restore to play; its own steps are what the view asks for later. */
function canPlay({ state, leaveFixedCheck, onRequest }: ShownProps): boolean {
  return (
    state.graph.overlay?.comparison === "check" && onRequest !== null && leaveFixedCheck === null
  );
}

type FixingProps = ShownProps & { readonly fixing: Fixing | null };

function Above(props: FixingProps & { readonly measuring: Measuring }) {
  const { state, typesetter, note, id, fixing, kernel, leaveFixedCheck, play, step, dispatch } =
    props;
  return (
    <>
      <Toolbar
        state={state}
        note={note}
        id={id}
        offersTextbook={props.graphviz !== undefined && props.onRequest !== null}
        kernel={kernel}
        onRequest={props.onRequest}
        typesetter={typesetter}
        dispatch={dispatch}
      />
      <QueryMistake state={state} id={id} measuring={props.measuring} />
      <VerdictLine
        state={state}
        button={
          <>
            {fixing === null || step !== null ? null : (
              <FixButton fix={state.fix} fixing={fixing} />
            )}
            {canPlay(props) ? <PlayButton step={step} play={play} /> : null}
          </>
        }
        dispatch={dispatch}
      />
      {leaveFixedCheck === null ? null : <FixedCheckLine leave={leaveFixedCheck} />}
      <Breadcrumbs state={state} dispatch={dispatch} />
      {fixing?.isOpen === true || step !== null ? null : (
        <Ribbon state={state} dispatch={dispatch} />
      )}
    </>
  );
}

function Middle(props: ShownProps & { readonly accepting: Accepting }) {
  const { state, typesetter, id, graphviz, onRequest, accepting, dispatch } = props;
  if (state.drawn === "sides") {
    const extras = onRequest?.extras ?? null;
    return <TwoSides {...{ state, id, extras, accepting, dispatch }} />;
  }
  return state.drawn === "textbook" && graphviz !== undefined && onRequest !== null ? (
    <WithExtras onRequest={onRequest}>
      {({ Textbook }) => (
        <Textbook state={state} typesetter={typesetter} graphviz={graphviz} dispatch={dispatch} />
      )}
    </WithExtras>
  ) : (
    <>
      <Drawing state={state} typesetter={typesetter} dispatch={dispatch} />
      <Minimap state={state} id={id} dispatch={dispatch} />
    </>
  );
}

/** The evidence of a problem, or the fix; and the facts about the selected node. */
function Right(props: FixingProps & { readonly accepting: Accepting }) {
  const { state, accepting, fixing, insert, kernel, onRequest, showFixedCheck, dispatch } = props;
  const isFixing = fixing?.isOpen === true;
  const evidence =
    state.drawn === "sides" && !isFixing ? (
      <Evidence
        state={state}
        fixing={fixing}
        accepting={accepting}
        insert={insert}
        kernel={kernel}
        dispatch={dispatch}
      />
    ) : undefined;
  const details = (
    <Details
      state={state}
      kernel={kernel}
      onRequest={onRequest}
      dispatch={dispatch}
      evidence={evidence}
    />
  );
  return isFixing && onRequest !== null ? (
    <div class="ckv-fix-and-details">
      <WithExtras onRequest={onRequest}>
        {({ FixPane }) => (
          <FixPane
            state={state}
            fixing={fixing}
            accepting={accepting}
            insert={insert}
            showCheck={showFixedCheck}
          />
        )}
      </WithExtras>
      {state.selected === null ? null : details}
    </div>
  ) : (
    details
  );
}

type BelowProps = Pick<ShownProps, "dispatch" | "state"> & { readonly measuring: Measuring };

function Below({ state, measuring, dispatch }: BelowProps) {
  return (
    <>
      <div class="ckv-foot">
        <Filters state={state} dispatch={dispatch} />
        <Legend state={state} dispatch={dispatch} />
        <Colours state={state} measuring={measuring} dispatch={dispatch} />
      </div>
      <div class="ckv-live" role="status" aria-live="polite">
        {announcement(state)}
      </div>
      <HeightHandle />
    </>
  );
}

/** The text for a screen reader: matches, the current problem, the selected node. */
function announcement(state: State): string {
  const { graph, problem, selected } = state;
  const { overlay } = graph;
  const matches = matchWords(state.found, selected);
  const chunk = selected === null ? null : state.tree.chunk(selected);
  const selection =
    chunk !== null
      ? `${chunkLabel(graph, chunk)}, ${chunkCount(chunk)}`
      : selected === null
        ? ""
        : sentence(graph, selected);
  const node = [matches, selection].filter((words) => words !== "").join(": ");
  return overlay === null || problem === null || !isAtProblem(state)
    ? node
    : `${positionWords(overlay, problem)}: ${problemSentence(overlay, problem)} ${node}`;
}
