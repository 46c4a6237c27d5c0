/** Predict first: the questions about a restore, and the answers of a learner. */

/** One question; ckpt_viz/answers/restore_check/played.py makes it. */
export interface Question {
  /** The saved node by name, or the name of an assert. */
  readonly about: string;
  readonly isOfAssert: boolean;
  readonly choices: readonly string[];
  /** The place of the right choice. */
  readonly right: number;
  /** The sentence of the step that decides, and its reason. */
  readonly why: readonly [string, string];
  /** This step; of an assert, the end of the story. */
  readonly at: number;
  /** The node of the picture that it is about; null without one. */
  readonly node: number | null;
}

export interface Quiz {
  readonly questions: readonly Question[];
  /** Whether someone made it to be answered: it opens with the first question. */
  readonly isExercise: boolean;
}

/** By place of a question, the place of the learner's choice. */
export type Predictions = ReadonlyMap<number, number>;

export const NO_PREDICTIONS: Predictions = new Map();

/**
 * The questions in an answer. Null if there are none, or if one does not belong to a story of this
 * many steps and a picture of this many nodes.
 */
export function readQuiz(
  { questions: data, is_exercise: isExercise }: QuizAnswer,
  length: number,
  size: number,
): Quiz | null {
  if (!Array.isArray(data) || data.length === 0) {
    return null;
  }
  const questions = data.map((entry) => readQuestion(entry, length, size));
  const whole = questions.filter((question) => question !== null);
  const isOrdered = whole.every(({ at }, i) => i === 0 || (whole[i - 1]?.at ?? 0) <= at);
  return whole.length === data.length && isOrdered
    ? { questions: whole, isExercise: isExercise === true }
    : null;
}

export interface QuizAnswer {
  readonly questions?: unknown;
  readonly is_exercise?: unknown;
}

function readQuestion(data: unknown, length: number, size: number): Question | null {
  const { about, at, choices, is_of_assert, node, right, why } = (data ?? {}) as Readonly<
    Partial<Record<string, unknown>>
  >;
  const isWhole =
    typeof about === "string" &&
    areTexts(choices) &&
    areTexts(why) &&
    why.length === 2 &&
    isPlace(right, choices.length) &&
    isPlace(at, length + 1) &&
    (node === null || isPlace(node, size));
  if (!isWhole) {
    return null;
  }
  const [text = "", reason = ""] = why;
  const place = typeof node === "number" ? node : null;
  const isOfAssert = is_of_assert === true;
  return { about, isOfAssert, choices, right, why: [text, reason], at, node: place };
}

function areTexts(data: unknown): data is readonly string[] {
  return Array.isArray(data) && data.every((text) => typeof text === "string");
}

function isPlace(data: unknown, length: number): data is number {
  return Number.isInteger(data) && Number(data) >= 0 && Number(data) < length;
}

/** The place of the first question without an answer; null if all have one. */
export function firstOpen({ questions }: Quiz, predictions: Predictions): number | null {
  const place = questions.findIndex((_, at) => !predictions.has(at));
  return place < 0 ? null : place;
}

/** The last step that a learner may see: the one before the step that a question is about. */
export function lastSeen(quiz: Quiz, predictions: Predictions, length: number): number {
  const question = quiz.questions[firstOpen(quiz, predictions) ?? -1];
  return question === undefined ? length - 1 : Math.max(0, question.at - 1);
}

/** The step that shows what a question is about. */
export function stepOfQuestion({ at }: Question, length: number): number {
  return Math.min(at, length - 1);
}

/** The questions of a step with an answer, by their places. */
export function answeredAt(
  { questions }: Quiz,
  predictions: Predictions,
  at: number,
  length: number,
): readonly number[] {
  return [...questions.keys()].filter((place) => {
    const question = questions[place];
    return (
      question !== undefined && predictions.has(place) && stepOfQuestion(question, length) === at
    );
  });
}

/** How many predictions were right. */
export function rightOnes({ questions }: Quiz, predictions: Predictions): number {
  return [...predictions].filter(([place, choice]) => questions[place]?.right === choice).length;
}
