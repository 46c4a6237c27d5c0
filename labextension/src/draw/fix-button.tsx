/** The buttons that fix a check, play its restore and change its program. */

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
