/** The problems of a comparison in words: those of one node, or all of them. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Graph } from "../graph";
import type { Overlay, Problem } from "../overlay";
import { namesWords, problemHead, problemSign, problemsWord, problemTitle } from "../signs";
import type { State } from "../state";
import * as WORDS from "../strings";
import { formatCount, sentenceText } from "../text";
import { moreWords } from "../words";
import { RemedyCode } from "./code";
import { SignIcon } from "./icons";
import { going, Jump } from "./jump";
import { useIsPainted } from "./painted";
import type { Dispatch } from "./props";

const MAX_PROBLEMS = 100;
/** About as many as are in sight at first. */
const FIRST_PROBLEMS = 12;
const MAX_OF_NODE = 20;
const MAX_NODES = 10;

interface ProblemsOfProps {
  readonly graph: Graph;
  readonly id: number;
  readonly dispatch: Dispatch;
}

/** The problems that name a node. */
export function ProblemsOf({ graph, id, dispatch }: ProblemsOfProps) {
  const { overlay } = graph;
  if (overlay === null) {
    return null;
  }
  const problems = overlay.problemsOf(id);
  return (
    <>
      {problems.slice(0, MAX_OF_NODE).map((index) => (
        <ProblemText
          key={index}
          graph={graph}
          problem={overlay.problem(index)}
          at={id}
          dispatch={dispatch}
        />
      ))}
      <More count={problems.length - MAX_OF_NODE} />
    </>
  );
}

interface ProblemListProps {
  readonly state: State;
  readonly dispatch: Dispatch;
}

/**
 * All problems, or a hundred around the current one. The current one is in full; the others
 * take a line each.
 */
export function ProblemList({ state, dispatch }: ProblemListProps) {
  const { graph, problem: current } = state;
  const { overlay } = graph;
  const list = useRef<HTMLOListElement>(null);
  const isPainted = useIsPainted();
  useLayoutEffect(() => {
    const item = list.current?.querySelector<HTMLElement>("[aria-current]");
    const pane = item?.offsetParent;
    if (item && pane) {
      pane.scrollTop = item.offsetTop - pane.clientHeight / 3;
    }
  }, [current]);
  if (overlay === null || overlay.problemCount === 0) {
    return null;
  }
  const start = Math.max(
    0,
    Math.min((current ?? 0) - MAX_PROBLEMS / 2, overlay.problemCount - MAX_PROBLEMS),
  );
  const shown = isPainted || current !== null ? MAX_PROBLEMS : FIRST_PROBLEMS;
  const end = Math.min(start + shown, overlay.problemCount);
  const indices = Array.from({ length: end - start }, (_, i) => start + i);
  return (
    <>
      <h4>{problemsWord(overlay, overlay.problemCount)}</h4>
      {start > 0 ? (
        <p class="ckv-faint">
          {formatCount(start)} {WORDS.before}
        </p>
      ) : null}
      <ol ref={list} class="ckv-problems" start={start + 1}>
        {indices.map((index) => (
          <li key={index} aria-current={index === current ? "true" : undefined}>
            <ProblemItem {...{ state, overlay, index, dispatch }} />
          </li>
        ))}
      </ol>
      <More count={overlay.problemCount - end} />
    </>
  );
}

interface ProblemItemProps extends ProblemListProps {
  readonly overlay: Overlay;
  readonly index: number;
}

function ProblemItem({ state, overlay, index, dispatch }: ProblemItemProps) {
  const problem = overlay.problem(index);
  if (index === state.problem) {
    return <ProblemText graph={state.graph} problem={problem} at={null} dispatch={dispatch} />;
  }
  return (
    <button
      type="button"
      class="ckv-jump"
      onClick={going(dispatch, { type: "goToProblem", problem: index })}
    >
      <SignIcon sign={problemSign(overlay, problem)} />
      <b>{problemTitle(overlay, problem)}:</b> {sentenceText(problem.why)}
    </button>
  );
}

interface ProblemTextProps {
  readonly graph: Graph;
  readonly problem: Problem;
  /** The node whose details these are. */
  readonly at: number | null;
  readonly dispatch: Dispatch;
}

/** One problem with all its facts. */
function ProblemText({ graph, problem, at, dispatch }: ProblemTextProps) {
  const { overlay } = graph;
  if (overlay === null) {
    return null;
  }
  const others = problem.nodes.filter((id) => id !== at);
  const known = at === null ? null : graph.name(at);
  const names = namesWords(overlay, problem, known);
  return (
    <div class="ckv-problem-text">
      <p>
        <SignIcon sign={problemSign(overlay, problem)} /> <b>{problemHead(overlay, problem)}:</b>{" "}
        {names.length === 0 ? sentenceText(problem.why) : ""}
      </p>
      {names.map((words) => (
        <p key={words} class="ckv-faint">
          {words}
        </p>
      ))}
      {names.length === 0 ? null : <p>{sentenceText(problem.why)}</p>}
      {problem.remedy === null ? null : <p>→ {sentenceText(problem.remedy)}</p>}
      {problem.code === null ? null : <RemedyCode code={problem.code} insert={null} />}
      {others.length === 0 ? null : (
        <p>
          {WORDS.alsoAbout}{" "}
          {others.slice(0, MAX_NODES).map((id) => (
            <span key={id} class="ckv-other">
              <Jump graph={graph} id={id} dispatch={dispatch} />
            </span>
          ))}
          <More count={others.length - MAX_NODES} />
        </p>
      )}
    </div>
  );
}

function More({ count }: { readonly count: number }) {
  return count <= 0 ? null : <span class="ckv-faint">{moreWords(count)}</span>;
}
