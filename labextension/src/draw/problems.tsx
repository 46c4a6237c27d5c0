/** The problems of a comparison in words. */

import * as WORDS from "../basics/strings";
import { sentenceText, shortened, visibleLines } from "../basics/text";
import type { Graph } from "../data/graph";
import { problemSign } from "../words/signs";
import { Copy } from "./copy";
import { SignIcon } from "./icons";
import { messageOf } from "./message";

const MAX_PROBLEMS = 6;
/** TensorFlow names all nodes that fail; the first of them are enough. */
const MAX_MESSAGE = 400;

interface ProblemsProps {
  readonly graph: Graph;
  readonly indices: readonly number[];
  /** Whether other sentences say it, so that only messages are left. */
  readonly isMessageOnly?: boolean;
}

/** Problems in words: why, what to do, and TensorFlow's message once. */
export function Problems({ graph, indices, isMessageOnly = false }: ProblemsProps) {
  const { overlay } = graph;
  if (overlay === null) {
    return null;
  }
  const messages = new Set<string>();
  return (
    <>
      {indices.slice(0, MAX_PROBLEMS).map((index) => {
        const problem = overlay.problem(index);
        const message = messageOf(overlay, problem);
        const isNew = message !== undefined && !messages.has(message);
        messages.add(message ?? "");
        return (
          <div key={index} class="ckv-problem-text">
            {isMessageOnly ? null : (
              <p>
                <SignIcon sign={problemSign(overlay, problem)} /> {sentenceText(problem.why)}
              </p>
            )}
            {problem.remedy === null || isMessageOnly ? null : (
              <p>→ {sentenceText(problem.remedy)}</p>
            )}
            {isNew ? (
              <>
                <h4>
                  {WORDS.errorText} <Copy what={WORDS.message} text={message} />
                </h4>
                <p class="ckv-message">{shortened(visibleLines(message), MAX_MESSAGE)}</p>
              </>
            ) : null}
          </div>
        );
      })}
      {indices.length > MAX_PROBLEMS ? (
        <p class="ckv-faint">{WORDS.table.moreProblems(indices.length - MAX_PROBLEMS)}</p>
      ) : null}
    </>
  );
}
