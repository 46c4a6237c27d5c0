/** The line above a restore that plays: the sentence of the step, its reason, and the controls. */

import * as WORDS from "../basics/strings";
import { formatCount } from "../basics/text";
import { type PlayDeed, playKeyLines, SPEEDS, type StepWords, type Story } from "../kernel/play";
import { PredictSwitch } from "./play-switch";
import type { Predicting } from "./predicting";
import { SignButton } from "./sign-button";

/** The current step, and what moves it. */
export interface Playing {
  readonly at: number;
  readonly isRunning: boolean;
  readonly speed: number;
  go(to: number): void;
  run(deed: PlayDeed): void;
  setSpeed(speed: number): void;
}

interface BarProps {
  readonly playing: Playing;
  readonly story: Story;
  readonly words: StepWords | null;
  readonly predicting: Predicting;
}

export function Bar({ words, ...props }: BarProps) {
  const { playing, story } = props;
  const { at } = playing;
  const isProblem = story.step(at).isProblem;
  return (
    <header class="ckv-play-bar">
      <div class="ckv-play-said">
        <p
          class={isProblem ? "ckv-play-sentence ckv-play-wrong" : "ckv-play-sentence"}
          aria-live="polite"
        >
          {words?.text ?? "…"}
        </p>
        <p class="ckv-play-why">{words?.reason ?? ""}</p>
      </div>
      <Controls {...props} />
    </header>
  );
}

/** Shapes in a square of 14. */
const SHAPES = {
  first: "M2.5 2v10M12 2L4.5 7l7.5 5z",
  back: "M11 2L3.5 7l7.5 5z",
  play: "M3.5 1.5L12 7l-8.5 5.5z",
  pause: "M3.5 2h2.5v10h-2.5zM8 2h2.5v10h-2.5z",
  forward: "M3 2l7.5 5L3 12z",
  node: "M1.5 2L7 7l-5.5 5zM7.5 2L13 7l-5.5 5z",
} as const;

interface ControlProps {
  readonly name: keyof typeof SHAPES;
  readonly does: PlayDeed;
  readonly run: (deed: PlayDeed) => void;
}

function Control({ name, does, run }: ControlProps) {
  return (
    <SignButton words={WORDS.plays[name]} look={`ckv-play-${name}`} press={() => run(does)}>
      <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
        <path d={SHAPES[name]} />
      </svg>
    </SignButton>
  );
}

function Controls({ playing, story, predicting }: Omit<BarProps, "words">) {
  const { at, isRunning, run, setSpeed, speed } = playing;
  const { plays } = WORDS;
  return (
    <div class="ckv-play-controls">
      <PredictSwitch {...predicting} />
      <Control name="first" does={{ type: "first" }} run={run} />
      <Control name="back" does={{ type: "step", by: -1 }} run={run} />
      <Control name={isRunning ? "pause" : "play"} does={{ type: "toggle" }} run={run} />
      <Control name="forward" does={{ type: "step", by: 1 }} run={run} />
      <Control name="node" does={{ type: "node", by: 1 }} run={run} />
      {(predicting.isAsked ? predicting.last === at : story.problems.length === 0) ? null : (
        <button
          type="button"
          class="ckv-play-problem"
          title={predicting.isAsked ? plays.question : plays.problem}
          onClick={() => run({ type: "problem" })}
        >
          {predicting.isAsked ? plays.nextQuestion : plays.nextProblem}
        </button>
      )}
      <select
        aria-label={plays.speed}
        title={plays.speed}
        value={speed}
        onChange={(event) => setSpeed(Number(event.currentTarget.value))}
      >
        {SPEEDS.map((one) => (
          <option key={one} value={one}>
            {one}×
          </option>
        ))}
      </select>
      <span class="ckv-play-number">
        {WORDS.stepOf(formatCount(at + 1), formatCount(story.length))}
      </span>
      <button type="button" title={plays.close} onClick={() => run({ type: "close" })}>
        {WORDS.close}
      </button>
    </div>
  );
}

/** What each key does. */
export function PlayKeys() {
  return (
    <p class="ckv-play-keys" role="note" aria-label={WORDS.plays.keys}>
      {playKeyLines().map(({ does, keys }) => (
        <span key={does}>
          {keys.split(" ").map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}{" "}
          {does}
        </span>
      ))}
    </p>
  );
}
