/** What a row of a tree has before its icon, and its name. */

interface TwistyProps {
  /** Whether there is anything to open; else the button's space is empty. */
  readonly canOpen: boolean;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

/** The small button that opens and closes a row, for pointers; the keys of the list do the same. */
export function Twisty({ canOpen, isOpen, toggle }: TwistyProps) {
  return canOpen ? (
    <button
      type="button"
      class="ckv-twisty"
      tabIndex={-1}
      aria-hidden="true"
      onClick={(event) => {
        event.stopPropagation();
        toggle();
      }}
    >
      {isOpen ? "▾" : "▸"}
    </button>
  ) : (
    <span class="ckv-twisty" aria-hidden="true" />
  );
}

interface NameProps {
  readonly name: string;
  readonly look: string;
  /** Whether a search finds it. */
  readonly isMatch: boolean;
}

export function Name({ name, look, isMatch }: NameProps) {
  const Part = isMatch ? "mark" : "span";
  return <Part class={`${look} ckv-cut${isMatch ? " ckv-match" : ""}`}>{name}</Part>;
}
