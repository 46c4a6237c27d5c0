/** The lines of the help. */

import { helpLines } from "../help";

export function HelpLines() {
  return (
    <dl class="ckv-value">
      {helpLines().flatMap(({ keys, does }) => [
        <dt key={keys}>{keys}</dt>,
        <dd key={does}>{does}</dd>,
      ])}
    </dl>
  );
}
