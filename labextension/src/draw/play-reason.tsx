/** Beside a restore that plays: what was done so far, and the same in TensorFlow. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { formatCount, visible } from "../basics/text";
import type { Kernel } from "../kernel/kernel";
import type { StepWords, Story } from "../kernel/play";
import { useAsked } from "./asking";

interface Props {
  readonly story: Story;
  readonly at: number;
  readonly words: StepWords | null;
  /** What sends the text of a function; null where nothing does. */
  readonly ask: Kernel | null;
  /** What comes first. */
  readonly children: ComponentChildren;
}

export function PlayReason({ story, at, words, ask, children }: Props) {
  const { plays } = WORDS;
  const counts = [
    [plays.bound, story.bound(at), story.size],
    [plays.inQueue, story.queueLength(at), null],
    [plays.waiting, story.waiting(at).length, null],
    [plays.assigned, story.assigned(at), null],
  ] as const;
  return (
    <aside class="ckv-play-reason">
      {children}
      <div>
        <h4>{plays.soFar}</h4>
        <ul class="ckv-play-counts">
          {counts.map(([word, count, of]) => (
            <li key={word}>
              {word}
              <span>
                <b>{formatCount(count)}</b>
                {of === null || of === 0 ? null : ` ${WORDS.place("", formatCount(of)).trim()}`}
              </span>
            </li>
          ))}
        </ul>
      </div>
      {words === null ? null : (
        <InTensorFlow key={words.place.join()} at={at} place={words.place} ask={ask} />
      )}
    </aside>
  );
}

type InTensorFlowProps = Pick<Props, "at" | "ask"> & Pick<StepWords, "place">;

function InTensorFlow({ at, place, ask }: InTensorFlowProps) {
  const [name, file, line] = place;
  const [asked, load] = useAsked(async () => {
    const answer = await ask?.({ ask: "source", at });
    return { text: answer?.text ?? "", first: answer?.first ?? 1, line: answer?.line };
  });
  const source = asked?.answer;
  return (
    <div class="ckv-play-source">
      <h4>{WORDS.plays.sameInTensorFlow}</h4>
      <p>
        <code class="ckv-play-function">{visible(name)}</code>
        <span class="ckv-faint ckv-play-file">
          {visible(file)}
          {line === null ? "" : `:${line}`}
        </span>
      </p>
      {source === undefined ? (
        ask === null ? null : (
          <p class="ckv-buttons">
            <button type="button" onClick={load}>
              {WORDS.plays.showSource}
            </button>
            {asked?.problem}
          </p>
        )
      ) : (
        <Source {...source} />
      )}
    </div>
  );
}

interface SourceProps {
  readonly text: string;
  readonly first: number;
  readonly line: number | undefined;
}

/** Lines of a function before and after the one that matters. */
const AROUND = 12;

function Source({ text, first, line }: SourceProps) {
  const box = useRef<HTMLPreElement>(null);
  const here = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (box.current !== null && here.current !== null) {
      box.current.scrollTop = here.current.offsetTop - box.current.clientHeight / 2;
    }
  }, []);
  const at = line === undefined ? 0 : line - first;
  const lines = text.split("\n").map((code, place) => ({ code: visible(code), place }));
  return (
    <pre class="ckv-play-code" tabIndex={0} ref={box}>
      {lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).map(({ code, place }) => (
        <span
          key={place}
          ref={place === at ? here : null}
          class={place === at ? "ckv-play-line ckv-play-here" : "ckv-play-line"}
        >
          {code || " "}
        </span>
      ))}
    </pre>
  );
}
