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

interface PlayProps {
  readonly step: number | null;
  readonly play: (step: number | null) => void;
}

/** Plays the restore of a check step by step, or shows its verdicts again. */
export function PlayButton({ step, play }: PlayProps) {
  return (
    <button
      type="button"
      class="ckv-fix-button"
      data-part={"play" satisfies Part}
      aria-pressed={step !== null}
      title={WORDS.playHint}
      onClick={() => play(step === null ? 1 : null)}
    >
      {WORDS.play}
    </button>
  );
}

interface ChangeProps {
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

/** Opens the strip to change the program of a check, or closes it. */
export function ChangeButton({ isOpen, toggle }: ChangeProps) {
  return (
    <button
      type="button"
      class="ckv-fix-button"
      data-part={"change" satisfies Part}
      aria-pressed={isOpen}
      title={WORDS.changeHint}
      onClick={toggle}
    >
      {WORDS.change}
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
