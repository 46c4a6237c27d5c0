/** The buttons of a check: restore now, its code, its steps, and changes of its program. */

import * as WORDS from "../basics/strings";
import { type Part, showTab } from "./parts";
import type { Restoring } from "./restoring";

interface RestoreProps {
  readonly restoring: Restoring;
  /** How much it restores. */
  readonly words: string;
}

/** Restores in the kernel, all or none; afterwards it puts back what was there. */
export function RestoreButton({ restoring, words }: RestoreProps) {
  const { isRestored, isWaiting, restore, undo } = restoring;
  return (
    <button
      type="button"
      class="ckv-restore"
      data-part={"fix" satisfies Part}
      aria-disabled={isWaiting}
      title={isRestored ? WORDS.table.undoHint : WORDS.table.restoreHint}
      onClick={isRestored ? undo : restore}
    >
      {isWaiting ? WORDS.table.working : isRestored ? WORDS.table.undo : words}
    </button>
  );
}

interface ViewButtonProps {
  readonly part: "code" | "play" | "change";
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

const NAMES = {
  code: [WORDS.table.code, WORDS.table.codeHint],
  play: [WORDS.table.steps, WORDS.playHint],
  change: [WORDS.table.whatIf, WORDS.changeHint],
} as const;

/** Shows the code or the steps of a check, or opens the strip to change its program. */
export function ViewButton({ part, isOpen, toggle }: ViewButtonProps) {
  const [name, hint] = NAMES[part];
  return (
    <button
      type="button"
      data-part={part}
      aria-pressed={isOpen}
      title={hint}
      onClick={({ currentTarget }) => {
        toggle();
        if (part === "code" && !isOpen) {
          showTab(currentTarget, "details");
        }
      }}
    >
      {name}
    </button>
  );
}
