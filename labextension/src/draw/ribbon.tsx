/** The ribbon of a graph: where its parameters are, as a strip in the order of the layers. */

import * as WORDS from "../basics/strings";
import { formatCount } from "../basics/text";
import type { Graph } from "../data/graph";
import { isWithin, type Segment, segmentsOf } from "../layout/ribbon";
import { trainingsOf } from "../layout/training";
import { percentWords, rowLabel } from "../words/words";
import { useCutNames } from "./cut";
import type { Showing } from "./props";

/** Absent where one part holds all parameters. */
export function Ribbon({ state, dispatch }: Showing) {
  const { graph, selected } = state;
  const segments = segmentsOf(graph);
  const names = useCutNames<HTMLDivElement>();
  const isLit = (rows: readonly number[]) =>
    selected !== null &&
    selected < graph.treeSize &&
    rows.some((row) => isWithin(graph, row, selected));
  return segments.length === 0 ? null : (
    <div ref={names} class="ckv-ribbon">
      <div class="ckv-segments" role="img" aria-label={WORDS.ribbon}>
        {segments.map((segment) => (
          <span key={segment.rows[0]} style={{ flexGrow: segment.share }}>
            <span
              class={`ckv-segment${isMostlyFrozen(graph, segment) ? " ckv-strip-frozen" : ""}${isLit(segment.rows) ? " ckv-lit" : ""}`}
              title={sentenceOf(graph, segment)}
              onClick={() => dispatch({ type: "select", id: segment.rows[0] ?? null })}
            >
              <span class="ckv-segment-name ckv-cut">{labelOf(graph, segment)}</span>
            </span>
          </span>
        ))}
      </div>
    </div>
  );
}

function isMostlyFrozen(graph: Graph, { parameters, rows }: Segment): boolean {
  const frozen = rows.reduce((sum, row) => sum + (trainingsOf(graph, row)?.frozen ?? 0), 0);
  return frozen > parameters / 2;
}

function labelOf(graph: Graph, { rows }: Segment): string {
  const ends = rows.length === 1 ? rows : [rows[0], rows.at(-1)];
  return ends
    .filter((row) => row !== undefined)
    .map((row) => rowLabel(graph, row))
    .join(" … ");
}

/** The segment in words: head: 130 parameters, 8.1 %. */
function sentenceOf(graph: Graph, segment: Segment): string {
  const { parameters, share } = segment;
  const size = `${formatCount(parameters)} ${WORDS.columns.parameters}`;
  const frozen = isMostlyFrozen(graph, segment) ? WORDS.training.frozen : "";
  const words = [size, percentWords(share), frozen].filter((word) => word !== "");
  return `${labelOf(graph, segment)}: ${words.join(", ")}`;
}
