/** What the line of a fix says besides its mark: a tick, a plain restore's way, and the reason. */

import type { Row } from "../layout/rows";
import { stateSign } from "../signs";
import type { State } from "../state";
import * as WORDS from "../strings";
import { visible } from "../text";
import type { Accepting } from "./accepting";
import { detourWords, type LineMark } from "./lines";

interface Props {
  readonly state: State;
  readonly accepting: Accepting;
  readonly row: Row;
  readonly mark: LineMark;
  /** Whether both sides have the row; otherwise the reason is in the place of a box. */
  readonly isPair: boolean;
}

export function OfFix({ state, accepting, row, mark, isPair }: Props) {
  return state.fix === null ? null : (
    <>
      <Tick state={state} mark={mark} accepting={accepting} />
      <OwnWay state={state} row={row} />
      {mark.reason && isPair ? <span class="ckv-reason">{mark.reason}</span> : null}
    </>
  );
}

/** Accepts a guess of the fix, or takes it back. */
function Tick({ state, mark, accepting }: Pick<Props, "state" | "mark" | "accepting">) {
  const guess = state.graph.overlay?.guesses[mark.guess ?? -1];
  return guess === undefined ? null : (
    <input
      type="checkbox"
      class="ckv-tick"
      aria-label={WORDS.tickGuess(visible(guess.saved), visible(guess.live))}
      checked={accepting.accepted.has(guess.place)}
      onClick={(event) => event.stopPropagation()}
      onChange={(event) => accepting.accept([guess], event.currentTarget.checked)}
    />
  );
}

/** What a plain restore does, beside what the fix does. */
function OwnWay({ state, row }: Pick<Props, "state" | "row">) {
  const { graph, showsOwnWay } = state;
  const { overlay } = graph;
  if (!showsOwnWay || overlay === null || row.chunk !== null || !overlay.hasValue(row.id)) {
    return null;
  }
  const words = detourWords(graph, overlay, row.id) || stateSign(overlay.state(row.id)).word;
  return (
    <span class="ckv-was">
      {WORDS.plainRestore}: {words}
    </span>
  );
}
