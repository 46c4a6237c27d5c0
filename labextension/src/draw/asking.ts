/** A question to the kernel, and its answer. */

import { useState } from "preact/hooks";
import { whyWords } from "../basics/text";

/** While the kernel is busy there is neither an answer nor a problem. */
export interface Asked<T> {
  readonly isWaiting?: boolean;
  readonly answer?: T;
  readonly problem?: string;
}

/** Null until the view asks the question. */
export function useAsked<T>(ask: () => Promise<T>): readonly [Asked<T> | null, () => void] {
  const [asked, setAsked] = useState<Asked<T> | null>(null);
  const put = () => {
    setAsked({ isWaiting: true });
    ask().then(
      (answer) => setAsked({ answer }),
      (error: unknown) => setAsked({ problem: whyWords(error) }),
    );
  };
  return [asked, put];
}
