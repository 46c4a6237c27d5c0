/** The fix of a check on its way from the kernel. */

import { useEffect, useRef, useState } from "preact/hooks";
import { makeFix } from "../fix";
import type { Kernel } from "../kernel";
import type { State } from "../state";
import * as WORDS from "../strings";
import { whyWords } from "../text";
import type { Dispatch } from "./props";

export interface Fixing {
  /** Why there can be no fix, so that the button does nothing; "" if there can be one. */
  readonly whyNot: string;
  /** Whether the user has asked for the fix. */
  readonly isOpen: boolean;
  readonly isWaiting: boolean;
  /** Why the kernel gave no fix. */
  readonly problem: string | null;
  toggle(): void;
}

interface Asked {
  readonly isOpen: boolean;
  readonly problem: string | null;
}

const CLOSED: Asked = { isOpen: false, problem: null };

/**
 * Asks the kernel for the fix once the user presses the button, and again if the graph changes while
 * the fix is open. Null where nothing can be asked: without a kernel, and without problems of a check.
 */
export function useFixing(
  { fix, graph: shown }: State,
  kernel: Kernel | null,
  dispatch: Dispatch,
): Fixing | null {
  const [{ isOpen, problem }, setAsked] = useState({ ...CLOSED, isOpen: fix !== null });
  const graph = shown.objects ?? shown;
  const { overlay } = graph;
  const canAsk = kernel !== null && overlay?.comparison === "check" && overlay.problemCount > 0;
  const questions = useRef(0);
  const ask = async () => {
    const question = ++questions.current;
    setAsked({ isOpen: true, problem: null });
    try {
      const [answer, buffers] = (await kernel?.fix()) ?? [];
      const made = answer && buffers ? makeFix(answer, buffers, graph.size) : null;
      if (made === null) {
        throw new Error(WORDS.fixBroken);
      }
      if (question === questions.current) {
        dispatch({ type: "showFix", fix: made, of: graph });
      }
    } catch (error) {
      if (question === questions.current) {
        setAsked({ isOpen: true, problem: whyWords(error) });
      }
    }
  };
  const close = () => {
    questions.current++; // an answer on its way comes too late
    setAsked(CLOSED);
  };
  useEffect(() => {
    if (isOpen && !canAsk) {
      close();
    } else if (isOpen && fix === null) {
      void ask();
    }
  }, [graph]);
  return canAsk
    ? {
        whyNot: graph.origin === "saved" ? WORDS.fixOfFile : "",
        isOpen,
        isWaiting: isOpen && problem === null && fix === null,
        problem,
        toggle: () => {
          if (isOpen) {
            close();
            dispatch({ type: "showFix", fix: null, of: graph });
          } else {
            void ask();
          }
        },
      }
    : null;
}
