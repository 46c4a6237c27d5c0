/** The widths of a table's columns: each has what its words need, and they share what is left. */

import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { formatCount, visible } from "../basics/text";
import type { Table, TableRow } from "../data/table";
import { textMeasure } from "./text-width";

/** A column of cells, by whose texts it is as wide as it has to be. */
export interface SaidColumn {
  readonly title: string;
  /** What it says in some lines. */
  texts(lines: readonly number[]): Iterable<string>;
  /** In pixels, the width of what is no text. */
  readonly least: number;
}

/** Lines in sight that are read: if only later ones have wider words, these are cut. */
const MOST_LINES = 2000;
/** The sizes of the text in a cell, and of the facts behind a name (style/table.css). */
const [SIZE, SMALL, BOLD] = [13, 11, 600];
/** What is around the words of a cell, around a title and around a name, in pixels. */
const [AROUND_WORDS, AROUND_TITLE, AROUND_NAME] = [50, 26, 78];
/** A line of a title, of which a head may have two. */
const LINE_OF_TITLE = 136;
/** A name may be cut in its middle, and facts at their end: none counts for more. */
const [MOST_NAME, MOST_FACTS] = [260, 100];
/** The part of the width that a column of words may have: one alone, or one of two. In percent. */
const [MOST_ALONE, MOST_OF_TWO] = [45, 31];

interface Columns {
  readonly table: Table;
  /** The lines in sight. */
  readonly rows: readonly TableRow[];
  /** The columns between those of names. */
  readonly said: readonly SaidColumn[];
}

/** Gives the table around a head its columns, whenever its lines or the text of the head change. */
export function useColumns(head: RefObject<HTMLElement | null>, columns: Columns, text: string) {
  const { table, rows, said } = columns;
  useLayoutEffect(() => {
    const root = head.current?.closest<HTMLElement>(".ckv-table");
    if (root != null) {
      const { fontFamily } = getComputedStyle(root);
      const lines = rows.slice(0, MOST_LINES).map(({ line }) => line);
      const cells = said.map((column) => neededBy(column, lines, fontFamily));
      const needs = cells.map(([need]) => need);
      // Words come before names, which may be cut in their middle.
      const most = said.length === 1 ? MOST_ALONE : MOST_OF_TWO;
      const shared = [
        `minmax(0, ${neededByNames(table, "saved", fontFamily)}fr)`,
        ...cells.map(([need, wish]) => `minmax(min(${need}px, ${most}%), ${wish}fr)`),
        `minmax(0, ${neededByNames(table, "live", fontFamily)}fr)`,
      ];
      root.style.setProperty("--ckv-shared", shared.join(" "));
      root.style.setProperty("--ckv-need", `${Math.max(...needs)}px`);
    }
  }, [table, rows, text]);
}

/** The least width for the words in sight, and the one that has a title in a line, too. */
function neededBy(
  { title, texts, least }: SaidColumn,
  lines: readonly number[],
  font: string,
): readonly [number, number] {
  const measure = textMeasure(font, BOLD);
  const words = [...new Set(texts(lines))].map((text) => measure(text, SIZE) + AROUND_WORDS);
  const ofTitle = measure(title, SIZE) + AROUND_TITLE;
  const need = Math.ceil(Math.max(least, Math.min(ofTitle, LINE_OF_TITLE), ...words));
  return [need, Math.max(need, Math.ceil(ofTitle))];
}

/** What the outermost names of a side need: what opens does not move the columns of names. */
function neededByNames(table: Table, side: "saved" | "live", font: string): number {
  const measure = textMeasure(font);
  const needs = table
    .inside(null)
    .slice(0, MOST_LINES)
    .map((id) => {
      const line = table.line(id);
      const [name, facts] = [visible(line[side]), visible(line[`${side}Facts`])];
      const ofFacts = Math.min(measure(facts, SMALL), MOST_FACTS);
      const ofName = Math.min(measure(name || facts, SIZE), MOST_NAME);
      const count = measure(formatCount(line.values), SIZE);
      return AROUND_NAME + ofName + (name === "" ? 0 : ofFacts + count);
    });
  return Math.ceil(Math.max(AROUND_NAME, ...needs));
}
