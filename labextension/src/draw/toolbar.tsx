/** The line above: what is shown, and the buttons of the drawing. */

import type { State } from "../state";
import { countWords, visible } from "../text";
import { WORDS } from "../words";
import type { Dispatch } from "./props";
import { SearchBox } from "./search";

const ZOOM_STEP = 1.25;

interface ToolbarProps {
  readonly state: State;
  readonly note: string | undefined;
  readonly id: string;
  readonly dispatch: Dispatch;
}

export function Toolbar({ state, note, id, dispatch }: ToolbarProps) {
  const { graph } = state;
  return (
    <div class="ckv-toolbar">
      <span class="ckv-title" title={visible(graph.title)}>
        {visible(graph.title)}
      </span>
      <span class="ckv-tag">{WORDS[graph.overlay?.comparison ?? graph.origin]}</span>
      {note === undefined ? null : <span class="ckv-tag ckv-note">{note}</span>}
      <span class="ckv-size">{countWords(graph.size, "node", "nodes")}</span>
      <span class="ckv-space" />
      <SearchBox state={state} id={id} dispatch={dispatch} />
      <button
        type="button"
        title={WORDS.zoomOut}
        aria-label={WORDS.zoomOut}
        onClick={() => dispatch({ type: "zoom", factor: 1 / ZOOM_STEP })}
      >
        −
      </button>
      <button
        type="button"
        title={WORDS.zoomIn}
        aria-label={WORDS.zoomIn}
        onClick={() => dispatch({ type: "zoom", factor: ZOOM_STEP })}
      >
        +
      </button>
      <button
        type="button"
        title={WORDS.fit}
        aria-label={WORDS.fit}
        onClick={() => dispatch({ type: "fit" })}
      >
        ⤢
      </button>
    </div>
  );
}
