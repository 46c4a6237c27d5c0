/** The code that restores what the fix restores: with ckpt-viz, and with TensorFlow alone. */

import { useEffect } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { countWords, shortened, visible, visibleLines } from "../basics/text";
import type { Guess } from "../data/overlay";
import { type FixAnswer, type Kernel, PATIENCE_FOR_WORK } from "../kernel/kernel";
import type { Accepting } from "./accepting";
import { useAsked } from "./asking";
import { CodeButtons, CodeText } from "./code";

/** A cell takes all of the code, a page shows its beginning. */
const MAX_LINES = 200;
const MAX_LINE = 300;

interface CodePaneProps {
  readonly guesses: readonly Guess[];
  readonly accepting: Accepting;
  readonly kernel: Kernel | null;
  readonly insert: ((code: string) => void) | null;
}

export function CodePane({ guesses, accepting, kernel, insert }: CodePaneProps) {
  const { accepted } = accepting;
  const [asked, ask] = useAsked(async () => {
    const question = { ask: "fix", guesses: [...accepted] };
    const answer = await kernel?.(question, PATIENCE_FOR_WORK);
    if (answer !== undefined && answer.fix === undefined) {
      throw new Error(WORDS.nothingSent);
    }
    return answer?.fix;
  });
  useEffect(ask, [accepted, kernel]);
  const short = asked?.answer?.short ?? shortCode(guesses, accepting);
  return (
    <section class="ckv-details ckv-code-pane" aria-label={WORDS.table.code}>
      <h3>{WORDS.table.code}</h3>
      <h4>{WORDS.table.withUs}</h4>
      <CodeText code={visibleLines(short)} />
      <p class="ckv-buttons">
        <CodeButtons code={short} insert={asked?.answer === undefined ? null : insert} />
      </p>
      {kernel === null ? null : asked?.answer === undefined ? (
        <p class={asked?.problem === undefined ? "ckv-working" : "ckv-error"}>
          {asked?.problem ?? WORDS.workingOnFix}
        </p>
      ) : (
        <Whole answer={asked.answer} insert={insert} />
      )}
    </section>
  );
}

/** The program that needs TensorFlow alone. */
function Whole({ answer, insert }: { readonly answer: FixAnswer } & Pick<CodePaneProps, "insert">) {
  const { code, source } = answer;
  const lines = code.trimEnd().split("\n");
  const shown = lines.slice(0, MAX_LINES).map((line) => shortened(visible(line), MAX_LINE));
  const more = lines.length - shown.length;
  return (
    <>
      <h4>
        {WORDS.table.withTensorFlow}, {countWords(lines.length, ...WORDS.counts.lines)}
      </h4>
      <CodeText code={shown.join("\n")} />
      {more <= 0 ? null : (
        <p class="ckv-faint">
          {WORDS.inAllLines(countWords(more, ...WORDS.countsOfFix.moreLines))}
        </p>
      )}
      <p class="ckv-buttons">
        <CodeButtons code={code} insert={source === null ? null : insert} />
      </p>
      {source === null ? <p class="ckv-faint">{WORDS.unknownSource}</p> : null}
    </>
  );
}

/** The call that takes the ticked guesses: `check.fix(guesses=['net.blocks']).apply()`. */
export function shortCode(guesses: readonly Guess[], { accepted }: Accepting): string {
  const ticked = guesses.filter(({ place }) => accepted.has(place)).map(({ code }) => code);
  return `check.fix(${ticked.length === 0 ? "" : `guesses=[${ticked.join(", ")}]`}).apply()`;
}
