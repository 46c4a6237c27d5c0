/** The outline: a virtual ARIA treegrid, one row per visible node. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Graph } from "../graph";
import type { Row } from "../layout/rows";
import { bytesBelow } from "../layout/totals";
import { isQuiet, type Overlay } from "../overlay";
import { type Found, holdsMatch } from "../search/found";
import { belowSentence, belowWords, stateSign } from "../signs";
import { firstProblemNode, type State } from "../state";
import * as WORDS from "../strings";
import { countWords, sentenceText, visible } from "../text";
import {
  bytesWords,
  chunkCount,
  chunkLabel,
  dtypeCell,
  problemWords,
  roleWord,
  shapeCell,
  typeWords,
} from "../words";
import { lineClass, RoleIcon, SignIcon } from "./icons";
import { useIsPainted } from "./painted";
import type { Dispatch } from "./props";

const ROW_HEIGHT = 22;
/** Rows out of sight that are there for when one scrolls. */
const OVERSCAN = 8;
/** How high the rows stand before that is known. */
const USUAL_HEIGHT = 352;
/** The first problem further down than this is scrolled to at first. */
const START_VIEW = 200;
/** Deep trees would push their names out of sight; from here on the level is a number. */
const MAX_INDENT = 14;

export function Outline({ state, dispatch, id }: { state: State; dispatch: Dispatch; id: string }) {
  const body = useRef<HTMLDivElement>(null);
  const scroll = useRef({ top: startTop(state), height: USUAL_HEIGHT });
  // Those that it will be scrolled to, or else they would be drawn for nothing before.
  const [inSight, setInSight] = useState(() => rowsInSight(scroll.current.top, USUAL_HEIGHT));
  const overscan = useIsPainted() ? OVERSCAN : 0;
  const { graph, rows, rowOf, selected } = state;
  const { comparison } = graph.overlay ?? {};
  const isCompared = comparison !== undefined;
  const selectedRow = selected === null ? undefined : rowOf.get(selected);

  const measure = () => {
    const element = body.current;
    if (element !== null) {
      const { scrollTop: top, clientHeight: height } = element;
      scroll.current = { top, height };
      const { first, last } = rowsInSight(top, height);
      setInSight((known) => (known.first <= first && last <= known.last ? known : { first, last }));
    }
  };
  const bringInSight = (row: number | undefined) => {
    if (body.current === null || row === undefined) {
      return;
    }
    // Compares with what is known of the scroller; asking it would lay out the page once more.
    const top = row * ROW_HEIGHT;
    const { top: start, height } = scroll.current;
    if (top < start) {
      body.current.scrollTop = top;
    } else if (top + ROW_HEIGHT > start + height) {
      body.current.scrollTop = top + ROW_HEIGHT - height;
    }
  };
  const keepInSight = useRef(() => {});
  keepInSight.current = () => bringInSight(selectedRow);
  useLayoutEffect(() => {
    const element = body.current;
    if (element === null) {
      return;
    }
    // The details of a node may take room from the outline once it is selected.
    const observer = new ResizeObserver(() => {
      measure();
      keepInSight.current();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => keepInSight.current(), [selectedRow, rows]);
  useLayoutEffect(() => {
    const first = state.found.matches.find((id) => rowOf.has(id));
    bringInSight(first === undefined ? undefined : rowOf.get(first));
  }, [state.found]);
  useLayoutEffect(() => {
    const top = startTop(state);
    if (body.current !== null && top > 0) {
      body.current.scrollTop = top;
    }
  }, [graph, state.hidden]);

  const first = Math.max(0, inSight.first - overscan);
  const last = inSight.last + overscan;
  const shown = rows.slice(first, last);
  return (
    <div
      class={`ckv-outline${isCompared ? ` ckv-compared ckv-${comparison}` : ""}`}
      role="treegrid"
      aria-label={WORDS.outline}
      aria-rowcount={rows.length + 1}
      aria-colcount={isCompared ? 6 : 5}
      aria-activedescendant={
        selectedRow !== undefined && selectedRow >= first && selectedRow < last
          ? `${id}-row-${selected}`
          : undefined
      }
      tabIndex={0}
    >
      <div class="ckv-outline-head" role="row" aria-rowindex={1}>
        <span role="columnheader">{WORDS.columns.name}</span>
        {isCompared ? (
          <span class="ckv-cell-state" role="columnheader">
            {WORDS.columns.state}
          </span>
        ) : null}
        {CELLS.map((column) => (
          <span key={column} class={`ckv-cell-${column}`} role="columnheader">
            {WORDS.columns[column]}
          </span>
        ))}
      </div>
      <div class="ckv-outline-body" role="presentation" ref={body} onScroll={measure}>
        <div role="presentation" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
          {shown.map((row, offset) => (
            <OutlineRow
              key={row.id}
              graph={state.graph}
              row={row}
              index={first + offset}
              domId={`${id}-row-${row.id}`}
              isSelected={row.id === selected}
              found={state.found}
              dispatch={dispatch}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Where the outline begins: a little above the first problem, while nothing is selected. */
function startTop(state: State): number {
  const problem = state.selected === null ? firstProblemNode(state) : null;
  const top = ((problem === null ? undefined : state.rowOf.get(problem)) ?? 0) * ROW_HEIGHT;
  return top > START_VIEW ? top - START_VIEW / 2 : 0;
}

/** The first row in sight, and the one after the last. */
function rowsInSight(top: number, height: number) {
  return { first: Math.floor(top / ROW_HEIGHT), last: Math.ceil((top + height) / ROW_HEIGHT) };
}

/** The columns beside name and state; the first that have no room are left out last. */
const CELLS = ["shape", "dtype", "size", "role"] as const;

interface OutlineRowProps {
  readonly graph: Graph;
  readonly row: Row;
  readonly index: number;
  readonly domId: string;
  readonly isSelected: boolean;
  readonly found: Found;
  readonly dispatch: Dispatch;
}

function OutlineRow({ graph, row, index, domId, isSelected, found, dispatch }: OutlineRowProps) {
  const { chunk, id } = row;
  const { overlay } = graph;
  const label = chunk === null ? visible(graph.label(id)) || WORDS.root : chunkLabel(graph, chunk);
  const problem = chunk === null ? problemWords(graph, id) : "";
  const type = chunk === null ? ownType(graph, id) : chunkCount(chunk);
  const line = chunk === null ? lineClass(overlay, id) : " ckv-chunk";
  const bare = graph.attributes(id).length === 0 ? " ckv-bare" : "";
  return (
    <div
      id={domId}
      class={`ckv-row${line}${bare}${isSelected ? " ckv-selected" : ""}`}
      role="row"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-expanded={row.childCount > 0 ? row.isExpanded : undefined}
      style={{ top: `${index * ROW_HEIGHT}px` }}
      onClick={() => dispatch({ type: "select", id: row.id })}
      onDblClick={() => dispatch({ type: "toggle", id: row.id })}
    >
      <span
        class="ckv-cell-name"
        role="gridcell"
        style={{ paddingLeft: `${Math.min(row.level - 1, MAX_INDENT) * 12}px` }}
        title={type === "" ? label : `${label}: ${type}`}
      >
        {row.childCount > 0 ? (
          <button
            type="button"
            class="ckv-twisty"
            tabIndex={-1}
            aria-hidden="true"
            onClick={(event) => {
              event.stopPropagation();
              dispatch({ type: "toggle", id: row.id });
            }}
          >
            {row.isExpanded ? "▾" : "▸"}
          </button>
        ) : (
          <span class="ckv-twisty" />
        )}
        {chunk === null ? <RoleIcon role={graph.role(id)} /> : null}
        {found.isMatch[row.id] === 1 ? (
          <mark class="ckv-name ckv-match">{label}</mark>
        ) : (
          <span class="ckv-name">{label}</span>
        )}
        {row.childCount > 0 && !row.isExpanded ? (
          <span
            class={`ckv-count${holdsMatch(found, row.id) ? " ckv-match" : ""}`}
            title={countWords(row.childCount, ...WORDS.counts.below)}
          >
            {row.childCount}
          </span>
        ) : null}
        {problem === "" ? null : <span class="ckv-error">! {problem}</span>}
        <span class="ckv-type">{type}</span>
      </span>
      {chunk !== null ? null : (
        <>
          {overlay === null ? null : <StateCell overlay={overlay} row={row} />}
          {CELLS.map((column) => (
            <Cell key={column} column={column} graph={graph} id={id} />
          ))}
        </>
      )}
    </div>
  );
}

/** What a variable is, its icon and its dtype say. */
function ownType(graph: Graph, id: number): string {
  const role = graph.role(id);
  return role === "variable" || role === "slot" ? "" : typeWords(graph, id);
}

interface CellProps {
  readonly column: (typeof CELLS)[number];
  readonly graph: Graph;
  readonly id: number;
}

function Cell({ column, graph, id }: CellProps) {
  const words = cellWords(graph, id, column);
  return (
    <span class={`ckv-cell-${column}`} role="gridcell" title={words}>
      {words}
    </span>
  );
}

function cellWords(graph: Graph, id: number, column: CellProps["column"]): string {
  switch (column) {
    case "shape":
      return shapeCell(graph, id);
    case "dtype":
      return dtypeCell(graph, id);
    case "size":
      return bytesWords(bytesBelow(graph, id));
    case "role":
      return roleWord(graph.role(id));
  }
}

/** The node's state; what stands below it, while that is folded away. */
function StateCell({ overlay, row }: { readonly overlay: Overlay; readonly row: Row }) {
  const { id, isExpanded } = row;
  const state = overlay.state(id);
  const sign = stateSign(state);
  const said = state === "plain" ? "" : sign.word;
  const below = isExpanded ? "" : belowSentence(overlay, id);
  const detail = sentenceText(overlay.detail(id) ?? "");
  return (
    <span
      class={`ckv-cell-state${isQuiet(state) ? " ckv-quiet" : ""}`}
      role="gridcell"
      title={[said, detail, below].filter((words) => words !== "").join(", ")}
    >
      <SignIcon sign={sign} />
      <span class="ckv-state-word">{said}</span>
      {below === "" ? null : <span class="ckv-below">{belowWords(overlay, id)}</span>}
    </span>
  );
}
