/** The outline's columns beside the name: one entry each, and all else follows from the entry. */

import type { ComponentChildren } from "preact";
import * as WORDS from "../basics/strings";
import { sentenceText } from "../basics/text";
import type { Comparison } from "../data/contract";
import { type Graph, ROOT } from "../data/graph";
import type { MeasureName } from "../data/measures";
import type { Overlay } from "../data/overlay";
import { levelIn, measured } from "../layout/measured";
import type { Row } from "../layout/rows";
import type { ShownTree } from "../layout/shown";
import type { SortedColumn } from "../layout/sorting";
import { parametersOf } from "../layout/totals";
import { belowSentence, belowWords, cellMark, type Sign, worstLook } from "../words/signs";
import {
  dtypeCell,
  parametersCell,
  percentWords,
  shapeCell,
  shortCount,
  sizeCell,
  sizeSentence,
} from "../words/words";
import { SignIcon } from "./icons";
import { measureWords } from "./measuring";

/**
 * The column's width for each least width of the outline, narrowest first; below them, no column.
 */
export type Widths = readonly (readonly [outline: number, column: number])[];

export interface Cell {
  readonly content: ComponentChildren;
  /** The full text of the cell, as its tooltip. */
  readonly title: string;
  /** How much it calls for attention, in a comparison. */
  readonly look?: Sign["look"];
}

export interface Column {
  readonly name: string;
  readonly label: string;
  /** A longer explanation of the label, if it needs one. */
  readonly title?: string;
  /** For an outline of one graph; empty for a column that only a comparison has. */
  readonly alone: Widths;
  readonly compared: Widths;
  /** Whether nodes without a value leave the cell empty, so that their names can use its space. */
  readonly isOfValues?: boolean;
  /** What its head sorts by; a column without it cannot sort. */
  readonly sortsBy?: SortedColumn;
  cell(graph: Graph, row: Row): Cell;
}

/** In the order on screen. */
export const COLUMNS: readonly Column[] = [
  {
    name: "state",
    sortsBy: "state",
    label: WORDS.columns.state,
    alone: [],
    compared: [
      [0, 52],
      [361, 142],
      [501, 150],
      [601, 156],
    ],
    cell: ({ overlay }, row) =>
      overlay === null ? { content: null, title: "" } : stateCell(overlay, row),
  },
  {
    name: "shape",
    sortsBy: "shape",
    label: WORDS.columns.shape,
    // In a narrow outline, shapes use the space of the parameters, too (explorer.css).
    alone: [
      [0, 26],
      [321, 78],
    ],
    compared: [
      [431, 72],
      [501, 80],
      [601, 86],
    ],
    isOfValues: true,
    cell: (graph, { id }) => plain(shapeCell(graph, id)),
  },
  {
    name: "dtype",
    sortsBy: "dtype",
    label: WORDS.columns.dtype,
    alone: [[501, 56]],
    compared: [[501, 56]],
    isOfValues: true,
    cell: (graph, { id }) => plain(dtypeCell(graph, id)),
  },
  {
    name: "parameters",
    sortsBy: "parameters",
    label: WORDS.columns.parameters,
    title: WORDS.parametersHint,
    alone: [
      [0, 46],
      [321, 72],
      [401, 116],
    ],
    compared: [],
    cell: (graph, { id }) => parametersContent(graph, id),
  },
  {
    name: "size",
    sortsBy: "size",
    label: WORDS.columns.size,
    title: WORDS.sizeHint,
    alone: [[561, 58]],
    compared: [[601, 54]],
    cell: (graph, { id }) => ({ content: sizeCell(graph, id), title: sizeSentence(graph, id) }),
  },
  {
    name: "role",
    sortsBy: "role",
    label: WORDS.columns.role,
    alone: [[641, 62]],
    compared: [[601, 62]],
    cell: (graph, { chunk, id }) => plain(chunk === null ? graph.role(id) : ""),
  },
];

/**
 * The columns of a graph, or of a comparison. A measure takes the place of the parameters, or of
 * the size.
 */
export function columnsOf(
  comparison: Comparison | undefined,
  measure: MeasureName | null = null,
  tree: ShownTree | null = null,
): readonly Column[] {
  const isCompared = comparison !== undefined;
  const shown = COLUMNS.filter(({ alone, compared }) => (isCompared ? compared : alone).length > 0);
  const place = isCompared ? "size" : "parameters";
  return measure === null || tree === null
    ? shown
    : shown.map((one) => (one.name === place ? measureColumn(one, measure, tree) : one));
}

function measureColumn(column: Column, measure: MeasureName, tree: ShownTree): Column {
  return {
    ...column,
    label: WORDS.measures[measure],
    title: WORDS.measureHints[measure] ?? "",
    sortsBy: "measure",
    cell: (graph, row) => {
      const level = levelIn(graph, tree, row, measure);
      const words = measureWords(measure, measured(graph, tree, row, measure));
      return {
        content:
          words === "" ? null : (
            <>
              <span class="ckv-number ckv-short">{words}</span>
              <i class={`ckv-swatch ckv-level-${level ?? "none"}`} aria-hidden="true" />
            </>
          ),
        title: words === "" ? "" : `${WORDS.measures[measure]} ${words}`,
      };
    },
  };
}

function plain(words: string): Cell {
  return { content: words, title: words };
}

/** The number of parameters, and a bar for its part of all. */
function parametersContent(graph: Graph, id: number): Cell {
  const words = parametersCell(graph, id);
  const count = parametersOf(graph, id);
  const short = words === "" ? "" : shortCount(count);
  const part = count / Math.max(parametersOf(graph, ROOT), 1);
  return {
    content: (
      <>
        {short === words ? null : <span class="ckv-number">{words}</span>}
        <span class="ckv-number ckv-short">{short}</span>
        <span class="ckv-bar" aria-hidden="true">
          <span style={{ width: `${(100 * part).toFixed(1)}%` }} />
        </span>
      </>
    ),
    title: words === "" ? "" : `${words} (${percentWords(part)})`,
  };
}

/** What happens to the node and, while it is closed, the counts of the signs below it. */
function stateCell(overlay: Overlay, { id, isExpanded }: Row): Cell {
  const cell = overlay.cell(id);
  const sign = cellMark(cell);
  const below = isExpanded ? "" : belowSentence(overlay, id);
  const detail = sentenceText(overlay.detail(id) ?? "");
  return {
    content: (
      <>
        <SignIcon sign={sign} />
        <span class="ckv-state-word">{sign.word}</span>
        {below === "" ? null : <span class="ckv-below">{belowWords(overlay, id)}</span>}
      </>
    ),
    title: [sign.word, detail, below].filter((words) => words !== "").join(", "),
    look: isExpanded ? sign.look : worstLook(overlay, id),
  };
}
