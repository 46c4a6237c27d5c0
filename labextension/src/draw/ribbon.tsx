/**
 * The ribbon: where the parameters are, as a strip in the order of the layers. A comparison has a
 * strip for each side, with the verdicts.
 */

import { LIVE_ALONE, type NodeState, SAVED_ALONE } from "../contract";
import type { Graph } from "../graph";
import { isWithin, type Segment, type Strip, stripsOf } from "../layout/ribbon";
import { trainingsOf } from "../layout/training";
import { isQuiet } from "../overlay";
import { countsSentence, stateSign } from "../signs";
import type { State } from "../state";
import * as WORDS from "../strings";
import { formatCount } from "../text";
import { percentWords } from "../words";
import { useCutNames } from "./cut";
import { rowLabelOn } from "./lines";
import type { Dispatch } from "./props";

interface RibbonProps {
  readonly state: State;
  readonly dispatch: Dispatch;
}

/** Absent where one part holds all parameters. */
export function Ribbon({ state, dispatch }: RibbonProps) {
  const strips = stripsOf(state.graph);
  const names = useCutNames<HTMLDivElement>();
  return strips.length === 0 ? null : (
    <div
      ref={names}
      class={state.graph.overlay === null ? "ckv-ribbon" : "ckv-ribbon ckv-two-strips"}
    >
      {strips.map((strip) => (
        <StripOf key={strip.side} strip={strip} state={state} dispatch={dispatch} />
      ))}
    </div>
  );
}

function StripOf({ strip, state, dispatch }: RibbonProps & { readonly strip: Strip }) {
  const { graph, selected } = state;
  const { matched, segments, side } = strip;
  const isLit = (rows: readonly number[]) =>
    selected !== null &&
    selected < graph.treeSize &&
    rows.some((row) => isWithin(graph, row, selected));
  const name =
    side === null || graph.overlay === null ? "" : WORDS.onSide[graph.overlay.comparison][side];
  return (
    <>
      {name === "" ? null : <span class="ckv-strip-name">{name}</span>}
      <ul aria-label={[name, WORDS.ribbon].filter((words) => words !== "").join(": ")}>
        {segments.map((segment) => (
          <li key={segment.rows[0]} style={{ flexGrow: segment.share }}>
            <button
              type="button"
              tabIndex={-1}
              class={`${lookOf(segment)}${isMostlyFrozen(graph, segment) ? " ckv-strip-frozen" : ""}${isLit(segment.rows) ? " ckv-lit" : ""}`}
              title={sentenceOf(graph, segment, strip)}
              onClick={() => dispatch({ type: "select", id: segment.row })}
            >
              <Mark segment={segment} />
              <span class="ckv-segment-name ckv-cut">{labelOf(graph, segment, strip)}</span>
            </button>
          </li>
        ))}
      </ul>
      {side === null ? null : (
        <span class="ckv-strip-name">
          {percentWords(matched)} {stateSign("matched").word}
        </span>
      )}
    </>
  );
}

/** A sign tells what a colour tells. */
function Mark({ segment }: { readonly segment: Segment }) {
  const [worst] = segment.states;
  return worst === undefined || isQuiet(worst.state) ? null : (
    <span class="ckv-segment-sign" aria-hidden="true">
      {stateSign(worst.state).glyph}
    </span>
  );
}

/** States of what has no partner, or perhaps one elsewhere: hatched. */
const isAlone = (state: NodeState): boolean =>
  SAVED_ALONE.has(state) || LIVE_ALONE.has(state) || state === "moved";

function isMostlyFrozen(graph: Graph, { parameters, rows }: Segment): boolean {
  const frozen = rows.reduce((sum, row) => sum + (trainingsOf(graph, row)?.frozen ?? 0), 0);
  return frozen > parameters / 2;
}

function lookOf({ states: [worst] }: Segment): string {
  if (worst === undefined || isQuiet(worst.state)) {
    return worst === undefined ? "" : "ckv-strip-quiet";
  }
  return isAlone(worst.state) ? "ckv-strip-alone" : "ckv-strip-differs";
}

function labelOf(graph: Graph, { rows }: Segment, { side }: Strip): string {
  const ends = rows.length === 1 ? rows : [rows[0], rows.at(-1)];
  return ends
    .filter((row) => row !== undefined)
    .map((row) => rowLabelOn(graph, row, side))
    .join(" … ");
}

/** The segment in words: head: 130 parameters, 8.1 %, 2 shape differs. */
function sentenceOf(graph: Graph, segment: Segment, strip: Strip): string {
  const { parameters, share, states } = segment;
  const size = `${formatCount(parameters)} ${WORDS.columns.parameters}`;
  const frozen = isMostlyFrozen(graph, segment) ? WORDS.training.frozen : "";
  const words = [size, percentWords(share), countsSentence(states), frozen].filter(
    (word) => word !== "",
  );
  return `${labelOf(graph, segment, strip)}: ${words.join(", ")}`;
}
