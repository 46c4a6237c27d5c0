/** Both sides of a comparison as strips: widths are parameters, looks tell what happens to them. */

import * as WORDS from "../basics/strings";
import { countWords, formatCount, visible } from "../basics/text";
import type { CellSign } from "../data/contract";
import type { Table } from "../data/table";
import { stripsOf } from "../layout/strips";
import { cellSign } from "../words/signs";
import { type Accepting, fixedWith, restoredWith } from "./accepting";
import { useCutNames } from "./cut";
import type { Showing } from "./props";

interface RibbonProps extends Showing {
  readonly table: Table;
  readonly accepting: Accepting;
}

export function TableRibbon({ state, table, accepting, dispatch }: RibbonProps) {
  const { graph, line } = state;
  const strips = stripsOf(graph);
  const cut = useCutNames<HTMLDivElement>();
  const [saved = [], live = []] = strips;
  if (Math.max(saved.length, live.length) < 2) {
    return null;
  }
  const notes = notesOf(table, accepting, graph.overlay?.comparison === "diff");
  return (
    <div ref={cut} class="ckv-table-ribbon" role="img" aria-label={notes.join(". ")}>
      {strips.map((segments, side) => (
        <div key={side} class="ckv-strip">
          <span class="ckv-strip-name">{table.heads[side === 0 ? 0 : 3]}</span>
          <span class="ckv-strip-parts">
            {segments.map(({ line: part, share }) => {
              const cell = fixedWith(table, part, accepting) ?? part.plain;
              const name = visible(side === 0 ? part.saved : part.live);
              const isLit = part.id === line ? " ckv-lit" : "";
              return (
                <span
                  key={part.id}
                  class={`ckv-part-${lookOf(cell.sign)}${isLit}`}
                  style={{ flexGrow: share }}
                  title={`${name}: ${countWords(part.values, ...WORDS.counts.values)}, ${visible(cell.words)}`}
                  onClick={() => dispatch({ type: "selectLine", line: part.id })}
                >
                  {cell.sign === "here" ? null : (
                    <b class="ckv-segment-sign">{cellSign(cell.sign).glyph}</b>
                  )}
                  <span class="ckv-segment-name ckv-cut">{name}</span>
                </span>
              );
            })}
          </span>
          <span class="ckv-strip-name">{notes[side]}</span>
        </div>
      ))}
    </div>
  );
}

/** The sums of both sides in words. */
function notesOf(table: Table, accepting: Accepting, isDiff: boolean): readonly string[] {
  const { live, saved } = table.totals;
  const placed = restoredWith(table, accepting);
  const words = isDiff
    ? ([WORDS.table.differing, WORDS.table.differing] as const)
    : ([WORDS.table.staying, WORDS.table.keeping] as const);
  return [saved, live].map((all, side) =>
    (words[side] ?? words[0])(formatCount(Math.max(all - placed, 0)), formatCount(all)),
  );
}

function lookOf(sign: CellSign): string {
  const looks: Partial<Record<CellSign, string>> = {
    here: "restored",
    elsewhere: "restored",
    likely: "likely",
    waits: "waits",
    keeps: "keeps",
    changed: "changed",
  };
  return looks[sign] ?? "stays";
}
