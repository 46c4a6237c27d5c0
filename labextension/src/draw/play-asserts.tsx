/** At the end of a restore that plays: whether each assert passes, and because of which node not. */

import * as WORDS from "../basics/strings";
import { sentenceText, visible } from "../basics/text";
import type { Assert } from "../kernel/asserts";
import { stateSign } from "../words/signs";
import { SignIcon } from "./icons";
import type { Dispatch } from "./props";

interface Props {
  readonly asserts: readonly Assert[];
  readonly dispatch: Dispatch;
}

export function PlayAsserts({ asserts, dispatch }: Props) {
  return asserts.length === 0 ? null : (
    <div class="ckv-play-asserts">
      <h4>{WORDS.plays.asserts}</h4>
      <ul>
        {asserts.map(({ name, node, passes, text }) => (
          <li key={name}>
            <p>
              <SignIcon sign={stateSign(passes ? "matched" : "failed")} />{" "}
              <code>{visible(name)}()</code>{" "}
              <b>{passes ? WORDS.plays.passes : WORDS.fates.failed}</b>
            </p>
            {passes ? null : <p class="ckv-faint">{sentenceText(text)}</p>}
            {node === null ? null : <ShowRow node={node} dispatch={dispatch} />}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ShowProps extends Pick<Props, "dispatch"> {
  readonly node: number;
}

/** Selects the row of a node. */
export function ShowRow({ node, dispatch }: ShowProps) {
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
