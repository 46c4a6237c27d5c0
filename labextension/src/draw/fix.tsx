/** The fix of a check: its result in a sentence, and its code. */

import type { Fix } from "../fix";
import type { Graph } from "../graph";
import { bondSign, fateSign } from "../signs";
import type { State } from "../state";
import * as WORDS from "../strings";
import { clip, countWords, formatCount, sentenceText, visible } from "../text";
import { placeName } from "../words";
import type { Accepting } from "./accepting";
import { useAsked } from "./asking";
import { CodeButtons, CodeText } from "./code";
import type { Fixing } from "./fixing";
import { Guesses } from "./guesses";
import { SignIcon } from "./icons";

/** A cell takes all of the code, a page shows its beginning. */
const MAX_LINES = 200;
const MAX_LINE = 300;

interface PaneProps {
  readonly state: State;
  readonly fixing: Fixing;
  readonly accepting: Accepting;
  /** Puts code into a new cell below; null where there are no cells. */
  readonly insert: ((code: string) => void) | null;
  /** Shows the check of the fixed restore; rejects with a reason. */
  readonly showCheck: () => Promise<void>;
}

export function FixPane({ state, fixing, accepting, insert, showCheck }: PaneProps) {
  const { fix, graph, selected } = state;
  const [asked, ask] = useAsked(showCheck);
  return (
    <section class="ckv-fix" aria-label={WORDS.fixTitle}>
      <div aria-live="polite">
        {fixing.isWaiting ? (
          <p class="ckv-working">{WORDS.workingOnFix}</p>
        ) : fixing.problem !== null ? (
          <p class="ckv-error">{fixing.problem}</p>
        ) : fix === null ? null : (
          <Result fix={fix} />
        )}
      </div>
      {fixing.problem === null ? (
        <Guesses
          guesses={graph.overlay?.guesses ?? []}
          accepting={accepting}
          hint={WORDS.guessesOfFix}
        />
      ) : null}
      {fix === null || fixing.isWaiting ? null : (
        <>
          <Changes changes={fix.changes} />
          <Code fix={fix} insert={insert} />
          {fix.restored === 0 ? null : (
            <p class="ckv-buttons">
              <button
                type="button"
                title={WORDS.fixedCheckHint}
                disabled={asked?.isWaiting}
                onClick={ask}
              >
                {asked?.isWaiting === true ? WORDS.asking : WORDS.fixedCheck}
              </button>
            </p>
          )}
          {asked?.problem === undefined ? null : <p class="ckv-error">{asked.problem}</p>}
          {selected === null ? null : <Places graph={graph} fix={fix} id={selected} />}
        </>
      )}
    </section>
  );
}

/** What the fix restores, in one sentence; and whether it has happened. */
function Result({ fix }: { readonly fix: Fix }) {
  const { isApplied, pairs, restored } = fix;
  const hasGuesses = pairs.some(({ bond }) => bond === "guess");
  return (
    <>
      <h3>
        <SignIcon sign={fateSign(restored === 0 ? "kept" : "restored")} /> {fixSummary(fix)}
      </h3>
      {restored === 0 ? <p>{WORDS.noFix}</p> : null}
      {isApplied ? (
        <p class="ckv-applied">
          <SignIcon sign={fateSign("restored")} /> <b>{WORDS.fixed}</b> {WORDS.fixedHint}
        </p>
      ) : null}
      {hasGuesses ? (
        <p>
          <SignIcon sign={bondSign("guess")} /> {WORDS.guessesLeft}
        </p>
      ) : null}
    </>
  );
}

/** Restores 42 of 44 values; 2 keep their values, 1 saved value stays unused. */
export function fixSummary({ kept, restored, unused }: Fix): string {
  const { values } = WORDS.counts;
  const { keeping, unusedValues } = WORDS.countsOfFix;
  const all = countWords(restored + kept, ...values);
  const rest = [
    kept === 0 ? "" : countWords(kept, ...keeping),
    unused === 0 ? "" : countWords(unused, ...unusedValues),
  ].filter((words) => words !== "");
  const first = kept === 0 ? WORDS.restoresAll(all) : WORDS.restores(formatCount(restored), all);
  return `${[first, rest.join(", ")].filter((words) => words !== "").join("; ")}.`;
}

/** What happened to the program since the file was written. */
function Changes({ changes }: Pick<Fix, "changes">) {
  return changes.length === 0 ? null : (
    <>
      <h4>{WORDS.changesOfFix}</h4>
      <ul>
        {changes.map((change, index) => (
          <li key={index}>{sentenceText(change)}</li>
        ))}
      </ul>
    </>
  );
}

function Code({ fix, insert }: Pick<PaneProps, "insert"> & { readonly fix: Fix }) {
  const { code, restored, source } = fix;
  const lines = code.trimEnd().split("\n");
  const shown = lines.slice(0, MAX_LINES).map((line) => clip(visible(line), MAX_LINE));
  const more = lines.length - shown.length;
  return (
    <div class="ckv-code">
      <p class="ckv-buttons">
        <CodeButtons code={code} insert={restored === 0 || source === null ? null : insert} />
      </p>
      <CodeText code={shown.join("\n")} />
      {more <= 0 ? null : (
        <p class="ckv-faint">
          {WORDS.inAllLines(countWords(more, ...WORDS.countsOfFix.moreLines))}
        </p>
      )}
      {source === null ? <p class="ckv-faint">{WORDS.unknownSource}</p> : null}
    </div>
  );
}

/** Where the value of the selected node comes from or goes, and why. */
function Places({ graph, fix, id }: { graph: Graph; fix: Fix; id: number }) {
  const from = fix.comesFrom(id);
  const pairs = [...fix.goesTo(id), ...(from === null || from.saved === id ? [] : [from])];
  return pairs.map((pair) => (
    <p key={`${pair.saved} ${pair.live}`} class="ckv-place-of-fix">
      <SignIcon sign={bondSign(pair.bond)} /> <b>{bondSign(pair.bond).word}</b>:{" "}
      {visible(placeName(graph, pair.saved, true))} → {visible(placeName(graph, pair.live))}.{" "}
      <span class="ckv-faint">{sentenceText(pair.why)}</span>
    </p>
  ));
}
