/** The states that occur, as sign, word and number; the user can switch each one off. */

import { stateSign } from "../signs";
import { hasDifferences, type State, showsOnlyProblems } from "../state";
import * as WORDS from "../strings";
import { formatCount } from "../text";
import { SignIcon } from "./icons";
import type { Dispatch } from "./props";

interface FiltersProps {
  readonly state: State;
  readonly dispatch: Dispatch;
}

export function Filters({ state, dispatch }: FiltersProps) {
  const { graph, hidden } = state;
  const { overlay } = graph;
  if (overlay === null) {
    return null;
  }
  const only = showsOnlyProblems(state);
  return (
    <ul class="ckv-legend ckv-filters" aria-label={WORDS.states}>
      {hasDifferences(graph) ? (
        <li>
          <button
            type="button"
            aria-pressed={only}
            title={WORDS.onlyHint}
            onClick={() => dispatch({ type: "showOnlyProblems", only: !only })}
          >
            {overlay.comparison === "diff" ? WORDS.onlyDifferences : WORDS.onlyProblems}
          </button>
        </li>
      ) : null}
      {overlay.counts.map(({ state: of, count }) => (
        <li key={of}>
          <label>
            <input
              type="checkbox"
              checked={!hidden.has(of)}
              onChange={() => dispatch({ type: "showState", state: of, shows: hidden.has(of) })}
            />
            <SignIcon sign={stateSign(of)} />
            {stateSign(of).word} {of === "plain" ? "" : formatCount(count)}
          </label>
        </li>
      ))}
      <li class="ckv-faint">{WORDS.unit}</li>
    </ul>
  );
}
