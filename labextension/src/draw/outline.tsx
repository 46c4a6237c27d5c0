/** The outline: a virtual ARIA treegrid, one row per visible node. */

import { useLayoutEffect } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { countWords, formatCount, visible } from "../basics/text";
import type { Graph } from "../data/graph";
import { foldedCount } from "../data/layers";
import { badIn } from "../layout/measured";
import type { Row } from "../layout/rows";
import type { ShownTree } from "../layout/shown";
import type { Sort } from "../layout/sorting";
import { isFrozenHere } from "../layout/training";
import type { Found } from "../search/found";
import { firstProblemNode } from "../state/problems";
import type { State } from "../state/state";
import {
  chunkCount,
  chunkLabel,
  type Held,
  heldBy,
  isTrained,
  noteWords,
  problemWords,
  typeWords,
} from "../words/words";
import { useCutNames } from "./cut";
import { lineClass, RoleIcon } from "./icons";
import { BadSign } from "./measuring";
import { type Column, columnsOf } from "./outline-columns";
import type { Dispatch } from "./props";
import { evenly, useEntriesInSight } from "./scrolling";
import { Name, Twisty } from "./twisty";

const ROW_HEIGHT = 22;
const ROWS = evenly(ROW_HEIGHT);
/** The assumed height of the visible rows until the real one is known. */
const USUAL_HEIGHT = 352;
/** The outline first scrolls to the first problem if that is further down than this. */
const START_VIEW = 200;
/** Deep trees would push names out of sight, so from this level on a number shows the level. */
const MAX_INDENT = 14;

export function Outline({ state, dispatch, id }: { state: State; dispatch: Dispatch; id: string }) {
  const { found, graph, rows, rowOf, selected } = state;
  const { body, first, last, measure } = useRowsInSight(state);
  const comparison = graph.overlay?.comparison;
  const columns = columnsOf(comparison, state.measure, state.tree);
  const selectedRow = selected === null ? undefined : rowOf.get(selected);
  const names = useCutNames<HTMLDivElement>();
  const indentOf = (level: number) => Math.min(level - 1, MAX_INDENT) * 12;
  return (
    <>
      <div
        class={[
          "ckv-outline",
          comparison === undefined ? "" : ` ckv-compared ckv-${comparison}`,
          state.measure === null ? "" : " ckv-measuring",
        ].join("")}
        ref={names}
        role="treegrid"
        aria-label={WORDS.outline}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length + 1}
        aria-activedescendant={
          selectedRow !== undefined && selectedRow >= first && selectedRow < last
            ? `${id}-row-${selected}`
            : undefined
        }
        tabIndex={0}
      >
        <div class="ckv-outline-head" role="row" aria-rowindex={1}>
          {[NAME_COLUMN, ...columns].map((column) => (
            <HeadCell key={column.name} column={column} sort={state.sort} dispatch={dispatch} />
          ))}
        </div>
        <div class="ckv-outline-body" role="presentation" ref={body} onScroll={measure}>
          <div role="presentation" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
            {rows.slice(first, last).map((row, offset) => (
              <OutlineRow
                key={row.id}
                graph={graph}
                tree={state.tree}
                {...{ columns, row }}
                indent={indentOf(row.level)}
                index={first + offset}
                domId={`${id}-row-${row.id}`}
                isSelected={row.id === selected}
                {...{ found, dispatch }}
              />
            ))}
          </div>
        </div>
      </div>
      <Folded graph={graph} dispatch={dispatch} />
    </>
  );
}

/** How many objects have no row among the layers, and the way to them. */
function Folded({ graph, dispatch }: { readonly graph: Graph; readonly dispatch: Dispatch }) {
  const count = foldedCount(graph);
  return count === 0 ? null : (
    <p class="ckv-folded">
      {countWords(count, ...WORDS.counts.folded)}{" "}
      <button
        type="button"
        class="ckv-jump"
        onClick={() => dispatch({ type: "showView", view: "objects" })}
      >
        {WORDS.showAll}
      </button>
    </p>
  );
}

type Head = Pick<Column, "name" | "label" | "title" | "sortsBy">;

const NAME_COLUMN: Head = { name: "name", label: WORDS.columns.name, sortsBy: "name" };

interface HeadCellProps {
  readonly column: Head;
  readonly sort: Sort | null;
  readonly dispatch: Dispatch;
}

/** The head of a column; pressing it sorts by this column. */
function HeadCell({ column: { name, label, title, sortsBy }, sort, dispatch }: HeadCellProps) {
  const isSorted = sort !== null && sort.column === sortsBy;
  const direction = sort?.isDescending === true ? "descending" : "ascending";
  return (
    <span
      class={`ckv-cell ckv-cell-${name}`}
      role="columnheader"
      aria-sort={isSorted ? direction : "none"}
    >
      {sortsBy === undefined ? (
        label
      ) : (
        <button
          type="button"
          title={[title, WORDS.sortHint].filter((words) => words !== undefined).join(". ")}
          onClick={() => dispatch({ type: "sort", column: sortsBy })}
        >
          {label}
          {isSorted ? (sort.isDescending ? " ▾" : " ▴") : ""}
        </button>
      )}
    </span>
  );
}

