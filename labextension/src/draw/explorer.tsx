/** The parts of an explorer on the page, around the state of its view. */

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import type { Graph } from "../data/graph";
import type { Table } from "../data/table";
import type { Kernel } from "../kernel/kernel";
import type { State } from "../state/state";
import type { LoadGraphviz } from "../textbook/engine";
import { chunkCount, chunkLabel, matchWords, sentence } from "../words/words";
import { type Accepting, restoredWith, useAccepting } from "./accepting";
import { Alert } from "./alert";
import { Breadcrumbs } from "./breadcrumbs";
import { RestoreButton, ViewButton } from "./check-buttons";
import { CheckHead } from "./check-head";
import { CodePane, shortCode } from "./code-pane";
import { Copy } from "./copy";
import { Details } from "./details";
import { Drawing } from "./drawing";
import { Legend } from "./legend";
import { LineDetails } from "./line-details";
import type { Typesetter } from "./measure";
import {
  Colours,
  type Measuring,
  type ReadsValues,
  ReadValues,
  useMeasuring,
  useReadAtOnce,
} from "./measuring";
import { Minimap } from "./minimap";
import { type OnRequest, WithExtras } from "./on-request";
import { Outline } from "./outline";
import { HeightHandle, Panes, type Shares } from "./panes";
import type { Part } from "./parts";
import type { Dispatch, ShowChanged } from "./props";
import { type Restoring, useRestoring } from "./restoring";
import { Ribbon } from "./ribbon";
import { QueryMistake } from "./search";
import { CheckTable, type LineField, type PlayedColumn } from "./table";
import { TableRibbon } from "./table-ribbon";
import { Toolbar } from "./toolbar";

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
  readonly showChanged: ShowChanged;
  /** The check that the host has sent, and what answers about it. */
  readonly own: { readonly graph: Graph | null; readonly kernel: Kernel | null };
  /** Counts the checks that were shown in place of it; 0 for that check itself. */
  readonly other: number;
  /** The answer about the steps of a restore, packed, where no kernel answers. */
  readonly played: string | null;
  /** The step at which a restore plays, and what goes to another one; null: none plays. */
  readonly step: number | null;
  readonly play: (step: number | null) => void;
  readonly readValues: ReadsValues;
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
      <Shown {...shown} {...rest} />
    </>
  );
}

type ShownProps = Omit<ExplorerProps, "shown" | "problem"> & NonNullable<ExplorerProps["shown"]>;

/** Shares of the width, in percent. */
const SHARES_OF_TREE: Shares = { outline: 30, details: 20 };
const SHARES_OF_TABLE: Shares = { outline: 0, details: 24 };

function Shown(props: ShownProps) {
  const { state, id, kernel, dispatch } = props;
  // Panning, zooming and a new size, also the drawing's first one, change the drawing alone.
  const { drawn, found, graph, line, measure, mode, onlyChanges, openLines, query, rows } = state;
  const { table } = graph;
  const accepting = useAccepting(graph);
  const measuring = useMeasuring(props.readValues, props.canStop, dispatch);
  useReadAtOnce(graph, measuring);
  const restoring = useRestoring(graph, props.other === 0 ? kernel : null, accepting);
  const [isCoding, setCoding] = useState(false);
  const [isChanging, setChanging] = useState(false);
  const [field, setField] = useState<LineField | null>(null);
  const toggle = () => {
    setChanging(!isChanging);
    void props.showChanged(null);
  };
  const changing = canChange(props) ? { isOpen: isChanging, toggle } : null;
  const coding = { isOpen: isCoding, toggle: () => setCoding(!isCoding) };
  const changes = [drawn, found, graph, line, measure, mode, onlyChanges, openLines, query, rows];
  const still = useMemo(
    () => ({
      above: (
        <Above {...props} {...{ measuring, changing, coding, restoring, accepting, setField }} />
      ),
      outline: <Outline state={state} dispatch={dispatch} id={id} />,
      details: <Right {...props} accepting={accepting} isCoding={isCoding} />,
      below: <Below state={state} measuring={measuring} dispatch={dispatch} />,
    }),
    [
      ...[...changes, state.selected, measuring.progress, measuring.problem, isCoding, isChanging],
      ...[accepting.accepted, props.step === null, props.other, restoring?.isWaiting],
      ...[restoring?.done, restoring?.problem],
    ],
  );
  const ofTable = (played: PlayedColumn | null) =>
    table === null ? null : (
      <CheckTable
        {...{ state, table, id, accepting, played, field, dispatch }}
        takesGuesses={hasFix(props)}
        isRestored={restoring?.isRestored === true}
      />
    );
  if (props.step !== null && props.onRequest !== null && table !== null) {
    return (
      <>
        {still.above}
        <Playing {...props} {...{ table }} step={props.step} lines={ofTable} />
        <HeightHandle />
      </>
    );
  }
  const isTable = drawn === "table" && table !== null;
  return (
    <>
      {still.above}
      <Panes
        key={`${isTable}`}
        id={id}
        start={isTable ? SHARES_OF_TABLE : SHARES_OF_TREE}
        tab="drawing"
        words={isTable ? WORDS.tabsOfTable : WORDS.tabs}
      >
        {{
          outline: isTable ? null : still.outline,
          drawing: isTable ? ofTable(null) : <Middle {...props} />,
          details: still.details,
        }}
      </Panes>
      {isTable ? <Announced state={state} /> : still.below}
    </>
  );
}

