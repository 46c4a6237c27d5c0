/** Where a learner is in the questions of a restore. */

import { useEffect, useState } from "preact/hooks";
import type { Kernel } from "../kernel/kernel";
import type { Story } from "../kernel/play";
import {
  answeredAt,
  firstOpen,
  lastSeen,
  NO_PREDICTIONS,
  type Predictions,
  type Quiz,
  readQuiz,
  stepOfQuestion,
} from "../kernel/predict";

export interface Predicting {
  /** Null if there is nothing to ask. */
  readonly quiz: Quiz | null;
  readonly isOn: boolean;
  /** Whether a question is open, at the last step that may be seen. */
  readonly isAsked: boolean;
  readonly predictions: Predictions;
  /** The last step that may be seen. */
  readonly last: number;
  /** The place of the question that is open at a step; null without one. */
  openAt(at: number): number | null;
  /** The places of the questions that a step has decided. */
  answeredAt(at: number): readonly number[];
  setOn(isOn: boolean): void;
  /** Takes the choice of a key or a button for an open question. */
  answer(place: number, choice: number): void;
  again(): void;
}

/** Asks questions before the steps of a restore, if the learner or an exercise has chosen that. */
export function usePredicting(
  given: Quiz | null,
  story: Story,
  size: number,
  ask: Kernel | null,
  play: (number: number) => void,
): Predicting {
  const [quiz, setQuiz] = useState(given);
  const [isOn, setOn] = useState(given?.isExercise === true);
  const [predictions, setPredictions] = useState(NO_PREDICTIONS);
  const { length } = story;
  useEffect(() => {
    if (given === null) {
      void ask?.({ ask: "questions" }).then(
        (answer) => setQuiz(readQuiz(answer, length, size)),
        () => undefined, // an older kernel has no questions
      );
    }
  }, []);
  const last = quiz === null || !isOn ? length - 1 : lastSeen(quiz, predictions, length);
  return {
    ...{ quiz, isOn: isOn && quiz !== null, predictions, last, setOn },
    isAsked: isOn && quiz !== null && firstOpen(quiz, predictions) !== null,
    openAt: (at) => (quiz !== null && isOn && at === last ? firstOpen(quiz, predictions) : null),
    answeredAt: (at) => (quiz !== null && isOn ? answeredAt(quiz, predictions, at, length) : []),
    answer(place, choice) {
      const question = quiz?.questions[place];
      if (question?.choices[choice] !== undefined && !predictions.has(place)) {
        setPredictions(new Map([...predictions, [place, choice]]));
        play(stepOfQuestion(question, length) + 1);
      }
    },
    again() {
      setPredictions(NO_PREDICTIONS);
      play(1);
    },
  };
}
