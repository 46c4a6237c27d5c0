/** Predict first: the question before a step, its answer, and the result of all. */

import * as WORDS from "../basics/strings";
import { formatCount, sentenceText, shortened, visible } from "../basics/text";
import type { Story } from "../kernel/play";
import { type Question, type Quiz, rightOnes, stepOfQuestion } from "../kernel/predict";
import { stateSign } from "../words/signs";
import { SignIcon } from "./icons";
import type { Playing } from "./play-bar";
import type { Predicting } from "./predicting";
import type { Dispatch } from "./props";

interface PredictProps {
  readonly predicting: Predicting;
  readonly playing: Playing;
  readonly story: Story;
  readonly dispatch: Dispatch;
}

export function Predict({ predicting, playing, story, dispatch }: PredictProps) {
  const { isOn, predictions, quiz } = predicting;
  if (quiz === null || !isOn) {
    return null;
  }
  const open = predicting.openAt(playing.at);
  const answered = predicting.answeredAt(playing.at);
  const isOver = predictions.size === quiz.questions.length && playing.at === story.length - 1;
  // Beside the next question, the last answers are short.
  const isShort = open !== null || isOver;
  const shown = [...(isShort ? [] : answered), ...(open === null ? [] : [open])];
  return (
    <div class="ckv-predict">
      <h4>{WORDS.predicts.part}</h4>
      <p class="ckv-live" aria-live="polite">
        {heard(quiz, predicting, answered, open)}
      </p>
      {isShort && !isOver ? (
        <Results {...{ predicting, playing, story, dispatch }} of={answered} />
      ) : null}
      {shown.map((place) => (
        <OneQuestion key={place} {...{ place, predicting, story, dispatch }} />
      ))}
      {isOver ? <Summary {...{ predicting, playing, story, dispatch }} /> : null}
      {isOver ? null : <p class="ckv-faint">{soFar(quiz, predicting)}</p>}
      {shown.length === 0 && !isOver && predictions.size < quiz.questions.length ? (
        <p class="ckv-faint">{WORDS.predicts.goOn}</p>
      ) : null}
    </div>
  );
}

/** How many predictions were right so far, and how many questions there are. */
function soFar(quiz: Quiz, { predictions }: Predicting): string {
  const numbers = [rightOnes(quiz, predictions), predictions.size, quiz.questions.length];
  const [right = "", made = "", all = ""] = numbers.map(formatCount);
  return predictions.size === 0
    ? WORDS.questionsInAll(all)
    : `${WORDS.rightSoFar(right, made)}, ${WORDS.ofVariable} ${WORDS.questionsInAll(all)}`;
}

/** What a screen reader says: the result of the last answer, and the next question. */
function heard(
  quiz: Quiz,
  predicting: Predicting,
  answered: readonly number[],
  open: number | null,
): string {
  const last = answered.at(-1);
  const [result, question] = [quiz.questions[last ?? -1], quiz.questions[open ?? -1]];
  const choice = predicting.predictions.get(last ?? -1);
  return [
    result === undefined || choice === undefined
      ? ""
      : `${resultWords(result, choice)} ${soFar(quiz, predicting)}.`,
    question === undefined ? "" : `${questionWords(question)} ${choicesWords(question)}`,
  ].join(" ");
}

function questionWords({ about, isOfAssert }: Question): string {
  const name = shortened(visible(about), MAX_ABOUT);
  return isOfAssert ? WORDS.doesPass(name) : WORDS.whatBecomesOf(name);
}

/** Characters of the name in a question. */
const MAX_ABOUT = 60;

function choicesWords({ choices }: Question): string {
  return choices.map((choice, at) => `${at + 1}: ${visible(choice)}.`).join(" ");
}

function resultWords(question: Question, choice: number): string {
  const right = visible(question.choices[question.right] ?? "");
  return choice === question.right ? WORDS.isRight(right) : WORDS.isWrong(right);
}

interface QuestionProps extends Pick<PredictProps, "predicting" | "story" | "dispatch"> {
  readonly place: number;
}

function OneQuestion({ place, predicting, story, dispatch }: QuestionProps) {
  const question = predicting.quiz?.questions[place];
  if (question === undefined) {
    return null;
  }
  const chosen = predicting.predictions.get(place);
  const isOpen = chosen === undefined;
  const { choices, node } = question;
  return (
    <div class="ckv-predict-one">
      <p class="ckv-predict-question" title={visible(question.about)}>
        {questionWords(question)}
      </p>
      {isOpen ? <NextLookUp question={question} story={story} /> : null}
      <ol>
        {choices.map((choice, at) => (
          <li key={choice}>
            <Choice
              key={choice}
              place={at}
              words={visible(choice)}
              isRight={!isOpen && at === question.right}
              isChosen={chosen === at}
              isOpen={isOpen}
              choose={() => predicting.answer(place, at)}
            />
          </li>
        ))}
      </ol>
      {isOpen ? <p class="ckv-faint">{WORDS.chooseBy(formatCount(choices.length))}</p> : null}
      {isOpen ? null : <Why question={question} />}
      {isOpen || node === null ? null : <ShowRow node={node} dispatch={dispatch} />}
    </div>
  );
}