interface PlayingProps extends ShownProps {
  readonly step: number;
  readonly table: Table;
  readonly lines: (played: PlayedColumn) => VNode | null;
}

/** The restore of a check, step by step. */
function Playing({ table, lines, ...props }: PlayingProps) {
  const { state, kernel, onRequest, other, play, played, step, dispatch } = props;
  return (
    <WithExtras onRequest={onRequest}>
      {({ Play }) => (
        <Play
          key={other}
          {...{ state, table, lines, play, dispatch }}
          ask={kernel}
          stored={played}
          hasSources={kernel !== null}
          number={step}
        />
      )}
    </WithExtras>
  );
}

/** Whether there is a fix to run here: of a program, and not of a file or of a changed program. */
function hasFix({ other, state: { graph } }: ShownProps): boolean {
  return graph.table?.totals.fixed != null && graph.origin !== "saved" && other === 0;
}

/** Whether there is a restore to play. */
function canPlay({ state, onRequest }: ShownProps): boolean {
  return state.graph.overlay?.hasSteps === true && onRequest !== null;
}

/** Whether there is a program to change, and a kernel that answers. */
function canChange(props: ShownProps): boolean {
  const { graph } = props.state;
  return graph.overlay?.canChange === true && canPlay(props) && props.own.kernel !== null;
}

interface AboveProps extends ShownProps {
  readonly measuring: Measuring;
  readonly changing: Toggle | null;
  readonly coding: Toggle;
  readonly restoring: Restoring | null;
  readonly accepting: Accepting;
  readonly setField: (field: LineField | null) => void;
}

