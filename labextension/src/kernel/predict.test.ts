import { describe, expect, it } from "vitest";
import {
  answeredAt,
  firstOpen,
  lastSeen,
  NO_PREDICTIONS,
  type Predictions,
  type Quiz,
  readQuiz,
  rightOnes,
  stepOfQuestion,
} from "./predict";

const LENGTH = 10;
const SIZE = 5;
const CHOICES = ["restored now", "waits", "forgotten", "error"];
const entry = (about: string, at: number, right: number, more: object = {}) => ({
  ...{ about, at, right, choices: CHOICES, why: [`${about} waits.`, ""], node: 1 },
  ...{ is_of_assert: false, ...more },
});
const ASSERT = entry("assert_consumed", LENGTH, 1, {
  ...{ choices: ["passes", "fails"], is_of_assert: true, node: null },
});
const DATA = [entry("a", 3, 1), entry("b", 3, 1), entry("c", 9, 0), ASSERT];

const read = (questions: unknown, more: object = {}) =>
  readQuiz({ questions, ...more }, LENGTH, SIZE);
const quiz = read(DATA) as Quiz;
const predicted = (...choices: number[]): Predictions => new Map(choices.entries());

describe("the questions in an answer", () => {
  it("are taken with their choices and the right one", () => {
    expect(quiz.isExercise).toBe(false);
    expect(read(DATA, { is_exercise: true })?.isExercise).toBe(true);
    expect(
      quiz.questions.map(({ about, isOfAssert, right }) => [about, isOfAssert, right]),
    ).toEqual([
      ["a", false, 1],
      ["b", false, 1],
      ["c", false, 0],
      ["assert_consumed", true, 1],
    ]);
  });

  it("are none if one of them is malformed, or if they are not in order", () => {
    const others: unknown[] = [
      ...[undefined, null, {}, 7, [], [null], [7], ["a"]],
      ...[{ at: LENGTH + 1 }, { at: -1 }, { at: 0.5 }, { at: "3" }].map((more) => [
        entry("a", 3, 1, more),
      ]),
      ...[{ right: 4 }, { right: -1 }, { right: null }, { node: SIZE }, { node: "1" }].map(
        (more) => [entry("a", 3, 1, more)],
      ),
      ...[{ why: ["x"] }, { why: "xy" }, { why: [1, 2] }, { choices: [1] }, { about: 1 }].map(
        (more) => [entry("a", 3, 1, more)],
      ),
      [DATA[2], DATA[0]],
    ];
    for (const data of others) {
      expect(read(data), JSON.stringify(data)).toBeNull();
    }
  });
});

describe("predictions", () => {
  it("end what a learner sees before the step of the first open question", () => {
    const seen = [[], [0], [0, 0], [0, 0, 0], [0, 0, 0, 0]].map((choices) =>
      lastSeen(quiz, predicted(...choices), LENGTH),
    );
    expect(seen).toEqual([2, 2, 8, 9, 9]);
    expect(firstOpen(quiz, NO_PREDICTIONS)).toBe(0);
    expect(firstOpen(quiz, predicted(0, 0, 0, 0))).toBeNull();
    const first = read([entry("(root)", 0, 0)]) as Quiz;
    expect(lastSeen(first, NO_PREDICTIONS, LENGTH)).toBe(0);
  });

  it("are right or not, and belong to the step that decides", () => {
    const predictions = predicted(1, 0, 0, 1);
    expect(rightOnes(quiz, predictions)).toBe(3);
    expect(rightOnes(quiz, NO_PREDICTIONS)).toBe(0);
    expect(answeredAt(quiz, predictions, 3, LENGTH)).toEqual([0, 1]);
    expect(answeredAt(quiz, predicted(1), 3, LENGTH)).toEqual([0]);
    expect(answeredAt(quiz, predictions, 9, LENGTH)).toEqual([2, 3]);
    expect(answeredAt(quiz, predictions, 4, LENGTH)).toEqual([]);
    expect(quiz.questions.map((question) => stepOfQuestion(question, LENGTH))).toEqual([
      3, 3, 9, 9,
    ]);
  });
});
