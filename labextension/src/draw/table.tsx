/** The table of a comparison: as saved, what the call does, what the fix does, in the program. */

import type { ComponentChildren, RefObject, VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { countWords, formatCount, visible } from "../basics/text";
import type { CellSign, TableCell } from "../data/contract";
import type { Graph } from "../data/graph";
import type { Line, Table, TableRow } from "../data/table";
import { changeIn } from "../layout/changes";
import { tableRows } from "../state/lines";
import type { State } from "../state/state";
import { cellSign } from "../words/signs";
import { type Accepting, fixedWith, restoredWith } from "./accepting";
import { useCutNames } from "./cut";
import { RoleIcon, SignIcon } from "./icons";
import { BadSign, measureWords } from "./measuring";
import type { Part } from "./parts";
import type { Dispatch, Showing } from "./props";
import { useResized } from "./resizing";
import { evenly, unevenly, useEntriesInSight } from "./scrolling";
import { type SaidColumn, useColumns } from "./table-columns";
import { Name, Twisty } from "./twisty";

/** The height of a line; and where space is narrow, of one with news or of a question: it has two. */
const PITCH = 28;
const OF_TWO = 50;
const LINES = evenly(PITCH);
/** Narrower pages have tabs (style/explorer.css). */
const NARROW = 720;
/** The width of a bar with its percentage. */
const OF_CHANGE = 190;
/** Deep trees would leave no space for names. */
const MAX_INDENT = 8;
/** The assumed height of the lines until the real one is known. */
const USUAL_HEIGHT = 560;

/** What the middle of the table shows of a moment in a restore that plays. */
export interface PlayedColumn extends SaidColumn {
  readonly note: string;
  cell(line: Line): { readonly content: ComponentChildren; readonly class: string };
}

/** What a line has in place of its name in the program. */
export interface LineField {
  readonly line: number;
  readonly content: VNode;
}

interface TableProps extends Showing {
  readonly table: Table;
  readonly id: string;
  readonly accepting: Accepting;
  /** Whether there is a fix that takes guesses: else a question has no tick. */
  readonly takesGuesses: boolean;
  /** Whether the program has the values of the fix now. */
  readonly isRestored: boolean;
  /** Null while no restore plays. */
  readonly played: PlayedColumn | null;
  /** What someone types in place of a name of the program. */
  readonly field: LineField | null;
}

/** A line of the table, or the question about the line above it. */
type Entry = TableRow & { readonly isQuestion: boolean };

export function CheckTable(props: TableProps) {
  const { state, table, id, played, field, dispatch } = props;
  const { found, isByChange, line: selected, mode, onlyChanges, openLines } = state;
  const entries = useMemo(
    () => entriesOf(tableRows(state), table),
    [table, openLines, onlyChanges, mode, found, isByChange],
  );
  const at = entries.findIndex(({ line, isQuestion }) => line === selected && !isQuestion);
  // The key for a tick is for the next question, from the selected line on.
  const asked = entries.findIndex(({ isQuestion }, index) => isQuestion && index > at);
  const next = asked < 0 ? entries.findIndex(({ isQuestion }) => isQuestion) : asked;
  const names = useCutNames<HTMLDivElement>();
  const isNarrow = useIsNarrow(names);
  const hasTwo = ({ isQuestion, line }: Entry) =>
    isNarrow && (isQuestion || (played === null && hasNews(state, table, line)));
  const heights = useMemo(
    () => (isNarrow ? unevenly(entries.map((one) => (hasTwo(one) ? OF_TWO : PITCH))) : LINES),
    [entries, isNarrow, played === null],
  );
  const { body, first, last, measure } = useEntriesInSight({
    ...{ entries, heights },
    selected: at < 0 ? null : at,
    usualHeight: USUAL_HEIGHT,
  });
  const columns = columnsOf(props);
  return (
    <div
      ref={names}
      class={`ckv-table ckv-table-${columns.length + 2}${isNarrow ? " ckv-narrow" : ""}`}
      role="treegrid"
      aria-label={WORDS.table.label}
      aria-rowcount={entries.length + 1}
      aria-colcount={columns.length + 2}
      aria-activedescendant={at >= first && at < last ? `${id}-line-${selected}` : undefined}
      tabIndex={0}
    >
      <Heads {...{ state, table, columns, dispatch }} rows={entries} />
      <div class="ckv-table-body" role="presentation" ref={body} onScroll={measure}>
        <div
          class="ckv-table-lines"
          role="presentation"
          style={{ height: `${heights.top(entries.length)}px` }}
        >
          {entries.slice(first, last).map((entry, offset) => {
            const index = first + offset;
            const place = { index, top: heights.top(index) };
            return entry.isQuestion ? (
              <Question
                key={`?${entry.line}`}
                {...props}
                {...{ entry, place }}
                isNext={index === next}
              />
            ) : (
              <TableLine
                key={entry.line}
                {...{ columns, place, dispatch }}
                graph={state.graph}
                line={table.line(entry.line)}
                row={entry}
                hasTwo={hasTwo(entry)}
                domId={`${id}-line-${entry.line}`}
                field={field?.line === entry.line ? field.content : null}
                isSelected={entry.line === selected}
                isMatch={isMatch(state, table.line(entry.line))}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface HeadsProps extends Pick<TableProps, "state" | "table" | "dispatch"> {
  readonly rows: readonly TableRow[];
  readonly columns: readonly Column[];
}

/** The heads, whose layout comes before the table cuts its names. */
function Heads({ state, table, rows, columns, dispatch }: HeadsProps) {
  const row = useRef<HTMLDivElement>(null);
  const heads = [sideHead(table, "saved"), ...columns, sideHead(table, "live")];
  const text = heads.map(({ title, note }) => title + note).join();
  useColumns(row, { table, rows, said: columns }, text);
  return (
    <div class="ckv-table-head" role="row" aria-rowindex={1} ref={row}>
      {heads.map((head) => (
        <HeadCell key={head.name} {...{ state, head, dispatch }} />
      ))}
    </div>
  );
}

interface HeadProps extends Pick<TableProps, "state" | "dispatch"> {
  readonly head: Head;
}

/** The head of a column; that of known changes sorts by them. */
function HeadCell({ state, head: { name, note, title }, dispatch }: HeadProps) {
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

interface Head {
  readonly name: "saved" | "plain" | "fixed" | "live";
  readonly title: string;
  readonly note: string;
}

/** A column between those of names. */
interface Column extends Head, SaidColumn {
  readonly name: "plain" | "fixed";
  cell(line: Line): { readonly content: ComponentChildren; readonly class: string };
}

function columnsOf({ state, table, accepting, isRestored, played }: TableProps): readonly Column[] {
  const { heads, is_one_column: isOneColumn, totals } = table;
  const [, call = "", fixHead = ""] = heads;
  const { accepted } = accepting;
  const isDiff = state.graph.overlay?.comparison === "diff";
  const restored = restoredWith(table, accepting);
  const { columns, notes } = WORDS.table;
  const ofAll = notes.ofAll(formatCount(restored), formatCount(totals.live));
  const fixedIn = (line: Line) => fixedWith(table, line, accepting);
  const fixed = {
    name: "fixed" as const,
    note: ofAll,
    least: 0,
    texts: (lines: readonly number[]) => lines.map((id) => wordsOf(fixedIn(table.line(id)))),
    cell: (line: Line) => cellOf(fixedIn(line)),
  };
  const plain: Column = {
    name: "plain",
    title: call,
    note: (isDiff ? notes.equal : notes.ofAll)(
      formatCount(totals.restored),
      formatCount(totals.live),
    ),
    least: isDiff ? OF_CHANGE : 0,
    texts: (lines) => lines.map((id) => wordsOf(table.line(id).plain)),
    cell: (line) => (isDiff ? changeOf(state.graph, table, line) : null) ?? cellOf(line.plain),
  };
  return played !== null
    ? [{ name: "plain", ...played }]
    : isRestored
      ? [{ ...fixed, title: columns.restored }]
      : isOneColumn && accepted.size === 0
        ? [plain]
        : [plain, { ...fixed, title: fixHead }];
}

/** The head of a column of names. */
function sideHead({ heads, totals }: Table, name: "saved" | "live"): Head {
  const title = heads.at(name === "saved" ? 0 : -1) ?? "";
  return { name, title, note: countWords(totals[name], ...WORDS.counts.values) };
}

/** What a line may be while its numbers are its news: all else is worse. */
const OF_NUMBERS: ReadonlySet<CellSign> = new Set<CellSign>(["here", "changed", "elsewhere"]);

/** By how much the values of a line differ: a bar and a percentage; null if other news is there. */
function changeOf(graph: Graph, table: Table, { id, plain }: Line) {
  const change = OF_NUMBERS.has(plain.sign) ? changeIn(graph, table, id) : null;
  const isMoved = plain.sign === "elsewhere";
  if (change === null || (isMoved && change.share === 0)) {
    return null;
  }
  const { share, nan, inf } = change;
  const words = Number.isFinite(share) ? measureWords("change", share) : WORDS.table.fromZero;
  return {
    content: (
      <>
        {isMoved ? (
          <span title={visible(plain.words)}>
            <SignIcon sign={cellSign(plain.sign)} />
          </span>
        ) : null}
        {nan + inf > 0 ? (
          <>
            {formatCount(nan || inf)} <BadSign {...{ nan, inf }} lost={0} />
          </>
        ) : (
          <>
            <i class="ckv-change-bar" style={{ "--ckv-share": Math.min(share, 1) }} />{" "}
            <span>{words}</span>
          </>
        )}
      </>
    ),
    class: share === 0 ? "ckv-cell-quiet" : "ckv-cell-change",
  };
}

function wordsOf(cell: TableCell | null): string {
  return visible(cell?.words ?? "");
}

function cellOf(cell: TableCell | null) {
  if (cell === null) {
    return { content: null, class: "" };
  }
  const sign = cellSign(cell.sign);
  return {
    content: (
      <>
        <SignIcon sign={sign} /> <span class="ckv-cut">{wordsOf(cell)}</span>
      </>
    ),
    class: `ckv-cell-${sign.look}`,
  };
}

/** Whether there is no space for columns side by side. */
function useIsNarrow(table: RefObject<HTMLElement | null>): boolean {
  const [isNarrow, setNarrow] = useState(false);
  const measure = () => {
    const page = table.current?.closest(".ckpt-viz")?.clientWidth ?? 0;
    setNarrow(0 < page && page < NARROW);
  };
  useLayoutEffect(measure, []); // before the first paint
  useResized(() => table.current, measure);
  return isNarrow;
}

/** Whether a line says more than that all is well, or by how much its numbers differ. */
function hasNews({ graph }: State, table: Table, id: number): boolean {
  const { live, plain, saved } = table.line(id);
  const isDiff = graph.overlay?.comparison === "diff";
  const isRenamed = saved !== live && saved !== "" && live !== "";
  return isRenamed || !(table.isQuiet(id) || (isDiff && plain.sign === "changed"));
}

/** Which entry it is, and where it begins. */
interface Place {
  readonly index: number;
  readonly top: number;
}

interface LineProps {
  readonly graph: Graph;
  readonly line: Line;
  readonly row: TableRow;
  readonly place: Place;
  /** Whether its cells are below its names. */
  readonly hasTwo: boolean;
  readonly domId: string;
  readonly columns: readonly Column[];
  readonly field: VNode | null;
  readonly isSelected: boolean;
  readonly isMatch: boolean;
  readonly dispatch: Dispatch;
}

function TableLine({ graph, line, row, place, domId, columns, field, ...props }: LineProps) {
  const { hasTwo, isSelected, isMatch, dispatch } = props;
  const { live, saved } = line;
  const isOfSaved = field === null && (live === "" || live === saved);
  const names = saved === "" ? "live" : isOfSaved ? "saved" : "both";
  return (
    <div
      id={domId}
      class={[
        `ckv-table-line ckv-names-${names}`,
        hasTwo ? " ckv-two" : "",
        isSelected ? " ckv-selected" : "",
      ].join("")}
      role="row"
      aria-level={row.level + 1}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-rowindex={place.index + 2}
      aria-selected={isSelected}
      aria-expanded={row.canOpen ? row.isOpen : undefined}
      style={{ top: `${place.top}px`, "--ckv-indent": Math.min(row.level, MAX_INDENT) }}
      onClick={() => dispatch({ type: "selectLine", line: line.id })}
      onDblClick={() => dispatch({ type: "toggleLine", line: line.id })}
    >
      <NameCell side="saved" {...{ graph, line, row, isMatch, dispatch }} />
      <span class="ckv-cells" role="presentation">
        {columns.map(({ name, cell }) => {
          const { content, class: look } = cell(line);
          return (
            <span
              key={name}
              class={`ckv-cell ckv-cell-${name} ${look}`}
              role="gridcell"
              data-label={columns.length > 1 ? WORDS.table.columns[name] : undefined}
            >
              {content}
            </span>
          );
        })}
      </span>
      {field === null ? (
        <NameCell side="live" {...{ graph, line, row, isMatch, dispatch }} />
      ) : (
        <span class="ckv-cell ckv-cell-live ckv-naming" role="gridcell">
          {field}
        </span>
      )}
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
          <Twisty {...row} toggle={() => dispatch({ type: "toggleLine", line: line.id })} />
          {node === null ? (
            <PartIcon isRun={name.includes(" … ")} />
          ) : (
            <RoleIcon role={graph.role(node)} />
          )}
          <Name
            name={visible(name)}
            look={isGone && !isMatch ? "ckv-table-name ckv-table-gone" : "ckv-table-name"}
            isMatch={isMatch}
          />
          <span class="ckv-table-facts">{visible(facts).replaceAll(" ", "\u00a0")}</span>
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

interface QuestionProps extends Pick<TableProps, "state" | "table" | "accepting" | "takesGuesses"> {
  readonly entry: Entry;
  readonly place: Place;
  /** Whether the key for a tick is for this question. */
  readonly isNext: boolean;
}

/** A guess is a question: a tick takes it into the fix. */
function Question({ state, table, accepting, entry, place, isNext, takesGuesses }: QuestionProps) {
  const number = table.line(entry.line).guess ?? -1;
  const [guess, asked] = [state.graph.overlay?.guesses[number], table.guessed[number]];
  if (guess === undefined || asked === undefined) {
    return null;
  }
  const words = visible(asked.question);
  const question = (
    <>
      <SignIcon sign={cellSign("asks")} />{" "}
      <span class="ckv-asked" title={words}>
        {words}
        {takesGuesses ? <span class="ckv-faint"> {visible(asked.tick)}</span> : null}
      </span>
    </>
  );
  return (
    <div
      class="ckv-table-line ckv-table-question"
      role="row"
      aria-level={entry.level + 1}
      aria-rowindex={place.index + 2}
      style={{ top: `${place.top}px` }}
    >
      <span role="gridcell">
        {takesGuesses ? (
          <label>
            <input
              type="checkbox"
              data-part={isNext ? ("tick" satisfies Part) : undefined}
              checked={accepting.accepted.has(guess.place)}
              onChange={(event) => accepting.accept(guess.place, event.currentTarget.checked)}
            />
            {question}
          </label>
        ) : (
          question
        )}
      </span>
    </div>
  );
}