interface Toggle {
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

function Above(props: AboveProps) {
  const { state, typesetter, note, id, kernel, play, step, dispatch } = props;
  const { changing, insert, onRequest, own, setField, showChanged } = props;
  const { overlay, table } = state.graph;
  const ask = own.kernel;
  return (
    <>
      <Toolbar
        {...{ state, note, id }}
        offersTextbook={props.graphviz !== undefined && props.onRequest !== null}
        kernel={kernel}
        onRequest={props.onRequest}
        {...{ typesetter, dispatch }}
      />
      <QueryMistake state={state} id={id} measuring={props.measuring} />
      {state.found.matches.length > 0 && step === null ? actions(props, null) : null}
      {table === null || overlay === null || step !== null ? null : (
        <CheckHead
          {...{ table, overlay }}
          done={props.restoring?.done ?? null}
          isRestored={props.restoring?.isRestored === true}
          buttons={<Buttons {...props} table={table} />}
        />
      )}
      {changing?.isOpen === true && ask !== null ? (
        <WithExtras onRequest={onRequest} key={own.graph}>
          {({ ChangeStrip }) => (
            <ChangeStrip {...{ state, id, ask, showChanged, insert, play, setField, dispatch }} />
          )}
        </WithExtras>
      ) : null}
      {state.drawn === "table" ? null : <Breadcrumbs state={state} dispatch={dispatch} />}
      {step !== null ? null : table !== null && state.drawn === "table" ? (
        <TableRibbon {...{ state, table, dispatch }} accepting={props.accepting} />
      ) : (
        <Ribbon state={state} dispatch={dispatch} />
      )}
    </>
  );
}

/** What a person can do about a check: restore now, read the code, play it, or change the program. */
function Buttons({ table, ...props }: AboveProps & { readonly table: Table }) {
  const { state, accepting, changing, coding, restoring, play } = props;
  const { overlay } = state.graph;
  const { fixed, live } = table.totals;
  if (overlay === null || overlay.comparison === "diff") {
    return <OfDiff {...props} table={table} />;
  }
  const guesses = overlay.guesses;
  const number = fixed === null ? 0 : restoredWith(table, accepting);
  const canCode = hasFix(props);
  return (
    <>
      <Alert words={restoring?.problem} isInline />
      {!canCode || number === 0 ? null : restoring === null ? (
        <Copy
          what={WORDS.code}
          text={shortCode(guesses, accepting)}
          part="fix"
          label={WORDS.table.copyCode}
        />
      ) : (
        <RestoreButton restoring={restoring} words={WORDS.table.restore(number, live)} />
      )}
      {canCode ? <ViewButton part="code" {...coding} /> : null}
      {canPlay(props) ? <ViewButton part="play" isOpen={false} toggle={() => play(1)} /> : null}
      {changing === null ? null : <ViewButton part="change" {...changing} />}
    </>
  );
}

/** Reads by how much values differ, where that is unknown, and leads to the first NaN. */
function OfDiff({ state: { graph }, table, measuring, dispatch }: AboveProps & { table: Table }) {
  const { worst } = table;
  const hasNaN = worst !== null && (graph.measures?.of(worst)("nan") ?? 0) > 0;
  return (
    <>
      <ReadValues {...{ graph, measuring }} />
      {worst === null ? null : (
        <button
          type="button"
          class="ckv-restore"
          data-part={"fix" satisfies Part}
          onClick={() => dispatch({ type: "select", id: worst })}
        >
          {WORDS.table.showWorst(hasNaN ? WORDS.notANumber : WORDS.infinite)}
        </button>
      )}
    </>
  );
}

/** What the kernel can do with a node, or with the matches of the search. */
function actions(props: ShownProps, node: number | null) {
  const { kernel, onRequest } = props;
  return kernel === null ? null : (
    <WithExtras onRequest={onRequest}>
      {({ Actions }) => <Actions {...props} kernel={kernel} node={node} />}
    </WithExtras>
  );
}

function Middle(props: ShownProps) {
  const { state, typesetter, id, graphviz, onRequest, dispatch } = props;
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

/** The code, or what is known of the selected line and node. */
function Right(props: ShownProps & { readonly accepting: Accepting; readonly isCoding: boolean }) {
  const { state, accepting, insert, isCoding, kernel, onRequest, dispatch } = props;
  const { overlay, table } = state.graph;
  if (isCoding && overlay !== null) {
    return <CodePane {...{ accepting, kernel, insert }} guesses={overlay.guesses} />;
  }
  return (
    <Details
      {...{ state, kernel, onRequest, dispatch }}
      evidence={
        table === null || state.drawn !== "table" ? undefined : (
          <LineDetails {...{ state, table, accepting }} />
        )
      }
      actions={actions(props, state.selected)}
    />
  );
}

type BelowProps = Pick<ShownProps, "dispatch" | "state"> & { readonly measuring: Measuring };

function Below({ state, measuring, dispatch }: BelowProps) {
  return (
    <>
      <div class="ckv-foot">
        <Legend state={state} />
        <Colours state={state} measuring={measuring} dispatch={dispatch} />
      </div>
      <Announced state={state} />
    </>
  );
}

/** The text for a screen reader, and the lower edge. */
function Announced({ state }: { readonly state: State }) {
  return (
    <>
      <div class="ckv-live" role="status" aria-live="polite">
        {announcement(state)}
      </div>
      <HeightHandle />
    </>
  );
}

/** What a screen reader says: matches, and the selected node. */
function announcement(state: State): string {
  const { graph, selected } = state;
  const matches = matchWords(state.found, selected);
  const chunk = selected === null ? null : state.tree.chunk(selected);
  const selection =
    chunk !== null
      ? `${chunkLabel(graph, chunk)}, ${chunkCount(chunk)}`
      : selected === null
        ? ""
        : sentence(graph, selected);
  return [matches, selection].filter((words) => words !== "").join(": ");
}