/** The look-up that comes next, in words; a question may be about a visit, too. */
function NextLookUp({ question, story }: { readonly question: Question; readonly story: Story }) {
  const { at, isOfAssert } = question;
  const { holder, name } = isOfAssert ? { holder: null, name: "" } : story.step(at);
  return holder === null || name === "" ? null : (
    <p class="ckv-faint">{WORDS.looksForNext(shortened(visible(name)))}</p>
  );
}

function Why({ question }: { readonly question: Question }) {
  const [text, reason] = question.why;
  return (
    <p class="ckv-predict-why">
      {sentenceText(text)} <span class="ckv-faint">{sentenceText(reason)}</span>
    </p>
  );
}

interface ChoiceProps {
  readonly place: number;
  readonly words: string;
  readonly isRight: boolean;
  readonly isChosen: boolean;
  readonly isOpen: boolean;
  readonly choose: () => void;
}

function Choice({ place, words, isRight, isChosen, isOpen, choose }: ChoiceProps) {
  const names = ["ckv-predict-choice", isRight ? "ckv-predict-right" : ""];
  names.push(isChosen && !isRight ? "ckv-predict-wrong" : "");
  const { predicts } = WORDS;
  return (
    <button
      type="button"
      class={names.join(" ")}
      aria-disabled={!isOpen}
      onClick={() => (isOpen ? choose() : undefined)}
    >
      <kbd>{place + 1}</kbd>
      <span>
        {words} <small>{isOpen ? meaning(words) : ""}</small>
      </span>
      {isChosen ? <b>{predicts.yours}</b> : null}
      {isRight ? <SignIcon sign={stateSign("matched")} /> : null}
      {isChosen && !isRight ? <SignIcon sign={stateSign("failed")} /> : null}
      {isRight ? <b>{predicts.right}</b> : null}
    </button>
  );
}

/** What a choice means, in a few words; "" for one that needs none. */
function meaning(choice: string): string {
  return WORDS.outcomes[choice as keyof typeof WORDS.outcomes] ?? "";
}

/** At the end: the score, and all questions. */
function Summary(props: PredictProps) {
  const { again, predictions, quiz } = props.predicting;
  return quiz === null ? null : (
    <>
      <p class="ckv-predict-score">
        {WORDS.scoreWords(formatCount(rightOnes(quiz, predictions)), formatCount(predictions.size))}{" "}
        <button type="button" class="ckv-play-show" onClick={again}>
          {WORDS.predicts.again}
        </button>
      </p>
      <Results {...props} of={[...quiz.questions.keys()]} />
    </>
  );
}

interface ResultsProps extends PredictProps {
  readonly of: readonly number[];
}

/** Questions with both answers, and the way back to their steps. */
function Results({ of, predicting, playing, story, dispatch }: ResultsProps) {
  const { predictions, quiz } = predicting;
  return of.length === 0 ? null : (
    <ol class="ckv-predict-results">
      {of.map((place) => {
        const question = quiz?.questions[place];
        return question === undefined ? null : (
          <li key={place}>
            <Result
              {...{ question, dispatch }}
              choice={predictions.get(place) ?? question.right}
              step={stepOfQuestion(question, story.length)}
              go={playing.go}
            />
          </li>
        );
      })}
    </ol>
  );
}

interface ResultProps extends Pick<PredictProps, "dispatch"> {
  readonly question: Question;
  readonly choice: number;
  readonly step: number;
  readonly go: (to: number) => void;
}

function Result({ question, choice, step, go, dispatch }: ResultProps) {
  const { choices, isOfAssert, node, right } = question;
  const isRight = choice === right;
  return (
    <>
      <p>
        <SignIcon sign={stateSign(isRight ? "matched" : "failed")} />{" "}
        <b>{questionWords(question)}</b>
      </p>
      <p>{WORDS.yoursAndRight(visible(choices[choice] ?? ""), visible(choices[right] ?? ""))}</p>
      <Why question={question} />
      {isOfAssert ? (
        node === null ? null : (
          <ShowRow node={node} dispatch={dispatch} />
        )
      ) : (
        <button type="button" class="ckv-play-show" onClick={() => go(step)}>
          {WORDS.toStep(formatCount(step + 1))}
        </button>
      )}
    </>
  );
}

interface ShowProps extends Pick<PredictProps, "dispatch"> {
  readonly node: number;
}

/** Selects the row of a node. */
function ShowRow({ node, dispatch }: ShowProps) {
  return (
    <button
      type="button"
      class="ckv-play-show"
      onClick={() => dispatch({ type: "select", id: node })}
    >
      {WORDS.plays.showRow}
    </button>
  );
}
