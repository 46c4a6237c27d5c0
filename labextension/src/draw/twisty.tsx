/** The small button that opens and closes a row, for pointers; the keys of the list do the same. */

import type { Row } from "../layout/rows";
import type { Dispatch } from "./props";

interface TwistyProps {
  readonly row: Row;
  readonly dispatch: Dispatch;
}

export function Twisty({ row, dispatch }: TwistyProps) {
  return (
    <button
      type="button"
      class="ckv-twisty"
      tabIndex={-1}
      aria-hidden="true"
      onClick={(event) => {
        event.stopPropagation();
        dispatch({ type: "toggle", id: row.id });
      }}
    >
      {row.isExpanded ? "▾" : "▸"}
    </button>
  );
}
