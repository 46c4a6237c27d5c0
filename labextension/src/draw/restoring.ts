/** The restore that the button of a check runs in the kernel, and how it is undone. */

import { useEffect, useState } from "preact/hooks";
import { sentenceText, whyWords } from "../basics/text";
import type { Graph } from "../data/graph";
import { type Kernel, PATIENCE_FOR_WORK } from "../kernel/kernel";
import type { Accepting } from "./accepting";

interface Done {
  readonly isWaiting: boolean;
  /** What was done, in a sentence; null before anything was. */
  readonly done: string | null;
  /** Whether the program has the values of the fix now. */
  readonly isRestored: boolean;
  /** Why the kernel did nothing. */
  readonly problem: string | null;
}

export interface Restoring extends Done {
  restore(): void;
  undo(): void;
}

const NOTHING: Done = { isWaiting: false, done: null, isRestored: false, problem: null };

/** Null where no kernel has the program: without one, and for a program in a file. */
export function useRestoring(
  shown: Graph,
  kernel: Kernel | null,
  { accepted }: Accepting,
): Restoring | null {
  const graph = shown.objects ?? shown;
  const [state, setState] = useState(NOTHING);
  useEffect(() => setState(NOTHING), [graph]);
  if (kernel === null || graph.table?.totals.fixed == null || graph.origin === "saved") {
    return null;
  }
  const run = (isRestored: boolean, question: object) => {
    if (state.isWaiting) {
      return; // a second press
    }
    setState({ ...state, isWaiting: true, problem: null });
    kernel(question, PATIENCE_FOR_WORK).then(
      ({ text = "" }) => setState({ ...NOTHING, isRestored, done: sentenceText(text) }),
      (error: unknown) => setState({ ...state, isWaiting: false, problem: whyWords(error) }),
    );
  };
  return {
    ...state,
    restore: () => run(true, { ask: "restore", guesses: [...accepted] }),
    undo: () => run(false, { ask: "undo" }),
  };
}
