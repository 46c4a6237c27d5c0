/** The table of a comparison: as saved, what the call does, what the fix does, in the program. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { TableCell } from "../contract";
import type { Graph } from "../graph";
import { changeIn } from "../layout/changes";
import { cellSign } from "../signs";
import { type State, tableRows } from "../state";
import * as WORDS from "../strings";
import type { Line, Table, TableRow } from "../table";
import { countWords, formatCount, visible } from "../text";
import { type Accepting, fixedWith, restoredWith } from "./accepting";
import { useCutNames } from "./cut";
import { RoleIcon, SignIcon } from "./icons";
import { BadSign, measureWords } from "./measuring";
import type { Part } from "./parts";
import type { Dispatch } from "./props";
import { useEntriesInSight } from "./scrolling";
import { Twisty } from "./twisty";

const PITCH = 28;
/** Deep trees would leave no space for names. */
const MAX_INDENT = 8;
/** The assumed height of the lines until the real one is known. */
const USUAL_HEIGHT = 560;

/** What the middle of the table shows of a moment in a restore that plays. */
export interface PlayedColumn {
  readonly title: string;
  readonly note: string;
  cell(line: Line): { readonly content: ComponentChildren; readonly class: string };
}

interface TableProps {
  readonly state: State;
  readonly table: Table;
  readonly id: string;
  readonly accepting: Accepting;
  /** Whether the program has the values of the fix now. */
  readonly isRestored: boolean;
  /** Null while no restore plays. */
  readonly played: PlayedColumn | null;
  readonly dispatch: Dispatch;
}

/** A line of the table, or the question about the line above it. */
type Entry = TableRow & { readonly isQuestion: boolean };

