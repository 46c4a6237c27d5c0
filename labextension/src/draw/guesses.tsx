/** The guesses of a fix: what a person accepts by a tick, never taken unasked. */

import { useEffect, useState } from "preact/hooks";
import type { Graph } from "../graph";
import type { Guess } from "../overlay";
import * as WORDS from "../strings";
import { visible } from "../text";
import { moreWords } from "../words";
import { CodeText } from "./code";
import { Copy } from "./copy";

const MAX_GUESSES = 50;

/** The guesses that a person accepts, by their places in the check. */
export interface Accepting {
  readonly accepted: ReadonlySet<number>;
  accept(guesses: readonly Guess[], isAccepted: boolean): void;
}

const NONE: ReadonlySet<number> = new Set();

/** Another graph has other guesses, so none of them is accepted. */
export function useAccepting(shown: Graph): Accepting {
  const graph = shown.objects ?? shown;
  const [accepted, setAccepted] = useState(NONE);
  useEffect(() => setAccepted(NONE), [graph]);
  return {
    accepted,
    accept: (guesses, isAccepted) =>
      setAccepted((before) => withAccepted(before, guesses, isAccepted)),
  };
}

/** The accepted guesses with these added or taken away, in the order of the check. */
export function withAccepted(
  accepted: ReadonlySet<number>,
  guesses: readonly Guess[],
  isAccepted: boolean,
): ReadonlySet<number> {
  const places = guesses.map(({ place }) => place);
  const others = [...accepted].filter((place) => !places.includes(place));
  return new Set([...others, ...(isAccepted ? places : [])].sort((a, b) => a - b));
}

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

/** The call in Python that takes the ticked guesses, where no kernel can. */
export function CallWithGuesses({ guesses, accepting }: Omit<GuessesProps, "hint">) {
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
