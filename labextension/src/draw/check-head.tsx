/** The head of a comparison: what has changed, what the call does, and what to do now. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { sentenceText, shortened, visible, visibleLines } from "../basics/text";
import type { Overlay } from "../data/overlay";
import type { Table } from "../data/table";
import { verdictSign } from "../words/signs";
import { SignIcon } from "./icons";

/** Further asserts would leave no space for the table. */
const MAX_VERDICTS = 12;
const MAX_MESSAGE = 300;

interface HeadProps {
  readonly table: Table;
  readonly overlay: Overlay;
  /** What the button has done, in place of the sentence; null before that. */
  readonly done: string | null;
  /** Whether the program has the values of the fix now: then the call is no matter any more. */
  readonly isRestored: boolean;
  readonly buttons: ComponentChildren;
}

export function CheckHead({ table, overlay, done, isRestored, buttons }: HeadProps) {
  const [showsAsserts, setShowsAsserts] = useState(false);
  const { sentence, verdict } = table;
  const isFine = overlay.passes && sentence === "";
  const first = done ?? (sentence === "" ? verdict : sentence);
  return (
    <section class="ckv-check-head" aria-label={WORDS.verdict}>
      <div class="ckv-check-words" role="status" aria-live="polite">
        <p class="ckv-sentence">
          {done !== null || isFine ? <SignIcon sign={verdictSign(overlay, true)} /> : null}
          {sentenceText(first)}
        </p>
        <p class="ckv-check-verdict">
          {first === verdict || isRestored ? "" : `${sentenceText(verdict)} `}
          {overlay.verdicts.length < 2 ? null : (
            <button
              type="button"
              class="ckv-jump"
              aria-expanded={showsAsserts}
              onClick={() => setShowsAsserts(!showsAsserts)}
            >
              {WORDS.table.asserts}
            </button>
          )}
        </p>
      </div>
      <p class="ckv-check-buttons">{buttons}</p>
      {showsAsserts ? <Asserts overlay={overlay} /> : null}
    </section>
  );
}

/** What each assert of the restore's status does, with the text that TensorFlow raises, once. */
function Asserts({ overlay }: { readonly overlay: Overlay }) {
  return (
    <ul class="ckv-asserts">
      {overlay.verdicts.slice(0, MAX_VERDICTS).map((verdict, index) => (
        <li key={index}>
          <SignIcon sign={verdictSign(overlay, verdict.passes)} />{" "}
          <code>{visible(verdict.name)}</code> <b>{verdictSign(overlay, verdict.passes).word}</b>
          {verdict.message === "" ||
          verdict.message === overlay.verdicts[index - 1]?.message ? null : (
            <span class="ckv-faint"> {shortened(visibleLines(verdict.message), MAX_MESSAGE)}</span>
          )}
        </li>
      ))}
    </ul>
  );
}
