/** Buttons in the details that lead to another place, usually to a node by its name. */

import type { ComponentChildren } from "preact";
import { visible } from "../basics/text";
import type { Graph } from "../data/graph";
import type { Action } from "../state/state";
import { placeName } from "../words/words";
import { RoleIcon } from "./icons";
import { partOf } from "./parts";
import type { Dispatch } from "./props";

/**
 * Dispatches the action on a click. The details then appear again without the focused button, so
 * the details themselves take the focus; otherwise it would be lost.
 */
export function going(dispatch: Dispatch, action: Action) {
  return ({ currentTarget }: MouseEvent): void => {
    const view = currentTarget instanceof Element ? currentTarget.closest(".ckpt-viz") : null;
    dispatch(action);
    if (view !== null) {
      partOf(view, "details")?.focus();
    }
  };
}

interface JumpProps {
  readonly graph: Graph;
  readonly id: number;
  readonly dispatch: Dispatch;
  readonly children?: ComponentChildren;
}

export function Jump({ graph, id, dispatch, children }: JumpProps) {
  return (
    <button
      type="button"
      class="ckv-jump"
      title={visible(placeName(graph, id))}
      onClick={going(dispatch, { type: "select", id })}
    >
      <RoleIcon role={graph.role(id)} />
      {children ?? visible(placeName(graph, id))}
    </button>
  );
}
