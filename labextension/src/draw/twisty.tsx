/** The small button that opens and closes a row, for pointers; the keys of the list do the same. */

interface TwistyProps {
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

export function Twisty({ isOpen, toggle }: TwistyProps) {
  return (
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
  );
}
