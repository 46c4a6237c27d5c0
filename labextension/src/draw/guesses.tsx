/** The guesses of a fix: what a person accepts by a tick, never taken unasked. */

import type { Guess } from "../overlay";
import * as WORDS from "../strings";
import { visible } from "../text";
import { moreWords } from "../words";
import type { Accepting } from "./accepting";
import { CodeText } from "./code";
import { Copy } from "./copy";

const MAX_GUESSES = 50;

interface GuessesProps {
  readonly guesses: readonly Guess[];
  readonly accepting: Accepting;
  readonly hint: string;
}

export function Guesses({ guesses, accepting, hint }: GuessesProps) {
  const { accept, accepted } = accepting;
  if (guesses.length === 0) {
    return null;
  }
  const areAllTaken = guesses.every(({ place }) => accepted.has(place));
  return (
    <fieldset class="ckv-guesses">
      <legend>{WORDS.guessesTitle}</legend>
      <p class="ckv-faint">{hint}</p>
      <ul>
        {guesses.slice(0, MAX_GUESSES).map((guess) => (
          <li key={guess.place}>
            <label>
              <input
                type="checkbox"
                checked={accepted.has(guess.place)}
                onChange={(event) => accept([guess], event.currentTarget.checked)}
              />
              <span>
                {visible(guess.saved)} {WORDS.belongsTo}
                {visible(guess.live)}
              </span>
            </label>
          </li>
        ))}
      </ul>
      {guesses.length > MAX_GUESSES ? <p>{moreWords(guesses.length - MAX_GUESSES)}</p> : null}
      {guesses.length === 1 ? null : (
        <p class="ckv-buttons">
          <button type="button" onClick={() => accept(guesses, !areAllTaken)}>
            {areAllTaken ? WORDS.takeNone : WORDS.takeAll}
          </button>
        </p>
      )}
    </fieldset>
  );
}

interface RemedyGuessesProps extends Omit<GuessesProps, "hint"> {
  /** Whether a kernel can take the ticked guesses here. */
  readonly hasFix: boolean;
}

/** The guesses that belong to the remedy of a problem. */
export function RemedyGuesses({ hasFix, ...props }: RemedyGuessesProps) {
  return (
    <>
      <Guesses {...props} hint={hasFix ? WORDS.guessesOfFix : WORDS.guessesInPython} />
      {hasFix ? null : <CallWithGuesses {...props} />}
    </>
  );
}

/** The call in Python that takes the ticked guesses, where no kernel can. */
function CallWithGuesses({ guesses, accepting }: Omit<GuessesProps, "hint">) {
  const ticked = guesses.filter(({ place }) => accepting.accepted.has(place));
  if (ticked.length === 0) {
    return null;
  }
  const call = callWith(ticked);
  return (
    <div class="ckv-code">
      <p class="ckv-buttons">
        <Copy what={WORDS.callWithGuesses} text={call} />
      </p>
      <CodeText code={visible(call)} />
    </div>
  );
}

/** `check.fix(guesses=['net.blocks.0'])`. */
export function callWith(guesses: readonly Guess[]): string {
  return `check.fix(guesses=[${guesses.map(({ code }) => code).join(", ")}])`;
}
