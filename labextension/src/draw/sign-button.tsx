/** A button with a sign in place of words, which its hint says. */

import type { ComponentChildren } from "preact";
import type { Part } from "./parts";

interface SignButtonProps {
  readonly words: string;
  readonly look?: string;
  readonly part?: Part | undefined;
  readonly isOff?: boolean;
  readonly press: () => void;
  readonly children: ComponentChildren;
}

export function SignButton({ words, look, part, isOff, press, children }: SignButtonProps) {
  return (
    <button
      type="button"
      class={look}
      data-part={part}
      title={words}
      aria-label={words}
      disabled={isOff}
      onClick={press}
    >
      {children}
    </button>
  );
}
