/** The switch between the table and the graph of a comparison, and the other pictures of a graph. */

import * as WORDS from "../basics/strings";
import { layersOf } from "../data/layers";
import { type State, type View, viewOf } from "../state/state";
import { ModeButton } from "./mode-button";
import type { Dispatch, Showing } from "./props";

/** Absent for a graph alone. */
export function Views({ state, dispatch }: Showing) {
  if (state.graph.table === null) {
    return null;
  }
  const isTable = viewOf(state) === "table";
  const graph = graphView(state);
  return (
    <fieldset class="ckv-views" aria-label={WORDS.viewsOf}>
      <ViewChoice view="table" isChosen={isTable} dispatch={dispatch} />
      <ViewChoice view={graph} isChosen={!isTable} dispatch={dispatch} />
    </fieldset>
  );
}

/** The picture of the graph beside the table. */
function graphView({ graph }: State): "layers" | "objects" {
  return layersOf(graph) === null ? "objects" : "layers";
}

interface MoreProps extends Showing {
  /** Whether Graphviz is available here. */
  readonly offersTextbook: boolean;
  readonly onShown: () => void;
}

/** The pictures of the graph that the menu offers: all but the current one, and that beside the table. */
export function MoreViews({ state, offersTextbook, dispatch, onShown }: MoreProps) {
  const current = viewOf(state);
  const offered = (["layers", "objects", "guide"] as const).filter(
    (view) =>
      view !== current &&
      (current !== "table" || view !== graphView(state)) &&
      (view !== "layers" || layersOf(state.graph) !== null) &&
      (view !== "guide" || offersTextbook),
  );
  return offered.map((view) => (
    <ViewChoice
      key={view}
      view={view}
      isChosen={false}
      dispatch={(action) => {
        dispatch(action);
        onShown();
      }}
    />
  ));
}

interface ChoiceProps {
  readonly view: View;
  readonly isChosen: boolean;
  readonly dispatch: Dispatch;
}

function ViewChoice({ view, isChosen, dispatch }: ChoiceProps) {
  return (
    <ModeButton
      isOn={isChosen}
      hint={WORDS.views[view].hint}
      label={WORDS.views[view].label}
      press={() => dispatch({ type: "showView", view })}
    />
  );
}