/**
 * The rows to draw: the first, and the one after the last. Scrolls to the selected row, to the
 * first match of a search and, at the start, to the first problem.
 */
function useRowsInSight(state: State) {
  const { graph, rows, rowOf, selected } = state;
  const list = useEntriesInSight({
    entries: rows,
    heights: ROWS,
    selected: selected === null ? null : (rowOf.get(selected) ?? null),
    usualHeight: USUAL_HEIGHT,
    start: startTop(state),
  });
  useLayoutEffect(() => {
    const first = state.found.matches.find((id) => rowOf.has(id));
    if (first !== undefined) {
      list.bringInSight(rowOf.get(first) ?? 0);
    }
  }, [state.found]);
  useLayoutEffect(() => {
    const top = startTop(state);
    if (top > 0) {
      list.scrollTo(top);
    }
  }, [graph, state.onlyChanges]);
  return list;
}

/** The first scroll position: a little above the first problem, unless a node is selected. */
function startTop(state: State): number {
  const problem = state.selected === null ? firstProblemNode(state) : null;
  const top = ((problem === null ? undefined : state.rowOf.get(problem)) ?? 0) * ROW_HEIGHT;
  return top > START_VIEW ? top - START_VIEW / 2 : 0;
}

interface OutlineRowProps {
  readonly graph: Graph;
  readonly tree: ShownTree;
  readonly columns: readonly Column[];
  readonly row: Row;
  /** In pixels. */
  readonly indent: number;
  readonly index: number;
  readonly domId: string;
  readonly isSelected: boolean;
  readonly found: Found;
  readonly dispatch: Dispatch;
}

function OutlineRow(props: OutlineRowProps) {
  const { graph, columns, row, index, domId, isSelected, dispatch } = props;
  const { chunk, id } = row;
  const line = chunk === null ? lineClass(graph.overlay, id) : " ckv-chunk";
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
      onClick={() => dispatch({ type: "select", id })}
      onDblClick={() => dispatch({ type: "toggle", id })}
    >
      <NameCell {...props} />
      {columns
        .filter(({ sortsBy }) => chunk === null || chunk.group !== null || sortsBy === "measure")
        .map((column) => (
          <ColumnCell key={column.name} column={column} graph={graph} row={row} />
        ))}
    </div>
  );
}

function NameCell({ graph, tree, row, indent, found, dispatch }: OutlineRowProps) {
  const { chunk, id } = row;
  const label = chunk === null ? visible(graph.label(id)) || WORDS.root : chunkLabel(graph, chunk);
  const problem = chunk === null ? problemWords(graph, id) : "";
  const note = chunk === null && problem === "" ? noteWords(graph, id) : "";
  const type = chunk === null ? ownType(graph, id) : chunkCount(chunk);
  return (
    <span
      class="ckv-cell-name"
      role="gridcell"
      style={{ paddingLeft: `${indent}px` }}
      title={type === "" ? label : `${label}: ${type}`}
    >
      <Twisty
        canOpen={row.childCount > 0}
        isOpen={row.isExpanded}
        toggle={() => dispatch({ type: "toggle", id })}
      />
      {chunk === null ? <RoleIcon role={graph.role(id)} isTrained={isTrained(graph, id)} /> : null}
      <Name name={label} look="ckv-name" isMatch={found.isMatch[id] === 1} />
      {row.childCount > 0 && !row.isExpanded ? <Count {...heldBy(tree, found, id)} /> : null}
      {isFrozenHere(graph, id) ? <span class="ckv-frozen">{WORDS.frozenSign}</span> : null}
      <BadSign {...badIn(graph, tree, row)} />
      {problem === "" ? null : <span class="ckv-error">! {problem}</span>}
      {note === "" ? null : (
        <span class="ckv-aside" title={note}>
          {WORDS.notTracked.toLowerCase()}
        </span>
      )}
      <span class="ckv-type ckv-cut">{type}</span>
    </span>
  );
}

/** What a closed row holds; nothing in a row that holds no match. */
function Count({ count, areMatches }: Held) {
  const [one, many] = areMatches ? WORDS.counts.matchesBelow : WORDS.counts.below;
  return count === 0 ? null : (
    <span class={`ckv-count${areMatches ? " ckv-match" : ""}`} title={countWords(count, one, many)}>
      {formatCount(count)}
    </span>
  );
}

/** The node's type; empty for a variable, since its icon and its dtype show that. */
function ownType(graph: Graph, id: number): string {
  const role = graph.role(id);
  return role === "variable" || role === "slot" ? "" : typeWords(graph, id);
}

interface ColumnCellProps {
  readonly column: Column;
  readonly graph: Graph;
  readonly row: Row;
}

function ColumnCell({ column, graph, row }: ColumnCellProps) {
  const { content, title, look } = column.cell(graph, row);
  return (
    <span
      class={`ckv-cell ckv-cell-${column.name}${look === undefined ? "" : ` ckv-${look}`}`}
      role="gridcell"
      title={title}
    >
      {content}
    </span>
  );
}
