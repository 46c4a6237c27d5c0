/** The parts of the help: keys by what they are for, and the signs of a comparison. */

import * as WORDS from "../basics/strings";
import { helpGroups, signLines } from "../state/help";
import { Fact } from "./facts";
import { SignIcon } from "./icons";

export function HelpLines() {
  return (
    <div class="ckv-help-groups">
      {helpGroups().map(({ lines, title }) => (
        <section key={title}>
          <h4>{title}</h4>
          <dl class="ckv-value">
            {lines.map(({ does, keys }) => (
              <Fact key={keys} term={keys}>
                {does}
              </Fact>
            ))}
          </dl>
        </section>
      ))}
      <section>
        <h4>{WORDS.signsOfStates}</h4>
        <ul class="ckv-links-list">
          {signLines().map((sign) => (
            <li key={sign.glyph}>
              <SignIcon sign={sign} /> {sign.word}
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}
