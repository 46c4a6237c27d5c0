/** The line above what is in the place of the graph. */

import { useEffect, useRef } from "preact/hooks";
import type { Comparison } from "../contract";
import * as WORDS from "../strings";

interface LineProps {
  /** The check of the fixed restore, or the diff of a checkpoint and its edited copy. */
  readonly of: Comparison;
  readonly leave: () => void;
}

/** Says what is in the place of the graph, with the way back. */
export function OtherLine({ of, leave }: LineProps) {
  const back = useRef<HTMLButtonElement>(null);
  // The button that led here is gone, and with it the focus.
  useEffect(() => back.current?.focus(), []);
  return (
    <p class="ckv-fixed-check ckv-buttons" role="status">
      <button type="button" ref={back} onClick={leave}>
        ← {WORDS.backFrom[of]}
      </button>
      {WORDS.ofOther[of]}
    </p>
  );
}
