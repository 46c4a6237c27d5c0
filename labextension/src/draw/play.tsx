/** A restore that plays: the current step, the table, the queue, what waits, and the timeline. */

import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { sentenceText } from "../basics/text";
import type { Graph } from "../data/graph";
import type { Table } from "../data/table";
import { bytesOf } from "../host/shared";
import type { Answer, Kernel } from "../kernel/kernel";
import {
  makeStory,
  nextPlayed,
  nextProblem,
  nextVisit,
  type PlayDeed,
  playDeedOf,
  type Said,
  type StepWords,
  type Story,
  timeOf,
} from "../kernel/play";
import { type Quiz, readQuiz } from "../kernel/predict";
import { type State, viewOf } from "../state/state";
import { useAsked } from "./asking";
import { choiceOf, useKeys } from "./keys";
import { rootOf } from "./parts";
import { Bar, type Playing } from "./play-bar";
import { linesAround, playedColumn } from "./play-lines";
import { Predict } from "./play-predict";
import { PlayReason } from "./play-reason";
import { Strip } from "./play-strip";
import { type Predicting, usePredicting } from "./predicting";
import type { Dispatch } from "./props";
import type { PlayedColumn } from "./table";

interface PlayProps {
  /** A state of its own: closing shows the view as it was. */
  readonly state: State;
  /** What answers about the steps; null where nothing does. */
  readonly ask: Kernel | null;
  /** The answer itself, packed, where a notebook or a page has it without a kernel. */
  readonly stored: string | null;
  /** Whether the texts of TensorFlow's functions can be read. */
  readonly hasSources: boolean;
  readonly table: Table;
  /** Draws the table with a column of the restore so far. */
  readonly lines: (played: PlayedColumn) => VNode | null;
  /** The number of the step, from 1 on. */
  readonly number: number;
  /** Goes to another step; null closes Play. */
  readonly play: (number: number | null) => void;
  readonly dispatch: Dispatch;
}

export function Play(props: PlayProps) {
  const { state, stored, play, dispatch } = props;
  const ask = useMemo(
    () => props.ask ?? (stored === null ? null : () => storedAnswer(stored)),
    [props.ask, stored],
  );
  const close = () => play(null);
  const root = useRef<HTMLDivElement>(null);
  const graph = state.graph.objects ?? state.graph;
  const [asked, load] = useAsked(() => begun(ask, graph));
  const isReady = useRef(false);
  useEffect(() => {
    // Later, since a dispatch draws at once, and would run this effect again.
    queueMicrotask(() => {
      prepare(dispatch);
      isReady.current = true;
      load();
      // A program that opens Play leaves the focus where the user has it.
      if (rootOf(root.current)?.contains(document.activeElement)) {
        root.current?.focus();
      }
    });
  }, []);
  // The user chose another view, which shows the check itself.
  useEffect(() => {
    if (isReady.current && state.drawn !== "table") {
      queueMicrotask(() => {
        close();
        dispatch({ type: "showView", view: viewOf(state) });
      });
    }
  }, [state.drawn]);
  const answer = asked?.answer;
  return (
    <section class="ckv-play" aria-label={WORDS.plays.part} tabIndex={-1} ref={root}>
      {answer === undefined || answer.story.length === 0 ? (
        <p class="ckv-play-note" role="status">
          {answer === undefined
            ? (asked?.problem ?? WORDS.plays.loading)
            : sentenceText(answer.story.end)}{" "}
          <button type="button" class="ckv-button" onClick={close}>
            {WORDS.close}
          </button>
        </p>
      ) : (
        <Begun {...props} ask={ask} graph={graph} {...answer} />
      )}
    </section>
  );
}

/** Shows every line, whatever the view has hidden or marked. */
function prepare(dispatch: Dispatch): void {
  dispatch({ type: "search", query: "" });
  dispatch({ type: "showOnlyChanges", only: false });
  dispatch({ type: "showView", view: "table" });
}

async function storedAnswer(packed: string): ReturnType<Kernel> {
  const zipped = new Blob([bytesOf(packed).slice()]).stream();
  const whole = new Response(zipped.pipeThrough(new DecompressionStream("gzip")));
  const [answer, buffers]: [Answer, string[]] = await whole.json();
  return { ...answer, buffers: buffers.map((text) => new DataView(bytesOf(text).buffer)) };
}

interface Answered {
  readonly story: Story;
  readonly said: Said;
  /** What a learner is to predict; null where nothing was sent along. */
  readonly quiz: Quiz | null;
}

async function begun(ask: Kernel | null, graph: Graph): Promise<Answered> {
  if (ask === null) {
    throw new Error(WORDS.plays.needsKernel);
  }
  const answer = await ask({ ask: "steps", at: 0 });
  const { buffers, said, story } = answer;
  const made = story === undefined ? null : makeStory(story, buffers, graph.size);
  if (made === null || said === undefined) {
    throw new Error(WORDS.plays.broken);
  }
  return { story: made, said, quiz: readQuiz(answer, made.length, graph.size) };
}

interface BegunProps extends PlayProps, Answered {
  readonly graph: Graph;
}

