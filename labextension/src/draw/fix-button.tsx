/** The buttons that fix a check, play its restore and change its program, and the way back. */

import { useEffect, useRef } from "preact/hooks";
import type { Fix } from "../fix";
import { fateSign } from "../signs";
import * as WORDS from "../strings";
import type { Fixing } from "./fixing";
import { SignIcon } from "./icons";
import type { Part } from "./parts";

interface ButtonProps {
  readonly fix: Fix | null;
  readonly fixing: Fixing;
}

export function FixButton({ fix, fixing }: ButtonProps) {
  const { isOpen, toggle, whyNot } = fixing;
  return (
    <button
      type="button"
      class="ckv-fix-button"
      data-part={"fix" satisfies Part}
      aria-disabled={whyNot !== ""}
      aria-pressed={isOpen}
      title={whyNot || (isOpen ? WORDS.hideFix : WORDS.fixHint)}
      onClick={() => (whyNot === "" ? toggle() : undefined)}
    >
      {fix?.isApplied === true ? (
        <>
          <SignIcon sign={fateSign("restored")} /> {WORDS.fixedShort}
        </>
      ) : (
        WORDS.fix
      )}
    </button>
  );
}

interface ViewButtonProps {
  readonly part: "play" | "change";
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

const NAMES = {
  play: [WORDS.play, WORDS.playHint],
  change: [WORDS.change, WORDS.changeHint],
} as const;

/** Plays the restore of a check, or opens the strip to change its program; and closes that again. */
export function ViewButton({ part, isOpen, toggle }: ViewButtonProps) {
  const [name, hint] = NAMES[part];
  return (
    <button
      type="button"
      class="ckv-fix-button"
      data-part={part}
      aria-pressed={isOpen}
      title={hint}
      onClick={toggle}
    >
      {name}
    </button>
  );
}

interface LineProps {
  readonly leave: () => void;
}

/** Says that the check is that of the fixed restore, with the way back. */
export function FixedCheckLine({ leave }: LineProps) {
  const back = useRef<HTMLButtonElement>(null);
  // The button that led here is gone, and with it the focus.
  useEffect(() => back.current?.focus(), []);
  return (
    <p class="ckv-fixed-check ckv-buttons" role="status">
      <button type="button" ref={back} onClick={leave}>
        ← {WORDS.backToCheck}
      </button>
      {WORDS.ofFixedCheck}
    </p>
  );
}
