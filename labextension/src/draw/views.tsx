/** The switch between the views of a graph. */

import { layersOf } from "../layers";
import { type State, VIEWS, type View, viewOf } from "../state";
import * as WORDS from "../strings";
import type { Dispatch } from "./props";

interface ViewsProps {
  readonly state: State;
  /** Whether Graphviz is available here. */
  readonly offersTextbook: boolean;
  readonly dispatch: Dispatch;
  /** Called after a choice in a menu, which offers all views but the current one. */
  readonly onShown?: () => void;
}

/** Absent if there is only one view. */
export function Views({ state, offersTextbook, dispatch, onShown }: ViewsProps) {
  const isOffered: Readonly<Record<View, boolean>> = {
    sides: state.graph.overlay !== null,
    layers: layersOf(state.graph) !== null,
    objects: true,
    guide: offersTextbook,
  };
  const current = viewOf(state);
  const offered = VIEWS.filter((view) => isOffered[view]);
  return offered.length < 2 ? null : (
    <fieldset class="ckv-views" aria-label={WORDS.viewsOf}>
      {(onShown === undefined ? offered : offered.filter((view) => view !== current)).map(
        (view) => (
          <button
            key={view}
            type="button"
            class="ckv-mode"
            aria-pressed={view === current}
            data-leaves={view === current ? undefined : "views"}
            title={WORDS.views[view].hint}
            onClick={() => {
              dispatch({ type: "showView", view });
              onShown?.();
            }}
          >
            {WORDS.views[view].label}
          </button>
        ),
      )}
    </fieldset>
  );
}
