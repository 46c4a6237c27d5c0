/** The problems of a comparison in words: those of one node, or all of them. */

import type { Graph } from "../graph";
import type { Problem } from "../overlay";
import { namesWords, problemHead, problemSign } from "../signs";
import * as WORDS from "../strings";
import { sentenceText } from "../text";
import { moreWords } from "../words";
import { RemedyCode } from "./code";
import { SignIcon } from "./icons";
import { Jump } from "./jump";
import type { Dispatch } from "./props";

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
