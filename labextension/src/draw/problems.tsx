/** The problems of a comparison in words. */

import * as WORDS from "../basics/strings";
import { sentenceText, shortened, visibleLines } from "../basics/text";
import type { Graph } from "../data/graph";
import type { Kernel } from "../kernel/kernel";
import { problemSign } from "../words/signs";
import { RemedyCode } from "./code";
import { Copy } from "./copy";
import { SignIcon } from "./icons";
import { messageOf } from "./message";

const MAX_PROBLEMS = 6;
/** TensorFlow names all nodes that fail; the first of them are enough. */
const MAX_MESSAGE = 400;

interface ProblemsProps {
  readonly graph: Graph;
  readonly indices: readonly number[];
  readonly kernel: Kernel | null;
  /** Puts code into a new cell below; null where there are no cells. */
  readonly insert?: ((code: string) => void) | null;
  /** Whether other sentences say it, so that only code and messages are left. */
  readonly isCodeOnly?: boolean;
}

/** Problems in words: why, what to do, the code, and TensorFlow's message once. */
export function Problems({
  graph,
  indices,
  kernel,
  insert = null,
  isCodeOnly = false,
}: ProblemsProps) {
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
            {isCodeOnly ? null : (
              <p>
                <SignIcon sign={problemSign(overlay, problem)} /> {sentenceText(problem.why)}
              </p>
            )}
            {problem.remedy === null || isCodeOnly ? null : <p>→ {sentenceText(problem.remedy)}</p>}
            {problem.code === null ? null : (
              <RemedyCode
                code={problem.code}
                insert={
                  // Only the kernel knows what the notebook calls the object.
                  insert && kernel && (async () => insert(await kernel.code(index)))
                }
              />
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
