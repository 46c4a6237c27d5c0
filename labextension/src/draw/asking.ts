/** A question to the kernel, and what came of it. */

import { useState } from "preact/hooks";
import { whyWords } from "../text";

/** `told` is the answer, `refused` why there is none; neither before it comes. */
export interface Asked<T> {
  readonly isWaiting?: boolean;
  readonly told?: T;
  readonly refused?: string;
}

/** Null before the question is put. */
export function useAsked<T>(ask: () => Promise<T>): readonly [Asked<T> | null, () => void] {
  const [asked, setAsked] = useState<Asked<T> | null>(null);
  const put = () => {
    setAsked({ isWaiting: true });
    ask().then(
      (told) => setAsked({ told }),
      (error: unknown) => setAsked({ refused: whyWords(error) }),
    );
  };
  return [asked, put];
}
