/** The fix of a check on its way from the kernel. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Kernel } from "../kernel";
import type { State } from "../state";
import * as WORDS from "../strings";
import { whyWords } from "../text";
import type { Accepting } from "./accepting";
import type { OnRequest } from "./on-request";
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
  readonly isWaiting: boolean;
  readonly problem: string | null;
}

const CLOSED: Asked = { isOpen: false, isWaiting: false, problem: null };

/**
 * Asks the kernel for the fix once the user presses the button. While the fix is open, it asks again if
 * the graph or the accepted guesses change. Null where nothing can be asked: without a kernel, and without problems of a check.
 */
export function useFixing(
  { fix, graph: shown }: State,
  kernel: Kernel | null,
  { accepted }: Accepting,
  onRequest: OnRequest | null,
  dispatch: Dispatch,
): Fixing | null {
  const [{ isOpen, isWaiting, problem }, setAsked] = useState({ ...CLOSED, isOpen: fix !== null });
  const graph = shown.objects ?? shown;
  const { overlay } = graph;
  const canAsk =
    kernel !== null &&
    onRequest !== null &&
    overlay?.comparison === "check" &&
    overlay.problemCount > 0;
  const questions = useRef(0);
  const ask = async () => {
    const question = ++questions.current;
    setAsked({ isOpen: true, isWaiting: true, problem: null });
    try {
      const extras = await onRequest?.load();
      const [answer, buffers] = (await kernel?.fix([...accepted])) ?? [];
      const made = answer && buffers ? extras?.makeFix(answer, buffers, graph.size) : null;
      if (extras === undefined || made == null) {
        throw new Error(WORDS.fixBroken);
      }
      if (question === questions.current) {
        setAsked({ isOpen: true, isWaiting: false, problem: null });
        const ends = extras.endsOfMoves(shown, made);
        dispatch({ type: "showFix", fix: made, of: graph, ends });
      }
    } catch (error) {
      if (question === questions.current) {
        setAsked({ isOpen: true, isWaiting: false, problem: whyWords(error) });
      }
    }
  };
  const close = () => {
    questions.current++; // an answer on its way comes too late
    setAsked(CLOSED);
  };
  const asked = useRef(accepted);
  useEffect(() => {
    const isOther = asked.current !== accepted;
    asked.current = accepted;
    if (isOpen && !canAsk) {
      close();
    } else if (isOpen && (fix === null || isOther)) {
      void ask();
    }
  }, [graph, accepted]);
  return canAsk
    ? {
        whyNot: graph.origin === "saved" ? WORDS.fixOfFile : "",
        isOpen,
        isWaiting: isOpen && problem === null && (isWaiting || fix === null),
        problem,
        toggle: () => {
          if (isOpen) {
            close();
            dispatch({ type: "showFix", fix: null, of: graph, ends: [] });
          } else {
            void ask();
          }
        },
      }
    : null;
}