export function CheckTable(props: TableProps) {
  const { state, table, id, dispatch } = props;
  const { found, isByChange, line: selected, mode, onlyChanges, openLines } = state;
  const entries = useMemo(
    () => entriesOf(tableRows(state), table),
    [table, openLines, onlyChanges, mode, found, isByChange],
  );
  const at = entries.findIndex(({ line, isQuestion }) => line === selected && !isQuestion);
  // The key for a tick is for the next question, from the selected line on.
  const asked = entries.findIndex(({ isQuestion }, index) => isQuestion && index > at);
  const next = asked < 0 ? entries.findIndex(({ isQuestion }) => isQuestion) : asked;
  const { body, first, last, measure } = useEntriesInSight({
    entries,
    pitch: PITCH,
    selected: at < 0 ? null : at,
    usualHeight: USUAL_HEIGHT,
  });
  const columns = columnsOf(props);
  const names = useCutNames<HTMLDivElement>();
  return (
    <div
      ref={names}
      class={`ckv-table ckv-table-${columns.length}`}
      role="treegrid"
      aria-label={WORDS.table.label}
      aria-rowcount={entries.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={at >= first && at < last ? `${id}-line-${selected}` : undefined}
      tabIndex={0}
    >
      <div class="ckv-table-head" role="row" aria-rowindex={1}>
        {columns.map((column) => (
          <HeadCell key={column.name} {...{ state, column, dispatch }} />
        ))}
      </div>
      <div class="ckv-table-body" role="presentation" ref={body} onScroll={measure}>
        <div
          class="ckv-table-lines"
          role="presentation"
          style={{ height: `${entries.length * PITCH}px` }}
        >
          {entries.slice(first, last).map((entry, offset) => {
            const index = first + offset;
            return entry.isQuestion ? (
              <Question
                key={`?${entry.line}`}
                {...props}
                entry={entry}
                index={index}
                isNext={index === next}
              />
            ) : (
              <TableLine
                key={entry.line}
                graph={state.graph}
                line={table.line(entry.line)}
                row={entry}
                index={index}
                domId={`${id}-line-${entry.line}`}
                columns={columns}
                isSelected={entry.line === selected}
                isMatch={isMatch(state, table.line(entry.line))}
                dispatch={dispatch}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface HeadProps extends Pick<TableProps, "state" | "dispatch"> {
  readonly column: TableColumn;
}

/** The head of a column; that of known changes sorts by them. */
function HeadCell({ state, column: { name, note, title }, dispatch }: HeadProps) {
  const { graph, isByChange } = state;
  const isDiff = graph.overlay?.comparison === "diff";
  const sorts = name === "plain" && isDiff && graph.measures !== null;
  return (
    <span
      role="columnheader"
      class={`ckv-cell-${name}`}
      aria-sort={!sorts ? undefined : isByChange ? "descending" : "none"}
    >
      {!sorts ? (
        <b>{title}</b>
      ) : (
        <button
          type="button"
          title={WORDS.table.byChange}
          onClick={() => dispatch({ type: "sortLines" })}
        >
          {title}
          {isByChange ? " ▾" : ""}
        </button>
      )}{" "}
      <span class="ckv-faint">{note}</span>
    </span>
  );
}

/** Each line, and below the outermost line of a guess the question about it. */
function entriesOf(rows: readonly TableRow[], table: Table): readonly Entry[] {
  const isAsked = ({ line }: TableRow) => {
    const parent = table.parent(line);
    const { guess } = table.line(line);
    return guess !== null && (parent === null || table.line(parent).guess !== guess);
  };
  return rows.flatMap((row) => [
    { ...row, isQuestion: false },
    ...(isAsked(row) ? [{ ...row, isQuestion: true }] : []),
  ]);
}

function isMatch({ found }: State, { liveNode, savedNode }: Line): boolean {
  return [liveNode, savedNode].some((node) => node !== null && found.isMatch[node] === 1);
}

interface TableColumn {
  readonly name: "saved" | "plain" | "fixed" | "live";
  readonly title: string;
  readonly note: string;
  /** The cell of a line; null for a column of names. */
  readonly cell:
    | ((line: Line) => { readonly content: ComponentChildren; readonly class: string })
    | null;
}

function columnsOf({
  state,
  table,
  accepting,
  isRestored,
  played,
}: TableProps): readonly TableColumn[] {
  const { heads, isOneColumn, totals } = table;
  const [savedHead = "", call = "", fixHead = "", liveHead = ""] = heads;
  const { accepted } = accepting;
  const isDiff = state.graph.overlay?.comparison === "diff";
  const restored = restoredWith(table, accepting);
  const { columns, notes } = WORDS.table;
  const ofAll = notes.ofAll(formatCount(restored), formatCount(totals.live));
  const fixed = (line: Line) => cellOf(fixedWith(table, line, accepting));
  const plain: TableColumn = {
    name: "plain",
    title: call,
    note: (isDiff ? notes.equal : notes.ofAll)(
      formatCount(totals.restored),
      formatCount(totals.live),
    ),
    cell: (line) => (isDiff ? changeOf(state.graph, table, line) : null) ?? cellOf(line.plain),
  };
  const middle: readonly TableColumn[] =
    played !== null
      ? [{ name: "plain", title: played.title, note: played.note, cell: (l) => played.cell(l) }]
      : isRestored
        ? [{ name: "fixed", title: columns.restored, note: ofAll, cell: fixed }]
        : isOneColumn && accepted.size === 0
          ? [plain]
          : [plain, { name: "fixed", title: fixHead, note: ofAll, cell: fixed }];
  return [
    {
      name: "saved",
      title: savedHead,
      note: countWords(totals.saved, ...WORDS.counts.values),
      cell: null,
    },
    ...middle,
    {
      name: "live",
      title: liveHead,
      note: countWords(totals.live, ...WORDS.counts.values),
      cell: null,
    },
  ];
}

/** By how much the values of a line differ, as a bar and in percent; null before they were read. */
function changeOf(graph: Graph, table: Table, line: Line) {
  const change = changeIn(graph, table, line.id);
  if (change === null) {
    return null;
  }
  const { share, nan, inf } = change;
  const words = Number.isFinite(share) ? measureWords("change", share) : WORDS.table.fromZero;
  return {
    content:
      nan + inf > 0 ? (
        <>
          {formatCount(nan || inf)} <BadSign {...{ nan, inf }} lost={0} />
        </>
      ) : (
        <>
          <i class="ckv-change-bar" style={{ "--ckv-share": Math.min(share, 1) }} />{" "}
          <span>{words}</span>
        </>
      ),
    class: share === 0 ? "ckv-cell-quiet" : "ckv-cell-change",
  };
}

function cellOf(cell: TableCell | null) {
  if (cell === null) {
    return { content: null, class: "" };
  }
  const sign = cellSign(cell.sign);
  return {
    content: (
      <>
        <SignIcon sign={sign} /> <span class="ckv-cut">{visible(cell.words)}</span>
      </>
    ),
    class: `ckv-cell-${sign.look}`,
  };
}

interface LineProps {
  readonly graph: Graph;
  readonly line: Line;
  readonly row: TableRow;
  readonly index: number;
  readonly domId: string;
  readonly columns: readonly TableColumn[];
  readonly isSelected: boolean;
  readonly isMatch: boolean;
  readonly dispatch: Dispatch;
}

function TableLine({ graph, line, row, index, domId, columns, ...props }: LineProps) {
  const { isSelected, isMatch, dispatch } = props;
  return (
    <div
      id={domId}
      class={`ckv-table-line${isSelected ? " ckv-selected" : ""}`}
      role="row"
      aria-level={row.level + 1}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-expanded={row.canOpen ? row.isOpen : undefined}
      style={{ top: `${index * PITCH}px`, "--ckv-indent": Math.min(row.level, MAX_INDENT) }}
      onClick={() => dispatch({ type: "selectLine", line: line.id })}
      onDblClick={() => dispatch({ type: "toggleLine", line: line.id })}
    >
      {columns.map(({ name, cell }) => {
        if (cell !== null) {
          const { content, class: look } = cell(line);
          return (
            <span key={name} class={`ckv-cell ckv-cell-${name} ${look}`} role="gridcell">
              {content}
            </span>
          );
        }
        return (
          <NameCell
            key={name}
            side={name === "saved" ? "saved" : "live"}
            {...{ graph, line, row, isMatch, dispatch }}
          />
        );
      })}
    </div>
  );
}

interface NameProps extends Pick<LineProps, "graph" | "line" | "row" | "isMatch" | "dispatch"> {
  readonly side: "saved" | "live";
}

function NameCell({ graph, line, row, side, isMatch, dispatch }: NameProps) {
  const isSaved = side === "saved";
  const [name, facts] = isSaved ? [line.saved, line.savedFacts] : [line.live, line.liveFacts];
  const node = isSaved ? line.savedNode : line.liveNode;
  const isGone = isSaved && line.live === "" && line.fixed?.sign === "nowhere";
  return (
    <span class={`ckv-cell ckv-cell-${side}`} role="gridcell" title={visible(`${name} ${facts}`)}>
      {name === "" ? (
        <span class="ckv-table-none">{visible(facts)}</span>
      ) : (
        <>
          {row.canOpen ? (
            <Twisty
              isOpen={row.isOpen}
              toggle={() => dispatch({ type: "toggleLine", line: line.id })}
            />
          ) : (
            <span class="ckv-twisty" aria-hidden="true" />
          )}
          {node === null ? (
            <PartIcon isRun={name.includes(" … ")} />
          ) : (
            <RoleIcon role={graph.role(node)} />
          )}
          {isMatch ? (
            <mark class="ckv-table-name ckv-cut ckv-match">{visible(name)}</mark>
          ) : (
            <span class={`ckv-table-name ckv-cut${isGone ? " ckv-table-gone" : ""}`}>
              {visible(name)}
            </span>
          )}
          <span class="ckv-table-facts">{visible(facts)}</span>
          <span class="ckv-table-values">{formatCount(line.values)}</span>
        </>
      )}
    </span>
  );
}

/** A block of layers, or a run of parts. */
function PartIcon({ isRun }: { readonly isRun: boolean }) {
  return (
    <svg class="ckv-icon" viewBox="-1 -7 18 14" width="18" height="14" aria-hidden="true">
      {isRun ? <path class="ckv-shape ckv-part" d="M4 -5H15V3" /> : null}
      <path class="ckv-shape ckv-part" d={isRun ? "M1 -3H12V5H1Z" : "M1 -5H15V5H1ZM5 -5V5"} />
    </svg>
  );
}

interface QuestionProps extends Pick<TableProps, "state" | "table" | "accepting"> {
  readonly entry: Entry;
  readonly index: number;
  /** Whether the key for a tick is for this question. */
  readonly isNext: boolean;
}

/** A guess is a question: a tick takes it into the fix. */
function Question({ state, table, accepting, entry, index, isNext }: QuestionProps) {
  const { guess: place } = table.line(entry.line);
  const guess = state.graph.overlay?.guesses[place ?? -1];
  if (guess === undefined) {
    return null;
  }
  return (
    <div
      class="ckv-table-line ckv-table-question"
      role="row"
      aria-level={entry.level + 1}
      aria-rowindex={index + 2}
      style={{ top: `${index * PITCH}px` }}
    >
      <span role="gridcell">
        <label>
          <input
            type="checkbox"
            data-part={isNext ? ("tick" satisfies Part) : undefined}
            checked={accepting.accepted.has(guess.place)}
            onChange={(event) => accepting.accept([guess], event.currentTarget.checked)}
          />
          <SignIcon sign={cellSign("asks")} />{" "}
          <span>
            {WORDS.table.asks(visible(guess.saved), visible(guess.live))}{" "}
            <span class="ckv-faint">
              {WORDS.table.takes(
                countWords(table.guessed[guess.place] ?? 0, ...WORDS.counts.values),
              )}
            </span>
          </span>
        </label>
      </span>
    </div>
  );
}
