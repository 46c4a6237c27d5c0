/** The switch between watching a restore and predicting it. */

import * as WORDS from "../basics/strings";
import type { Predicting } from "./predicting";

/** No switch where there is nothing to ask. */
export function PredictSwitch({ quiz, isOn, setOn }: Predicting) {
  const { predicts } = WORDS;
  return quiz === null ? null : (
    <span class="ckv-play-modes" role="group" aria-label={predicts.mode}>
      {[false, true].map((of) => (
        <button
          key={String(of)}
          type="button"
          aria-pressed={isOn === of}
          title={of ? predicts.firstHint : predicts.watchHint}
          onClick={({ currentTarget }) => {
            setOn(of);
            // The space bar plays from now on.
            currentTarget.closest<HTMLElement>(".ckv-play")?.focus();
          }}
        >
          {of ? predicts.first : predicts.watch}
        </button>
      ))}
    </span>
  );
}
