/** What a comparison says of the selection: the problem, its remedy, and TensorFlow's own words. */

import type { Graph } from "../graph";
import type { Kernel } from "../kernel";
import type { Guess, Overlay, Problem } from "../overlay";
import { causeSign, namesWords } from "../signs";
import { type State, shownProblem } from "../state";
import * as WORDS from "../strings";
import { onOneLine, sentenceText, shortened } from "../text";
import { moreWords } from "../words";
import type { Accepting } from "./accepting";
import { RemedyCode } from "./code";
import { Copy } from "./copy";
import type { Fixing } from "./fixing";
import { SignIcon } from "./icons";
import { Jump } from "./jump";
import { messageOf } from "./message";
import { type OnRequest, WithExtras } from "./on-request";
import type { Dispatch } from "./props";

const MAX_NODES = 10;
/** TensorFlow names all nodes that fail; the first of them are enough. */
const MAX_MESSAGE = 400;

interface EvidenceProps {
  readonly state: State;
  readonly fixing: Fixing | null;
  readonly accepting: Accepting;
  readonly kernel: Kernel | null;
  readonly onRequest: OnRequest | null;
  /** Puts code into a new cell below; null where there are no cells. */
  readonly insert: ((code: string) => void) | null;
  readonly dispatch: Dispatch;
}

export function Evidence(props: EvidenceProps) {
  const { state, fixing, accepting, insert, kernel, onRequest, dispatch } = props;
  const { graph, selected } = state;
  const { overlay } = graph;
  const index = shownProblem(state);
  if (overlay === null || index === null) {
    return null;
  }
  const problem = overlay.problem(index);
  const cause = overlay.causes[overlay.causeOf(index)];
  const names = namesWords(overlay, problem, selected === null ? null : graph.name(selected));
  const others = topsOf(graph, problem.nodes).filter((id) => id !== selected);
  return (
    <div class="ckv-evidence">
      <h3>
        <SignIcon sign={causeSign(overlay, problem)} /> {sentenceText(cause?.title ?? "")}
      </h3>
      <p>{sentenceText(problem.why)}</p>
      {names.map((words) => (
        <p key={words} class="ckv-faint">
          {words}
        </p>
      ))}
      {problem.remedy === null ? null : (
        <Remedy
          remedy={problem.remedy}
          code={problem.code}
          guesses={problem.guesses}
          accepting={accepting}
          onRequest={onRequest}
          showFix={problem.offersFix && fixing !== null ? fixing.toggle : null}
          insert={
            // Only the kernel knows what the notebook calls the object.
            insert && kernel && (async () => insert(await kernel.code(index)))
          }
        />
      )}
      <Messages overlay={overlay} problem={problem} />
      {others.length === 0 ? null : (
        <>
          <h4>{WORDS.alsoAbout}</h4>
          {others.slice(0, MAX_NODES).map((id) => (
            <span key={id} class="ckv-other">
              <Jump graph={graph} id={id} dispatch={dispatch} />
            </span>
          ))}
          {others.length > MAX_NODES ? <p>{moreWords(others.length - MAX_NODES)}</p> : null}
        </>
      )}
    </div>
  );
}

/** The nodes whose parents are not among them. */
function topsOf(graph: Graph, nodes: readonly number[]): readonly number[] {
  const all = new Set(nodes);
  return nodes.filter((id) => !all.has(graph.treeParent(id) ?? -1));
}

interface RemedyProps extends Pick<EvidenceProps, "accepting" | "onRequest"> {
  readonly insert: (() => Promise<void>) | null;
  readonly remedy: string;
  readonly code: string | null;
  readonly guesses: readonly Guess[];
  /** Shows the fix; null unless that is the remedy. */
  readonly showFix: (() => void) | null;
}

function Remedy(props: RemedyProps) {
  const { remedy, code, guesses, accepting, onRequest, showFix, insert } = props;
  const fixButton =
    showFix === null ? null : (
      <button type="button" title={WORDS.fixHint} onClick={showFix}>
        {WORDS.showFix}
      </button>
    );
  return (
    <>
      <h4>{WORDS.whatToDo}</h4>
      <div class="ckv-remedy">
        <p>{sentenceText(remedy)}</p>
        {guesses.length === 0 || onRequest === null ? null : (
          <WithExtras onRequest={onRequest}>
            {({ RemedyGuesses }) => (
              <RemedyGuesses guesses={guesses} accepting={accepting} hasFix={showFix !== null} />
            )}
          </WithExtras>
        )}
        {code !== null ? (
          <RemedyCode code={code} insert={insert}>
            {fixButton}
          </RemedyCode>
        ) : fixButton === null ? null : (
          <p class="ckv-buttons">{fixButton}</p>
        )}
      </div>
    </>
  );
}

/** The message of TensorFlow or Keras, if the problem makes a restore or an assert fail. */
function Messages({ overlay, problem }: { readonly overlay: Overlay; readonly problem: Problem }) {
  const message = messageOf(overlay, problem);
  return message === undefined ? null : (
    <>
      <h4>
        {WORDS.errorText} <Copy what={WORDS.message} text={message} />
      </h4>
      <p class="ckv-message">{shortened(onOneLine(message), MAX_MESSAGE)}</p>
    </>
  );
}