function Begun({ story, said, ask, graph, lines, ...props }: BegunProps) {
  const { quiz, table, dispatch } = props;
  const section = useRef<HTMLDivElement>(null);
  const predicting = usePredicting(quiz, story, graph.size, ask, props.play);
  const { last } = predicting;
  const playing = usePlaying(story, predicting, props);
  const { at } = playing;
  const open = predicting.openAt(at);
  const words = useWords(said, at, ask);
  useEffect(() => queueMicrotask(() => showStep(story, graph, table, at, dispatch)), [at]);
  useKeys(section, (event) => {
    const choice = open === null ? undefined : choiceOf(event);
    const deed = playDeedOf(event);
    return open !== null && choice !== undefined
      ? () => predicting.answer(open, choice)
      : deed && (() => playing.run(deed));
  });
  const asked = quizNode(predicting, open);
  useEffect(() => {
    if (asked !== null) {
      queueMicrotask(() => dispatch({ type: "select", id: asked }));
    }
  }, [asked]);
  const played = useMemo(
    () => playedColumn({ graph, table, story, at, asked }),
    [table, at, asked],
  );
  const isHiding = predicting.isOn && last < story.length - 1;
  return (
    <div
      class={`ckv-play-parts${isHiding || open !== null ? " ckv-play-hides" : ""}`}
      ref={section}
    >
      <Bar {...{ playing, story, words, predicting }} />
      {lines(played)}
      <PlayReason {...{ story, at, words }} ask={props.hasSources ? ask : null}>
        <Predict {...{ predicting, playing, story, dispatch }} />
      </PlayReason>
      <Strip {...{ graph, story, playing, last, dispatch }} />
    </div>
  );
}

/** The node of the picture that an open question is about; an assert's is the answer. */
function quizNode({ quiz }: Predicting, open: number | null): number | null {
  const question = quiz?.questions[open ?? -1];
  return question === undefined || question.isOfAssert ? null : question.node;
}

/** Opens the lines of the steps around one; the current one comes into sight. */
function showStep(story: Story, graph: Graph, table: Table, at: number, dispatch: Dispatch): void {
  const { holder, live, saved } = story.step(at);
  dispatch({ type: "setOpenLines", lines: linesAround(story, graph, table, at) });
  const node = saved ?? live ?? holder;
  if (node !== null) {
    dispatch({ type: "select", id: node });
  }
}

/** The current step, and what moves it. */
function usePlaying(
  story: Story,
  { isAsked, last: end }: Predicting,
  { number, play }: Pick<PlayProps, "number" | "play">,
): Playing {
  const [isRunning, setRunning] = useState(false);
  const [speed, setSpeed] = useState(1);
  const last = story.length - 1;
  const at = Math.min(Math.max(number - 1, 0), end);
  const setAt = (to: number) => play(Math.min(Math.max(to, 0), end) + 1);
  const go = (to: number) => {
    setRunning(false);
    setAt(to);
  };
  useEffect(() => {
    if (!isRunning) {
      return;
    }
    const timer = setTimeout(
      () => {
        const next = nextPlayed(story, at);
        setAt(next);
        setRunning(next < end);
      },
      timeOf(story, at, speed),
    );
    return () => clearTimeout(timer);
  }, [at, isRunning, speed, end]);
  // Who has asked for a later step than the next question hears where Play is.
  useEffect(() => {
    if (number - 1 > end) {
      setAt(end);
    }
  }, [number, end]);
  const run = (deed: PlayDeed) => {
    switch (deed.type) {
      case "toggle":
        setAt(!isRunning && at === last && end === last ? 0 : at);
        setRunning(!isRunning && (at < end || end === last));
        break;
      case "step":
        go(at + deed.by);
        break;
      case "node":
        go(nextVisit(story, at, deed.by));
        break;
      case "first":
        go(0);
        break;
      case "last":
        go(last);
        break;
      case "problem":
        go(isAsked ? end : nextProblem(story, at)); // a question ends what may be seen
        break;
      case "close":
        play(null);
    }
  };
  return { at, isRunning, speed, go, run, setSpeed };
}

/** The words of a step; null while they are on their way: this asks for those around the step. */
function useWords(first: Said, at: number, ask: Kernel | null): StepWords | null {
  const known = useRef(new Map<number, StepWords>());
  const [, redraw] = useState(0);
  useMemo(() => keep(known.current, first), [first]);
  useEffect(() => {
    if (!known.current.has(at)) {
      void ask?.({ ask: "said", at }).then(
        ({ said }) => {
          if (said !== undefined) {
            keep(known.current, said);
            redraw((count) => count + 1);
          }
        },
        () => undefined, // the next step asks again
      );
    }
  }, [at]);
  return known.current.get(at) ?? null;
}

function keep(known: Map<number, StepWords>, { first, functions, reasons, steps }: Said): void {
  for (const [index, [text, reason, place]] of steps.entries()) {
    known.set(first + index, {
      text: sentenceText(text),
      reason: sentenceText(reasons[reason] ?? ""),
      place: functions[place] ?? ["", "", null],
    });
  }
}
