/** The parts of an explorer on the page, around the state of its view. */

import { useMemo, useState } from "preact/hooks";
import type { Graph } from "../graph";
import type { Kernel } from "../kernel";
import { positionWords, problemSentence } from "../signs";
import { isAtProblem, type State } from "../state";
import * as WORDS from "../strings";
import type { LoadGraphviz } from "../textbook/engine";
import { chunkCount, chunkLabel, matchWords, sentence } from "../words";
import { type Accepting, useAccepting } from "./accepting";
import { Breadcrumbs } from "./breadcrumbs";
import { CauseList } from "./causes";
import { Details } from "./details";
import { Drawing } from "./drawing";
import { Evidence } from "./evidence";
import { Filters } from "./filters";
import { FixButton, ViewButton } from "./fix-button";
import { type Fixing, useFixing } from "./fixing";
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
  /** Shows another check in place of this one: that of the fixed restore or a changed program. */
  readonly showOther: ShowOther;
  /** The way back from the check of the fixed restore; null if this is not it. */
  readonly leaveFixedCheck: (() => void) | null;
  /** The check that the host has sent, and what answers about it. */
  readonly own: { readonly graph: Graph | null; readonly kernel: Kernel | null };
  /** Counts the checks that were shown in place of it; 0 for that check itself. */
  readonly other: number;
  /** The answer about the steps of a restore, packed, where no kernel answers. */
  readonly played: string | null;
  /** The step at which a restore plays, and what goes to another one; null: none plays. */
  readonly step: number | null;
  readonly play: (step: number | null) => void;
  readonly readValues: ReadValues;
  readonly canStop: boolean;
  readonly dispatch: Dispatch;
}

/** `about` goes along with all questions, null: nothing answers. Without bytes, shows the own check. */
export type ShowOther = (
  bytes: Uint8Array | null,
  about: object | null,
  node?: number | null,
) => Promise<void>;

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
  const [isChanging, setChanging] = useState(false);
  const toggle = () => {
    setChanging(!isChanging);
    void props.showOther(null, null);
  };
  const changing = canChange(props) ? { isOpen: isChanging, toggle } : null;
  const changes = [drawn, fix, found, measure, mode, problem, query, rows, selected];
  const { progress } = measuring;
  const still = useMemo(
    () => ({
      above: <Above {...props} {...{ fixing, measuring, changing }} />,
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
      ...[accepting.accepted, props.step === null, isChanging, props.other],
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
              key={props.other}
              before={beforeChange(props)}
              state={state}
              ask={kernel?.ask ?? null}
              stored={props.played}
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
  return state.graph.overlay?.hasSteps === true && onRequest !== null && leaveFixedCheck === null;
}

/** The check before its program was changed; null for that check itself. */
function beforeChange({ other, own: { graph, kernel } }: ShownProps) {
  return other > 0 && graph !== null && kernel !== null ? { graph, ask: kernel.ask } : null;
}

/** Whether there is a program to change: a kernel answers, and the check is not that of a fix. */
function canChange(props: ShownProps): boolean {
  return canPlay(props) && props.own.kernel !== null;
}

type FixingProps = ShownProps & { readonly fixing: Fixing | null };

interface AboveProps extends FixingProps {
  readonly measuring: Measuring;
  readonly changing: { readonly isOpen: boolean; readonly toggle: () => void } | null;
}

function Above(props: AboveProps) {
  const { state, typesetter, note, id, fixing, kernel, leaveFixedCheck, play, step, dispatch } =
    props;
  const { changing, insert, onRequest, other, own, showOther } = props;
  const ask = own.kernel?.ask;
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
      {state.found.matches.length > 0 && step === null ? actions(props, null) : null}
      <VerdictLine
        state={state}
        button={
          <>
            {fixing === null || step !== null || other > 0 ? null : (
              <FixButton fix={state.fix} fixing={fixing} />
            )}
            {canPlay(props) ? (
              <ViewButton
                part="play"
                isOpen={step !== null}
                toggle={() => play(step === null ? 1 : null)}
              />
            ) : null}
            {changing === null ? null : <ViewButton part="change" {...changing} />}
          </>
        }
        dispatch={dispatch}
      />
      {changing?.isOpen === true && onRequest !== null && ask !== undefined ? (
        <WithExtras onRequest={onRequest} key={own.graph}>
          {({ ChangeStrip }) => <ChangeStrip {...{ state, ask, showOther, insert, play }} />}
        </WithExtras>
      ) : null}
      {leaveFixedCheck && onRequest?.extras && state.graph.overlay ? (
        <onRequest.extras.OtherLine of={state.graph.overlay.comparison} leave={leaveFixedCheck} />
      ) : null}
      <Breadcrumbs state={state} dispatch={dispatch} />
      {fixing?.isOpen === true || step !== null ? null : (
        <Ribbon state={state} dispatch={dispatch} />
      )}
    </>
  );
}

/** What the kernel can do with a node, or with the matches of the search. */
function actions(props: ShownProps, node: number | null) {
  const { kernel, onRequest } = props;
  return kernel === null || onRequest === null ? null : (
    <WithExtras onRequest={onRequest}>
      {({ Actions }) => <Actions {...props} kernel={kernel} node={node} />}
    </WithExtras>
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
  const { state, accepting, fixing, insert, kernel, onRequest, showOther, dispatch } = props;
  const isFixing = fixing?.isOpen === true;
  const evidence =
    state.drawn === "sides" && !isFixing ? (
      <Evidence
        state={state}
        fixing={fixing}
        accepting={accepting}
        insert={insert}
        kernel={kernel}
        onRequest={onRequest}
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
      actions={actions(props, state.selected)}
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
            showCheck={async () => showOther((await kernel?.fixedCheck()) ?? null, null)}
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
