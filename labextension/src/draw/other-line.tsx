/** The line above what is in the place of the graph. */

import { useEffect, useRef } from "preact/hooks";
import * as WORDS from "../basics/strings";

/** Says that a diff of a checkpoint and its edited copy is in place of the graph, with the way back. */
export function OtherLine({ leave }: { readonly leave: () => void }) {
  const back = useRef<HTMLButtonElement>(null);
  // The button that led here is gone, and with it the focus.
  useEffect(() => back.current?.focus(), []);
  return (
    <p class="ckv-fixed-check ckv-buttons" role="status">
      <button type="button" ref={back} onClick={leave}>
        ← {WORDS.backFromCopy}
      </button>
      {WORDS.besideCopy}
    </p>
  );
}
