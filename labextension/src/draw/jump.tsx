/** A node's name, which selects the node. */

import type { ComponentChildren } from "preact";
import type { Graph } from "../graph";
import { visible } from "../text";
import { RoleIcon } from "./icons";
import type { Dispatch } from "./props";

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
      title={visible(graph.name(id))}
      onClick={() => dispatch({ type: "select", id })}
    >
      <RoleIcon role={graph.role(id)} />
      {children ?? visible(graph.name(id))}
    </button>
  );
}
